"""What a search leaves to others of the same data: the best tree, and bounds that say something at any λ."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dosdt.contract import Sketch
from dosdt.exact import common_denominator
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.subproblem.ghosts import Array
from dosdt.subproblem.index import UNKNOWN, Index
from dosdt.subproblem.subsets import Batch


@dataclass(frozen=True, eq=False)
class Learnt:
    """What a search has found out, without the graph it needed for that.

    Attributes
    ----------
    problem : Problem
    min_support : int
        What leaves were held to.
    index : Index
        Subsets by number; it may hold some more, of which nothing is known.
    lower : integer array
        What no tree for a subset costs less than, by number.
    penalty : Fraction
        What a leaf costs in these bounds.
    best : Sketch
    """

    problem: Problem
    min_support: int
    index: Index
    lower: Array
    penalty: Fraction
    best: Sketch

    @property
    def subsets(self) -> Batch:
        """The subsets of the bounds."""
        return self.index.batch(slice(len(self.lower)))


class Carried(NamedTuple):
    """Subsets, and what no tree for them costs less than."""

    subsets: Batch
    lowers: list[int]


def repriced(learnt: Learnt, prices: Prices) -> Carried:
    """Return what the bounds of one search say at other prices; see `Prices.repriced`."""
    return Carried(learnt.subsets, [prices.repriced(lower, learnt.penalty) for lower in learnt.lower.tolist()])


def between(one: Learnt, other: Learnt, prices: Prices) -> Carried | None:
    """Return what two searches say together where a leaf costs something in between; None if it does not.

    Every tree's cost is linear in what a leaf costs, so the least over the trees for a subset is concave: in between
    it is nowhere below the chord through two of its lower bounds.
    """
    low, high = sorted((one, other), key=lambda learnt: learnt.penalty)
    if not low.penalty <= prices.penalty <= high.penalty or low.penalty == high.penalty:
        return None
    twins = high.index.find(low.subsets)
    both = np.flatnonzero((twins != UNKNOWN) & (twins < len(high.lower)))
    # The chord, in whole numbers: (p·low + q·high) / d. Costs are whole, so it is rounded up.
    share = (high.penalty - prices.penalty) / (high.penalty - low.penalty)
    weights = share * prices.b / low.penalty.denominator, (1 - share) * prices.b / high.penalty.denominator
    d = common_denominator(weights)
    p, q = (int(weight * d) for weight in weights)
    lows, highs = low.lower[both].tolist(), high.lower[twins[both]].tolist()
    return Carried(low.subsets.part(both), [-(-(p * a + q * b) // d) for a, b in zip(lows, highs, strict=True)])
