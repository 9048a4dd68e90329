"""Driving a team that does as it is told: limits, the gap, checkpoints and Ctrl-C."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from ray_team import noisy, plan_of, single_leaf

from dosdt.contract import Sketch, Solution, leaf_node
from dosdt.limits import Limits, Status
from dosdt.scheduler.incumbent import Incumbent
from dosdt.solver import ALGORITHMS, solve
from dosdt.team import Record
from dosdt.workers.drive import News, drive
from dosdt.workers.in_process import Moment, Outcome
from dosdt.workers.solo import Solo

STUMP = Sketch((leaf_node(0),))


class Countdown:
    """A team that finds a tree cheaper by one at every look, down to 10, and proves it then."""

    def __init__(self, over_memory_at: int = -1, act: Callable[[int], None] = lambda look: None) -> None:
        self.looks, self.cost, self.limit = 0, 50, 50
        self.stopped = self.asked_to_save = False
        self.saves = 0
        self.fetched: list[int] = []
        self._over_memory_at, self._act = over_memory_at, act

    def advance(self, seconds: float) -> News:
        self._act(self.looks)
        self.looks += 1
        if self.asked_to_save:
            self.saves, self.asked_to_save = self.saves + 1, False
        done = self.cost == 10 or self.limit <= 10
        if not done and not self.stopped:
            self.cost -= 1
            done = self.cost == 10
        return News(
            finished=done or self.stopped,
            best=Solution(self.cost, STUMP),
            lower_bound=min(10, self.limit) if done else 3,
            evaluated=50 - self.cost,
            open=0 if done else 1,
            workers=4,
            cached=7,
            over_memory=self.looks == self._over_memory_at,
            saves=self.saves,
        )

    def tighten(self, limit: int) -> None:
        assert limit <= self.limit
        self.limit = limit

    def stop(self, *, save: bool = False) -> None:
        self.asked_to_save |= save
        self.stopped = True

    def save(self) -> None:
        self.asked_to_save = True

    def records(self) -> list[Record] | None:
        """What is fetched rests on a tree that is found just now."""
        self.cost = max(10, self.cost - 1)
        self.fetched.append(self.cost)
        return [Record(0, b"%d" % self.cost)]

    def statistics(self) -> dict[str, Any]:
        return {}


class Written:
    """Checkpoints in a list."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.all: list[tuple[int, int, int]] = []

    def write(self, solution: Solution, limit: int, records: list[Record]) -> None:
        self.all.append((solution.cost, limit, int(records[0].content)))


def run(crew: Countdown, limits: Limits | None = None, **options: Any) -> Outcome:
    incumbent = Incumbent(Solution(50, STUMP))
    outcome = drive(crew, incumbent, limits or Limits(), **options)
    assert outcome.solution == incumbent.solution
    assert outcome.lower_bound <= 10 <= outcome.solution.cost
    for earlier, later in zip(outcome.trace, outcome.trace[1:], strict=False):
        assert earlier.incumbent >= later.incumbent
        assert earlier.lower_bound <= later.lower_bound
    return outcome


def test_until_it_is_proved() -> None:
    seen: list[Moment] = []
    outcome = run(Countdown(), report=seen.append, evaluated=100)
    assert outcome.status is Status.OPTIMAL
    assert outcome.solution.cost == outcome.lower_bound == 10
    assert tuple(seen) == outcome.trace
    assert (seen[-1].evaluated, seen[-1].workers, seen[-1].cached) == (140, 4, 7)
    assert (seen[-1].leaves, seen[-1].lost) == (1, 0)


@pytest.mark.parametrize(
    ("limits", "crew", "status"),
    [
        (Limits(evaluations=20), Countdown(), Status.EVALUATION_LIMIT),
        (Limits(seconds=0.0), Countdown(), Status.TIME_LIMIT),
        (Limits(), Countdown(over_memory_at=5), Status.MEMORY_LIMIT),
        (Limits(), Countdown(act=lambda look: signal.raise_signal(2) if look == 5 else None), Status.INTERRUPTED),
    ],
    ids=["evaluations", "time", "memory", "Ctrl-C"],
)
def test_what_stops_it(limits: Limits, crew: Countdown, status: Status) -> None:
    before = signal.getsignal(signal.SIGINT)
    outcome = run(crew, limits)
    assert outcome.status is status
    assert outcome.lower_bound == 3
    assert crew.stopped
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_that_came_before() -> None:
    assert run(Countdown(), interrupted=True).status is Status.INTERRUPTED


def test_a_proof_in_the_last_moment_counts() -> None:
    """The limit strikes at the look at which all is proved."""
    assert run(Countdown(), Limits(evaluations=40)).status is Status.OPTIMAL


def test_the_gap() -> None:
    outcome = run(Countdown(), Limits(relative_gap=Fraction(1, 5)))
    assert outcome.status is Status.GAP_REACHED
    assert outcome.solution.cost * Fraction(4, 5) <= outcome.lower_bound <= 10


def test_what_was_known_before_counts() -> None:
    outcome = run(Countdown(), Limits(evaluations=30), bound=9)
    assert outcome.lower_bound == 9


def test_checkpoints_hold_the_trees_that_their_records_rest_on() -> None:
    """What is saved leaves out what is not better than a tree that the driver may not have heard of yet."""
    written = Written()
    crew = Countdown()
    assert run(crew, checkpoints=written).status is Status.OPTIMAL
    assert len(written.all) > 5
    assert all(cost <= needed for cost, _, needed in written.all)
    assert all(limit == cost for cost, limit, _ in written.all)


def test_checkpoints_tell_the_limit_that_a_gap_makes() -> None:
    written = Written()
    run(Countdown(), Limits(relative_gap=Fraction(1, 10)), checkpoints=written)
    assert written.all
    assert all(limit < cost for cost, limit, _ in written.all)


def test_a_last_checkpoint_when_it_is_stopped() -> None:
    written = Written(seconds=1000.0)
    crew = Countdown()
    assert run(crew, Limits(evaluations=20), checkpoints=written).status is Status.EVALUATION_LIMIT
    assert len(written.all) == len(crew.fetched) == 1


def test_nobody_waits_for_ever_for_the_last_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dosdt.workers.drive._SECONDS_FOR_THE_LAST", 0.1)

    class Deaf(Countdown):
        def stop(self, *, save: bool = False) -> None:
            super().stop(save=False)

    written = Written(seconds=1000.0)
    assert run(Deaf(), Limits(evaluations=20), checkpoints=written).status is Status.EVALUATION_LIMIT
    assert not written.all


def test_what_cannot_be_had_is_not_written() -> None:
    class Bare(Countdown):
        def records(self) -> None:
            return None

    written = Written()
    assert run(Bare(), checkpoints=written).status is Status.OPTIMAL
    assert not written.all


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_team_of_one(algorithm: str) -> None:
    problem = noisy(1, 300, 8, "0.015", 0.15)
    incumbent = Incumbent(single_leaf(problem))
    start = time.perf_counter()
    outcome = drive(Solo(problem, plan_of(algorithm), incumbent.cost), incumbent, Limits(), started=start)
    assert outcome.status is Status.OPTIMAL
    assert problem.objective(outcome.solution.cost) == solve(problem).objective
