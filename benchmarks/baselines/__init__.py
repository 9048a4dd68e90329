"""What the paper compares with: CART, and BinOCT as a mixed-integer program, with and without a penalty."""
