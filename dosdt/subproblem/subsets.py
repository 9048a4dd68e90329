"""Subsets of the rows as a search meets them: where they come from, and what a tree for them may have.

Child x < M of a subset is where feature x is true, child M + x where it is false. A path leads from all rows to a
subset by signed feature numbers, counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dosdt.bitvectors import RowSet, pack
from dosdt.problem import Problem

Path = tuple[int, ...]
Key = RowSet | tuple[RowSet, int | None, int | None]


class Subset(NamedTuple):
    """Some rows, and the depth and leaves that a tree for them may have; None where that is not limited."""

    rows: RowSet
    depth: int | None
    leaves: int | None

    @property
    def key(self) -> Key:
        """What is known about the subset is kept under this: the rows alone where nothing is limited."""
        return self.rows if self.depth is None and self.leaves is None else self

    @property
    def is_leaf(self) -> bool:
        """Whether no split is allowed."""
        return self.depth == 0 or self.leaves == 1


class Subsets:
    """The subsets of a problem's distinct rows."""

    def __init__(self, problem: Problem) -> None:
        self.m = problem.n_columns
        columns = [pack(problem.features[:, j]) for j in range(self.m)]
        self._everything = pack(np.ones(problem.n_rows, np.bool_))
        self.sides = [*columns, *(self._everything ^ column for column in columns)]
        """The rows of every child of all rows; a subset's child has those of them that the subset has."""

    def child(self, subset: Subset, x: int, share: int) -> Subset:
        """Return child x; where leaves are limited, it may have `share` + 1."""
        depth = None if subset.depth is None else subset.depth - 1
        leaves = None if subset.leaves is None else share + 1
        return Subset(subset.rows & self.sides[x], depth, leaves)

    def rows_at(self, path: Iterable[int]) -> RowSet:
        """Return the rows that a path leads to."""
        rows = self._everything
        for literal in path:
            rows &= self.sides[literal - 1 if literal > 0 else self.m - literal - 1]
        return rows

    def literal(self, x: int) -> int:
        """Return the signed feature number that leads to child x."""
        return x + 1 if x < self.m else self.m - x - 1
