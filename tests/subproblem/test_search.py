"""The subproblem search against exhaustive search and against the leaf-set search."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from constrained import constrained
from random_problems import RandomProblem, random_problem
from search_checks import check_stopped, check_trace, every_limit, solve_by_messages
from sketch_checks import check_optimal

from dosdt.contract import Budget, Constraints
from dosdt.errors import InputError
from dosdt.limits import Limits, Status
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.solver import solve
from dosdt.subproblem import counts
from dosdt.subproblem import search as subproblem_search
from dosdt.subproblem.search import SubproblemSearch
from dosdt.subproblem.terms import SWITCHES

N_PROBLEMS, CHUNK = 10_000, 250


@pytest.mark.parametrize("start", range(0, N_PROBLEMS, CHUNK))
def test_it_finds_the_optimum(start: int) -> None:
    for seed in range(start, start + CHUNK):
        given, constraints, limits = constrained(seed)
        answer = solve(given.problem, constraints=constraints)
        check_optimal(given.problem, answer, given.optimum(**limits), constraints)


def thresholds(seed: int) -> tuple[RandomProblem, Constraints, dict[str, object]]:
    """Return a problem as `constrained` does, whose features are thresholds of two numbers."""
    given, constraints, limits = constrained(seed, (4,))
    rng = random.Random(seed)
    numbers = [(rng.randrange(6), rng.randrange(3)) for _ in given.labels]
    features = [[int(x <= t) for t in range(5)] + [int(y > t) for t in range(2)] for x, y in numbers]
    if len({tuple(row) for row, weight in zip(features, given.weights or given.labels, strict=True) if weight}) < 2:
        features[0], features[1] = [1] * 7, [0] * 7
    nested = RandomProblem(features, given.labels, given.regularization, given.weights, given.costs)
    return nested, constraints, limits


@pytest.mark.parametrize("start", range(0, 1000, 250))
def test_nested_features(start: int) -> None:
    """Similarity has most to say where features contain one another."""
    for seed in range(start, start + 250):
        given, constraints, limits = thresholds(seed + 90_000)
        answer = solve(given.problem, constraints=constraints)
        check_optimal(given.problem, answer, given.optimum(**limits), constraints)


@pytest.mark.parametrize("switch", SWITCHES)
def test_without_one_bound_or_the_cache(switch: str) -> None:
    for seed in range(300):
        given, constraints, limits = constrained(seed + 20_000, (3, 4))
        answer = solve(given.problem, constraints=constraints, bounds=set(SWITCHES) - {switch})
        check_optimal(given.problem, answer, given.optimum(**limits))


def test_without_any_bound() -> None:
    for seed in range(100):
        given, constraints, limits = constrained(seed + 30_000, (3, 4))
        check_optimal(
            given.problem, solve(given.problem, constraints=constraints, bounds=()), given.optimum(**limits)
        )


def test_counting_children_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is used with thousands of features gives the same answers."""
    monkeypatch.setattr(counts, "_WIDE", 0)
    for seed in range(300):
        given, constraints, limits = constrained(seed + 40_000)
        check_optimal(given.problem, solve(given.problem, constraints=constraints), given.optimum(**limits))


@pytest.mark.parametrize("scale", [2**26, 10**40])
def test_numbers_beyond_floating_point(scale: int) -> None:
    """Weights so large that sums need 64-bit floats, or Python's own integers."""
    for seed in range(60):
        given = random_problem(seed + 250_000, max_classes=4)
        rng = random.Random(seed)
        weights = [Fraction(scale + rng.randrange(scale)) for _ in given.labels]
        heavy = RandomProblem(given.features, given.labels, given.regularization, weights, given.costs)
        check_optimal(heavy.problem, solve(heavy.problem), heavy.optimum())


def test_a_penalty_with_many_digits() -> None:
    for seed in range(300):
        given = random_problem(seed + 260_000, max_classes=4)
        rng = random.Random(seed)
        regularization = Fraction(str(10 ** rng.uniform(-2.5, -0.5)))
        long = RandomProblem(given.features, given.labels, regularization, given.weights, given.costs)
        check_optimal(long.problem, solve(long.problem), long.optimum())


