"""Children that a wave asks for at their home: some are nodes there already, the others are to be counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dosdt.bitvectors import RowSet
from dosdt.subproblem.ghosts import Array, Ids
from dosdt.subproblem.graph import NOBODY, Graph
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import Path, Subset
from dosdt.subproblem.terms import Terms


class Known(NamedTuple):
    """What is known of some subsets: their nodes, or `NOBODY`, and bounds on their costs."""

    nodes: Ids
    lower: Array
    upper: Array


class Arrivals:
    """Gives a ticket for every child that is asked for, counts what is new, and says what became of the tickets.

    A ticket is the number that the node has, or will have once it is counted; below zero it is a place among those of
    which something was told that says more than the asker knows.

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
        self._new: list[Subset] = []
        self._ways: list[tuple[int, int, Path | None]] = []
        self._hints: list[int] = []
        self.repeated = 0
        """How many of those counted had been counted elsewhere before."""

    @property
    def left(self) -> int:
        """How many are still to be counted."""
        return self._first + len(self._new) - len(self._graph)

    def tickets(
        self,
        parent: Subset,
        children: Iterable[tuple[int, int, int, RowSet]],
        node: int,
        path: Path | None = None,
    ) -> list[int]:
        """Return tickets for children of one subset.

        Parameters
        ----------
        parent : Subset
        children : iterable of (side, share, lower, rows)
            Of each: what the asker knows that it costs at least, and its rows.
        node : int
            The parent's own, if it is here.
        path : Path, optional
            What leads to the parent if it is not.
        """
        depth = None if parent.depth is None else parent.depth - 1
        limited = depth is not None or parent.leaves is not None
        known, literal, answer = self._graph.numbers, self._terms.subsets.literal, []
        number = self._first + len(self._new)
        for side, share, lower, rows in children:
            key: Any = Subset(rows, depth, None if parent.leaves is None else share + 1) if limited else rows
            ticket = known.setdefault(key, number) if self._graph.merges else number
            if ticket == number:  # nobody has asked for it before
                subset = key if limited else Subset(rows, None, None)
                if self._told and (hint := self._told.bound(subset)) > lower:
                    known.pop(key, None)
                    self._hints.append(hint)
                    ticket = -1 - len(self._hints)
                else:
                    self._new.append(subset)
                    step = literal(side)
                    self._ways.append((node, step, None if path is None else (*path, step)))
                    number += 1
            answer.append(ticket)
        return answer

    def count(self, batches: int) -> int:
        """Count some of the new ones, and return how many."""
        terms, graph = self._terms, self._graph
        before = len(graph)
        for _ in range(batches):
            start = len(graph) - self._first
            if not (subsets := self._new[start : start + terms.batch]):
                break
            ways = self._ways[start : start + terms.batch]
            counts = terms.counter.count(terms.counter.rows_of([subset.rows for subset in subsets]))
            added = graph.add(subsets, counts, [way[0] for way in ways], [way[1] for way in ways]).tolist()
            for node, (_, _, path) in zip(added, ways, strict=True):
                if path is not None:
                    graph.reach(node, path)
            if self._told:
                for node in added:
                    if (told := self._told.bound(graph.subsets[node])) > 0:
                        self.repeated += 1
                        graph.raise_lower(node, told)
        return len(graph) - before

    def close(self) -> None:
        """Do without what was not counted."""
        counted = len(self._graph) - self._first
        for subset in self._new[counted:]:
            self._graph.numbers.pop(subset.key, None)
        del self._new[counted:]

    def known(self, tickets: Sequence[int]) -> Known:
        """Return what became of some tickets."""
        nodes = np.array(tickets, np.intp)
        hinted = np.flatnonzero(nodes < NOBODY)
        hints = [self._hints[-2 - ticket] for ticket in nodes[hinted].tolist()]
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
