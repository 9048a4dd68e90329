"""Teams of subproblem searches against exhaustive search, and against one search alone."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from constrained import constrained
from team_checks import check_recall, check_team, cost_of, team_of

from dosdt.contract import Constraints
from dosdt.problem import Problem
from dosdt.solver import solve
from dosdt.subproblem.member import SubproblemMember
from dosdt.subproblem.terms import SWITCHES
from dosdt.team import REGIONS, posts
from dosdt.workers.lockstep import run


def larger(seed: int, rows: int = 300, features: int = 10, penalty: str = "0.008") -> Problem:
    """Return a problem that takes some hundred expansions."""
    rng = np.random.default_rng(seed)
    x = rng.random((rows, features)) < 0.5
    y = (x[:, 0] ^ x[:, 1]) | (x[:, 2] & x[:, 3])
    return Problem.from_arrays(x, y ^ (rng.random(rows) < 0.15), penalty)


@pytest.mark.parametrize("start", range(0, 600, 100))
def test_a_team_finds_the_optimum(start: int) -> None:
    for seed in range(start, start + 100):
        given, constraints, limits = constrained(seed + 500_000)
        check_team(SubproblemMember, given.problem, constraints, 1 + seed % 5, given.optimum(**limits))


@pytest.mark.parametrize("switch", SWITCHES)
def test_every_bound_can_be_switched_off(switch: str) -> None:
    def make(*given: object, **options: object) -> SubproblemMember:
        return SubproblemMember(*given, switches=set(SWITCHES) - {switch}, **options)  # type: ignore[arg-type]

    for seed in range(40):
        given, constraints, limits = constrained(seed + 510_000)
        check_team(make, given.problem, constraints, 3, given.optimum(**limits))


def test_what_a_team_has_saved_serves_a_team_of_another_size() -> None:
    for seed in range(150):
        given, constraints, limits = constrained(seed + 520_000)
        rng = random.Random(seed)
        sizes = rng.randint(1, 4), rng.randint(1, 4)
        cost = check_recall(SubproblemMember, given.problem, constraints, sizes, rng.randint(1, 40))
        assert given.problem.objective(cost) == given.optimum(**limits)


def test_what_was_saved_is_not_proved_again() -> None:
    problem, none = larger(1, 600, 12, "0.004"), Constraints()
    first = team_of(SubproblemMember, problem, none, 2)
    records = []

    def watch(step: int) -> None:
        if step % 20 == 0:
            first[0].save()
        for member in first:
            if (saved := member.saved()) is not None:
                assert not saved.whole
                records.extend(saved.records)

    run(first, watch)
    alone = sum(member.expanded for member in first)
    cost = cost_of(first, problem, none)
    second = team_of(SubproblemMember, problem, none, 3, cost)
    for member, post in zip(second, posts([1.0] * 3), strict=True):
        member.recall([record.content for record in records if post.homes[record.region] == post.number])
    run(second)
    assert all(member.best is None for member in second)
    assert sum(member.expanded for member in second) < alone / 2


def test_with_the_optimum_known_nothing_better_is_found() -> None:
    problem, none = larger(2), Constraints()
    answer = solve(problem)
    cost = int(answer.objective * problem.b * problem.total_weight / problem.cost_unit)
    members = team_of(SubproblemMember, problem, none, 3)
    run(members, lambda step: members[1].tighten(cost) if step == 5 else None)
    assert all(problem.objective(member.lower_bound()) == answer.objective for member in members)
    assert all(member.best is None or member.best.cost >= cost for member in members)


def test_a_stop_leaves_a_bound_that_holds() -> None:
    problem, none = larger(3), Constraints()
    optimum = solve(problem).objective
    for at in range(1, 60, 7):
        members = team_of(SubproblemMember, problem, none, 3)
        run(members, lambda step, at=at, team=members: team[2].stop() if step == at else None)
        bounds = {problem.objective(member.lower_bound()) for member in members}
        assert len(bounds) == 1
        assert max(bounds) <= optimum <= problem.objective(cost_of(members, problem, none))


def test_a_team_short_of_memory_forgets_and_finds_the_optimum() -> None:
    problem, none = larger(4, 600, 12, "0.004"), Constraints()
    optimum = solve(problem).objective
    members = team_of(SubproblemMember, problem, none, 2)
    most = 0

    def watch(step: int) -> None:
        nonlocal most
        if step == 60:
            members[0].spare_memory()
        most = max(most, sum(member.statistics()["facts"] for member in members))

    run(members, watch)
    assert problem.objective(cost_of(members, problem, none)) == optimum
    assert all(member.statistics()["times_memory_was_short"] for member in members)


def test_a_team_expands_little_more_than_one_search() -> None:
    problem, none = larger(5, 1500, 14, "0.003"), Constraints()
    answer = solve(problem)
    for size, most in ((1, Fraction(1)), (2, Fraction(115, 100)), (8, Fraction(3, 2))):
        members = check_team(SubproblemMember, problem, none, size, answer.objective)
        assert sum(member.expanded for member in members) <= most * answer.stats["expanded"]


def test_costs_beyond_64_bits() -> None:
    rng = np.random.default_rng(6)
    x = rng.random((40, 5)) < 0.5
    weights = [int(w) * 10**30 + 1 for w in rng.integers(1, 9, 40)]
    problem = Problem.from_arrays(x, rng.integers(0, 3, 40), "0.02", sample_weight=weights)
    check_team(SubproblemMember, problem, Constraints(), 3, solve(problem).objective)


def test_members_share_the_regions_out_as_told() -> None:
    homes = posts([1.0, 3.0])[0].homes
    assert len(homes) == REGIONS
    assert homes.count(0) == round(REGIONS / 4)