@pytest.mark.parametrize("start", range(0, 500, 100))
def test_both_searches_agree_on_larger_problems(start: int) -> None:
    for seed in range(start, start + 100):
        rng = np.random.default_rng(seed)
        features = rng.random((int(rng.integers(50, 300)), int(rng.integers(6, 11)))) < rng.choice([0.3, 0.5])
        rule = (features[:, 0] & features[:, 1]) | (features[:, 2] & ~features[:, 3])
        labels = np.where(rng.random(len(features)) < 0.15, rng.integers(0, 3, len(features)), rule)
        problem = Problem.from_arrays(features, labels, rng.choice(["0.02", "0.03", "0.05"]))
        fast, paper = solve(problem), solve(problem, algorithm="leafset")
        assert fast.status is paper.status is Status.OPTIMAL
        assert fast.objective == paper.objective


@pytest.mark.parametrize("budget", [1, 3, 10])
def test_many_small_budgets_give_the_same_answer(budget: int) -> None:
    for seed in range(150):
        given, constraints, limits = constrained(seed + 50_000)
        check_optimal(
            given.problem, solve(given.problem, constraints=constraints, expansions=budget), given.optimum(**limits)
        )


def test_tasks_facts_and_limits_travel_between_searches() -> None:
    """Three searches that share nothing but messages prove what one proves."""
    for seed in range(80):
        given, constraints, limits = constrained(seed + 60_000)
        searches = [SubproblemSearch(given.problem, constraints, record_facts=True) for _ in range(3)]
        assert given.problem.objective(solve_by_messages(searches, seed)) == given.optimum(**limits)


def test_facts_spare_another_search_the_work() -> None:
    rng = np.random.default_rng(1)
    features = rng.random((300, 12)) < 0.5
    labels = (features[:, 0] ^ features[:, 1]) | (features[:, 2] & features[:, 3]) ^ (rng.random(300) < 0.2)
    problem = Problem.from_arrays(features, labels, "0.01")
    first, second = SubproblemSearch(problem, record_facts=True), SubproblemSearch(problem)
    first.run(first.root(), Budget())
    facts, _ = first.facts_since(0)
    second.absorb(facts)
    second.run(second.root(), Budget())
    # Lower bounds travel, trees do not: the second search only has to find the tree again.
    assert first.expanded > 20
    assert 4 * second.expanded < first.expanded


def test_subsets_are_tasks_too() -> None:
    """Solving a child as a task of its own proves what exhaustive search says of its rows."""
    tried = 0
    for seed in range(200):
        given = random_problem(seed + 270_000, max_features=5)
        problem = given.problem
        if Prices(problem).penalty != Fraction(problem.a, problem.b):
            continue  # facts are in prices of their own
        tried += 1
        part = SubproblemSearch(problem, record_facts=True)
        part.run(part.root()._replace(path=(1,)), Budget())
        facts, _ = part.facts_since(0)
        source = problem.columns[0].source
        inside = [row for row, features in enumerate(given.features) if features[source]]
        weights = given.weights or [Fraction(1)] * len(given.labels)
        kept = sum(weights[row] for row in inside)
        penalty = given.regularization * sum(weights) / kept
        alone = RandomProblem(
            [given.features[row] for row in inside],
            [given.labels[row] for row in inside],
            penalty,
            [weights[row] for row in inside],
            given.costs,
        )
        avoidable = alone.optimum() * kept / problem.cost_unit * problem.b
        floors = sum(low for low, row in zip(problem.floor, problem.features, strict=True) if row[0])
        assert [fact.lower for fact in facts if fact.path == (1,)][-1] == avoidable - problem.b * floors
    assert tried > 50


def test_tighten_prunes_what_is_running() -> None:
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.random((300, 20)) < 0.5, rng.integers(0, 2, 300), "0.001")
    search = SubproblemSearch(problem)
    calls = 0

    def pause() -> bool:
        nonlocal calls
        calls += 1
        if calls == 5:
            search.tighten(None, 0)
        return False

    result = search.run(search.root(), Budget(pause=pause))
    assert not result.survivors
    assert calls < 100


