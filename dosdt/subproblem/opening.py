"""Making children nodes of one graph: by counting them, or by what is known of them from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from dosdt.subproblem.arrivals import Arrivals
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import Path, Subset
from dosdt.subproblem.terms import Terms
from dosdt.subproblem.waves import Wanted


class Opener:
    """Adds nodes to a graph.

    Parameters
    ----------
    terms : Terms
    graph : Graph
    told : Hearsay
        Bounds from elsewhere; where one says enough, nothing need be counted.
    """

    def __init__(self, terms: Terms, graph: Graph, told: Hearsay) -> None:
        self._terms, self._graph, self._told = terms, graph, told

    def start(self, subset: Subset, path: Path) -> int:
        """Make a subset a node that a path of its own leads to."""
        counter = self._terms.counter
        node = self._graph.start(subset, counter.count([counter.rows(subset.rows)]), path)
        self._graph.raise_lower(node, self._told.bound(subset))
        return node

    def open(self, wanted: Wanted, pause: Callable[[], bool]) -> list[int]:
        """Make children nodes, unless they are already, or until it is time to pause; return the new ones."""
        graph, sides = self._graph, self._terms.subsets.sides
        arrivals = Arrivals(self._terms, graph, self._told)
        before, tickets = len(graph), []
        lower, share, side = graph.lowers[wanted].tolist(), wanted.share.tolist(), wanted.side.tolist()
        # Children of one node stand together.
        first = np.flatnonzero(np.diff(wanted.node, prepend=-1)).tolist()
        for start, end in pairwise([*first, len(side)]):
            node = int(wanted.node[start])
            rows = graph.subsets[node].rows
            children = [(side[k], share[k], lower[k], rows & sides[side[k]]) for k in range(start, end)]
            tickets += arrivals.tickets(graph.subsets[node], children, node)
        while arrivals.left and arrivals.count(1) and arrivals.left:
            if pause():
                break
        arrivals.close()
        known = arrivals.known(tickets)
        graph.link(*wanted, known.nodes)
        graph.hear(*wanted, known.lower, known.upper)
        return list(range(before, len(graph)))
