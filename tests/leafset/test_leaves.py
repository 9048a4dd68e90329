"""What is known of leaves, against exhaustive search over subsets."""

from __future__ import annotations

from functools import cache

import pytest
from random_problems import random_problem

from dosdt.bounds import SWITCHES
from dosdt.contract import Budget, Constraints
from dosdt.leafset.leaves import Leaf, LeafCache
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
    assert raised > 60


def best_way(cache: LeafCache, leaf: Leaf) -> list[Leaf]:
    """Return the leaves that the best way found to split a leaf leads to."""
    steps = cache.best(leaf)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: list[Leaf] = end.value
            return found


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_the_best_way_found_to_split_a_leaf_is_one(start: int) -> None:
    """After any search: its leaves hold each row once, and cost what is said, which is no less than the optimum."""
    ways, further, best_ways = 0, 0, 0
    for seed in range(start, start + 30):
        problem = random_problem(seed + 390_000, max_features=5, max_rows=40).problem
        best, search = best_costs(problem), LeafSetSearch(problem)
        search.run(search.root(), Budget())
        cache = search._leaves
        for leaf in [leaf for leaf in cache.leaves if leaf.best < cache.hopeless]:
            cost, found = leaf.best, best_way(cache, leaf)
            union = cache.root.rows ^ cache.root.rows
            for part in found:
                assert part.rows
                assert not union & part.rows
                union |= part.rows
            assert union == leaf.rows
            assert sum(part.kept for part in found) <= cost
            optimum = best(frozenset(row for row in range(problem.n_rows) if leaf.rows >> row & 1))
            assert cost >= optimum
            ways += 1
            further += len(found) > 4
            best_ways += cost == optimum
    assert ways > 60
    assert further > 3
    assert best_ways > 30


def test_no_way_is_found_that_may_have_too_many_leaves() -> None:
    once = 0
    for seed in range(40):
        problem = random_problem(seed + 400_000, max_features=5, max_rows=40).problem
        search = LeafSetSearch(problem, Constraints(max_leaves=3))
        search.run(search.root(), Budget())
        cache = search._leaves
        for leaf in [leaf for leaf in cache.leaves if leaf.best < cache.hopeless]:
            assert len(best_way(cache, leaf)) == 2
            once += 1
    assert once > 40


def look_ahead(leaves: LeafCache) -> None:
    """Look at the root and all that it may be split into next, as whoever splits it does."""
    unknown = [leaves.root] if leaves.root.outlook is None else []
    while unknown := unknown or leaves.unknown(leaves.root, leaves.hopeless):
        for leaf in unknown:
            assert leaf.outlook is None
            list(leaves.look(leaf))
        unknown = []


def team_of_two(seed: int) -> tuple[LeafCache, LeafCache]:
    problem = random_problem(seed, max_features=5).problem
    one, other = (LeafCache(problem, Constraints(), frozenset(SWITCHES)) for _ in range(2))
    return one, other


@pytest.mark.parametrize("sooner", [True, False])
def test_what_others_found_out_is_not_looked_for_again(sooner: bool) -> None:
    """Whether it is heard before the leaf that it matters to is looked at, or after."""
    several = 0
    for seed in range(40):
        one, other = team_of_two(seed + 310_000)
        if not one.root.splittable:
            continue
        look_ahead(one)
        if not sooner:
            list(other.look(other.root))
        for leaf in list(one.leaves):
            if leaf.is_known and leaf is not one.root:
                other.hear(other.at(leaf.path), leaf.least)
        look_ahead(other)
        assert other.looked_at == 1
        assert other.root.least == one.root.least
        assert [least for least, _ in other.prospects(other.root, other.hopeless)] == [
            least for least, _ in one.prospects(one.root, one.hopeless)
        ]
        several += one.looked_at > 3
    assert several > 10


def test_who_is_shown_what_was_seen_need_not_look() -> None:
    """And tells the same ways to split the leaf; the ways found to split the new ones are not known there."""
    several = 0
    for seed in range(40):
        one, other = team_of_two(seed + 410_000)
        if not one.root.splittable:
            continue
        look_ahead(one)
        assert one.root.outlook is not None
        other.see(other.root, one.root.outlook[:2])
        for leaves in (one, other):
            leaves.refresh(leaves.root)
        assert other.looked_at == 0
        assert other.root.least == one.root.least
        assert list(other.root.cuts or ()) == list(one.root.cuts or ())
        assert one.root.best <= other.root.best
        if other.root.best < other.hopeless:
            assert sum(leaf.kept for leaf in best_way(other, other.root)) == other.root.best
        several += one.root.n_useful > 3
    assert several > 10


def test_what_is_found_out_about_a_leaf_counts_wherever_it_occurs() -> None:
    """Two leaves may be split into one that is two questions deep, whether they were looked at before or later."""
    before, later = 0, 0
    for seed in range(120):
        leaves, _ = team_of_two(seed + 370_000)
        for first, second in ((1, 2), (-1, 2), (1, -2), (-1, -2)):
            one, other, leaf = leaves.at((first,)), leaves.at((second,)), leaves.at((first, second))
            if not leaf.rows or leaf.rows in (one.rows, other.rows) or leaf.is_known or one.outlook is not None:
                continue
            list(leaves.look(one))
            assert one.outlook is not None
            if one.outlook[1, int(second < 0), 1] < leaves.hopeless:
                leaves.hear(leaf, leaves.hopeless)
                assert one.outlook[1, int(second < 0), 1] == leaves.hopeless
                before += 1
                if other.outlook is None:
                    list(leaves.look(other))
                    assert other.outlook is not None
                    useful = leaves._lookout.useful(other.outlook, leaves._ceiling(other))
                    assert not useful[int(first < 0), 0]
                    later += other.outlook[1, int(first < 0), 0] == leaves.hopeless
    assert before > 20
    assert later > 5


def test_only_what_is_cheap_enough_is_made() -> None:
    some_made = 0
    for seed in range(40):
        leaves, everything = team_of_two(seed + 320_000)
        for one in (leaves, everything):
            list(one.look(one.root))
            one.refresh(one.root)
        whole = everything.prospects(everything.root, everything.hopeless)
        assert [least for least, _ in whole] == sorted(least for least, _ in whole)
        for least, _ in whole:
            some = leaves.prospects(leaves.root, least)
            assert [value for value, _ in some if value < least] == [value for value, _ in whole if value < least]
            some_made += len(leaves.leaves) < len(everything.leaves)
    assert some_made > 10


def test_a_leaf_that_costs_more_split_than_whole_is_not_split() -> None:
    """Unless another bound, by which the same follows, is switched off."""
    useless = 0
    for seed in range(40):
        problem = random_problem(seed + 380_000).problem
        for switches in (set(SWITCHES), set(SWITCHES) - {"incremental_accuracy"}):
            leaves = LeafCache(problem, Constraints(), frozenset(switches))
            list(leaves.look(leaves.root))
            leaves.refresh(leaves.root)
            whole, prospects = leaves.root.kept, leaves.prospects(leaves.root, leaves.hopeless)
            if "incremental_accuracy" in switches:
                assert all(least < whole for least, _ in prospects)
            else:
                useless += any(least >= whole for least, _ in prospects)
    assert useless > 10
