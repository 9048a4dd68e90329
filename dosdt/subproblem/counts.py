"""Counting: what the children and grandchildren of subsets cost as leaves, in a few matrix products.

A subset with M features has 2M children: child x < M is where feature x is true, child M + x where it is false.
One product of the rows' features with themselves gives the losses of all grandchildren at once, so expanding a
subset tells as much as expanding it and every child of it one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dosdt.bitvectors import Words, unpack_many
from dosdt.problem import Problem

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
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
    losses : integer array of shape (B, 2M)
        Most that the rows of every child can lose: b·Σ (ceiling - floor).
    """

    leaf: list[int]
    leaves: Array
    splits: Array
    lowers: Array
    levels: int
    losses: Array


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

    Attributes
    ----------
    never : int
        More than any tree costs; stands in `Counts` for a child of a split that cannot pay.
    integer : numpy type
        Of the costs: 32 or 64 bits, or Python's own integers where these do not suffice.
    """

    def __init__(self, problem: Problem, penalty: Fraction, min_support: int, switches: frozenset[str]) -> None:
        self._a, self._b = penalty.numerator, penalty.denominator
        # More than everything is as good as any larger number, and fits into a float.
        self._min_support = min(min_support, sum(problem.weight) + 1)
        self._reduced_support = "reduced_support" in switches
        self._grandchildren = "grandchildren" in switches
        floor = problem.floor
        residuals = [[self._b * (cost - low) for cost, low in zip(row, floor, strict=True)] for row in problem.cost]
        spread = [self._b * (high - low) for high, low in zip(problem.ceiling, floor, strict=True)]
        self._n_classes = len(residuals)
        tables = [*residuals]
        if self._n_classes > 2:  # with two classes a row's spread is its one residual
            tables.append(spread)
        if min_support:
            tables.append(list(problem.weight))
        scale = _scale(problem, penalty, min_support)
        dtype: Any = scale.real
        self._slowness = 64 if dtype is object else 1
        self.integer: Any = scale.integer
        self.never = scale.never
        # What no sum of losses reaches, where splits that cannot pay are passed over.
        self._out: Any = 2 * sum(spread) + 2 if dtype is object else dtype(2 * sum(spread) + 2)
        # A penalty above all losses is as good as any larger one, and a penalty in a float stays exact.
        self._most = sum(spread)
        # A column of ones makes the products hold the sums over a child and over the whole subset as well.
        ones = np.ones((problem.n_rows, 1), np.bool_)
        features = np.hstack([problem.features, ones]).astype(dtype)
        # Side by side, so that one look-up fetches both factors of a product.
        self._factors = [np.hstack([np.array(table, dtype=dtype)[:, None] * features, features]) for table in tables]
        self._width = problem.n_columns + 1
        self._matters = [np.array([value != 0 for value in table]) for table in tables]

    @property
    def cells(self) -> int:
        """How many numbers one subset takes."""
        return 4 * (self._width - 1) ** 2

    @property
    def work(self) -> int:
        """How many multiplications the largest product takes, or as many as take as long."""
        return max(int(matters.sum()) for matters in self._matters) * self._width**2 * self._slowness

    def rows_of(self, words: Words) -> list[Rows]:
        """Return the rows of subsets that matter; `words` has shape (n, words)."""
        masks = unpack_many(words, len(self._matters[0]))
        # One by one: numpy finds the places in a short row faster than in a long table.
        tables = [[row.nonzero()[0] for row in masks & matters] for matters in self._matters]
        return list(zip(*tables, strict=True))

    def count(self, subsets: Sequence[Rows]) -> Counts:
        """Count for several subsets at once."""
        w = self._width
        sums = np.empty((len(self._factors), len(subsets), w, w), dtype=self._factors[0].dtype)
        for t, factors in enumerate(self._factors):
            for k, subset in enumerate(subsets):
                both = factors.take(subset[t], 0)
                np.matmul(both[:, :w].T, both[:, w:], out=sums[t, k])
        return self._evaluate(sums)

    def _idle(self, tables: Array, losses: Array) -> Mask:
        """Return which sides of a split cannot pay for themselves, or are too small.

        Reduced support: whoever takes a side's rows in can lose their spread at most. If that is at most λ more than
        the side loses as one leaf, it is so for every part of the side too, and no leaf there pays for itself. It is
        the paper's accurate support without the floors.
        """
        n = self._n_classes
        a = min(self._a, self._most) if self._reduced_support else 0
        # With two classes, what a side's spread exceeds its loss by is the other class's loss.
        idle: Mask = (np.maximum(tables[0], tables[1]) if n == 2 else tables[n] - losses) <= a
        if self._min_support:
            idle |= tables[-1] < self._min_support
        return idle

    def _evaluate(self, sums: Array) -> Counts:
        """Return bounds from the sums over pairs of true features; the last row and column stand for no feature."""
        a, m = self._a, self._width - 1
        total = sums[..., m, m]
        yes = sums[..., :m, m]
        children = np.concatenate([yes, total[..., None] - yes], axis=-1)
        losses, out = self._judge(children)
        splits, lowers = self._best_splits(sums[..., :m, :m], yes, children[..., m:])
        leaves = losses.astype(self.integer) + a
        splits = np.minimum(splits.astype(self.integer) + 2 * a, leaves)
        if self._grandchildren:
            lowers = np.minimum(lowers.astype(self.integer) + 2 * a, leaves)
        else:
            lowers = np.minimum(splits, 3 * a)
        spread = children[0] + children[1] if self._n_classes == 2 else children[self._n_classes]
        most = spread.astype(self.integer)
        never = out[:, :m] | out[:, m:]
        for bounds in (leaves, splits, lowers):
            np.copyto(bounds[:, :m], self.never, where=never)
        leaf = [int(loss) + a for loss in total[: self._n_classes].min(axis=0).tolist()]
        return Counts(leaf, leaves, splits, lowers, 2, most)

    def _judge(self, tables: Array) -> tuple[Array, Mask]:
        """Return the losses of sides as leaves, and which of them are idle."""
        losses = np.minimum(tables[0], tables[1])
        for table in tables[2 : self._n_classes]:
            np.minimum(losses, table, out=losses)
        return losses, self._idle(tables, losses)

    def _best_splits(self, both: Array, yes: Array, no: Array) -> tuple[Array, Array]:
        """Return, for all 2M children, the least loss of a split, and the least if a side may cost λ instead.

        Either side of a child's split is a leaf, or costs 2λ at least. `both` has the sums over pairs of true
        features, `yes` and `no` those over one feature.
        """
        m = self._width - 1
        a = min(self._a, self._most)
        # Arrays are indexed [y, x] for child x split by y: numpy is quick to find minima along that axis.
        x_without_y = yes[..., None, :] - both
        y_without_x = yes[..., :, None] - both
        neither = no[..., :, None] - x_without_y
        halves = [(both, x_without_y), (y_without_x, neither)]
        splits, lowers = (np.empty((both.shape[1], 2 * m), both.dtype) for _ in range(2))
        for half, (first, second) in enumerate(halves):
            place = slice(half * m, half * m + m)
            one, idle = self._judge(first)
            other, idle_too = self._judge(second)
            idle |= idle_too
            pairs = one + other
            np.copyto(pairs, self._out, where=idle)
            pairs.min(axis=1, out=splits[:, place])
            if self._grandchildren:
                np.add(np.minimum(one, a, out=one), np.minimum(other, a, out=other), out=pairs)
                np.copyto(pairs, self._out, where=idle)
                pairs.min(axis=1, out=lowers[:, place])
        return splits, lowers


class WideCounter(Counter):
    """Counts children only: with thousands of features, their pairs are too many."""

    @property
    def cells(self) -> int:
        """How many numbers one subset takes."""
        return 2 * self._width

    @property
    def work(self) -> int:
        """How many additions all sums take, as multiplications that take as long."""
        return len(self._matters[0]) * self._width * len(self._factors) * 8 * self._slowness

    def count(self, subsets: Sequence[Rows]) -> Counts:
        """Count for several subsets at once."""
        a, n, w = self._a, self._n_classes, self._width
        sums = np.empty((len(self._factors), len(subsets), w), dtype=self._factors[0].dtype)
        for t, factors in enumerate(self._factors):
            for k, subset in enumerate(subsets):
                sums[t, k] = factors[:, :w].take(subset[t], 0).sum(axis=0)
        yes, total = sums[..., :-1], sums[..., -1:]
        children = np.concatenate([yes, total - yes], axis=-1)
        losses, out = self._judge(children)
        leaves = losses.astype(self.integer) + a
        lowers = np.minimum(leaves, 2 * a)
        never = out[:, : w - 1] | out[:, w - 1 :]
        for bounds in (leaves, lowers):
            np.copyto(bounds[:, : w - 1], self.never, where=never)
        spread = children[0] + children[1] if n == 2 else children[n]
        leaf = [int(loss) + a for loss in total[:n, :, 0].min(axis=0).tolist()]
        return Counts(leaf, leaves, leaves, lowers, 1, spread.astype(self.integer))


_WIDE = 2**21
"""Numbers that one subset may take, in all tables of pairs."""
_WIDE_OBJECTS = 2**20
"""Products of Python's integers that one subset may take."""


