"""One tree by its number, made from the tables of counts alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dosdt.contract import Sketch, SketchNode, leaf_node, split_node
from dosdt.rashomon.counting import Counting
from dosdt.rashomon.space import LEAF, Options


class Listed(NamedTuple):
    """A tree without labels and, for every node, which of a column's copies it asks: 0 is the column itself."""

    sketch: Sketch
    copies: tuple[int, ...]
    key: int


class Listing:
    """The trees that were counted, by number: by cost, then by leaves, then by the columns they ask."""

    def __init__(self, counting: Counting) -> None:
        self._counting = counting
        self._splits: dict[int, Options] = {}
        for part in counting.options:
            starts = np.flatnonzero(np.diff(part.parent, prepend=-1)).tolist()
            for start, stop in zip(starts, [*starts[1:], len(part.parent)], strict=True):
                self._splits[int(part.parent[start])] = part.part(slice(start, stop))
        self._tables: dict[int, dict[int, int]] = {}
        root = self._table(0)
        self._keys = sorted(root)
        self._counts = [root[key] for key in self._keys]

    def tree(self, number: int) -> Listed:
        """Return the tree with this number, from 0 on."""
        for key, count in zip(self._keys, self._counts, strict=True):
            if number < count:
                return self._make(key, number)
            number -= count
        raise IndexError("there are not so many trees")

    def _make(self, key: int, number: int) -> Listed:
        nodes: list[SketchNode] = [leaf_node(LEAF)]
        copies = [0]
        # Each entry: place in the tree, node of the graph, key of the subtree, its number among those with this key.
        waiting = [(0, 0, key, number)]
        while waiting:
            place, node, sought, rank = waiting.pop()
            chosen = self._choose(node, sought, rank)
            if chosen is None:
                continue
            feature, copy, yes, no = chosen
            nodes[place], copies[place] = split_node(feature, len(nodes), len(nodes) + 1), copy
            waiting += [(len(nodes) + 1, *no), (len(nodes), *yes)]
            nodes += [leaf_node(LEAF), leaf_node(LEAF)]
            copies += [0, 0]
        return Listed(Sketch(tuple(nodes)), tuple(copies), key)

    def _choose(self, node: int, sought: int, rank: int) -> tuple[int, int, Any, Any] | None:
        """Return column, copy and both subtrees of the tree with this rank, or None if it is a leaf."""
        if sought % self._counting.P == 1:  # one leaf
            return None
        own, P = self._splits[node], self._counting.P
        for k in range(len(own.parent)):
            feature = int(own.feature[k])
            yes_leaf, no_leaf = int(own.yes_leaf[k]) * P + 1, int(own.no_leaf[k]) * P + 1
            yes_node, no_node = int(own.yes[k]), int(own.no[k])
            yes, no = self._table(yes_node, yes_leaf), self._table(no_node, no_leaf)
            useless = own.idle[k] and not self._counting.useless
            for key, count in yes.items():
                other = no.get(sought - key, 0)
                if not other or (useless and key == yes_leaf and sought - key == no_leaf):
                    continue
                pairs = count * other
                if rank < pairs * int(self._counting.copies[feature, 0]):
                    copy, rank = divmod(rank, pairs)
                    first, second = divmod(rank, other)
                    return feature, copy, (yes_node, key, first), (no_node, sought - key, second)
                rank -= pairs * int(self._counting.copies[feature, 0])
        raise AssertionError("the counts do not add up")

    def _table(self, node: int, leaf: int | None = None) -> dict[int, int]:
        """Return how many trees a side has of every key."""
        if node in self._counting.tables:
            if node not in self._tables:
                table = self._counting.tables[node]
                self._tables[node] = dict(zip(table.keys.tolist(), map(int, table.counts[:, 0]), strict=True))
            return self._tables[node]
        return {} if leaf is None else {leaf: 1}
