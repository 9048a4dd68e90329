"""Every table and figure of the paper, with its competitors, and measurements of our own.

One module is one experiment: ``python -m benchmarks.NAME``; ``python -m benchmarks`` runs them all.
"""
