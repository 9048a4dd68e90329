"""Making children nodes of one graph: by counting them, or by what is known of them from elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from dosdt.subproblem.arrivals import Arrivals
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import Batch, Path
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

    def start(self, subset: Batch, path: Path) -> int:
        """Make a subset, a batch of one, a node that a path of its own leads to."""
        counter = self._terms.counter
        node = self._graph.start(subset, counter.count(counter.rows_of(subset.words)), path)
        self._graph.raise_lower(node, self._told.bounds(subset)[0])
        return node

    def open(self, wanted: Wanted, pause: Callable[[], bool]) -> range:
        """Make children nodes, unless they are already, or until it is time to pause; return the new ones."""
        graph, before = self._graph, len(self._graph)
        arrivals = Arrivals(self._terms, graph, self._told)
        node, share, side = wanted
        children = self._terms.subsets.children(graph.index.batch(node), side, share)
        tickets = arrivals.tickets(children, graph.lowers[wanted], graph.paths, node, side)
        while arrivals.left and arrivals.count(1) and arrivals.left:
            if pause():
                break
        arrivals.close()
        known = arrivals.known(tickets)
        graph.link(*wanted, known.nodes)
        graph.hear(*wanted, known.lower, known.upper)
        return range(before, len(graph))
