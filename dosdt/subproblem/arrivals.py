"""Children that a wave asks for at their home: some are nodes there already, the others are to be counted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dosdt.subproblem.ghosts import Array, Ids
from dosdt.subproblem.graph import NOBODY, Graph
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import Batch
from dosdt.subproblem.terms import Terms


class Known(NamedTuple):
    """What is known of some subsets: their nodes, or `NOBODY`, and bounds on their costs."""

    nodes: Ids
    lower: Array
    upper: Array


class Arrivals:
    """Gives a ticket for every child that is asked for, counts what is new, and says what became of the tickets.

    A ticket is the number that the node has, or will have once it is counted; below `NOBODY` it is a place among
    those of which something was told that says more than the asker knows.

    Parameters
    ----------
    terms : Terms
    graph : Graph
        No other nodes may be added to it until all is counted, or `close` is called.
    told : Hearsay
        Bounds from elsewhere; where one says enough, nothing need be counted.
    """

    def __init__(self, terms: Terms, graph: Graph, told: Hearsay) -> None:
        self._terms, self._graph, self._told = terms, graph, told
        self._first = len(graph)
        self._paths: list[Array] = []
        self._hints: list[int] = []
        self.repeated = 0
        """How many of those counted had been counted elsewhere before."""

    @property
    def left(self) -> int:
        """How many are still to be counted."""
        return len(self._graph.index) - len(self._graph)

    def tickets(self, children: Batch, lower: Array, paths: Array, parent: Ids, side: Ids) -> Ids:
        """Return tickets for children.

        Parameters
        ----------
        children : Batch
        lower : integer array of shape (n,)
            What the asker knows that each costs at least.
        paths : int array of shape (parents, longest)
            What leads to the parents.
        parent, side : int arrays of shape (n,)
            Whose child each is, by place in `paths`, and on which side.
        """
        if not self._told:
            return self._number(children, paths, parent, side)
        tickets = self._graph.index.find(children)
        new = np.flatnonzero(tickets == NOBODY)
        bounds = self._told.bounds(children.part(new))
        hinted = np.array([hint > known for hint, known in zip(bounds, lower[new].tolist(), strict=True)], np.bool_)
        enough = np.flatnonzero(hinted)
        tickets[new[enough]] = NOBODY - 1 - len(self._hints) - np.arange(len(enough))
        self._hints += [bounds[k] for k in enough.tolist()]
        new = new[~hinted]
        tickets[new] = self._number(children.part(new), paths, parent[new], side[new])
        return tickets

    def _number(self, children: Batch, paths: Array, parent: Ids, side: Ids) -> Ids:
        index, before = self._graph.index, len(self._graph.index)
        numbers = index.add(children) if self._graph.merges else index.append(children)
        new = np.flatnonzero(numbers >= before)
        if len(new):
            # The first that asked says how to get there.
            _, first = np.unique(numbers[new], return_index=True)
            new = new[first]
            self._paths.append(_longer(paths[parent[new]], self._terms.subsets.literals(side[new])))
        return numbers

    def count(self, batches: int) -> int:
        """Count some of the new ones, and return how many."""
        terms, graph, told = self._terms, self._graph, self._told
        before = len(graph)
        for _ in range(batches):
            size = min(terms.batch, self.left)
            if not size:
                break
            nodes = slice(len(graph), len(graph) + size)
            counts = terms.counter.count(terms.counter.rows_of(graph.index.words[nodes]))
            graph.add(counts, self._take_paths(size))
            if told:
                for node, lower in enumerate(told.bounds(graph.index.batch(nodes)), nodes.start):
                    if lower > 0:
                        self.repeated += 1
                        graph.raise_lower(node, lower)
        return len(graph) - before

    def _take_paths(self, size: int) -> Array:
        """Return the paths of the next ones to be counted."""
        longest = max(part.shape[1] for part in self._paths)
        taken = np.zeros((size, longest), self._paths[0].dtype)
        filled = 0
        while filled < size:
            part = self._paths[0][: size - filled]
            taken[filled : filled + len(part), : part.shape[1]] = part
            filled += len(part)
            if len(part) == len(self._paths[0]):
                del self._paths[0]
            else:
                self._paths[0] = self._paths[0][len(part) :]
        return taken

    def close(self) -> None:
        """Do without what was not counted."""
        self._graph.index.cut(len(self._graph))
        self._paths = []

    def known(self, tickets: Ids) -> Known:
        """Return what became of some tickets."""
        nodes = tickets.copy()
        hinted = np.flatnonzero(nodes < NOBODY)
        hints = [self._hints[NOBODY - 1 - ticket] for ticket in nodes[hinted].tolist()]
        nodes[(nodes < 0) | (nodes >= len(self._graph))] = NOBODY
        lower, upper = what_is_known(self._graph, nodes)
        lower[hinted] = hints
        return Known(nodes, lower, upper)


def what_is_known(graph: Graph, nodes: Ids) -> tuple[Array, Array]:
    """Return bounds on some nodes; on those that are `NOBODY`, what holds for everyone."""
    if not len(graph):
        return np.zeros(len(nodes), graph.lower.dtype), np.full(len(nodes), graph.never, graph.upper.dtype)
    there = nodes != NOBODY
    lower = np.where(there, graph.lower[nodes], 0).astype(graph.lower.dtype)
    upper = np.where(there, graph.upper[nodes], graph.never).astype(graph.upper.dtype)
    return lower, upper


def _longer(paths: Array, literals: Array) -> Array:
    """Return paths with one more literal each, behind the last."""
    length = (paths != 0).sum(axis=1)
    longer = np.zeros((len(paths), int(length.max(initial=0)) + 1), paths.dtype)
    width = min(paths.shape[1], longer.shape[1])
    longer[:, :width] = paths[:, :width]
    longer[np.arange(len(paths)), length] = literals
    return longer
