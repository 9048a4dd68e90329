"""Random problems with random limits on depth, leaves and support."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

from random_problems import RandomProblem, random_problem

from dosdt.contract import Constraints


def constrained(
    seed: int, features: Sequence[int] = (4, 5, 6)
) -> tuple[RandomProblem, Constraints, dict[str, object]]:
    """Return a problem, limits for the search and the same limits for exhaustive search."""
    rng = random.Random(seed)
    given = random_problem(
        seed + 200_000, max_features=rng.choice(features), max_classes=4, least=rng.choice(["0", "0.001", "0.01"])
    )
    depth = leaves = None
    support = 0
    if rng.random() < 0.5 or not given.regularization:
        depth = rng.choice([None, 0, 1, 2, 3, 4])
        leaves = rng.choice([None, None, 1, 2, 3, 4, 6])
        support = rng.choice([0, 0, 1, 3, 8])
        if not given.regularization and depth is None and leaves is None:
            depth = 3
    units = -(-support // given.problem.weight_unit)
    limits = {"max_depth": depth, "max_leaves": leaves, "min_support": Fraction(support)}
    return given, Constraints(depth, leaves, units), limits
