"""All ways to split leaves, counted in one matrix product for each leaf."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt import bounds
from dosdt.bitvectors import WORD, RowSet, n_words, unpack_many
from dosdt.contract import Constraints
from dosdt.problem import Problem

Numbers = npt.NDArray[Any]

_CELLS = 1 << 15
"""Cuts of leaves that are appraised at once."""
_MASKS = 1 << 20
"""Rows, of all leaves together, that are looked for at once."""


class Cuts:
    """Counts the ways to split a leaf, and appraises what comes of them.

    A cut is one number, as there are millions: an option's bound times `ways`, plus four times the feature's number,
    plus two if the leaf where it is true is to be split next, plus one if the other is.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    switches : frozenset of str
        Which bounds to use; names as in `dosdt.bounds.SWITCHES`.

    Attributes
    ----------
    ways : int
        More than any option's place.
    hopeless : int
        More than any tree's bound.
    at_once : int
        How many leaves it is best to count together.
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
        self.ways = 4 * problem.n_columns
        self.hopeless = problem.b * sum(problem.ceiling) + 4 * problem.a * (problem.n_rows + 1)
        self.at_once = max(1, min(_CELLS // self.ways, _MASKS // problem.n_rows))
        self._n_classes = len(problem.cost)
        self._n_rows = problem.n_rows
        tables = [*problem.cost, problem.floor, problem.weight, (1,) * problem.n_rows]
        if self._n_classes > 2:  # with two, a row's costs are its floor and its ceiling
            tables.append(problem.ceiling)
        # Sums in floating point are exact as long as they stay below 2^24 or 2^53, and above, Python's integers are.
        largest = max(map(sum, tables))
        real: Any = np.float32 if largest < 1 << 24 else np.float64 if largest < 1 << 53 else object
        self._short = max(self.hopeless * self.ways, self._b, weight) < 1 << 61
        self._integer: Any = np.int64 if self._short else object
        self._tables = np.array([list(table) for table in tables], real)
        # A column of ones, so that the product holds the sums over the whole leaf as well.
        self._features = np.hstack([problem.features, np.ones((problem.n_rows, 1), np.bool_)]).astype(real)
        places = 4 * np.arange(problem.n_columns)[:, None] + np.arange(4)
        self._places = places.astype(self._integer)

    def count(self, leaves: Sequence[tuple[RowSet, int]]) -> list[Sequence[int]]:
        """Return all cuts of leaves given by their rows and depths, smallest bound first."""
        width = n_words(self._n_rows)
        words = b"".join([int(rows).to_bytes(8 * width, "little") for rows, _ in leaves])
        masks = unpack_many(np.frombuffer(words, WORD).reshape(len(leaves), width), self._n_rows)
        sums = np.empty((len(leaves), len(self._tables), self._features.shape[1]), self._tables.dtype)
        for mask, of_leaf in zip(masks, sums, strict=True):
            rows = mask.nonzero()[0]
            np.matmul(self._tables.take(rows, 1), self._features.take(rows, 0), out=of_leaf)
        depths = np.array([[depth + 1] for _, depth in leaves])
        if sums.dtype != object:
            sums = sums.astype(np.int64)  # for what follows, floats would be too short
        cuts, is_cut = self._cuts(sums.astype(self._integer, copy=False).transpose(1, 0, 2), depths)
        cuts.sort(axis=1)
        counts = is_cut.sum(axis=1).tolist()
        if self._short:
            return [array("q", row[:count].tobytes()) for row, count in zip(cuts, counts, strict=True)]
        return [row[:count].tolist() for row, count in zip(cuts, counts, strict=True)]

    def appraise(self, loss: Any, floor: Any, weight: Any, depth: Any) -> tuple[Any, Any, Any]:
        """Return what a leaf costs if it stays, what it costs at the least if it is split, and whether it may be.

        All by its sums alone, or the same of many leaves at once, as arrays; loss and floor are costs.
        """
        a, switches = self._a, self._switches
        floor = floor if "equivalent_points" in switches else 0 * floor
        splittable = weight >= 2 * self._support
        if "node_support" in switches:
            splittable &= bounds.node_support(loss, floor, a)
        if self._max_depth is not None:
            splittable &= depth < self._max_depth
        return loss + a, bounds.equivalent_points(self._two, floor), splittable

    def _cuts(self, sums: Numbers, depths: Numbers) -> tuple[Numbers, npt.NDArray[np.bool_]]:
        """Return all cuts of leaves, and which of them there are; the others are larger than any.

        `sums` has the tables, the leaves and the features; the last feature is true everywhere. `depths` are those of
        the new leaves.
        """
        a, b, n, m = self._a, self._b, self._n_classes, self._features.shape[1] - 1
        # First the new leaves where each feature is true, then those where it is not.
        sides = np.concatenate([sums[:, :, :m], sums[:, :, m:] - sums[:, :, :m]], axis=2)
        loss, floor, weight = b * sides[:n].min(axis=0), b * sides[n], sides[n + 1]
        kept, split, splittable = self.appraise(loss, floor, weight, depths)
        is_side = sides[n + 2] > 0
        if self._support:
            is_side &= weight >= self._support
        if "accurate_support" in self._switches:
            ceiling = sides[n + 3] if n > 2 else sides[0] + sides[n - 1] - sides[n]
            is_side &= bounds.accurate_support(b * ceiling, loss, a)
        goes_on = is_side & splittable
        may_stay = is_side[:, :m] & is_side[:, m:]
        if "incremental_accuracy" in self._switches:
            whole = b * sums[:n, :, m:].min(axis=0)
            may_stay &= bounds.incremental_accuracy(whole, loss[:, :m], loss[:, m:], a)
        least = np.empty((len(depths), m, 4), self._integer)
        is_cut = np.empty(least.shape, np.bool_)
        for way, (yes, no) in enumerate(product((kept, split), repeat=2)):
            np.add(yes[:, :m], no[:, m:], out=least[:, :, way])
        is_cut[:, :, 0] = may_stay
        np.logical_and(is_side[:, :m], goes_on[:, m:], out=is_cut[:, :, 1])
        np.logical_and(goes_on[:, :m], is_side[:, m:], out=is_cut[:, :, 2])
        np.logical_and(goes_on[:, :m], goes_on[:, m:], out=is_cut[:, :, 3])
        least *= self.ways
        least += self._places
        least[~is_cut] = self.hopeless * self.ways
        return least.reshape(len(depths), 4 * m), is_cut.reshape(len(depths), 4 * m)