def counter_for(problem: Problem, penalty: Fraction, min_support: int, switches: frozenset[str]) -> Counter:
    """Return a counter that suits the numbers of features and classes: no expansion may take long."""
    pairs = problem.n_columns**2 * (len(problem.cost) + 2)
    slow = _scale(problem, penalty, min_support).real is object and problem.n_rows * pairs > _WIDE_OBJECTS
    kind = WideCounter if slow or 4 * pairs > _WIDE else Counter
    return kind(problem, penalty, min_support, switches)


class _Scale(NamedTuple):
    """Types that hold all sums and costs exactly, and a number above all costs."""

    real: Any
    integer: Any
    never: int


def _scale(problem: Problem, penalty: Fraction, min_support: int) -> _Scale:
    a, b = penalty.numerator, penalty.denominator
    spread = b * (sum(problem.ceiling) - sum(problem.floor))
    # Integers are exact in floating point as long as their sums stay below 2^24 or 2^53.
    largest = max(spread, sum(problem.weight) if min_support else 0)
    # More than any cost. Twice the number that stands for never fits as well.
    dearest = spread + a * (2 * problem.n_rows + 4)
    if dearest >= 2**61 or largest >= 2**52:
        return _Scale(object, object, 4 * dearest + 1)
    real = np.float64 if largest >= 2**23 else np.float32
    return _Scale(real, np.int64, 2**61) if dearest >= 2**29 else _Scale(real, np.int32, 2**29)
