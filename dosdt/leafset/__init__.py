"""The paper's search: best-first branch and bound over trees given by their leaves."""
