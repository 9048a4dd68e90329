"""What each code adds to a tree's figures, as arrays, so that thousands of trees are appraised at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dosdt.leafset.leaves import Leaf, LeafCache
from dosdt.leafset.letters import Array, Lists
from dosdt.problem import Problem


def grown(array: Array, length: int) -> Array:
    """Return an array of at least this length that starts like the one given; what is new is zero."""
    if length <= len(array):
        return array
    larger = np.zeros(max(length, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


class Figures(NamedTuple):
    """The figures of many trees; see `Option` for what they are."""

    bounds: list[int]
    kept_costs: list[int]
    kept_weights: list[int]
    to_split: list[int]


class CodeTables:
    """The figures of every code: a leaf to be kept or to be split.

    Parameters
    ----------
    problem : Problem
    leaves : LeafCache
    """

    def __init__(self, problem: Problem, leaves: LeafCache) -> None:
        self._leaves = leaves.leaves
        most = leaves.hopeless * (problem.n_rows + 1) + sum(problem.weight)
        dtype = np.dtype(np.int64 if most < 1 << 62 else object)  # Python's own integers where others are too short
        self._known = 0
        self._bounds = np.zeros(0, dtype)
        self._kept_costs = np.zeros(0, dtype)
        self._kept_weights = np.zeros(0, dtype)

    def learn(self, raised: Iterable[Leaf]) -> None:
        """Take in that leaves to be split cost more than was known."""
        for leaf in raised:
            if leaf.index < self._known:
                self._bounds[2 * leaf.index + 1] = leaf.least

    def figures(self, trees: Lists) -> Figures:
        """Return the figures of trees given by their codes."""
        self._catch_up()
        codes, starts = trees.items, trees.starts
        return Figures(
            np.add.reduceat(self._bounds[codes], starts).tolist(),
            np.add.reduceat(self._kept_costs[codes], starts).tolist(),
            np.add.reduceat(self._kept_weights[codes], starts).tolist(),
            np.add.reduceat(codes & 1, starts).tolist(),
        )

    def _catch_up(self) -> None:
        first, last = self._known, len(self._leaves)
        new = self._leaves[first:]
        self._bounds = grown(self._bounds, 2 * last)
        self._kept_costs = grown(self._kept_costs, 2 * last)
        self._kept_weights = grown(self._kept_weights, 2 * last)
        kept = [leaf.kept for leaf in new]
        self._bounds[2 * first : 2 * last : 2] = kept
        self._bounds[2 * first + 1 : 2 * last : 2] = [leaf.least for leaf in new]
        self._kept_costs[2 * first : 2 * last : 2] = kept
        self._kept_weights[2 * first : 2 * last : 2] = [leaf.weight for leaf in new]
        self._known = last
