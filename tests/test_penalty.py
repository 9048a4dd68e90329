"""A simpler penalty that orders all trees alike."""

from __future__ import annotations

import random
from fractions import Fraction

from random_problems import random_problem

from dosdt.penalty import Prices, order_equivalent
from dosdt.problem import Problem


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def test_same_side_of_every_fraction() -> None:
    rng = random.Random(0)
    for _ in range(400):
        digits = rng.choice([3, 6, 17])
        x = Fraction(rng.randrange(3 * 10**digits), 10**digits)
        largest = rng.randint(1, 40)
        simple = order_equivalent(x, largest)
        assert simple.denominator <= max(2 * largest, x.denominator if x.denominator <= largest else 0)
        for denominator in range(1, largest + 1):
            for numerator in range(3 * denominator + 2):
                fraction = Fraction(numerator, denominator)
                assert sign(x - fraction) == sign(simple - fraction), (x, largest, fraction)


def test_fractions_within_reach_stay_as_they_are() -> None:
    assert order_equivalent(Fraction(6907, 200), 200) == Fraction(6907, 200)
    assert order_equivalent(Fraction(0), 5) == 0
    assert order_equivalent(Fraction(7), 1) == 7


def test_the_simplest_of_a_long_decimal() -> None:
    x = Fraction("0.0021544346900318843")
    simple = order_equivalent(x, 1000)
    assert simple.denominator <= 2000
    assert abs(simple - x) < Fraction(1, 1000 * 1000)


def test_prices_translate_limits_and_bounds() -> None:
    """Inside and outside agree on which trees are cheaper than a limit, and bounds hold outside."""
    for seed in range(40):
        given = random_problem(seed + 300_000, max_features=4, max_rows=20)
        rng = random.Random(seed)
        problem = Problem.from_arrays(given.features, given.labels, Fraction(str(rng.uniform(0.001, 0.3))))
        prices, base = Prices(problem), sum(problem.floor)
        trees = [(errors, leaves) for errors in range(21) for leaves in range(1, problem.n_rows + 1)]
        outer = {tree: problem.b * (base + tree[0]) + problem.a * tree[1] for tree in trees}
        inner = {tree: prices.b * tree[0] + prices.a * tree[1] for tree in trees}
        for tree in rng.sample(trees, 5):
            limit = outer[tree]
            cheaper = [other for other in trees if outer[other] < limit]
            assert all(inner[other] < prices.inside(limit) for other in cheaper)
            assert inner[tree] >= prices.inside(limit)
            bound = prices.outside(inner[tree])
            assert bound == limit
            assert all(outer[other] >= bound for other in trees if inner[other] >= inner[tree])


def test_bounds_for_another_penalty_hold() -> None:
    rng = random.Random(1)
    useful = 0
    for seed in range(200):
        problem = random_problem(seed + 95_000).problem
        other = problem.with_regularization(rng.choice(["0", "0.003", "0.02", "0.4", "0.0123456789012345678"]))
        old, new = Prices(problem), Prices(other)
        for _ in range(20):
            lower = rng.randrange(1, 2 * old.b * 40)
            bound = new.repriced(lower, old.penalty)
            trees = [(errors, leaves) for errors in range(60) for leaves in range(1, 20)]
            costs = [
                new.b * errors + new.a * leaves
                for errors, leaves in trees
                if old.b * errors + old.a * leaves >= lower
            ]
            if costs:
                assert bound <= min(costs)
                useful += bound > new.a
    assert useful > 500
