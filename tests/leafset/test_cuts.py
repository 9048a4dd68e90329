"""The ways to split a leaf, against adding up row by row in Python's integers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest
from random_problems import random_problem

from dosdt import bounds
from dosdt.bitvectors import RowSet
from dosdt.bounds import SWITCHES
from dosdt.contract import Constraints
from dosdt.leafset.cuts import Cuts
from dosdt.problem import Problem

LONG = "0.0123456789012345678901234567"
"""A penalty for which costs are longer than 64 bits, though all counts are short."""


def side(problem: Problem, rows: Sequence[int], depth: int, constraints: Constraints, switches: frozenset[str]):  # type: ignore[no-untyped-def]
    """Return whether a leaf is allowed, its loss, and what it costs if it stays and if it is split, if it may be."""
    a, b = problem.a, problem.b
    loss = b * min(sum(costs[row] for row in rows) for costs in problem.cost)
    floor, ceiling = (b * sum(each[row] for row in rows) for each in (problem.floor, problem.ceiling))
    floor = floor if "equivalent_points" in switches else 0
    weight = sum(problem.weight[row] for row in rows)
    allowed = bool(rows) and weight >= constraints.min_support
    if "accurate_support" in switches:
        allowed = allowed and bounds.accurate_support(ceiling, loss, a)
    splittable = weight >= 2 * constraints.min_support
    if "node_support" in switches:
        splittable = splittable and bounds.node_support(loss, floor, a)
    if constraints.max_depth is not None:
        splittable = splittable and depth < constraints.max_depth
    split = a * (2 if "lookahead" in switches else 1) + floor
    return allowed, loss, loss + a, split if splittable else None


def cuts_of(
    problem: Problem, rows: Sequence[int], depth: int, constraints: Constraints, switches: frozenset[str]
) -> list[int]:
    """Return all cuts of a leaf, smallest first."""
    found = []
    loss = problem.b * min(sum(costs[row] for row in rows) for costs in problem.cost)
    for feature in range(problem.n_columns):
        halves = [[row for row in rows if problem.features[row, feature] == value] for value in (True, False)]
        sides = [side(problem, half, depth + 1, constraints, switches) for half in halves]
        if not all(allowed for allowed, *_ in sides):
            continue
        (_, yes_loss, *yes), (_, no_loss, *no) = sides
        for way, parts in enumerate(product(yes, no)):
            if None in parts:
                continue
            gains = bounds.incremental_accuracy(loss, yes_loss, no_loss, problem.a)
            if way == 0 and "incremental_accuracy" in switches and not gains:
                continue
            found.append(sum(parts) * 4 * problem.n_columns + 4 * feature + way)
    return sorted(found)


def with_weights(seed: int, largest: int, regularization: str) -> Problem:
    given, rng = random_problem(seed), random.Random(seed)
    weights = [rng.randint(1, largest) for _ in given.labels]
    return Problem.from_arrays(given.features, given.labels, regularization, sample_weight=weights)


@pytest.mark.parametrize("regularization", ["0.02", LONG])
@pytest.mark.parametrize("largest", [1, 1 << 22, 1 << 50, 1 << 70])
def test_cuts_are_those_of_adding_up(largest: int, regularization: str) -> None:
    """Whether counts and costs fit 24 bits, 53, 64 or none of them."""
    n_cuts = 0
    for seed in range(60):
        rng = random.Random(seed)
        if seed % 2:
            problem = random_problem(seed + 340_000).problem.with_regularization(regularization)
        else:
            problem = with_weights(seed + 340_000, largest, regularization)
        switches = frozenset(rng.sample(SWITCHES, len(SWITCHES) - rng.choice([0, 0, 1, 5])))
        constraints = Constraints(rng.choice([None, 2]), None, rng.choice([0, 0, 2 * problem.weight[0]]))
        cuts = Cuts(problem, constraints, switches)
        leaves = [rng.sample(range(problem.n_rows), rng.randint(1, problem.n_rows)) for _ in range(5)]
        depths = [rng.randrange(3) for _ in leaves]
        counted = cuts.count(
            [(RowSet(sum(1 << row for row in rows)), d) for rows, d in zip(leaves, depths, strict=True)]
        )
        for rows, depth, found in zip(leaves, depths, counted, strict=True):
            assert list(found) == cuts_of(problem, rows, depth, constraints, switches)
            assert all(type(cut) is int for cut in found)
            n_cuts += len(found)
    assert n_cuts > 100


def test_costs_may_be_long_though_counts_are_short() -> None:
    problem = with_weights(1, 1, LONG)
    assert sum(problem.weight) < 1 << 24
    assert Cuts(problem, Constraints(), frozenset(SWITCHES)).hopeless > 1 << 64
