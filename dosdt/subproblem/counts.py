"""Counting: what the children and grandchildren of subsets cost as leaves, in a few matrix products.

A subset with M features has 2M children: child x < M is where feature x is true, child M + x where it is false.
One product of the rows' features with themselves gives the losses of all 4M² grandchildren at once, so expanding a
subset tells as much as expanding it and every child of it one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dosdt.bitvectors import RowSet, unpack
from dosdt.problem import Problem

Array = npt.NDArray[Any]
Rows = tuple[npt.NDArray[np.intp], ...]
"""The rows of a subset, once for every table of values: those where the value is not zero."""


class Counts(NamedTuple):
    """What counting says of B subsets; costs are ``b·loss + a·leaves`` without the floors.

    Attributes
    ----------
    leaf : list of B int
        Each subset as one leaf.
    leaves, splits : integer arrays of shape (B, 2M)
        Every child as one leaf, and with its best single split if that is better.
    lowers : integer array of shape (B, 2M)
        A bound on every child.
    levels : int
        Up to how many splits deep a child is known exactly, less one: 2 if `splits` is exact, 1 if only `leaves` is.
    never : int
        More than any tree costs; stands in the arrays for a child of a split that cannot pay.
    shared : array of shape (B, 2M, 2M)
        Most that the rows which two children share can lose: Σ (ceiling - floor); None where it was not counted.
    """

    leaf: list[int]
    leaves: Array
    splits: Array
    lowers: Array
    levels: int
    never: int
    shared: Array | None


class Counter:
    """Counts for subsets of a problem's distinct rows.

    Parameters
    ----------
    problem : Problem
    penalty : Fraction
        a/b, what a leaf costs in units of loss.
    min_support : int
        Least weight of a leaf; 0 if there is no such constraint.
    switches : frozenset of str
        Which bounds to use.
    """

    def __init__(self, problem: Problem, penalty: Fraction, min_support: int, switches: frozenset[str]) -> None:
        self._a, self._b = penalty.numerator, penalty.denominator
        # More than everything is as good as any larger number, and fits into a float.
        self._min_support = min(min_support, sum(problem.weight) + 1)
        self._reduced_support = "reduced_support" in switches
        self._grandchildren = "grandchildren" in switches
        floor = problem.floor
        residuals = [[cost - low for cost, low in zip(row, floor, strict=True)] for row in problem.cost]
        spread = [high - low for high, low in zip(problem.ceiling, floor, strict=True)]
        self._n_classes = len(residuals)
        tables = [*residuals]
        if self._n_classes > 2:  # with two classes a row's spread is its one residual
            tables.append(spread)
        if min_support:
            tables.append(list(problem.weight))
        # Integers are exact in floating point as long as their sums stay below 2^24 or 2^53.
        self._most_spread = sum(spread)
        largest = max(sum(spread), sum(problem.weight) if min_support else 0)
        dtype: Any = np.float32 if largest < 2**24 else np.float64 if largest < 2**53 else object
        # More than any cost, and small enough for two of them to be added in 64 bits wherever costs fit at all.
        dearest = self._b * sum(spread) + self._a * (2 * problem.n_rows + 4)
        if dearest >= 2**59:
            dtype = object  # as a whole: a float that becomes an object is still a float, and rounds
        self.never = 4 * dearest + 1 if dtype is object else 2**61
        self.integer: Any = object if dtype is object else np.int64
        # The large tables stay in 32 bits where costs fit as well: half the memory, twice the speed.
        self._small = dtype is np.float32 and 4 * dearest < 2**24
        self._sides = np.ascontiguousarray(np.hstack([problem.features, ~problem.features]).T)
        # A column of ones makes the products hold the sums over a child and over the whole subset as well.
        ones = np.ones((problem.n_rows, 1), np.bool_)
        self._features = np.hstack([problem.features, ones]).astype(dtype)
        self._values = [np.array(table, dtype=dtype)[:, None] * self._features for table in tables]
        self._matters = [np.array([value != 0 for value in table]) for table in tables]

    @property
    def compares(self) -> bool:
        """Whether `Counts.shared` is kept: with many features it takes more memory than similarity is worth."""
        return int(self._features.shape[1]) <= _COMPARED

    @property
    def cells(self) -> int:
        """How many numbers one subset takes."""
        return 4 * (int(self._features.shape[1]) - 1) ** 2

    def rows(self, row_set: RowSet) -> Rows:
        """Return the rows of a subset that matter."""
        mask = unpack(row_set, len(self._features))
        return tuple([np.flatnonzero(mask & matters) for matters in self._matters])

    def child(self, rows: Rows, x: int) -> Rows:
        """Return the rows of child x of a subset."""
        answers = self._sides[x]
        return tuple([part[answers.take(part)] for part in rows])

    def count(self, subsets: Sequence[Rows]) -> Counts:
        """Count for several subsets at once."""
        width = self._features.shape[1]
        sums = np.empty((len(self._values), len(subsets), width, width), dtype=self._features.dtype)
        for k, subset in enumerate(subsets):
            for t, part in enumerate(subset):
                np.matmul(self._values[t].take(part, 0).T, self._features.take(part, 0), out=sums[t, k])
        return self._evaluate(_grandchildren(sums))

    def _idle(self, tables: Array, losses: Array, shared: Array) -> npt.NDArray[np.bool_]:
        """Return which sides of a split cannot pay for themselves, or are too small.

        Reduced support: whoever takes a side's rows in can lose `shared` on them at most; keeping the side costs
        loss + λ as one leaf, and 2λ or more otherwise. It is the paper's accurate support without the floors.
        """
        one, two = (self._a // self._b, 2 * self._a // self._b) if self._reduced_support else (0, 0)
        one, two = min(one, self._most_spread), min(two, self._most_spread)
        idle: npt.NDArray[np.bool_] = shared - losses <= one
        if self._n_classes > 2 or not self._reduced_support:
            idle &= shared <= two
        if self._min_support:
            idle |= tables[-1] < self._min_support
        return idle

    def _evaluate(self, tables: Array) -> Counts:
        a, b, n = self._a, self._b, self._n_classes
        m = tables.shape[2] // 2
        losses = np.minimum(tables[0], tables[1])
        for table in tables[2:n]:
            np.minimum(losses, table, out=losses)
        shared = tables[0] + tables[1] if n == 2 else tables[n]
        idle = self._idle(tables, losses, shared)
        # Grandchildren are the same in either order, so the minimum over a child's splits may run over the first of
        # the two axes, where numpy is quick.
        useless = idle[:, :m] | idle[:, m:]
        costs = losses if self._small else losses.astype(self.integer)
        never = 2**22 if self._small else self.never  # gone once the minimum with a leaf is taken
        if b != 1:
            costs *= b
        diagonal = np.arange(2 * m)
        leaves = costs[:, diagonal, diagonal].astype(self.integer) + a
        pairs = costs[:, :m] + costs[:, m:]
        np.copyto(pairs, never, where=useless)
        splits = np.minimum(pairs.min(axis=1).astype(self.integer) + 2 * a, leaves)
        if self._grandchildren:
            # Each side of a child's split is a leaf or costs 2λ at least.
            np.minimum(costs, a, out=costs)
            np.add(costs[:, :m], costs[:, m:], out=pairs)
            np.copyto(pairs, never, where=useless)
            lowers = np.minimum(pairs.min(axis=1).astype(self.integer) + 2 * a, leaves)
        else:
            lowers = np.minimum(splits, 3 * a)
        own = idle[:, diagonal, diagonal]
        out = own[:, :m] | own[:, m:]
        for bounds in (leaves, splits, lowers):
            np.copyto(bounds[:, :m], self.never, where=out)
        whole = (tables[:n, :, 0, 0] + tables[:n, :, m, m]).min(axis=0).tolist()
        leaf = [b * int(loss) + a for loss in whole]
        return Counts(leaf, leaves, splits, lowers, 2, self.never, shared if self.compares else None)


class WideCounter(Counter):
    """Counts children only: with thousands of features, their pairs are too many."""

    @property
    def compares(self) -> bool:
        """Whether `Counts.shared` is counted."""
        return False

    @property
    def cells(self) -> int:
        """How many numbers one subset takes."""
        return 2 * int(self._features.shape[1])

    def count(self, subsets: Sequence[Rows]) -> Counts:
        """Count for several subsets at once."""
        a, b, n = self._a, self._b, self._n_classes
        width = self._features.shape[1]
        m = width - 1
        sums = np.empty((len(self._values), len(subsets), width), dtype=self._features.dtype)
        for k, subset in enumerate(subsets):
            for t, part in enumerate(subset):
                sums[t, k] = self._values[t].take(part, 0).sum(axis=0)
        tables = np.concatenate([sums[..., :m], sums[..., m:] - sums[..., :m]], axis=2)
        losses = tables[:n].min(axis=0)
        idle = self._idle(tables, losses, tables[:2].sum(axis=0) if n == 2 else tables[n])
        leaves = losses.astype(self.integer) * b + a
        lowers = np.minimum(leaves, 2 * a)
        out = idle[:, :m] | idle[:, m:]
        for bounds in (leaves, lowers):
            np.copyto(bounds[:, :m], self.never, where=out)
        leaf = [b * int(loss) + a for loss in sums[:n, :, m].min(axis=0).tolist()]
        return Counts(leaf, leaves, leaves, lowers, 1, self.never, None)


_COMPARED = 50
_WIDE = 600


def counter_for(problem: Problem, penalty: Fraction, min_support: int, switches: frozenset[str]) -> Counter:
    """Return a counter that suits the number of features."""
    kind = Counter if problem.n_columns <= _WIDE else WideCounter
    return kind(problem, penalty, min_support, switches)


def _grandchildren(sums: Array) -> Array:
    """Return the sums over all 2M x 2M grandchildren, given those over pairs of true features and of none."""
    m = sums.shape[-1] - 1
    cells = np.empty((*sums.shape[:-2], 2 * m, 2 * m), dtype=sums.dtype)
    both, one, total = sums[..., :m, :m], sums[..., :m, m], sums[..., m, m]
    cells[..., :m, :m] = both
    np.subtract(one[..., :, None], both, out=cells[..., :m, m:])
    np.subtract(one[..., None, :], both, out=cells[..., m:, :m])
    np.subtract((total[..., None] - one)[..., :, None], cells[..., m:, :m], out=cells[..., m:, m:])
    return cells