@every_limit
def test_limits_leave_a_tree_and_a_valid_bound(limits: Limits, status: Status) -> None:
    rng = np.random.default_rng(0)
    features = rng.random((400, 16)) < 0.5
    labels = rng.integers(0, 2, 400)
    problem = Problem.from_arrays(features, labels, "0.01")
    check_stopped(solve(problem, limits=limits), status, solve(problem).objective)


def test_the_trace_only_ever_improves() -> None:
    rng = np.random.default_rng(3)
    features = rng.random((300, 12)) < 0.5
    answer = solve(Problem.from_arrays(features, rng.integers(0, 2, 300), "0.01"), expansions=20)
    assert len(answer.trace) > 3
    check_trace(answer)


def test_same_input_same_tree_same_counts() -> None:
    problem = random_problem(270_011).problem
    first, second = solve(problem), solve(problem)
    assert first.sketch == second.sketch
    assert first.stats["expanded"] == second.stats["expanded"]
    assert first.stats["facts"] == second.stats["facts"]


def test_deep_trees_need_no_recursion() -> None:
    """200 features of which only a tree of depth 60 and more makes sense."""
    n = 200
    features = np.tri(n, n, -1, dtype=bool)
    labels = np.arange(n) // 2 % 2
    answer = solve(Problem.from_arrays(features, labels, "0.0001"), limits=Limits(seconds=5))
    assert answer.lower_bound <= answer.objective


def test_a_tree_with_fewer_leaves_than_allowed_is_found_again() -> None:
    """The best tree for a side may be known only under the smaller number of leaves it was found for."""
    rows = [
        "001100",
        "000110",
        "110110",
        "101001",
        "110100",
        "111011",
        "000010",
        "111011",
        "010111",
        "001111",
        "111111",
        "100011",
        "110001",
        "110010",
        "001100",
        "010111",
        "011101",
        "111000",
        "111000",
        "011101",
        "001111",
    ]
    features = [[int(digit) for digit in row[:5]] for row in rows]
    labels = [int(row[5]) for row in rows]
    problem = Problem.from_arrays(features, labels, "0.005")
    constraints = Constraints(max_leaves=9)
    check_optimal(problem, solve(problem, constraints=constraints), Fraction(46, 525), constraints)


def test_costs_beyond_64_bits_stay_exact() -> None:
    """Weights that fit a float and a penalty that does not: sums must not round."""
    features = [[i >> k & 1 for k in range(3)] for i in range(8)]
    weights = [1125899906842500 + more for more in (28, 17, 38, 12, 27, 40, 60, 53)]
    regularization = Fraction(237564880343772987, 1900519042750198025)
    problem = Problem.from_arrays(features, [0, 0, 1, 0, 0, 1, 1, 1], regularization, sample_weight=weights)
    check_optimal(problem, solve(problem), Fraction(950259521375091946, 1900519042750198025))
    for seed in range(60):
        given = random_problem(seed + 280_000, max_features=4, max_rows=30)
        rng = random.Random(seed)
        heavy = [Fraction(2**48 + rng.randrange(64)) for _ in given.labels]
        near = RandomProblem(given.features, given.labels, Fraction("0.01712345"), heavy, given.costs)
        check_optimal(near.problem, solve(near.problem), near.optimum())


def test_a_part_of_the_facts_does_no_harm() -> None:
    for seed in range(150):
        given, constraints, limits = constrained(seed + 70_000)
        first = SubproblemSearch(given.problem, constraints, record_facts=True)
        first.run(first.root(), Budget())
        facts, _ = first.facts_since(0)
        rng = random.Random(seed)
        second = SubproblemSearch(given.problem, constraints)
        second.absorb([fact for fact in facts if rng.random() < 0.6])
        result = second.run(second.root(), Budget())
        best = result.best or second.best
        assert given.problem.objective(best.cost) == given.optimum(**limits)


@pytest.mark.parametrize("limit", [50, 10**6])
def test_limits_that_cannot_bind_cost_nothing(limit: int) -> None:
    problem = random_problem(290_001, max_features=6).problem
    free = solve(problem)
    bound = solve(problem, constraints=Constraints(max_depth=limit, max_leaves=10 * limit))
    assert bound.objective == free.objective
    assert bound.stats["expanded"] == free.stats["expanded"]


