"""Making subsets nodes of the graph: by counting them, or by what is known of them from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dosdt.subproblem.counts import Counter, Rows
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import Path, Subset, Subsets
from dosdt.subproblem.waves import Wanted


class Opener:
    """Adds nodes to a graph.

    Parameters
    ----------
    graph : Graph
    subsets : Subsets
    counter : Counter
    told : Hearsay
        Bounds from elsewhere; where one says enough, nothing need be counted.
    """

    def __init__(self, graph: Graph, subsets: Subsets, counter: Counter, told: Hearsay) -> None:
        self._graph, self._subsets, self._counter, self._told = graph, subsets, counter, told

    def start(self, subset: Subset, path: Path) -> int:
        """Make a subset a node that a path of its own leads to."""
        node = self._graph.start(subset, self._counter.count([self._counter.rows(subset.rows)]), path)
        self._hear([node])
        return node

    def open(self, wanted: Wanted) -> list[int]:
        """Make children nodes, unless they are already; return the new ones."""
        graph, subsets = self._graph, self._subsets
        new: dict[Any, int] = {}
        children: list[Subset] = []
        rows: list[Rows] = []
        parents, literals, kids = [], [], []
        parent, parents_rows = -1, Rows()
        for node, share, side in zip(*(part.tolist() for part in wanted), strict=True):
            child = subsets.child(graph.subsets[node], side, share)
            key = child.key
            kid = graph.find(key)
            if kid is None:
                kid = new.get(key)
            if kid is None and (lower := self._told.bound(child)) > graph.lowers[node, share, side]:
                graph.lowers[node, share, side] = lower
                kid = -1
            elif kid is None:
                if node != parent:  # children of one parent come one after another
                    parent, parents_rows = node, self._counter.rows(graph.subsets[node].rows)
                kid = len(graph) + len(children)
                if graph.merges:
                    new[key] = kid
                children.append(child)
                rows.append(self._counter.child(parents_rows, side))
                parents.append(node)
                literals.append(subsets.literal(side))
            kids.append(kid)
        added: list[int] = []
        if children:
            added = graph.add(children, self._counter.count(rows), parents, literals).tolist()
            self._hear(added)
        graph.link(*wanted, kids)
        return added

    def _hear(self, nodes: Sequence[int]) -> None:
        """Raise bounds on nodes by what others have told."""
        if self._told:
            for node in nodes:
                self._graph.raise_lower(node, self._told.bound(self._graph.subsets[node]))
