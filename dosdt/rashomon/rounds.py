"""Counting up to larger and larger costs, so that a limit leaves the last count that was finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from dosdt.limits import Status, Watch
from dosdt.rashomon.counting import Counting
from dosdt.rashomon.space import Graph, Look, Space

_SECONDS_BETWEEN_REPORTS = 0.1


class Progress(NamedTuple):
    """The state of a count: seconds, the objective up to which trees are counted, what is done, and how far it is."""

    seconds: float
    bound: Fraction
    doing: str
    done: int


class Stopped(Exception):  # noqa: N818
    """A limit has struck."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.value)
        self.status = status


class Found(NamedTuple):
    """The count of all trees up to a cost."""

    cost: int
    graph: Graph
    counting: Counting

    @property
    def subsets(self) -> int:
        """How many subsets of the rows the trees are made of."""
        return len(self.graph.leaf)


class Rounds:
    """Counts of the trees in a space; `copies` is as in `Counting`. Costs here are those of the problem."""

    def __init__(
        self, space: Space, copies: Sequence[int], watch: Watch, report: Callable[[Progress], None] | None
    ) -> None:
        self._space, self._copies, self._watch, self._report = space, copies, watch, report
        self._next_report = 0.0
        self._known = space.known()
        self._reached = 0

    def cost(self, objective: Fraction) -> int:
        """Return the largest cost with at most this objective."""
        problem = self._space.problem
        return int(objective * problem.b * problem.total_weight / problem.cost_unit // 1)

    def up_to(self, cost: int) -> Found:
        """Count all trees up to this cost, or raise `Stopped`."""
        budget = min(cost - self._space.base, self._space.dearest)
        look = self._looking(cost, "finding subsets")
        for smaller in self._below(budget):
            self._space.explore(smaller, look, self._known)
        graph = self._space.explore(budget, look, self._known)
        self._reached = max(self._reached, budget)
        return Found(cost, graph, self._count(graph, cost))

    def _below(self, budget: int) -> range:
        """Return smaller budgets to begin with: what they prove at once saves a large one most of its subsets."""
        if self._space.constraints.max_leaves is not None:  # where it saves nothing
            return range(0)
        return range(max(budget // 2, self._reached + budget // 10), budget, max(1, budget // 10))

    def cheapest(self, found: Found) -> Found:
        """Return the trees that cost least; there must be one."""
        return self._cut(found, int(found.counting.tables[0].keys[0]) // found.counting.P)

    def best(self, found: Found, number: int) -> Found:
        """Return the best so many trees, and those that cost the same as the last; all if there are no more."""
        table, trees = found.counting.tables[0], 0
        cost = 0
        for key, count in zip(table.keys.tolist(), table.counts[:, 0].tolist(), strict=True):
            cost = key // found.counting.P
            trees += count
            if trees >= number:
                break
        return self._cut(found, cost)

    def steps_to(self, least: int, cost: int) -> Iterator[int]:
        """Return costs from above the least up to this one."""
        yield from sorted({least + (cost - least) // part for part in (4, 2, 1)} - {least})

    def steps_from(self, least: int) -> Iterator[int]:
        """Return costs up to where all trees are counted."""
        most, more = self._space.base + self._space.dearest, 0
        while least + more < most:
            more += max(1, self._space.a // 4, more // 2)
            yield min(least + more, most)

    def _cut(self, found: Found, inner: int) -> Found:
        cost = inner + self._space.base
        if cost == found.cost:
            return found
        return Found(cost, found.graph, self._count(found.graph, cost))

    def _count(self, graph: Graph, cost: int) -> Counting:
        look = self._looking(cost, "counting trees")
        return Counting(self._space, graph, cost - self._space.base, self._copies, look)

    def _looking(self, cost: int, doing: str) -> Look:
        def look(done: int) -> None:
            if (status := self._watch.verdict(0)) is not None:
                raise Stopped(status)
            if self._report is not None and self._watch.seconds >= self._next_report:
                self._next_report = self._watch.seconds + _SECONDS_BETWEEN_REPORTS
                self._report(Progress(self._watch.seconds, self._space.problem.objective(cost), doing, done))

        return look