@pytest.mark.parametrize("algorithm", ["subproblem", "leafset"])
@pytest.mark.parametrize("regularization", ["1e400", "1e40", "1e-320"])
def test_penalties_beyond_floating_point(algorithm: str, regularization: str) -> None:
    problem = Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], regularization)
    answer = solve(problem, algorithm=algorithm)
    assert answer.status is Status.OPTIMAL
    assert answer.sketch.n_leaves == (4 if regularization == "1e-320" else 1)


def test_short_of_memory_it_forgets_and_stays_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subproblem_search, "_LEAST_ROOM", 1)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        features = rng.random((200, 10)) < 0.5
        labels = (features[:, 0] ^ features[:, 1]) | (features[:, 2] & features[:, 3]) ^ (rng.random(200) < 0.2)
        problem = Problem.from_arrays(features, labels, "0.01")
        constraints = Constraints(max_depth=rng.choice([None, 5]), max_leaves=rng.choice([None, 9]))
        search = SubproblemSearch(problem, constraints)
        waves = 0

        def pause(search: SubproblemSearch = search) -> bool:
            nonlocal waves
            waves += 1
            if waves == 5:
                search.spare_memory()
            return False

        result = search.run(search.root(), Budget(pause=pause))
        assert not result.survivors
        assert problem.objective(search.best.cost) == solve(problem, constraints=constraints).objective
        assert search.expanded > search.statistics()["facts"]


def test_a_stopped_search_goes_on() -> None:
    for seed in range(60):
        given, constraints, limits = constrained(seed + 110_000)
        problem = given.problem
        search = SubproblemSearch(problem, constraints)
        solve(problem, search=search, limits=Limits(evaluations=3))
        solve(problem, search=search, limits=Limits(relative_gap=Fraction(1, 2)))
        answer, at_once = solve(problem, search=search), solve(problem, constraints=constraints)
        check_optimal(problem, answer, given.optimum(**limits), constraints)
        assert answer.stats["expanded"] <= at_once.stats["expanded"] + 10


@pytest.mark.parametrize("start", range(0, 300, 100))
def test_another_penalty_or_limit_reuses_what_still_holds(start: int) -> None:
    for seed in range(start, start + 100):
        given, constraints, limits = constrained(seed + 120_000)
        rng = random.Random(seed)
        other = RandomProblem(
            given.features,
            given.labels,
            rng.choice([given.regularization, Fraction(1, 50), Fraction(1, 7), Fraction("0.012345678912345")]),
            given.weights,
            given.costs,
        )
        first = SubproblemSearch(given.problem, constraints)
        first.run(first.root(), Budget())
        if rng.random() < 0.5:
            constraints = Constraints(rng.choice([2, 3]), rng.choice([None, 3, 5]), constraints.min_support)
            limits = {**limits, "max_depth": constraints.max_depth, "max_leaves": constraints.max_leaves}
        problem = given.problem.with_regularization(other.regularization)
        assert problem.fingerprint == other.problem.fingerprint
        second = first.continued(problem, constraints)
        answer = solve(problem, search=second)
        check_optimal(problem, answer, other.optimum(**limits), constraints)


def test_continuing_spares_work() -> None:
    rng = np.random.default_rng(1)
    features = rng.random((300, 12)) < 0.5
    labels = (features[:, 0] ^ features[:, 1]) | (features[:, 2] & features[:, 3]) ^ (rng.random(300) < 0.2)
    problem = Problem.from_arrays(features, labels, "0.01")
    first = SubproblemSearch(problem)
    solve(problem, search=first)
    cheaper = problem.with_regularization("0.0099")
    reused, anew = solve(cheaper, search=first.continued(cheaper)), solve(cheaper)
    assert reused.objective == anew.objective
    assert 2 * reused.stats["expanded"] < anew.stats["expanded"]
    deep = solve(problem, search=first.continued(problem, Constraints(max_depth=4)))
    assert 2 * deep.stats["expanded"] < solve(problem, constraints=Constraints(max_depth=4)).stats["expanded"]


