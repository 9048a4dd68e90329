"""Which subsets of the rows, and which splits of them, a tree within a budget can have.

A tree for a subset costs ``b·loss + a·leaves``, floors left out. A subset that any tree within the budget can hold is
a *node*; its budget is the most that its own part of such a tree may cost. A split of a node is an *option* if the
least its two sides can cost fits into the budget. Both sides of a split have fewer rows than the node. So nodes
are taken by size, largest first, and each is looked at once, when all that lead to it have been.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dosdt.bitvectors import pack, unpack_many
from dosdt.contract import Constraints
from dosdt.problem import Problem
from dosdt.subproblem.counts import counter_for
from dosdt.subproblem.index import Index
from dosdt.subproblem.subsets import UNLIMITED, Batch, Subset, Subsets
from dosdt.threads import one_thread

Array = npt.NDArray[Any]
_SWITCHES = frozenset({"reduced_support", "grandchildren"})
LEAF = -1
"""Stands for the node of a side that can only be a leaf."""
_CELLS = 2**21
"""Sums that are computed at once."""

Look = Callable[[int], None]
"""Called now and then with the number of nodes; raises to stop."""


class Options(NamedTuple):
    """Splits that may fit; each array has one entry for each, those of a node next to each other.

    Attributes
    ----------
    parent, feature : arrays of int
        The node that is split, and by which column of the problem.
    yes, no : arrays of int
        The nodes of its sides, `LEAF` where a side can only be a leaf.
    yes_leaf, no_leaf : arrays of int
        What the sides cost as leaves.
    idle : array of bool
        Whether the sides as leaves lose as much as the node does as one leaf, so that the split would be useless.
    """

    parent: Array
    feature: Array
    yes: Array
    no: Array
    yes_leaf: Array
    no_leaf: Array
    idle: Array

    def sides(self, value: Array) -> tuple[Array, Array]:
        """Return what the sides cost, given what nodes do."""
        yes = np.where(self.yes == LEAF, self.yes_leaf, value[self.yes])
        return yes, np.where(self.no == LEAF, self.no_leaf, value[self.no])

    def part(self, chosen: Any) -> Options:
        """Return some of them."""
        return Options(*(array[chosen] for array in self))


class Known:
    """What subsets cost at least, as far as explorations have shown; it grows from one to the next."""

    def __init__(self, width: int, integer: Any) -> None:
        self._index = Index(width)
        self._least = _Growing(np.empty(0, integer))

    def learn(self, subsets: Batch, least: Array) -> None:
        """Take in bounds."""
        numbers = self._index.add(subsets)
        self._least.extend(np.zeros(len(self._index) - len(self._least.array), self._least.array.dtype))
        np.maximum.at(self._least.array, numbers, least)

    def least(self, subsets: Batch) -> Array:
        """Return a bound for each subset, 0 where nothing is known."""
        numbers = self._index.find(subsets)
        # One place behind the last stands for all that is not known.
        return np.append(self._least.array, np.zeros(1, self._least.array.dtype))[numbers]


@dataclass(frozen=True)
class Graph:
    """Nodes and options, as far as a budget reaches.

    Attributes
    ----------
    leaf : array of int, one per node
        What each node costs as a leaf; node 0 is all rows.
    leaves : array of int, one per node
        Most leaves a tree for it may have.
    value : array of int, one per node
        What its best tree costs, or more than its budget; without regard to limits on leaves.
    options : list of Options
        In batches: the sides of a batch's splits are nodes of later batches only.
    """

    leaf: Array
    leaves: Array
    options: list[Options]
    value: Array


class Space:
    """The subsets of a problem's rows, as far as trees within some budget go.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    useless : bool
        Whether trees count that have a split into two leaves which saves nothing.

    Attributes
    ----------
    a, b : int
        A tree costs ``b·loss + a·leaves``.
    base : int
        What no tree avoids: the costs here are without it.
    dearest : int
        No tree costs more than this.
    integer : numpy type
        Holds all costs: 64 bits, or Python's own integers where these do not suffice.
    """

    def __init__(self, problem: Problem, constraints: Constraints, useless: bool) -> None:
        self.problem, self.constraints = problem, constraints
        self.a, self.b = problem.a, problem.b
        self.base = self.b * sum(problem.floor)
        spread = sum(problem.ceiling) - sum(problem.floor)
        self.dearest = self.b * spread + self.a * problem.n_rows
        # Keys of trees (see `counting`) are up to so many times larger.
        self.integer: Any = np.int64 if self.dearest * (2 * problem.n_rows + 2) < 2**61 else object
        # Sums of whole numbers in floating point are exact below 2^53.
        real: Any = np.float64 if max(spread, sum(problem.weight)) < 2**52 else object
        self._n_classes = len(problem.cost)
        residuals = [[c - low for c, low in zip(row, problem.floor, strict=True)] for row in problem.cost]
        tables = [np.array(table, dtype=real) for table in (*residuals, [1] * problem.n_rows)]
        self._min_support = constraints.min_support
        if self._min_support:
            tables.append(np.array(problem.weight, dtype=real))
        features = problem.features.astype(real)
        self._totals = np.stack(tables, axis=1)
        self._sums = np.concatenate([table[:, None] * features for table in tables], axis=1)
        self.useless = useless
        self._subsets = Subsets(problem)
        self._counter = counter_for(problem, Fraction(self.a, self.b), self._min_support, _SWITCHES)

    def known(self) -> Known:
        """Return what is known of subsets before anything was explored: nothing."""
        return Known(self._subsets.width, self.integer)

    def explore(self, budget: int, look: Look, known: Known | None = None) -> Graph:
        """Return all nodes and options for trees that cost `budget` at most.

        What is known saves subsets, and what is found out is added to it. Where leaves are limited it is of no use:
        then it depends on the way to a subset how many it may have.
        """
        with one_thread():
            return _Exploration(self, budget, None if self.constraints.max_leaves is not None else known).run(look)

    def count(self, words: Array) -> tuple[Array, Array]:
        """Return sums over subsets, shape (n, tables), and over their yes sides, shape (n, tables, columns)."""
        masks = unpack_many(words, self.problem.n_rows).astype(self._sums.dtype)
        return masks @ self._totals, (masks @ self._sums).reshape(len(words), -1, self.problem.n_columns)

    def bounds(self, words: Array) -> Array:
        """Return what the children of subsets cost at least, from their own children: shape (n, 2 columns).

        The search for one tree passes over splits that cannot pay; here they count, so of their yes sides nothing is
        said. A child's *own* splits that cannot pay are left out of its bound, since its best tree needs none.
        """
        lowers = self._counter.count(self._counter.rows_of(words)).lowers
        lowers[lowers >= self._counter.never] = 0
        return lowers.astype(self.integer)

    def judge(self, tables: Array) -> _Side:
        """Return what sides of splits are like; `tables` has shape (n, tables, columns)."""
        losses = tables[:, : self._n_classes]
        size = tables[:, self._n_classes].astype(np.intp)
        allowed = size > 0
        if self._min_support:
            allowed &= tables[:, -1] >= self._min_support
        # By way of 64 bits: floats among Python's integers would stay floats.
        loss = losses.min(axis=1) if losses.dtype == object else losses.min(axis=1).astype(np.int64)
        # Splits of a side that loses nothing are all useless.
        mixed = size > 1 if self.useless else (loss > 0).astype(np.bool_)
        return _Side(size, loss.astype(self.integer) * self.b + self.a, allowed, mixed)

    @property
    def batch_size(self) -> int:
        """How many nodes are counted at once."""
        return max(1, _CELLS // max(int(self._sums.shape[1]), self._counter.cells * self._n_classes))


class _Side(NamedTuple):
    """One side of many splits: distinct rows, cost as a leaf, if it may be one, if it may be split."""

    size: Array
    leaf: Array
    allowed: Array
    mixed: Array


class _Exploration:
    """One walk through the space."""

    def __init__(self, space: Space, budget: int, known: Known | None) -> None:
        self._space, self._known = space, known
        # No tree has more leaves than rows, and each of its splits has one more; a limit beyond is none.
        depth, leaves = (
            None if most is None or most >= space.problem.n_rows else most
            for most in (space.constraints.max_depth, space.constraints.max_leaves)
        )
        self._subsets = space._subsets
        self._index = Index(self._subsets.width)
        everything = pack(np.ones(space.problem.n_rows, np.bool_))
        root = self._subsets.only(Subset(everything, depth, None))
        self._index.add(root)
        totals, _ = space.count(root.words)
        losses = totals[0, : space._n_classes]
        leaf = int(losses.min()) * space.b + space.a
        self._leaf = _Growing(np.array([leaf], space.integer))
        self._budget = _Growing(np.array([min(budget, space.dearest)], space.integer))
        self._leaves = _Growing(np.array([UNLIMITED if leaves is None else leaves], np.int32))
        self._waiting: dict[int, list[Array]] = {space.problem.n_rows: [np.array([0])]}

    def run(self, look: Look) -> Graph:
        found: list[Options] = []
        if self._leaves.array[0] > 1 and self._index.depth[0] > 0:
            for size in range(self._space.problem.n_rows, 1, -1):
                nodes = np.concatenate(self._waiting.pop(size, [np.empty(0, np.intp)]))
                for start in range(0, len(nodes), self._space.batch_size):
                    look(len(self._index))
                    found.append(self._expand(nodes[start : start + self._space.batch_size]))
        leaf, budget = self._leaf.array, self._budget.array
        value = leaf.copy()
        for part in reversed(found):
            yes, no = part.sides(value)
            np.minimum.at(value, part.parent, yes + no)
        if self._known is not None:
            # Where nothing within the budget was found, all costs more.
            self._known.learn(self._index.batch(slice(0, len(self._index))), np.minimum(value, budget + 1))
        return Graph(leaf, self._leaves.array, [part for part in found if len(part[0])], value)

    def _expand(self, nodes: Array) -> Options:
        """Return the options of some nodes of the same size; their sides that may be split become nodes."""
        space, a = self._space, self._space.a
        totals, sums = space.count(self._index.words[nodes])
        yes, no = space.judge(sums), space.judge(totals[:, :, None] - sums)
        budget = self._budget.array[nodes][:, None]
        # Whatever is split below has more leaves and costs more than that; without a way to split, it is a leaf.
        deeper = ((self._leaves.array[nodes] > 2) & (self._index.depth[nodes] > 1))[:, None]
        m = space.problem.n_columns
        known = space.bounds(self._index.words[nodes])
        least = [
            np.where(deeper & side.mixed, np.minimum(side.leaf, np.maximum(2 * a, bound)), side.leaf)
            for side, bound in ((yes, known[:, :m]), (no, known[:, m:]))
        ]
        fits = yes.allowed & no.allowed & (least[0] + least[1] <= budget)
        if self._known is not None:
            for k, side in enumerate((yes, no)):
                self._recall(nodes, k, least[k], fits & deeper & side.mixed)
            fits &= least[0] + least[1] <= budget
        row, feature = fits.nonzero()
        parent = nodes[row]
        sides = []
        for k, side in enumerate((yes, no)):
            left = (budget - least[1 - k])[row, feature]
            split = (deeper & side.mixed)[row, feature] & (left >= 2 * a).astype(np.bool_)
            number = np.full(len(row), LEAF)
            number[split] = self._nodes(
                parent[split],
                feature[split] + k * space.problem.n_columns,
                left[split],
                _Side(*(values[row[split], feature[split]] for values in side)),
            )
            sides.append(number)
        at = (row, feature)
        idle = yes.leaf[at] + no.leaf[at] - a >= self._leaf.array[parent]
        return Options(parent, feature, sides[0], sides[1], yes.leaf[at], no.leaf[at], idle)

    def _recall(self, nodes: Array, k: int, least: Array, asked: Array) -> None:
        """Raise bounds on children, in place, to what is known of them."""
        assert self._known is not None
        row, feature = asked.nonzero()
        side = feature + k * self._space.problem.n_columns
        known = self._known.least(self._subsets.children(self._index.batch(nodes[row]), side, np.zeros_like(side)))
        least[row, feature] = np.maximum(least[row, feature], known)

    def _nodes(self, parent: Array, child: Array, budget: Array, side: _Side) -> Array:
        """Return the numbers of children as nodes, new ones where needed, with what they may spend."""
        known = len(self._index)
        numbers = self._index.add(self._subsets.children(self._index.batch(parent), child, np.zeros_like(child)))
        new, first = np.unique(numbers, return_index=True)
        first = first[new >= known]
        self._leaf.extend(side.leaf[first])
        self._budget.extend(np.zeros(len(first), self._space.integer))
        self._leaves.extend(np.zeros(len(first), np.int32))
        for size in np.unique(side.size[first]).tolist():
            self._waiting.setdefault(size, []).append(known + np.flatnonzero(side.size[first] == size))
        np.maximum.at(self._budget.array, numbers, budget)
        most = self._leaves.array[parent]
        np.maximum.at(self._leaves.array, numbers, most - (most < UNLIMITED))
        return numbers


class _Growing:
    """An array that grows at its end."""

    def __init__(self, values: Array) -> None:
        self._values, self._n = values, len(values)

    @property
    def array(self) -> Array:
        """What it holds; changes in it stay."""
        return self._values[: self._n]

    def extend(self, values: Array) -> None:
        """Add some values."""
        n = self._n + len(values)
        if n > len(self._values):
            room = np.empty(max(n, 2 * len(self._values)), self._values.dtype)
            room[: self._n] = self.array
            self._values = room
        self._values[self._n : n] = values
        self._n = n
