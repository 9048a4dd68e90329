"""What subsets of the rows, their children and grandchildren cost as leaves, many subsets at once.

A subset split by feature x has two children. In one matrix product its rows' features meet themselves, which sums
the residuals of all grandchildren: rows where x and y are both true. Sums of the other three kinds of grandchildren
are differences of these. Matrices are floating point because that is what products are fast in, and only where
every number in them is a whole number small enough to be exact; otherwise they hold Python's integers.

Costs are b·loss + a·leaves, where the loss is in residuals: what a label costs above the row's cheapest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
_WIDE = 600
"""With more features than this only children are counted: their pairs are too many."""
_CELLS = 2**18
"""Numbers in one table of a batch."""


class Counts(NamedTuple):
    """Bounds that follow from counting, for B subsets and M features.

    Attributes
    ----------
    leaf : list of B int
        Every subset as one leaf.
    yes, no : three arrays of shape (B, M) each
        A bound on the child of every feature, where a tree for the child may have no split on a path, at most one,
        or more; `yes` is infinite where the split is excluded.
    """

    leaf: list[int]
    yes: tuple[Array, Array, Array]
    no: tuple[Array, Array, Array]


class Counting:
    """Counts over subsets of distinct rows.

    Parameters
    ----------
    features : ndarray of bool, shape (n, M)
    cost : sequence of n_classes sequences of n int
        What predicting a class costs on a row.
    weight : sequence of n int
    min_support : int
        Least weight of a leaf; 0 if any will do.
    a, b : int
        Price of a leaf and of one unit of loss.
    """

    def __init__(
        self,
        features: npt.NDArray[np.bool_],
        cost: Sequence[Sequence[int]],
        weight: Sequence[int],
        min_support: int,
        a: int,
        b: int,
    ) -> None:
        self.a, self.b = a, b
        floor = list(map(min, zip(*cost, strict=True)))
        self.base = sum(floor)
        residual = [[value - low for value, low in zip(row, floor, strict=True)] for row in cost]
        spread = list(map(max, zip(*residual, strict=True)))
        self._n_classes = len(residual)
        tables = residual
        if self._n_classes > 2:  # with two classes the spread of a row is its one residual that is not zero
            tables = [*tables, spread]
        everything = sum(weight)
        self._support = min(min_support, everything + 1)  # more than everything is as good as any larger number
        if self._support:
            tables = [*tables, list(weight)]
        # Rows that cost the same whatever is predicted count only for their weight.
        matter = np.array([bool(value) or self._support > 0 for value in spread], np.bool_)
        rows = np.flatnonzero(matter)
        self.n_distinct, self.n_features = features.shape
        largest = max(4 * (b * max(sum(spread), 1) + 4 * a), everything if self._support else 0)
        self._type: Any = np.float32 if largest < 2**24 else np.float64 if largest < 2**53 else object
        self._never: Any = 2 * largest if self._type is object else np.inf
        self._one = min(a // b, sum(spread))  # what one leaf costs, in whole units of loss
        self.relevant = rows
        self.features = features[rows]
        ones = np.ones((len(rows), 1), np.bool_)
        self._factor = np.hstack([self.features, ones]).astype(self._type)
        values = [np.array([table[row] for row in rows], dtype=self._type)[:, None] for table in tables]
        self._n_tables = len(tables)
        self._valued = np.hstack([value * self._factor for value in values])
        self._wide = self.n_features > _WIDE

    @property
    def batch(self) -> int:
        """How many subsets to count at once."""
        width = int(self.n_features) + 1
        return max(1, _CELLS // (width if self._wide else width**2))

    def leaf(self, rows: npt.NDArray[np.intp]) -> int:
        """Return the cost of a subset as one leaf."""
        width = self.n_features + 1
        sums = self._valued[rows, width - 1 :: width].sum(axis=0).tolist()
        loss: int = min(map(int, sums[: self._n_classes]))
        return self.b * loss + self.a

    def count(self, subsets: Sequence[npt.NDArray[np.intp]], *, limited: bool = True) -> Counts:
        """Count for subsets given by their rows.

        Where neither depth nor leaves are `limited`, nobody asks for the bounds with at most one split.
        """
        width, tables = self.n_features + 1, self._n_tables
        if self._wide:
            single = np.empty((len(subsets), tables, width), self._type)
            for k, rows in enumerate(subsets):
                single[k] = self._valued.take(rows, 0).sum(axis=0).reshape(tables, width)
            return self._children(single.transpose(1, 0, 2))
        sums = np.empty((len(subsets), tables * width, width), self._type)
        for k, rows in enumerate(subsets):
            np.matmul(self._valued.take(rows, 0).T, self._factor.take(rows, 0), out=sums[k])
        return self._grandchildren(sums.reshape(len(subsets), tables, width, width).transpose(1, 0, 2, 3), limited)

    def _children(self, sums: Array) -> Counts:
        """Return bounds from the sums over children, shape (tables, B, M + 1); the last one is the whole subset."""
        true, whole = sums[..., :-1], sums[..., -1]
        false = whole[..., None] - true
        leaves_yes, leaves_no, excluded = self._leaves(true, false)
        two = 2 * self.a
        yes = [leaves_yes, np.minimum(leaves_yes, two)]
        no = [leaves_no, np.minimum(leaves_no, two)]
        for bounds in yes:
            bounds[excluded] = self._never
        return Counts(self._whole(whole), (yes[0], yes[1], yes[1]), (no[0], no[1], no[1]))

    def _grandchildren(self, sums: Array, limited: bool) -> Counts:
        """Return bounds from the sums over pairs, shape (tables, B, M + 1, M + 1).

        In every table of pairs the second question comes first: a minimum over it runs along an axis where numpy is
        quick.
        """
        both, one, whole = sums[..., :-1, :-1], sums[..., :-1, -1], sums[..., -1, -1]
        child, second = one[..., None, :], one[..., :, None]
        leaves_yes, leaves_no, excluded = self._leaves(one, whole[..., None] - one)
        yes = self._sides(both, child - both, leaves_yes, limited)
        rest = second - both
        no = self._sides(rest, (whole[..., None] - one)[..., None, :] - rest, leaves_no, limited)
        for bounds in yes:
            bounds[excluded] = self._never
        return Counts(self._whole(whole), yes, no)

    def _whole(self, whole: Array) -> list[int]:
        return [self.b * int(loss) + self.a for loss in whole[: self._n_classes].min(axis=0).tolist()]

    def _leaves(self, true: Array, false: Array) -> tuple[Array, Array, Array]:
        """Return both children's costs as leaves, and which splits are excluded."""
        loss_yes, idle_yes = self._side(true)
        loss_no, idle_no = self._side(false)
        return self.b * loss_yes + self.a, self.b * loss_no + self.a, idle_yes | idle_no

    def _side(self, tables: Array) -> tuple[Array, Array]:
        """Return the loss of one side of a split, and whether the side excludes the split.

        It does if it weighs less than a leaf must, or by reduced support: if as one leaf it costs no less than b·W,
        where W is what its rows lose at most, whatever is predicted. Then no tree for it costs less. With k leaves
        and the loss e it has a leaf that saves (W - e)/k or more of what its own rows can lose; that leaf's label
        saves as much for all rows, so W - loss is no less, and b·(W - e) <= k·b·(W - loss) <= k·a. So the other
        side's tree may take the rows in: it costs no more than both did, and has fewer leaves.
        """
        n = self._n_classes
        if n == 2:  # W is the sum of both residuals, so W - loss is the larger of the two
            loss, saved = np.minimum(tables[0], tables[1]), np.maximum(tables[0], tables[1])
        else:
            loss = tables[:n].min(axis=0)
            saved = tables[n] - loss
        idle = saved <= self._one
        if self._support:
            idle = idle | (tables[-1] < self._support)
        return loss, idle

    def _sides(self, true: Array, false: Array, leaves: Array, limited: bool) -> tuple[Array, Array, Array]:
        """Return bounds on children with no split, one split, or more, from the sums over their own children."""
        loss_yes, idle = self._side(true)
        loss_no, idle_no = self._side(false)
        idle |= idle_no
        cost_yes, cost_no = self.b * loss_yes, self.b * loss_no

        def best(cost: Array) -> Array:
            np.copyto(cost, self._never, where=idle)
            return np.asarray(np.minimum(cost.min(axis=1) + 2 * self.a, leaves))

        once = best(cost_yes + cost_no) if limited else None
        # Each side of a child's split is a leaf or costs 2a at least.
        np.minimum(cost_yes, self.a, out=cost_yes)
        np.minimum(cost_no, self.a, out=cost_no)
        more = best(np.add(cost_yes, cost_no, out=cost_yes))
        return leaves, more if once is None else once, more
