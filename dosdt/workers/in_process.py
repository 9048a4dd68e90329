"""Runs a search in this process: the smallest runtime, and the one to read first."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

from dosdt.contract import Budget, Frontier, Search, Solution
from dosdt.limits import Limits, Status, Watch
from dosdt.scheduler.incumbent import Incumbent

TaskT = TypeVar("TaskT")
FactT = TypeVar("FactT")

_GROWTH_BETWEEN_SAMPLES = 1.25
_SECONDS_BETWEEN_REPORTS = 0.1


class Moment(NamedTuple):
    """The state of a run at one time; costs are integers ``b·errors + a·leaves``.

    `remaining_log10` is the power of ten of a bound on the evaluations left, where the search knows one; `leaves` are
    those of the best tree, where somebody looks; `cached` is how much is remembered; `workers` take part, and `lost`
    have died so far.
    """

    seconds: float
    evaluated: int
    incumbent: int
    lower_bound: int
    open: int
    remaining_log10: int | None
    leaves: int | None = None
    cached: int = 0
    workers: int = 1
    lost: int = 0


class Watchable(Search[TaskT, FactT], Protocol[TaskT, FactT]):
    """A search whose work can be watched while it runs."""

    @property
    def evaluated(self) -> int:
        """How much was evaluated so far."""
        ...

    @property
    def limit(self) -> int:
        """Cost that a tree must stay below to be of interest."""
        ...

    @property
    def open(self) -> int:
        """How much is open in the running task."""
        ...

    @property
    def cached(self) -> int:
        """How much is remembered."""
        ...

    def found(self) -> Solution | None:
        """Return the best tree that the running task can put together now, if any; that changes nothing in it."""
        ...

    def remaining_log10(self) -> int | None:
        """Return the power of ten of a bound on the evaluations left in the running task, if one is known."""
        ...


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    The lower bound equals the solution's cost exactly when the status is optimal, or when Ctrl-C came just as all
    was proved: then it is interrupted, so that whoever runs one search after another hears of it.
    """

    status: Status
    solution: Solution
    lower_bound: int
    trace: tuple[Moment, ...]


class InProcessRuntime:
    """Drives one search until the frontier is empty, the gap small enough or a limit reached.

    A search is told to look only for trees that are better than the best by more than the gap: that proves a
    small gap far sooner than waiting for the bound, most of which is proved at the end.

    Parameters
    ----------
    limits : Limits
    expansions : int, optional
        Budget of one run; None lets a task run until it is done.
    report : callable, optional
        Called with a `Moment` about ten times a second, and whenever a better tree was found.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        expansions: int | None = None,
        report: Callable[[Moment], None] | None = None,
    ) -> None:
        self._limits = limits
        self._expansions = expansions
        self._report = report

    def solve(self, search: Watchable[TaskT, FactT], frontier: Frontier[TaskT], incumbent: Incumbent) -> Outcome:
        """Run the search; the incumbent holds the best tree afterwards."""
        with Watch(self._limits) as watch:
            run = _Run(search, frontier, incumbent, self._limits, watch, self._report)
            run.sample()
            budget = Budget(self._expansions, run.pause)
            while run.status is None and (task := frontier.next_task()) is not None:
                result = search.run(task, budget)
                if incumbent.offer(result.best):
                    run.aim(incumbent.cost)
                frontier.absorb(result)
            run.aim(incumbent.cost)
            run.sample(last=True)
        # Only here, where Ctrl-C is the caller's again, is it certain that none came.
        status = Status.INTERRUPTED if watch.interrupted else run.proved or run.status
        assert status is not None
        return Outcome(status, incumbent.solution, run.bound, tuple(run.trace))


class _Run:
    """What is known during one run: asked often, so that it stops, samples and reports in time."""

    def __init__(
        self,
        search: Watchable[TaskT, FactT],
        frontier: Frontier[TaskT],
        incumbent: Incumbent,
        limits: Limits,
        watch: Watch,
        report: Callable[[Moment], None] | None,
    ) -> None:
        self.status: Status | None = None
        self.trace: list[Moment] = []
        self.bound = 0
        self._search = search
        self._frontier = frontier
        self._incumbent = incumbent
        self._limits = limits
        self._watch = watch
        self._report = report
        self._remaining: int | None = None
        self._next_time = 0.0
        self._next_report = 0.0
        self._reported: int | None = None  # the cost of the tree that was reported last
        self.aim(incumbent.cost)

    @property
    def proved(self) -> Status | None:
        """What the present bound proves, if it is enough: a limit that strikes just then takes nothing away."""
        if self.bound < self._wanted:
            return None
        return Status.OPTIMAL if self.bound == self._cost else Status.GAP_REACHED

    def aim(self, cost: int) -> None:
        """Take in that a tree of this cost is known, and look only for trees that are enough better."""
        self._cost = cost
        self._wanted = self._limits.wanted(cost)
        self._search.tighten(None, self._wanted)
        self._next_count = 0.0  # take a sample

    def pause(self) -> bool:
        """Look at the limits and the clock; return whether to stop."""
        search = self._search
        if search.limit < self._wanted:  # it has found such a tree
            self.aim(search.limit)
            if self._report is not None:
                # For those who look, only: a search takes the same course whether it is watched or not.
                self._incumbent.offer(search.found())
        if search.evaluated >= self._next_count:
            self.sample()
            # Here only, and not whenever somebody looks at the clock: so the same input stops at the same place.
            if self._limits.relative_gap:
                self.status = self.status or self.proved
        elif self._report is not None and time.perf_counter() >= self._next_report:
            self.sample()
        self.status = self.status or self._watch.verdict(search.evaluated)
        if self._watch.memory_is_short:
            search.spare_memory()
        return self.status is not None

    def sample(self, last: bool = False) -> None:
        """Record the present state; looking for the lowest bound in a long queue is done sparingly."""
        search, now = self._search, time.perf_counter()
        if now >= self._next_time or last or self._limits.relative_gap:
            bounds = (search.lower_bound(), self._frontier.lower_bound(), self._wanted)
            # A bound that was proved once holds for ever.
            self.bound = max(self.bound, min(bound for bound in bounds if bound is not None))
            if self._report is not None and self.status is None:
                self._remaining = search.remaining_log10()
            self._next_time = time.perf_counter() + 20 * (time.perf_counter() - now)
        still_open = search.open + len(self._frontier)
        # The search may know of a tree by its cost alone, or of one that whoever looks has put together.
        built = self._incumbent.cost <= self._cost
        moment = Moment(
            self._watch.seconds,
            search.evaluated,
            self._incumbent.cost if built else self._cost,
            self.bound,
            still_open,
            self._remaining,
            self._incumbent.solution.sketch.n_leaves if built else None,
            search.cached,
        )
        self.trace.append(moment)
        self._next_count = search.evaluated * _GROWTH_BETWEEN_SAMPLES + 1
        if self._report is not None and (last or now >= self._next_report or moment.incumbent != self._reported):
            self._next_report = now + _SECONDS_BETWEEN_REPORTS
            self._reported = moment.incumbent
            self._report(moment)
