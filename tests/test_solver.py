"""A gap that was asked for is proved, whatever the search, the problem and the budget."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from random_problems import random_problem
from sketch_checks import cost_of, keeps

from dosdt.contract import Constraints
from dosdt.limits import Limits, Status
from dosdt.solver import ALGORITHMS, solve


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("start", [0, 100])
def test_a_gap_holds_for_the_true_optimum(start: int, algorithm: str) -> None:
    seen = set()
    for seed in range(start, start + 100):
        rng = random.Random(seed)
        given = random_problem(seed + 400_000, max_classes=3)
        gap = rng.choice([Fraction(1, 1000), Fraction(1, 50), Fraction(1, 7), Fraction(1, 2), Fraction(99, 100)])
        depth = rng.choice([None, None, 2, 3])
        answer = solve(
            given.problem,
            algorithm=algorithm,
            constraints=Constraints(max_depth=depth),
            limits=Limits(relative_gap=gap),
            warm_start=False,
            expansions=rng.choice([None, 1, 5]),
        )
        seen.add(answer.status)
        assert answer.lower_bound <= given.optimum(max_depth=depth) <= answer.objective
        assert answer.objective == given.problem.objective(cost_of(given.problem, answer.sketch))
        assert keeps(given.problem, answer.sketch, Constraints(max_depth=depth))
        assert answer.gap <= gap
        assert (answer.status is Status.OPTIMAL) == (answer.gap == 0)
    assert seen == {Status.OPTIMAL, Status.GAP_REACHED}
