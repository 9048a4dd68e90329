"""What splitting a leaf may come to, against adding up row by row in Python's integers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from random_problems import random_problem

from dosdt import bounds
from dosdt.bitvectors import RowSet
from dosdt.bounds import SWITCHES
from dosdt.contract import Constraints
from dosdt.leafset import outlook
from dosdt.leafset.outlook import Lookout
from dosdt.problem import Problem

LONG = "0.0123456789012345678901234567"
"""A penalty for which costs are longer than 64 bits, though all counts are short."""


class ByHand:
    """The same by definition."""

    def __init__(self, problem: Problem, constraints: Constraints, switches: frozenset[str], hopeless: int) -> None:
        self.problem, self.constraints, self.switches, self.hopeless = problem, constraints, switches, hopeless
        self.gains = "incremental_accuracy" in switches

    def halves(self, rows: Sequence[int], feature: int) -> list[list[int]]:
        features = self.problem.features
        return [[row for row in rows if features[row, feature] == value] for value in (True, False)]

    def kept(self, rows: Sequence[int]) -> int:
        return self.problem.b * min(sum(costs[row] for row in rows) for costs in self.problem.cost) + self.problem.a

    def side(self, rows: Sequence[int], depth: int) -> tuple[int, int]:
        """Return what a new leaf costs if it stays and, by its sums, if it is split."""
        problem, constraints, switches = self.problem, self.constraints, self.switches
        a, b, kept = problem.a, problem.b, self.kept(rows)
        floor, ceiling = (b * sum(each[row] for row in rows) for each in (problem.floor, problem.ceiling))
        weight = sum(problem.weight[row] for row in rows)
        if not rows or weight < constraints.min_support:
            return self.hopeless, self.hopeless
        if "accurate_support" in switches and not bounds.accurate_support(ceiling, kept - a, a):
            return self.hopeless, self.hopeless
        floor = floor if "equivalent_points" in switches else 0
        splittable = weight >= 2 * constraints.min_support
        if "node_support" in switches:
            splittable = splittable and bounds.node_support(kept - a, floor_of(problem, rows), a)
        if constraints.max_depth is not None:
            splittable = splittable and depth < constraints.max_depth
        return kept, a * (2 if "lookahead" in switches else 1) + floor if splittable else self.hopeless

    def least(self, rows: Sequence[int], depth: int) -> int:
        """Return what a leaf costs at the least if it is split, by the sums of what it is split into."""
        found = self.hopeless
        for feature in range(self.problem.n_columns):
            yes, no = (self.side(half, depth + 1) for half in self.halves(rows, feature))
            found = min(found, min(yes) + min(no))
        return self.hopeless if self.gains and found >= self.kept(rows) else found

    def once(self, rows: Sequence[int], depth: int) -> int:
        """Return the least cost of a leaf that is split once, if that may be better than not at all."""
        if self.constraints.max_leaves is not None:
            return self.hopeless
        every = (self.halves(rows, feature) for feature in range(self.problem.n_columns))
        return min(sum(self.side(half, depth + 1)[0] for half in halves) for halves in every)

    def outlook(self, rows: Sequence[int], depth: int, *, ahead: bool) -> list[list[list[int]]]:
        """Return what `Lookout.look` does: by whether a leaf stays, side and feature; `ahead` by its leaves' sums."""
        found = [[[self.hopeless] * self.problem.n_columns for _ in range(2)] for _ in range(3)]
        ceiling = min(self.kept(rows), self.hopeless) if self.gains else self.hopeless
        for feature in range(self.problem.n_columns):
            halves = self.halves(rows, feature)
            sides = [self.side(half, depth + 1) for half in halves]
            leasts = [split for _, split in sides]
            bound = min(leasts[0] + min(sides[1]), leasts[1] + min(sides[0]))
            if bound < ceiling and ahead:
                for side, half in enumerate(halves):
                    if leasts[side] < self.hopeless:
                        leasts[side] = min(self.least(half, depth + 1), self.hopeless)
                        found[2][side][feature] = min(self.once(half, depth + 1), self.hopeless)
            for side, (kept, _) in enumerate(sides):
                found[0][side][feature], found[1][side][feature] = kept, leasts[side]
        return found


def floor_of(problem: Problem, rows: Sequence[int]) -> int:
    return problem.b * sum(problem.floor[row] for row in rows)


def looked(lookout: Lookout, rows: Sequence[int], depth: int) -> Any:
    steps = lookout.look(RowSet(sum(1 << row for row in rows)), depth)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def with_weights(seed: int, largest: int, regularization: str) -> Problem:
    given, rng = random_problem(seed), random.Random(seed)
    weights = [rng.randint(1, largest) for _ in given.labels]
    return Problem.from_arrays(given.features, given.labels, regularization, sample_weight=weights)


