"""How many trees there are, by what they cost and by their leaves, without making any of them.

A tree's *key* is ``cost·P + leaves`` with P above all numbers of leaves. Keys of two sides add up to that of the
tree, and sort by cost and then by leaves. For every node there is a table: the keys of its trees within its budget,
and how many trees have each. A split's table is the product of those of its sides, as of polynomials. From the
smallest subsets up, the last table is that of all trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dosdt.rashomon.space import LEAF, Array, Graph, Look, Options, Space
from dosdt.subproblem.subsets import UNLIMITED

_SAFE = 2**62
"""Below this, counts fit into 64 bits."""
_CELLS = 2**21
"""Entries that are summed up at once."""
_LOOK = 256
"""Nodes between two looks at the clock."""


class Table(NamedTuple):
    """Keys of trees, ascending, shape (n,), and how many trees have each, one column for each way to count (n, g)."""

    keys: Array
    counts: Array

    def up_to(self, key: Any) -> Table:
        """Return the part with keys no larger than this."""
        if not len(self.keys) or self.keys[-1] <= key:
            return self
        n = int(np.searchsorted(self.keys, key, "right"))
        return Table(self.keys[:n], self.counts[:n])


class Counting:
    """Counts of all trees that cost `budget` at most.

    Parameters
    ----------
    space : Space
    graph : Graph
        Explored with this budget or a larger one.
    budget : int
        Without the floors.
    copies : sequence of int
        For every column of the problem, how many features give these answers, or the opposite ones: as many
        different trees there are for each split by it.
    look : callable
        Called now and then; raises to stop.

    Attributes
    ----------
    options : list of Options
        Splits that some tree within the budget has, in the graph's batches.
    tables : dict from node to Table
        With one way to count: all trees. Each node's own budget is what the rest of a tree leaves to it.
    useless : bool
        Whether trees with useless splits count.
    P : int
        What a cost is multiplied by in a key.
    """

    def __init__(self, space: Space, graph: Graph, budget: int, copies: Sequence[int], look: Look) -> None:
        self._space, self._graph, self._look = space, graph, look
        self.useless = space.useless
        self.P = space.problem.n_rows + 1
        self.copies = np.array(copies, dtype=object)[:, None]
        self._budgets, self.options = self._reach(min(budget, space.dearest))
        self._totals: dict[int, int] = {}
        self._wide: set[int] = set()
        self.tables = self._tables(self.copies, first=True)

    @property
    def total(self) -> int:
        """How many trees there are."""
        return self._totals[0]

    def avoiding(self, copies: Array, look: Look) -> list[int]:
        """Return how many trees there are if columns have fewer copies, shape (columns, g), for each of g ways."""
        self._look = look
        answer: list[int] = []
        # Tables for several ways at once take that much more memory.
        keys = sum(len(table.keys) for table in self.tables.values())
        step = max(1, 2**24 // keys)
        for start in range(0, copies.shape[1], step):
            tables = self._tables(copies[:, start : start + step], first=False)
            answer += tables[0].counts.sum(axis=0).tolist()
        return [int(count) for count in answer]

    def _reach(self, budget: int) -> tuple[Array, list[Options]]:
        """Return what every node may spend and the options that fit, by what the sides cost at least."""
        graph, value = self._graph, self._graph.value
        budgets = np.full(len(value), -1, self._space.integer)
        budgets[0] = budget
        kept = []
        for part in graph.options:
            yes, no = part.sides(value)
            left = budgets[part.parent]
            fits = yes + no <= left
            if not self.useless:
                fits &= ~(part.idle & (part.yes == LEAF) & (part.no == LEAF))
            if not fits.any():
                continue
            part, yes, no, left = part.part(fits), yes[fits], no[fits], left[fits]
            for node, other in ((part.yes, no), (part.no, yes)):
                inner = node != LEAF
                np.maximum.at(budgets, node[inner], (left - other)[inner])
            kept.append(part)
        return budgets, kept

    def _tables(self, copies: Array, *, first: bool) -> dict[int, Table]:
        """Return the tables of all nodes that are reached; `first` says whether what is found decides on types."""
        graph, P, ways = self._graph, self.P, copies.shape[1]
        narrow = np.array(np.minimum(copies, _SAFE), np.int64)
        tables: dict[int, Table] = {}
        limits = self._budgets * P + P - 1
        for part in reversed(self.options):
            starts = np.flatnonzero(np.diff(part.parent, prepend=-1))
            for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(part.parent)], strict=True):
                node = int(part.parent[start])
                if len(tables) % _LOOK == 0:
                    self._look(len(tables))
                own = part.part(slice(start, stop))
                if first:
                    self._measure(node, own)
                factor = copies if node in self._wide else narrow
                table = self._table(node, own, tables, factor, limits[node])
                tables[node] = table
                if first:
                    self._totals[node] = int(table.counts.sum())
        if 0 not in tables:  # no split fits, so there is the single leaf, or nothing
            key = np.array([int(graph.leaf[0]) * P + 1], self._space.integer)
            tables[0] = Table(key, np.ones((1, ways), np.int64)).up_to(limits[0])
            if first:
                self._totals[0] = len(tables[0].keys)
        return tables

    def _measure(self, node: int, own: Options) -> None:
        """Note whether a node's counts may need more than 64 bits."""
        most, totals = 1, self._totals
        for feature, yes, no in zip(own.feature.tolist(), own.yes.tolist(), own.no.tolist(), strict=True):
            most += int(self.copies[feature, 0]) * totals.get(yes, 1) * totals.get(no, 1)
        if most >= _SAFE:
            self._wide.add(node)

    def _table(self, node: int, own: Options, tables: dict[int, Table], copies: Array, limit: Any) -> Table:
        """Return a node's table from those of its options' sides."""
        P, leaf = self.P, self._graph.leaf[node] * self.P + 1
        one = np.ones((1, copies.shape[1]), copies.dtype)
        keys: list[Array] = [np.array([leaf], self._space.integer)]
        counts: list[Array] = [one]
        yes_leaf, no_leaf = own.yes_leaf * P + 1, own.no_leaf * P + 1
        factors = copies[own.feature]
        plain = (own.yes == LEAF) & (own.no == LEAF)
        keys.append((yes_leaf + no_leaf)[plain])
        counts.append(factors[plain])
        entries = 0
        for k in np.flatnonzero(~plain).tolist():
            yes, no = (
                tables[n] if n in tables else Table(leaves[k : k + 1], one)
                for n, leaves in ((int(own.yes[k]), yes_leaf), (int(own.no[k]), no_leaf))
            )
            if own.idle[k] and not self.useless:
                # Both sides as leaves is one pair of all those below, and does not count.
                keys.append((yes_leaf + no_leaf)[k : k + 1])
                counts.append(-factors[k : k + 1])
            for product in _products(yes, no, limit, copies.dtype):
                keys.append(product.keys)
                counts.append(product.counts * factors[k])
                entries += product.counts.size
                if entries > _CELLS:
                    self._look(len(tables))
                    table = self._summed(node, keys, counts, limit)
                    keys, counts, entries = [table.keys], [table.counts], 0
        return self._summed(node, keys, counts, limit)

    def _summed(self, node: int, parts: list[Array], numbers: list[Array], limit: Any) -> Table:
        """Return a table from entries in any order; what is beyond the budget or has too many leaves is left out."""
        keys, counts = np.concatenate(parts), np.concatenate(numbers)
        fits = keys <= limit
        if (leaves := self._graph.leaves[node]) < UNLIMITED:
            fits &= (keys % self.P <= leaves).astype(np.bool_)
        keys, counts = keys[fits], counts[fits]
        if not len(keys):
            return Table(keys, counts)
        order = np.argsort(keys, kind="stable")
        keys, counts = keys[order], counts[order]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        keys, counts = keys[starts], np.add.reduceat(counts, starts, axis=0)
        there = counts.astype(np.bool_).any(axis=1)
        return Table(keys, counts) if there.all() else Table(keys[there], counts[there])


def _products(yes: Table, no: Table, limit: Any, dtype: Any) -> Iterator[Table]:
    """Return the entries of the product of two tables, in any order, in parts of bearable size."""
    if not len(yes.keys) or not len(no.keys):
        return
    yes, no = yes.up_to(limit - no.keys[0]), no.up_to(limit - yes.keys[0])
    step = max(1, _CELLS // max(1, no.counts.size))
    for start in range(0, len(yes.keys), step):
        first = Table(yes.keys[start : start + step], yes.counts[start : start + step])
        second = no.up_to(limit - first.keys[0])
        # In the node's own type: two counts may fit into 64 bits, and their product not.
        pairs = first.counts.astype(dtype)[:, None] * second.counts.astype(dtype)[None]
        yield Table((first.keys[:, None] + second.keys).ravel(), pairs.reshape(-1, pairs.shape[2]))
