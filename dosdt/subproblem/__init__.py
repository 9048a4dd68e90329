"""The fast search: depth-first branch and bound over subsets of the rows."""
