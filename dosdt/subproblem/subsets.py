"""Subsets of the rows as a search meets them: where they come from, and what a tree for them may have.

Child x < M of a subset is where feature x is true, child M + x where it is false. A path leads from all rows to a
subset by signed feature numbers, counted from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dosdt.bitvectors import RowSet, Words, from_words, n_words, pack, to_words
from dosdt.problem import Problem

Path = tuple[int, ...]
Limits = npt.NDArray[np.int32]
UNLIMITED = 2**30
"""Stands in arrays for a depth or a number of leaves that is not limited."""


class Subset(NamedTuple):
    """Some rows, and the depth and leaves that a tree for them may have; None where that is not limited."""

    rows: RowSet
    depth: int | None
    leaves: int | None

    @property
    def is_leaf(self) -> bool:
        """Whether no split is allowed."""
        return self.depth == 0 or self.leaves == 1


class Batch(NamedTuple):
    """Many subsets.

    Attributes
    ----------
    words : uint64 array of shape (n, words)
        The rows, as bits.
    depth, leaves : int32 arrays of shape (n,)
        What a tree may have, `UNLIMITED` where that is not limited.
    """

    words: Words
    depth: Limits
    leaves: Limits

    def part(self, chosen: Any) -> Batch:
        """Return some of them."""
        return Batch(self.words[chosen], self.depth[chosen], self.leaves[chosen])

    def subset(self, k: int) -> Subset:
        """Return one of them."""
        return Subset(from_words(self.words[k]), allowed(int(self.depth[k])), allowed(int(self.leaves[k])))


class Subsets:
    """The subsets of a problem's distinct rows.

    Attributes
    ----------
    width : int
        How many words a subset takes.
    """

    def __init__(self, problem: Problem) -> None:
        self.m, self.width = problem.n_columns, n_words(problem.n_rows)
        columns = [pack(problem.features[:, j]) for j in range(self.m)]
        self._everything = pack(np.ones(problem.n_rows, np.bool_))
        # The rows of every child of all rows; a subset's child has those of them that the subset has.
        self._sides = [*columns, *(self._everything ^ column for column in columns)]
        # The same as words, and all rows at last.
        self._words = np.array([to_words(rows, self.width) for rows in (*self._sides, self._everything)])

    def child(self, subset: Subset, x: int, share: int) -> Subset:
        """Return child x; where leaves are limited, it may have `share` + 1."""
        depth = None if subset.depth is None else subset.depth - 1
        leaves = None if subset.leaves is None else share + 1
        return Subset(subset.rows & self._sides[x], depth, leaves)

    def children(self, parents: Batch, side: npt.NDArray[Any], share: npt.NDArray[Any]) -> Batch:
        """Return one child of each parent; where leaves are limited, it may have its share + 1."""
        words, depth, leaves = parents
        return Batch(
            words & self._words[side],
            depth - (depth < UNLIMITED),
            np.where(leaves < UNLIMITED, share + 1, leaves).astype(np.int32),
        )

    def rows_at(self, path: Iterable[int]) -> RowSet:
        """Return the rows that a path leads to."""
        rows = self._everything
        for literal in path:
            rows &= self._sides[literal - 1 if literal > 0 else self.m - literal - 1]
        return rows

    def at(self, paths: npt.NDArray[Any]) -> Words:
        """Return the rows that many paths lead to, shape (n, words); paths are filled up with zeros."""
        words = np.tile(self._words[-1], (len(paths), 1))
        for literal in paths.T.astype(np.intp):
            # A literal 0 takes all rows.
            words &= self._words[np.where(literal > 0, literal - 1, np.where(literal, self.m - literal - 1, -1))]
        return words

    def only(self, subset: Subset) -> Batch:
        """Return a batch of one."""
        limits = (np.array([UNLIMITED if x is None else x], np.int32) for x in (subset.depth, subset.leaves))
        return Batch(to_words(subset.rows, self.width)[None], *limits)

    def literals(self, side: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the signed feature numbers that lead to children."""
        literals: npt.NDArray[Any] = np.where(side < self.m, side + 1, self.m - side - 1)
        return literals


def allowed(limit: int) -> int | None:
    """Return a limit of an array as one of a `Subset`."""
    return None if limit >= UNLIMITED else limit
