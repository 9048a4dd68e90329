"""What splitting a leaf may come to: all new leaves, and what splitting these costs, in a few matrix products."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt import bounds
from dosdt.bitvectors import RowSet, unpack
from dosdt.contract import Constraints
from dosdt.problem import Problem

Numbers = npt.NDArray[Any]
Outlook = Numbers
"""What new leaves cost, by the feature that splits a leaf of M features; integers of shape (3, 2, M).

First what they cost if they stay, then what they cost at the least if they are to be split next, then what the best
way found to split them costs; of each first the leaves where the feature is true, then those where it is not.
`Lookout.hopeless` stands for what may not be.
"""

_CELLS = 1 << 15
"""Cuts of new leaves that are appraised at once."""
_FACTORS = 1 << 23
"""Costs of rows of new leaves that are multiplied at once."""
_PAIRS = 1 << 19
"""With more pairs of features than this, what new leaves can be split into is left to looking at them."""


class Lookout:
    """Finds out what splitting a leaf may come to.

    One product of its rows' features with the rows' costs tells what all new leaves cost, and one of the features
    with themselves what all leaves cost that these can be split into: so what a new leaf costs at the least if it is
    split, without making it. All of it is done in floating point, which is what matrix products are fast in, where
    that is exact, and else in Python's integers.

    A *cut* is one way to split a leaf: a feature, and which of the two new leaves to split next. It is one number, as
    there are millions: the cut's bound times `ways`, plus four times the feature's number, plus two if the leaf where
    it is true is to be split next, plus one if the other is.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    switches : frozenset of str
        Which bounds to use; names as in `dosdt.bounds.SWITCHES`.

    Attributes
    ----------
    ways : int
        More than any cut's place.
    hopeless : int
        More than any tree's bound.
    integer : dtype
        Of all outlooks.
    finds : bool
        Whether to find ways to split new leaves.
    looks_ahead : bool
        Whether to tell more of new leaves than their own sums do.
    products : int
        How many multiplications it has done.
    """

    def __init__(self, problem: Problem, constraints: Constraints, switches: frozenset[str]) -> None:
        self._a, self._b = problem.a, problem.b
        self._max_depth = constraints.max_depth
        weight = sum(problem.weight)
        self._support = min(constraints.min_support, weight + 1)  # more than everything is as good as any larger one
        self._switches = switches
        # What is known of each leaf to be split before any of its rows is looked at: it becomes two or more.
        self._two = bounds.hierarchical(0, 1, self._a)
        if "lookahead" in switches:
            self._two = bounds.lookahead(self._two, 1, self._a)
        self.finds = constraints.max_leaves is None
        self.looks_ahead = {"leaf_cache", "lookahead"} <= switches
        self.ways = 4 * problem.n_columns
        self.hopeless = problem.b * sum(problem.ceiling) + 4 * problem.a * (problem.n_rows + 1)
        self.products = 0
        self._n_classes, self._n_rows = len(problem.cost), problem.n_rows
        tables = {
            "floor": problem.floor,
            "ceiling": problem.ceiling if self._n_classes > 2 else (),  # with two, what is not the floor
            # No side that is empty pays for itself, so where that is asked rows need not be counted.
            "weight": problem.weight if self._support or "accurate_support" not in switches else (),
        }
        used = {name: table for name, table in tables.items() if any(table)}
        self._place = {name: self._n_classes + place for place, name in enumerate(used)}
        rows = [*problem.cost, *used.values()]
        # Sums in floating point are exact as long as they stay below 2^24 or 2^53, and above, Python's integers are.
        real = _float_for(max(map(sum, rows)))
        self._counts_pairs = self.looks_ahead and problem.n_columns**2 <= _PAIRS and real is not object
        # Twice that much is told of two leaves for which there is no hope.
        self._cost: Any = real if real is object else _float_for(2 * max(self.hopeless, self._b * weight))
        self.integer: Any = np.int64 if 2 * self.hopeless * self.ways < 1 << 62 else object
        self._tables = np.array([list(table) for table in rows], real)
        # A column of ones, so that the product holds the sums over the whole leaf as well.
        self._features = np.hstack([problem.features, np.ones((problem.n_rows, 1), np.bool_)]).astype(real)
        places = 4 * np.arange(problem.n_columns) + 2 * np.arange(2)[:, None, None] + np.arange(2)[:, None]
        self._places = places.astype(self.integer)

    def look(self, rows: RowSet, depth: int) -> Generator[None, None, Outlook]:
        """Return what splitting a leaf, given by its rows and its depth, may come to; pause at times."""
        places = unpack(rows, self._n_rows).nonzero()[0]
        features, tables = self._features.take(places, 0), self._tables.take(places, 1)
        sums = np.matmul(tables, features)[:, None]
        self.products += tables.size * features.shape[1]
        (cost,), kept, least = self._sides(self._costs(sums), depth + 1)
        kept, least = kept[:, 0], least[:, 0]
        found = np.full_like(kept, self.hopeless)
        if self._counts_pairs:
            ceiling = cost if "incremental_accuracy" in self._switches else self.hopeless
            useful = self.useful(np.stack([kept, least]), ceiling).any(0).nonzero()[0]
            at_once = max(1, min(_CELLS // features.shape[1], _FACTORS // tables.size))
            for first in range(0, len(useful), at_once):
                some = useful[first : first + at_once]
                least[:, some], found[:, some] = self._split(tables, features, sums, some, depth + 2, least[:, some])
                yield
        outlook = np.array([kept, least, found])
        if outlook.dtype != object:
            outlook = outlook.astype(np.int64)  # for cuts, floats may be too short
        return outlook.astype(self.integer, copy=False)

    def useful(self, outlook: Outlook, ceiling: int) -> npt.NDArray[np.bool_]:
        """Return for which new leaves there is a cut below the ceiling with them to be split next; shape (2, M)."""
        kept, least = outlook[:2]
        bound = least + np.minimum(kept, least)[::-1]
        useful: npt.NDArray[np.bool_] = bound < min(ceiling, self.hopeless)
        return useful

    def summary(self, outlook: Outlook, ceiling: int) -> tuple[int, int, int]:
        """Return the least bound of a cut, what the best way found to split costs, and the feature it splits by.

        If no cut is below the ceiling, the least bound is more than any tree's.
        """
        bounds_, costs = np.minimum(outlook[0], outlook[1:]).sum(1)
        least, feature = int(bounds_.min()), int(costs.argmin())
        return (least if least < ceiling else self.hopeless), int(costs[feature]), feature

    def cuts(self, outlook: Outlook) -> Sequence[int]:
        """Return the cuts for which there is hope, smallest first."""
        every = (outlook[:2, None, 0] + outlook[None, :2, 1]) * self.ways + self._places
        every = every[every < self.hopeless * self.ways]
        every.sort()
        return every.tolist() if every.dtype == object else array("q", every.tobytes())

    def appraise(self, loss: Any, floor: Any, weight: Any, depth: int) -> tuple[Any, Any, Any]:
        """Return what a leaf costs if it stays, what it costs at the least if it is split, and whether it may be.

        All by its sums alone, or the same of many leaves at once, as arrays; loss and floor are costs.
        """
        a, switches = self._a, self._switches
        splittable = self._max_depth is None or depth < self._max_depth
        if self._support:
            splittable &= weight >= 2 * self._support
        if "node_support" in switches:
            splittable &= bounds.node_support(loss, floor, a)
        floor = floor if "equivalent_points" in switches else 0 * floor
        return loss + a, bounds.equivalent_points(self._two, floor), splittable

    def _split(
        self, tables: Numbers, features: Numbers, sums: Numbers, some: Numbers, depth: int, least: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Return what the new leaves of some features cost at the least if they are split, and if that is done once.

        All are hopeless that may not be split.
        """
        factors = tables[:, None, :] * features.take(some, 1).T
        self.products += factors.size * features.shape[1]
        yes = np.matmul(factors.reshape(-1, len(features)), features).reshape(len(tables), len(some), -1)
        cost, kept, split = self._sides(self._costs(np.concatenate([yes, sums - yes], 1)), depth)
        best = np.minimum(kept, split, out=split)
        bound: Numbers = np.add(best[0], best[1], out=best[0]).min(axis=1)
        if "incremental_accuracy" in self._switches:
            bound[bound >= cost] = self.hopeless
        once: Numbers = np.add(kept[0], kept[1], out=kept[0]).min(axis=1)
        if not self.finds:
            once[:] = self.hopeless
        both = np.array([bound, once]).reshape(2, 2, -1)
        both[:, least >= self.hopeless] = self.hopeless
        both[both > self.hopeless] = self.hopeless
        return both[0], both[1]

    def _sides(self, sums: Numbers, depth: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return what leaves cost, and what their new leaves cost if they stay and, at the least, if they are split.

        `sums` has the tables, the L leaves and the M features; the last feature is true everywhere. `depth` is that
        of the new leaves. The first has shape (L,), the others (2, L, M).
        """
        a, n = self._a, self._n_classes
        sides = np.empty((len(sums), 2, *sums[0, :, 1:].shape), sums.dtype)
        sides[:, 0] = sums[:, :, :-1]
        np.subtract(sums[:, :, -1:], sides[:, 0], out=sides[:, 1])
        loss = sides[:n].min(axis=0)
        floor = self._of("floor", sides)
        kept, split, splittable = self.appraise(loss, floor, self._of("weight", sides), depth)
        is_no_side = np.zeros(loss.shape, np.bool_)
        if "weight" in self._place:
            is_no_side = self._of("weight", sides) < max(self._support, 1)
        if "accurate_support" in self._switches:
            ceiling = self._of("ceiling", sides) if n > 2 else sides[0] + sides[n - 1] - floor
            is_no_side |= ~bounds.accurate_support(ceiling, loss, a)
        least = np.empty_like(kept)
        least[...] = split  # by itself it may be a single number for all
        least[is_no_side | ~np.asarray(splittable)] = self.hopeless
        kept[is_no_side] = self.hopeless
        return sums[:n, :, -1].min(axis=0) + a, kept, least

    def _of(self, table: str, sums: Numbers) -> Any:
        """Return the sums over a table; those that are not needed, or zero everywhere, are zero."""
        return sums[self._place[table]] if table in self._place else 0

    def _costs(self, sums: Numbers) -> Numbers:
        """Return sums as costs, but for the weights."""
        if self._cost is object and sums.dtype != object:
            sums = sums.astype(np.int64)
        sums = sums.astype(self._cost)
        if self._b > 1:
            unit = sums[self._place["weight"]].copy() if "weight" in self._place else None
            sums *= self._b
            if unit is not None:
                sums[self._place["weight"]] = unit
        return sums


def _float_for(largest: int) -> Any:
    """Return the type in which integers up to this one are exact: floats where these suffice."""
    return np.float32 if largest < 1 << 24 else np.float64 if largest < 1 << 53 else object
