"""What is known of leaves, against exhaustive search over subsets."""

from __future__ import annotations

from functools import cache

import pytest
from random_problems import random_problem

from dosdt.bounds import SWITCHES
from dosdt.contract import Budget, Constraints
from dosdt.leafset.leaves import LeafCache
from dosdt.leafset.search import LeafSetSearch
from dosdt.problem import Problem


def best_costs(problem: Problem):  # type: ignore[no-untyped-def]
    """Return a function of a set of distinct rows: the least cost of any tree for it."""

    @cache
    def best(rows: frozenset[int]) -> int:
        cost = problem.b * min(sum(costs[row] for row in rows) for costs in problem.cost) + problem.a
        for feature in range(problem.n_columns):
            yes = frozenset(row for row in rows if problem.features[row, feature])
            if yes and yes != rows:
                cost = min(cost, best(yes) + best(rows - yes))
        return cost

    return best


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_least_is_a_bound(start: int) -> None:
    """Whether it stays a leaf or is split, a leaf costs no less than what is known of it, after any search."""
    raised = 0
    for seed in range(start, start + 30):
        problem = random_problem(seed + 300_000, max_features=5, max_rows=40).problem
        best, search = best_costs(problem), LeafSetSearch(problem)
        search.run(search.root(), Budget())
        for leaf in search._leaves.leaves:
            rows = frozenset(row for row in range(problem.n_rows) if leaf.rows >> row & 1)
            assert min(leaf.kept, leaf.least) <= best(rows)
            raised += leaf.least > leaf.split
    assert raised > 100


def look_ahead(leaves: LeafCache) -> None:
    while unknown := leaves.unknown(leaves.root, leaves.hopeless):
        list(leaves.look(unknown))


def test_what_others_found_out_counts() -> None:
    for seed in range(20):
        problem = random_problem(seed + 310_000, max_features=5).problem
        one, other = (LeafCache(problem, Constraints(), frozenset(SWITCHES)) for _ in range(2))
        if not one.root.splittable:
            continue
        look_ahead(one)
        for leaf in list(one.leaves):
            other.hear(other.at(leaf.path), leaf.least)
        assert other.root.least == one.root.least
        counted = other.counted
        look_ahead(other)
        assert other.root.least == one.root.least
        assert counted <= other.counted <= one.counted
        assert [least for least, _ in other.prospects(other.root, other.hopeless)] == [
            least for least, _ in one.prospects(one.root, one.hopeless)
        ]


def test_what_others_counted_is_as_good_as_counted_here() -> None:
    for seed in range(20):
        problem = random_problem(seed + 330_000, max_features=5).problem
        one, other = (LeafCache(problem, Constraints(), frozenset(SWITCHES)) for _ in range(2))
        look_ahead(one)
        for leaf in list(one.leaves):
            if leaf.cuts is not None:
                other.take_cuts(other.at(leaf.path), leaf.cuts)
        look_ahead(other)
        assert other.counted == 0
        assert other.root.least == one.root.least


def test_only_what_is_cheap_enough_is_made() -> None:
    for seed in range(20):
        problem = random_problem(seed + 320_000).problem
        leaves = LeafCache(problem, Constraints(), frozenset(SWITCHES))
        everything = LeafCache(problem, Constraints(), frozenset(SWITCHES))
        whole = everything.prospects(everything.root, everything.hopeless)
        for least, _ in whole:
            some = leaves.prospects(leaves.root, least)
            assert [value for value, _ in some if value < least] == [value for value, _ in whole if value < least]
            assert len(leaves.leaves) <= len(everything.leaves)
