"""The report: one HTML page about a tree and how it does on a table, with nothing to load."""
