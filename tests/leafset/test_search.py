"""The leaf-set search against exhaustive search, on thousands of small random problems."""

from __future__ import annotations

import random
import threading
from fractions import Fraction
from functools import partial

import exhaustive
import numpy as np
import pytest
from random_problems import random_problem
from search_checks import check_stopped, check_trace, every_limit, solve_by_messages
from sketch_checks import check_optimal

from dosdt.bounds import SWITCHES
from dosdt.contract import Budget, Constraints
from dosdt.leafset.policies import POLICIES
from dosdt.leafset.search import LeafSetSearch
from dosdt.limits import Limits, Status
from dosdt.problem import Problem
from dosdt.solver import solve as solve_by

N_PROBLEMS, CHUNK = 2000, 50
solve = partial(solve_by, algorithm="leafset")


@pytest.mark.parametrize("start", range(0, N_PROBLEMS, CHUNK))
def test_every_policy_finds_the_optimum(start: int) -> None:
    for seed in range(start, start + CHUNK):
        given = random_problem(seed)
        optimum, problem = given.optimum(), given.problem
        for policy in POLICIES:
            check_optimal(problem, solve(problem, policy=policy, warm_start=seed % 2 == 0), optimum)


@pytest.mark.parametrize("switch", SWITCHES)
def test_without_one_bound_or_cache(switch: str) -> None:
    others = set(SWITCHES) - {switch}
    for seed in range(60):
        given = random_problem(seed + 10_000, max_features=4, max_rows=40)
        check_optimal(given.problem, solve(given.problem, bounds=others, warm_start=False), given.optimum())
    for seed in range(20):
        given = random_problem(seed + 20_000, max_features=5, max_rows=40, least="0.05")
        check_optimal(given.problem, solve(given.problem, bounds=others, warm_start=False), given.optimum())


def test_without_any_bound() -> None:
    for seed in range(30):
        given = random_problem(seed + 30_000, max_features=3, max_rows=30)
        check_optimal(given.problem, solve(given.problem, bounds=["tree_cache"], warm_start=False), given.optimum())


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_constraints(start: int) -> None:
    for seed in range(start, start + 50):
        given = random_problem(seed + 40_000, max_features=4, max_rows=40, least="0")
        rng = random.Random(seed)
        depth = rng.choice([None, 0, 1, 2, 3])
        leaves = rng.choice([None, 1, 2, 3, 5])
        if given.regularization == 0 and depth is None and leaves is None:
            depth = 2
        support = rng.choice([0, 0, 1, 3, 8])
        problem = given.problem
        # In integers: at least `support` in the user's unit.
        units = -(-support // problem.weight_unit)
        constraints = Constraints(depth, leaves, units)
        answer = solve(problem, constraints=constraints, warm_start=seed % 2 == 0)
        optimum = given.optimum(max_depth=depth, max_leaves=leaves, min_support=Fraction(support))
        check_optimal(problem, answer, optimum, constraints)


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_many_small_budgets_give_the_same_answer(budget: int) -> None:
    for seed in range(60):
        given = random_problem(seed + 50_000)
        answer = solve(given.problem, expansions=budget, warm_start=False)
        check_optimal(given.problem, answer, given.optimum())


def test_tasks_facts_and_limits_travel_between_searches() -> None:
    """Three searches that share nothing but messages prove what one proves."""
    for seed in range(40):
        given = random_problem(seed + 60_000)
        searches = [LeafSetSearch(given.problem, record_facts=True) for _ in range(3)]
        assert given.problem.objective(solve_by_messages(searches, seed)) == given.optimum()


def noise() -> tuple[list[list[int]], list[int]]:
    """Return features and labels that have nothing to do with each other: a problem that takes some trees."""
    rng = random.Random(0)
    return [[rng.randrange(2) for _ in range(8)] for _ in range(120)], [rng.randrange(2) for _ in range(120)]


def test_facts_keep_others_from_generating_a_tree_again() -> None:
    problem = Problem.from_arrays(*noise(), "0.01")
    first, second = LeafSetSearch(problem, record_facts=True), LeafSetSearch(problem, record_facts=True)
    first.run(first.root(), Budget())
    facts, _ = first.facts_since(0)
    second.absorb(facts)
    second.tighten(None, first.limit)
    second.run(second.root(), Budget())
    assert facts
    assert second.expanded == 1


def test_a_lost_run_leaves_no_facts_behind() -> None:
    """A tree generated in a run that was not handed back must not keep others from generating it."""
    problem = Problem.from_arrays(*noise(), "0.01")
    search = LeafSetSearch(problem, record_facts=True)
    seen: list[int] = []

    def look() -> bool:
        seen.append(len(search.facts_since(0)[0]))
        return False

    search.run(search.root(), Budget(pause=look))
    assert len(seen) > 1
    assert not any(seen)
    assert search.facts_since(0)[0]


def test_tighten_reaches_a_running_search() -> None:
    """From another thread, in the middle of a run: nothing below the limit is left, so it ends at once."""
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.random((200, 14)) < 0.5, rng.integers(0, 2, 200), "0.001")
    search = LeafSetSearch(problem)
    started = threading.Event()

    def pause() -> bool:
        started.set()
        return False

    def tighten() -> None:
        started.wait()
        search.tighten(None, 0)

    other = threading.Thread(target=tighten)
    other.start()
    result = search.run(search.root(), Budget(pause=pause))
    other.join()
    assert not result.survivors


def test_an_interrupted_expansion_loses_nothing() -> None:
    """Pausing within expansions, at any point, and going on gives the same optimum."""
    for seed in range(20):
        given = random_problem(seed + 70_000, max_features=5)
        search = LeafSetSearch(given.problem)
        best, tasks = search.best, [search.root()]
        rng, patience = random.Random(seed), 0.0
        while tasks and tasks[-1]:
            patience += 1
            result = search.run(tasks.pop(), Budget(pause=lambda: rng.random() < 1 / patience))  # noqa: B023
            best = result.best or best
            tasks += result.survivors
        assert given.problem.objective(best.cost) == given.optimum()


def test_same_input_same_tree_same_counts() -> None:
    problem = random_problem(11).problem
    first, second = solve(problem), solve(problem)
    assert first.sketch == second.sketch
    for name in ("evaluated", "expanded", "duplicates"):
        assert first.stats[name] == second.stats[name]


@every_limit
def test_limits_leave_a_tree_and_a_valid_bound(limits: Limits, status: Status) -> None:
    """On a problem that is too large for the limit; its optimum comes from a run without."""
    features, labels = noise()
    optimum = exhaustive.optimum(features, labels, Fraction(1, 200))
    answer = solve(
        Problem.from_arrays(features, labels, "0.005"), limits=limits, warm_start=False, policy="lower_bound"
    )
    check_stopped(answer, status, optimum)


def test_the_trace_only_ever_improves() -> None:
    for policy in POLICIES:
        check_trace(solve(random_problem(12).problem, policy=policy, warm_start=False))


def test_depth_sixty_needs_no_recursion() -> None:
    """A chain that only a very deep tree can tell apart stops at its limit instead of failing."""
    n = 200
    features = np.tri(n, n, -1, dtype=bool)
    labels = np.arange(n) % 2
    answer = solve(Problem.from_arrays(features, labels, "0.0001"), limits=Limits(seconds=2))
    assert answer.lower_bound <= answer.objective
