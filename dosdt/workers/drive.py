"""Drives a team, wherever its members are, until the proof is complete or a limit is reached."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

from dosdt.contract import Solution
from dosdt.limits import Limits, Status, Watch
from dosdt.scheduler.incumbent import Incumbent
from dosdt.team import Record
from dosdt.workers.in_process import Moment, Outcome
from dosdt.workers.pace import pause_after

_SECONDS_FOR_A_CHECKPOINT = 0.01
_SECONDS_FOR_THE_LAST = 3.0
"""After a stop, what the team has saved may take a moment to be at hand."""


class News(NamedTuple):
    """What is known of a team at one time.

    Attributes
    ----------
    finished : bool
    best : Solution or None
        The best tree found so far, if any is better than the one it began with.
    lower_bound : int
        A bound on all trees.
    evaluated, open, workers, cached : int
    lost : int
        How many workers have died or were let go.
    over_memory : bool
        Whether somebody uses more memory than is allowed.
    saves : int
        How often all that is known has been saved.
    """

    finished: bool
    best: Solution | None
    lower_bound: int
    evaluated: int
    open: int
    workers: int
    cached: int
    over_memory: bool
    saves: int
    lost: int = 0


class Crew(Protocol):
    """A team with whatever carries its letters."""

    def advance(self, seconds: float) -> News:
        """Let the team work for about so long, less if it has finished, and return the news."""
        ...

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit` from now on."""
        ...

    def stop(self, *, save: bool = False) -> None:
        """Finish soon, whatever is open, and save before if asked to."""
        ...

    def save(self) -> None:
        """Save all that is known; the news says when that is done."""
        ...

    def records(self) -> list[Record] | None:
        """Return what was saved; None if it cannot be had just now.

        It may rest on trees that were found after the last news: what was not better was left out.
        """
        ...

    def statistics(self) -> dict[str, Any]:
        """Return counts and seconds, by name."""
        ...


class Checkpoints(Protocol):
    """Where what is known is kept from time to time."""

    seconds: float

    def write(self, solution: Solution, limit: int, records: list[Record]) -> None:
        """Keep this, in place of what was kept before; what is not cheaper than `limit` may have been left out."""
        ...


def drive(
    crew: Crew,
    incumbent: Incumbent,
    limits: Limits,
    *,
    report: Callable[[Moment], None] | None = None,
    checkpoints: Checkpoints | None = None,
    started: float | None = None,
    bound: int = 0,
    evaluated: int = 0,
    interrupted: bool = False,
) -> Outcome:
    """Run a team; the incumbent holds the best tree afterwards.

    `started` is when the time limit began to run, by `time.perf_counter`; `bound` holds for all trees, and
    `evaluated` is what it took to show that. `interrupted` says that Ctrl-C came before.
    """
    start = time.perf_counter() if started is None else started
    trace: list[Moment] = []
    status: Status | None = None
    wanted = limits.wanted(incumbent.cost)
    crew.tighten(wanted)
    keeper = _Keeper(crew, checkpoints) if checkpoints is not None else None
    # Memory is what the workers use, which they look after themselves.
    with Watch(replace(limits, seconds=None, memory=2**62)) as watch:
        watch.interrupted |= interrupted
        while True:
            news = crew.advance(pause_after(time.perf_counter() - start))
            seconds = time.perf_counter() - start
            if incumbent.offer(news.best):
                wanted = limits.wanted(incumbent.cost)
                crew.tighten(wanted)
            bound = max(bound, min(news.lower_bound, wanted))
            done = evaluated + news.evaluated
            moment = Moment(
                seconds,
                done,
                incumbent.cost,
                bound,
                news.open,
                None,
                incumbent.solution.sketch.n_leaves,
                news.cached,
                news.workers,
                news.lost,
            )
            trace.append(moment)
            if report is not None:
                report(moment)
            if keeper is not None:
                keeper.look(news, incumbent.solution, wanted)
            if news.finished and (bound >= wanted or keeper is None or keeper.has_the_last()):
                break
            if status is None and not news.finished:
                status = watch.verdict(done)
                if limits.seconds is not None and seconds >= limits.seconds:
                    status = status or Status.TIME_LIMIT
                if news.over_memory:
                    status = status or Status.MEMORY_LIMIT
                if status is not None:
                    crew.stop(save=keeper is not None)
                    if keeper is not None:
                        keeper.expect_the_last(news)
            elif news.finished:
                time.sleep(_SECONDS_FOR_A_CHECKPOINT)
    proved = None if bound < wanted else Status.OPTIMAL if bound == incumbent.cost else Status.GAP_REACHED
    final = Status.INTERRUPTED if watch.interrupted else proved or status
    assert final is not None, "the team has finished without a proof; please report this as a bug"
    return Outcome(final, incumbent.solution, bound, tuple(trace))


class _Keeper:
    """Sees to it that a checkpoint is written whenever it is time, and a last one when the team is stopped."""

    def __init__(self, crew: Crew, checkpoints: Checkpoints) -> None:
        self._crew, self._checkpoints = crew, checkpoints
        self._due = time.perf_counter() + checkpoints.seconds
        self._saves: int | None = None
        self._records: list[Record] | None = None
        self._give_up: float | None = None

    def look(self, news: News, solution: Solution, limit: int) -> None:
        """Ask for what is known, fetch it or write it down, whichever comes next."""
        now = time.perf_counter()
        if self._records is not None:
            # The news came after them, so no tree that they rest on is missing.
            self._checkpoints.write(solution, limit, self._records)
            self._records = None
            self._due = now + self._checkpoints.seconds
        elif self._saves is not None:
            if news.saves > self._saves:
                self._records, self._saves = self._crew.records(), None
        elif now >= self._due and self._give_up is None:
            self._saves = news.saves
            self._crew.save()

    def expect_the_last(self, news: News) -> None:
        """Take in that the team was asked to save for the last time."""
        self._saves = news.saves
        self._give_up = time.perf_counter() + _SECONDS_FOR_THE_LAST

    def has_the_last(self) -> bool:
        """Say whether the last checkpoint was written, or waiting for it is in vain."""
        written = self._saves is None and self._records is None
        return written or self._give_up is None or time.perf_counter() > self._give_up