def test_a_search_goes_on_with_its_own_data_only() -> None:
    one, other = random_problem(300_001).problem, random_problem(300_002).problem
    search = SubproblemSearch(one)
    with pytest.raises(InputError, match="same data only"):
        search.continued(other)
    with pytest.raises(InputError, match=r"search\.continued"):
        solve(other, search=search)


def test_weights_far_above_costs_do_not_overflow() -> None:
    """Rows that lose nothing may weigh so much that only their weight needs large numbers."""
    features = [[i >> k & 1 for k in range(3)] for i in range(8)] + [[0, 0, 0], [1, 1, 1]]
    labels = [bin(i).count("1") % 2 for i in range(8)]
    heavy = [1] * 8 + [2**28, 2**28]
    features += features[-2:]
    problem = Problem.from_arrays(features, [*labels, 0, 1, 1, 0], 0, sample_weight=[*heavy, 2**28, 2**28])
    constraints = Constraints(max_depth=3, min_support=1)
    answer = solve(problem, constraints=constraints, limits=Limits(seconds=20))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == problem.objective(problem.b * sum(problem.floor))


def test_other_weights_are_other_data() -> None:
    features = [[0], [1], [0], [1]]
    costs = [[0, 1, 1], [1, 0, 1], [0, 0, 0]]  # the third class costs nothing, but weighs
    light, heavy = (
        Problem.from_arrays(features, [0, 1, 2, 2], "0.1", sample_weight=[1, 1, weight, weight], cost_matrix=costs)
        for weight in (1, 99)
    )
    assert np.array_equal(light.features, heavy.features)
    assert light.cost == heavy.cost
    with pytest.raises(InputError, match="same data only"):
        SubproblemSearch(light).continued(heavy)


def test_nothing_to_avoid() -> None:
    """Rows whose labels all cost the same leave nothing to count."""
    problem = Problem.from_arrays([[0], [0], [1], [1]], [0, 1, 0, 1], "0.1")
    assert solve(problem).objective == Fraction(6, 10)
    same = Problem.from_arrays([[0], [1]], [0, 1], "0.1", cost_matrix=[[1, 1], [1, 1]])
    assert solve(same).objective == Fraction(11, 10)


@pytest.mark.parametrize("start", range(0, 120, 60))
def test_two_searches_say_what_holds_between_them(start: int) -> None:
    for seed in range(start, start + 60):
        given, constraints, limits = constrained(seed + 130_000)
        rng = random.Random(seed)
        low, middle, high = sorted(Fraction(rng.randint(0, 60), rng.choice([100, 300, 1009])) for _ in range(3))
        searches = []
        for value in (low, high):
            search = SubproblemSearch(given.problem.with_regularization(value), constraints)
            search.run(search.root(), Budget(expansions=rng.choice([None, 5])))  # also what is half proved holds
            searches.append(search)
        rng.shuffle(searches)
        learnt = [search.learnt() for search in searches]
        problem = given.problem.with_regularization(middle)
        answer = solve(problem, search=SubproblemSearch.taught(problem, constraints, learnt))
        expected = RandomProblem(given.features, given.labels, middle, given.weights, given.costs).optimum(**limits)
        check_optimal(problem, answer, expected, constraints)


def test_what_holds_between_two_searches_spares_work() -> None:
    rng = np.random.default_rng(2)
    features = rng.random((300, 12)) < 0.5
    labels = (features[:, 0] ^ features[:, 1]) | (features[:, 2] & features[:, 3]) ^ (rng.random(300) < 0.2)
    low, middle, high = (Problem.from_arrays(features, labels, value) for value in ("0.008", "0.0085", "0.009"))
    first, second = SubproblemSearch(low), SubproblemSearch(high)
    for search in (first, second):
        solve(search.problem, search=search)
    one = solve(middle, search=first.continued(middle))
    two = solve(middle, search=second.continued(middle))
    both = solve(middle, search=SubproblemSearch.taught(middle, None, [first.learnt(), second.learnt()]))
    assert one.objective == two.objective == both.objective
    assert both.stats["expanded"] < min(one.stats["expanded"], two.stats["expanded"])
