"""What the bounds of one search, or of two, say about the same subsets where a leaf costs something else."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dosdt.exact import common_denominator
from dosdt.penalty import Prices
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.index import UNKNOWN
from dosdt.subproblem.subsets import Batch


class Priced(NamedTuple):
    """The bounds of a graph, and what a leaf costs there."""

    graph: Graph
    penalty: Fraction


class Carried(NamedTuple):
    """Subsets, and what no tree for them costs less than."""

    subsets: Batch
    lowers: list[int]


def repriced(known: Priced, prices: Prices) -> Carried:
    """Return what the bounds of one search say at other prices; see `Prices.repriced`."""
    n = len(known.graph)
    lowers = [prices.repriced(lower, known.penalty) for lower in known.graph.lower[:n].tolist()]
    return Carried(known.graph.index.batch(slice(n)), lowers)


def between(one: Priced, other: Priced, prices: Prices) -> Carried | None:
    """Return what two searches say together where a leaf costs something in between; None if it does not.

    Every tree's cost is linear in what a leaf costs, so the least over the trees for a subset is concave: in between
    it is nowhere below the chord through two of its lower bounds.
    """
    low, high = sorted((one, other), key=lambda known: known.penalty)
    if not low.penalty <= prices.penalty <= high.penalty or low.penalty == high.penalty:
        return None
    subsets = low.graph.index.batch(slice(len(low.graph)))
    twins = high.graph.index.find(subsets)
    both = np.flatnonzero(twins != UNKNOWN)
    # The chord, in whole numbers: (p·low + q·high) / d. Costs are whole, so it is rounded up.
    share = (high.penalty - prices.penalty) / (high.penalty - low.penalty)
    weights = share * prices.b / low.penalty.denominator, (1 - share) * prices.b / high.penalty.denominator
    d = common_denominator(weights)
    p, q = (int(weight * d) for weight in weights)
    lows, highs = low.graph.lower[both].tolist(), high.graph.lower[twins[both]].tolist()
    lowers = [-(-(p * a + q * b) // d) for a, b in zip(lows, highs, strict=True)]
    return Carried(subsets.part(both), lowers)
