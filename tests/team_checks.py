"""What every team must keep to, whatever its members search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from dosdt.contract import Constraints, Sketch, leaf_node
from dosdt.problem import Problem
from dosdt.sketches import prune
from dosdt.team import Record, posts
from dosdt.workers.lockstep import run

Make = Callable[..., Any]
"""Makes a member of (problem, constraints, post, limit=)."""


def team_of(make: Make, problem: Problem, constraints: Constraints, size: int, limit: int | None = None) -> list[Any]:
    """Return a team."""
    return [make(problem, constraints, post, limit=limit) for post in posts([1.0] * size)]


def cost_of(members: Sequence[Any], problem: Problem, constraints: Constraints) -> int:
    """Return what the best tree of a team costs, checked against the tree itself; a single leaf if it has none."""
    best = min((member.best for member in members if member.best is not None), key=lambda s: s.cost, default=None)
    if best is None:
        return prune(problem, Sketch((leaf_node(0),)), constraints).cost
    again = prune(problem, best.sketch, constraints)
    assert again.cost <= best.cost
    assert constraints.max_depth is None or best.sketch.depth <= constraints.max_depth
    assert constraints.max_leaves is None or best.sketch.n_leaves <= constraints.max_leaves
    return best.cost


def check_team(make: Make, problem: Problem, constraints: Constraints, size: int, optimum: Fraction) -> list[Any]:
    """The team finds the optimum, its bounds hold on the way, and all its members know when it is proved."""
    members = team_of(make, problem, constraints, size)

    def watch(_step: int) -> None:
        for member in members:
            assert problem.objective(member.lower_bound()) <= optimum
            assert problem.objective(member.limit) >= optimum

    run(members, watch)
    assert problem.objective(cost_of(members, problem, constraints)) == optimum
    assert {problem.objective(member.lower_bound()) for member in members} == {optimum}
    return members


def saved_records(members: Sequence[Any], at: int) -> list[Record]:
    """Return what a team has saved in about step `at`, and stop it there."""
    records: list[Record] = []

    def watch(step: int) -> None:
        if step == at:
            members[-1].save()
        news = [member.saved() for member in members]
        assert len({item is None for item in news}) == 1, "all save in the same step"
        for item in news:
            if item is not None:
                records.extend(item.records)
                members[0].stop()

    run(members, watch)
    return records


def check_recall(make: Make, problem: Problem, constraints: Constraints, sizes: tuple[int, int], at: int) -> int:
    """Return the cost that a second team ends with, which knows what the first one has saved and found."""
    first = team_of(make, problem, constraints, sizes[0])
    records = saved_records(first, at)
    cost = cost_of(first, problem, constraints)
    if not records and not any(member.lower_bound() < member.limit for member in first):
        return cost  # it had finished before
    second = team_of(make, problem, constraints, sizes[1], cost)
    for number, post in enumerate(posts([1.0] * sizes[1])):
        second[number].recall([record.content for record in records if post.homes[record.region] == number])
    run(second)
    return min(cost, cost_of(second, problem, constraints))
