"""The in-process runtime: first with a search that does as it is told, then with a real one."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import exhaustive
import pytest

from dosdt.contract import Budget, Result, Sketch, Solution, leaf_node
from dosdt.limits import Limits, Status
from dosdt.problem import Problem
from dosdt.scheduler.incumbent import Incumbent
from dosdt.solver import ALGORITHMS, Answer, solve
from dosdt.workers.in_process import InProcessRuntime, Moment, Outcome

STUMP = Sketch((leaf_node(0),))


class Countdown:
    """Finds a tree that is cheaper by one at every step; every task is the cost where it goes on.

    `bound` is what it can prove before it is done; Ctrl-C comes after step `interrupted_at`.
    """

    def __init__(self, start: int, optimum: int, bound: int, interrupted_at: int | None = None) -> None:
        self.limit, self.evaluated, self.open, self.cached = start, 0, 0, 0
        self._optimum, self._bound, self._interrupted_at = optimum, bound, interrupted_at

    def root(self) -> int:
        return self.limit

    def run(self, task: int, budget: Budget) -> Result[int]:
        assert budget.pause is not None
        steps, best = 0, None
        self.open = 1
        while task > self._optimum:
            # It asks more often than it need, as a search with several loops would.
            if steps == budget.expansions or any([budget.pause(), budget.pause()]):
                self.open = 0
                return Result(best, [task], steps, steps)
            task, steps = task - 1, steps + 1
            self.evaluated += 1
            self.limit = min(self.limit, task)
            best = Solution(task, STUMP)
            if self.evaluated == self._interrupted_at:
                signal.raise_signal(signal.SIGINT)
        self.open = 0
        return Result(best, [], steps, steps)

    def tighten(self, task: int | None, limit: int) -> None:
        self.limit = min(self.limit, limit)

    def spare_memory(self) -> None:
        self.spared = True

    def lower_bound(self) -> int | None:
        return self._bound if self.open else None

    def found(self) -> Solution:
        return Solution(self.limit, STUMP)

    def remaining_log10(self) -> int:
        return 7

    def facts_since(self, cursor: int) -> tuple[Sequence[Any], int]:
        return [], cursor

    def absorb(self, facts: Sequence[Any]) -> None:
        raise AssertionError("one process has nobody to hear from")

    def encode(self, task: int) -> bytes:
        raise AssertionError("one process has nobody to write to")

    def decode(self, message: bytes) -> int:
        raise AssertionError("one process has nobody to hear from")


class Pile:
    """The simplest frontier; `bound` is that of every task in it."""

    def __init__(self, tasks: list[int], bound: int) -> None:
        self._tasks, self._bound = tasks, bound

    def __len__(self) -> int:
        return len(self._tasks)

    def next_task(self) -> int | None:
        return self._tasks.pop() if self._tasks else None

    def absorb(self, result: Result[int]) -> None:
        self._tasks += result.survivors

    def lower_bound(self) -> int | None:
        return self._bound if self._tasks else None


def run(
    limits: Limits,
    *,
    bound: int = 3,
    tasks: Sequence[int] = (50,),
    interrupted_at: int | None = None,
    **options: Any,
) -> Outcome:
    search, incumbent = Countdown(50, 10, bound, interrupted_at), Incumbent(Solution(50, STUMP))
    outcome = InProcessRuntime(limits, **options).solve(search, Pile(list(tasks), bound), incumbent)
    assert outcome.solution == incumbent.solution
    assert outcome.lower_bound <= 10 <= outcome.solution.cost
    if outcome.status is not Status.INTERRUPTED:
        assert (outcome.status is Status.OPTIMAL) == (outcome.lower_bound == outcome.solution.cost)
    for earlier, later in zip(outcome.trace, outcome.trace[1:], strict=False):
        assert earlier.seconds <= later.seconds
        assert earlier.evaluated <= later.evaluated
        assert earlier.incumbent >= later.incumbent
        assert earlier.lower_bound <= later.lower_bound
    assert outcome.trace[-1].incumbent == outcome.solution.cost
    assert outcome.trace[-1].lower_bound == outcome.lower_bound
    return outcome


@pytest.mark.parametrize("expansions", [None, 1, 7])
def test_runs_until_nothing_is_left(expansions: int | None) -> None:
    outcome = run(Limits(), expansions=expansions)
    assert outcome.status is Status.OPTIMAL
    assert outcome.solution.cost == outcome.lower_bound == 10
    assert outcome.trace[-1].evaluated == 40
    assert outcome.trace[-1].open == 0
    # What is left to evaluate costs time to work out, so it is only done where somebody looks.
    assert {moment.remaining_log10 for moment in outcome.trace} == {None}
    watched = run(Limits(), expansions=expansions, report=lambda moment: None)
    assert {moment.remaining_log10 for moment in watched.trace} == {7}


@pytest.mark.parametrize("expansions", [None, 1, 7])
@pytest.mark.parametrize("evaluations", [0, 1, 5, 39])
def test_stops_at_the_limit(evaluations: int, expansions: int | None) -> None:
    outcome = run(Limits(evaluations=evaluations), expansions=expansions)
    assert outcome.status is Status.EVALUATION_LIMIT
    assert outcome.solution.cost == 50 - evaluations
    assert outcome.lower_bound == 3
    assert outcome.trace[-1].open == 1


def test_a_limit_that_strikes_at_the_end_takes_nothing_away() -> None:
    assert run(Limits(evaluations=40)).status is Status.OPTIMAL


def test_what_is_proved_is_optimal_even_if_tasks_are_left() -> None:
    """The bound of what is left says that it is of no use."""
    outcome = run(Limits(evaluations=40), bound=10, tasks=[50, 50], expansions=100)
    assert outcome.status is Status.OPTIMAL
    assert outcome.solution.cost == outcome.lower_bound == 10


@pytest.mark.parametrize(
    ("limits", "status"), [(Limits(seconds=0), Status.TIME_LIMIT), (Limits(memory=1), Status.MEMORY_LIMIT)]
)
def test_time_and_memory(limits: Limits, status: Status) -> None:
    outcome = run(limits)
    assert outcome.status is status
    assert outcome.solution.cost == 50


def test_every_improvement_is_in_the_trace() -> None:
    costs = [moment.incumbent for moment in run(Limits()).trace]
    assert sorted(set(costs), reverse=True) == list(range(50, 9, -1))


def test_reports() -> None:
    seen: list[Moment] = []
    outcome = run(Limits(), report=seen.append)
    assert seen
    assert seen[0] == outcome.trace[0]
    assert set(seen) <= set(outcome.trace)


def test_an_error_in_a_report_leaves_the_handler_as_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)

    def fail(moment: Moment) -> None:
        raise RuntimeError("no more paper")

    with pytest.raises(RuntimeError, match="no more paper"):
        run(Limits(), report=fail)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("expansions", [None, 1, 7])
def test_an_interrupt_stops_at_the_next_step(expansions: int | None) -> None:
    before = signal.getsignal(signal.SIGINT)
    outcome = run(Limits(), interrupted_at=20, expansions=expansions)
    assert outcome.status is Status.INTERRUPTED
    assert (outcome.solution.cost, outcome.lower_bound) == (30, 3)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("expansions", [None, 1, 7])
def test_an_interrupt_in_the_last_moment_is_heard(expansions: int | None) -> None:
    """The proof is complete, so nobody asks whether to stop."""
    outcome = run(Limits(), interrupted_at=40, expansions=expansions)
    assert outcome.status is Status.INTERRUPTED
    assert outcome.solution.cost == outcome.lower_bound == 10


@pytest.mark.parametrize(("expansions", "cost"), [(None, 11), (1, 18), (7, 15)])
def test_stops_when_the_gap_is_small_enough(expansions: int | None, cost: int) -> None:
    """With 9 proved from the start, 18 is within a half.

    After 50 a search is only asked for trees below 25, and after 24 for those below 12; what it finds besides
    is known when it comes back.
    """
    outcome = run(Limits(relative_gap=Fraction(1, 2)), bound=9, expansions=expansions)
    assert outcome.status is Status.GAP_REACHED
    assert (outcome.solution.cost, outcome.lower_bound) == (cost, 9)


def test_a_search_that_has_nothing_left_has_reached_the_gap() -> None:
    """What it was told not to look for may exist, so that is all that is proved."""
    outcome = run(Limits(relative_gap=Fraction(1, 10)), bound=3)
    assert outcome.status is Status.GAP_REACHED
    assert (outcome.solution.cost, outcome.lower_bound) == (10, 9)


def test_no_gap_is_asked_for() -> None:
    assert run(Limits(relative_gap=Fraction(0)), bound=9).status is Status.OPTIMAL


def test_the_gap_is_reached_as_a_limit_strikes() -> None:
    outcome = run(Limits(relative_gap=Fraction(1, 4), evaluations=38), bound=9)
    assert outcome.status is Status.GAP_REACHED


def in_the_middle(act: Callable[[], None]) -> Any:
    """Return a function for reports that waits for another thread to act, once."""
    started, acted = threading.Event(), threading.Event()

    def other() -> None:
        started.wait()
        act()
        acted.set()

    threading.Thread(target=other, daemon=True).start()

    def report(_: object) -> None:
        started.set()
        acted.wait()

    return report


RNG = random.Random(0)
FEATURES = [[RNG.randrange(2) for _ in range(8)] for _ in range(120)]
LABELS = [RNG.randrange(2) for _ in range(120)]


def hard(**options: Any) -> Answer:
    problem = Problem.from_arrays(FEATURES, LABELS, "0.005")
    return solve(problem, algorithm="leafset", warm_start=False, policy="lower_bound", **options)


def test_an_interrupted_search_leaves_a_tree_and_a_valid_bound() -> None:
    before = signal.getsignal(signal.SIGINT)
    answer = hard(report=in_the_middle(lambda: signal.raise_signal(signal.SIGINT)))
    optimum = exhaustive.optimum(FEATURES, LABELS, Fraction(1, 200))
    assert answer.status is Status.INTERRUPTED
    assert answer.lower_bound <= optimum <= answer.objective
    assert answer.lower_bound < answer.objective
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_interrupt_at_any_time(algorithm: str) -> None:
    """From a timer, on a problem that takes far longer."""
    rng = random.Random(1)
    features = [[rng.randrange(2) for _ in range(40)] for _ in range(400)]
    problem = Problem.from_arrays(features, [rng.randrange(2) for _ in range(400)], "0.0005")
    started = in_the_middle(lambda: threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start())
    answer = solve(problem, algorithm=algorithm, report=started)
    assert answer.status is Status.INTERRUPTED
    assert 0 < answer.lower_bound < answer.objective
    assert answer.stats["evaluated"] > 0


def test_a_search_in_another_thread() -> None:
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(hard(limits=Limits(evaluations=500))))
    thread.start()
    thread.join()
    assert answers[0].status is Status.EVALUATION_LIMIT
    assert answers[0].objective == hard(limits=Limits(evaluations=500)).objective
