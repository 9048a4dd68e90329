"""All trees near the optimum, counted without listing them, and listed one by one without listing the others.

The rules by which a search for *one* optimal tree gives up subsets, splits or columns do not hold here: they keep an
optimal tree and lose others. Only bounds on what a subset must cost are used.
"""
