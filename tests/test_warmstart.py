"""CART's tree as a start: allowed, costed exactly, and never worse than a single leaf."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from random_problems import random_problem
from sketch_checks import cost_of, keeps

from dosdt.contract import Constraints, Sketch, leaf_node
from dosdt.problem import Problem
from dosdt.solver import solve
from dosdt.warmstart import cart


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_a_valid_start(start: int) -> None:
    for seed in range(start, start + 50):
        given, rng = random_problem(seed, least="0"), random.Random(seed)
        problem = given.problem
        constraints = Constraints(
            rng.choice([None, None, 0, 1, 2, 5]),
            rng.choice([None, None, 1, 2, 3, 6]),
            rng.choice([0, 0, 1, sum(problem.weight) // 4, 2 * sum(problem.weight)]),
        )
        solution = cart(problem, constraints)
        assert solution.cost == cost_of(problem, solution.sketch)
        assert keeps(problem, solution.sketch, constraints)
        singles = [Sketch((leaf_node(label),)) for label in range(len(problem.classes))]
        assert solution.cost <= min(cost_of(problem, single) for single in singles)
        assert problem.objective(solution.cost) >= given.optimum(
            max_depth=constraints.max_depth,
            max_leaves=constraints.max_leaves,
            min_support=constraints.min_support * problem.weight_unit,
        )


def test_it_finds_what_greed_can_find() -> None:
    """A label that is one of the features needs one split; another chance needs two."""
    features = np.array([[i >> j & 1 for j in range(3)] for i in range(8)] * 3)
    problem = Problem.from_arrays(features, features[:, 1], "0.01")
    assert problem.objective(cart(problem, Constraints()).cost) == Fraction(2, 100)
    problem = Problem.from_arrays(features, features[:, 1] & features[:, 2], "0.01")
    assert problem.objective(cart(problem, Constraints()).cost) == Fraction(3, 100)


def test_a_worse_tree_does_not_replace_a_single_leaf() -> None:
    """The paper's program takes CART's tree whatever it costs; here the penalty is larger than any gain."""
    for seed in range(30):
        given = random_problem(seed, least="0.25")
        answer = solve(given.problem, algorithm="leafset", warm_start=True)
        assert answer.stats["warm_start_objective"] <= answer.trace[0].incumbent
        assert answer.trace[0].incumbent <= given.optimum(max_leaves=1)


@pytest.mark.parametrize("unit", [Fraction(1, 10**400), Fraction(1), Fraction(10**400)])
def test_weights_of_any_size(unit: Fraction) -> None:
    features, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1]
    weights = [unit, unit * 2, unit * 3, unit * 10**350]
    problem = Problem.from_arrays(features, labels, "0", sample_weight=weights)
    solution = cart(problem, Constraints())
    assert solution.cost == cost_of(problem, solution.sketch)


def test_only_one_class_has_weight() -> None:
    problem = Problem.from_arrays([[0], [1], [1]], [0, 1, 1], "0.1", class_weight={0: 0})
    assert cart(problem, Constraints()).sketch == Sketch((leaf_node(1),))