def cases(
    start: int, count: int, largest: int, regularization: str
) -> Iterator[tuple[Problem, Constraints, frozenset[str], list[int], int]]:
    """Go through random leaves of random problems."""
    for seed in range(start, start + count):
        rng = random.Random(seed)
        if seed % 2:
            problem = random_problem(seed).problem.with_regularization(regularization)
        else:
            problem = with_weights(seed, largest, regularization)
        switches = frozenset(rng.sample(SWITCHES, len(SWITCHES) - rng.choice([0, 0, 0, 1, 5])))
        constraints = Constraints(
            rng.choice([None, 2, 3]), rng.choice([None, None, 4]), rng.choice([0, 0, 2 * problem.weight[0]])
        )
        for _ in range(3):
            rows = rng.sample(range(problem.n_rows), rng.randint(1, problem.n_rows))
            yield problem, constraints, switches, rows, rng.randrange(3)


@pytest.mark.parametrize("regularization", ["0.02", LONG])
@pytest.mark.parametrize("largest", [1, 1 << 22, 1 << 40, 1 << 60])
def test_outlooks_are_those_of_adding_up(largest: int, regularization: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether counts and costs fit 24 bits, 53, 64 or none of them; and however much is done at once."""
    hopeful, ways = 0, 0
    for place, (problem, constraints, switches, rows, depth) in enumerate(
        cases(340_000, 60, largest, regularization)
    ):
        monkeypatch.setattr(outlook, "_CELLS", 1 << 15 if place % 3 else 10)
        lookout = Lookout(problem, constraints, switches)
        by_hand = ByHand(problem, constraints, switches, lookout.hopeless)
        # With sums longer than floats hold, pairs of features are not counted.
        is_short = largest < 1 << 50 or place // 3 % 2
        ahead = {"leaf_cache", "lookahead"} <= switches and is_short
        found = looked(lookout, rows, depth)
        assert found.tolist() == by_hand.outlook(rows, depth, ahead=ahead)
        hopeful += sum(cost < lookout.hopeless for cost in found[1].ravel().tolist())
        ways += sum(cost < lookout.hopeless for cost in found[2].ravel().tolist())
    assert hopeful > 100
    assert ways > 20


def test_pairs_are_not_counted_with_too_many_features(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlook, "_PAIRS", 3)
    for problem, constraints, switches, rows, depth in cases(350_000, 30, 1, LONG):
        lookout = Lookout(problem, constraints, switches)
        by_hand = ByHand(problem, constraints, switches, lookout.hopeless)
        assert looked(lookout, rows, depth).tolist() == by_hand.outlook(rows, depth, ahead=False)


def test_cuts_are_all_ways_to_split_a_leaf() -> None:
    n_cuts = 0
    for problem, constraints, switches, rows, depth in cases(360_000, 40, 1 << 22, "0.02"):
        lookout = Lookout(problem, constraints, switches)
        found = looked(lookout, rows, depth)
        ways = [
            (found[yes, 0, feature].item() + found[no, 1, feature].item()) * lookout.ways + 4 * feature + 2 * yes + no
            for feature, yes, no in product(range(problem.n_columns), range(2), range(2))
        ]
        cuts = lookout.cuts(found)
        assert list(cuts) == sorted(way for way in ways if way < lookout.hopeless * lookout.ways)
        costs = [
            sum(min(found[0, side, feature], found[2, side, feature]) for side in range(2))
            for feature in range(problem.n_columns)
        ]
        least = min(ways) // lookout.ways
        for ceiling in (least, least + 1, lookout.hopeless):
            bound, best, by = lookout.summary(found, ceiling)
            assert bound == (least if least < ceiling else lookout.hopeless)
            assert best == min(costs) == costs[by]
            useful = lookout.useful(found, ceiling)
            for side, feature in product(range(2), range(problem.n_columns)):
                with_it = [way for way in ways if way % lookout.ways // 4 == feature and way & (1 if side else 2)]
                assert useful[side, feature] == (min(with_it) // lookout.ways < min(ceiling, lookout.hopeless))
        n_cuts += len(cuts)
    assert n_cuts > 100


def test_costs_may_be_long_though_counts_are_short() -> None:
    problem = with_weights(1, 1, LONG)
    assert sum(problem.weight) < 1 << 24
    assert Lookout(problem, Constraints(), frozenset(SWITCHES)).hopeless > 1 << 64
