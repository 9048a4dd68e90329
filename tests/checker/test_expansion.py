"""The checker alone, without any search: facts made by hand, true and false ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from dosdt.checker import counting
from dosdt.checker.claims import Fact, Refused
from dosdt.checker.counting import Counting
from dosdt.checker.expansion import check_facts

NAMES = ["first", "second", "third", "fourth"]


class Truth:
    """A small problem and what its subsets cost, by trying everything."""

    def __init__(
        self,
        features: Sequence[Sequence[int]],
        cost: list[list[int]],
        weight: list[int],
        support: int,
        a: int,
        b: int,
    ) -> None:
        self.features = np.array(features, np.bool_)
        self.n, self.m = self.features.shape
        self.weight, self.min_support, self.a, self.b = weight, support, a, b
        self.counting = Counting(self.features, cost, weight, support, a, b)
        floor = [min(column) for column in zip(*cost, strict=True)]
        self.residual = [[value - low for value, low in zip(row, floor, strict=True)] for row in cost]
        self.least = cache(self._least)

    @classmethod
    def random(cls, seed: int) -> Truth:
        rng = random.Random(seed)
        n, m, n_classes = rng.randint(4, 16), rng.randint(2, 4), rng.randint(2, 4)
        rows = rng.sample(range(2**m), min(n, 2**m))
        features = [[row >> j & 1 for j in range(m)] for row in rows]
        scale = rng.choice([1, 1, 2**30, 10**30])
        cost = [[scale * rng.randint(0, 6) for _ in rows] for _ in range(n_classes)]
        weight = [rng.randint(1, 4) for _ in rows]
        return cls(
            features, cost, weight, rng.choice([0, 0, 3]), scale * rng.choice([0, 1, 2, 3]), rng.choice([1, 1, 2, 3])
        )

    def rows(self, path: tuple[int, ...]) -> frozenset[int]:
        return frozenset(r for r in range(self.n) if all(self.features[r, abs(x) - 1] == (x > 0) for x in path))

    def leaf(self, rows: frozenset[int]) -> int:
        return self.b * min(sum(costs[r] for r in rows) for costs in self.residual) + self.a

    def _least(self, rows: frozenset[int], depth: int | None, leaves: int | None) -> float:
        """Return what the best tree costs, infinity if all have a leaf that weighs too little."""
        if sum(self.weight[r] for r in rows) < self.min_support or not rows:
            return float("inf")
        value: float = self.leaf(rows)
        if depth == 0 or leaves == 1:
            return value
        deeper = None if depth is None else depth - 1
        for j in range(self.m):
            yes = frozenset(r for r in rows if self.features[r, j])
            if not yes or yes == rows:
                continue
            shares = [(None, None)] if leaves is None else [(k, leaves - k) for k in range(1, leaves)]
            for left, right in shares:
                value = min(value, self.least(yes, deeper, left) + self.least(rows - yes, deeper, right))
        return value

    def proof(self, path: tuple[int, ...], depth: int | None, leaves: int | None, bound: int) -> list[Fact]:
        """Return a fact that claims a bound, after true facts about all its parts, which it cites."""
        facts: list[Fact] = []
        rows = self.rows(path)
        cites = []
        deeper = None if depth is None else depth - 1
        for side in [x for j in range(1, self.m + 1) for x in (j, -j)]:
            part = self.rows((*path, side))
            if not part or part == rows or deeper == 0:
                continue
            for share in [None] if leaves is None else range(2, leaves):
                truth = min(self.least(part, deeper, share), self.leaf(part))
                known = self.proof((*path, side), deeper, share, int(truth))
                offset = len(facts)
                facts += [
                    fact._replace(cites=tuple((x, number + offset) for x, number in fact.cites)) for fact in known
                ]
                cites.append((side, len(facts)))
        facts.append(Fact(path, depth, leaves, bound, tuple(cites)))
        return facts


def accepted(truth: Truth, facts: list[Fact]) -> bool:
    try:
        check_facts(facts, truth.counting, NAMES)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("wide", [False, True])
def test_true_facts_follow_and_false_ones_do_not(wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "_WIDE", 0 if wide else 600)
    followed = 0
    for seed in range(150):
        rng = random.Random(seed)
        truth = Truth.random(seed)
        path: tuple[int, ...] = tuple(rng.choice([[], [], [1], [-2], [2, -1]]))
        depth, leaves = rng.choice([None, None, 1, 2, 3]), rng.choice([None, None, 2, 3, 4])
        rows = truth.rows(path)
        if not rows or (truth.m == 4 and leaves is not None):  # so many ways to share leaves take long
            continue
        least = min(truth.least(rows, depth, leaves), truth.leaf(rows))
        assert not accepted(truth, truth.proof(path, depth, leaves, int(least) + 1)), seed
        assert accepted(truth, truth.proof(path, depth, leaves, int(least))), seed
        followed += least < truth.leaf(rows)
    assert followed > 10  # some of them are about trees with splits


def example() -> tuple[Truth, list[Fact]]:
    """Return a problem that needs two levels of splits, and a proof of what it costs."""
    for seed in range(1000):
        truth = Truth.random(seed)
        rows = truth.rows(())
        if truth.m == 4 and not truth.min_support and truth.a and truth.least(rows, None, None) < truth.leaf(rows):
            facts = truth.proof((), None, None, int(truth.least(rows, None, None)))
            bare = [fact._replace(cites=()) if fact == facts[-1] else fact for fact in facts]
            if not accepted(truth, bare):
                return truth, facts
    raise AssertionError("there is one")


def test_each_thing_a_fact_rests_on_is_checked() -> None:
    truth, facts = example()
    last = facts[-1]
    names = len(facts)

    def fault(*, others: list[Fact] | None = None, **changes: object) -> str:
        changed = [*(facts[:-1] if others is None else others), last._replace(**changes)]  # type: ignore[arg-type]
        with pytest.raises(Refused) as refused:
            check_facts(changed, truth.counting, NAMES)
        return str(refused.value)

    assert f"fact {names} does not follow: as one leaf its rows cost" in fault(bound=10**100)
    assert f"fact {names} does not follow: split by '" in fault(bound=last.bound + 1)
    assert f"fact {names} does not follow: as one leaf its rows cost {truth.a}" in fault(path=(1, -1))
    assert "it limits leaves to more than there are rows" in fault(leaves=10**18)
    side, number = last.cites[0]
    other = next(entry for _, entry in last.cites[1:] if facts[entry - 1].path != facts[number - 1].path)
    assert f"it cites fact {other}, which is about other rows" in fault(cites=((side, other),))
    shallow = [fact._replace(depth=1, cites=()) if k == number - 1 else fact for k, fact in enumerate(facts[:-1])]
    assert f"it cites fact {number}, which holds for less deep trees only" in fault(
        others=[*shallow[:number], *shallow[number:]], cites=((side, number),)
    )


def test_the_first_fact_that_does_not_follow_is_named() -> None:
    truth, facts = example()
    for k, fact in list(enumerate(facts))[::7]:
        raised = [*facts[:k], fact._replace(bound=fact.bound + 1), *facts[k + 1 :]]
        with pytest.raises(Refused, match=rf"^fact {k + 1} does not follow: "):
            check_facts([*raised, facts[-1]._replace(bound=10**9 * facts[-1].bound)], truth.counting, NAMES)


def test_a_fact_with_fewer_leaves_says_nothing_of_more() -> None:
    """Facts under tighter limits are no help, since more leaves may cost less."""
    tried = 0
    for seed in range(300):
        truth = Truth.random(seed)
        rows = truth.rows(())
        if truth.m != 3:
            continue
        for leaves in (3, 4):
            least = min(truth.least(rows, None, leaves), truth.leaf(rows))
            facts = truth.proof((), None, leaves, int(least))
            tight = [f._replace(leaves=2, cites=()) if f.leaves is not None and f.path else f for f in facts]
            unlimited = [*tight[:-1], facts[-1]._replace(leaves=None)]
            if truth.least(rows, None, None) < least:
                assert not accepted(truth, unlimited)
                tried += 1
    assert tried > 5


def test_reduced_support_with_three_classes() -> None:
    """What counts is the most that each row can lose, not the most that one label loses on all of them.

    Feature 1 says which side. On the first each row demands a label of its own, on the second it only must not get
    that very label: one leaf loses little there, whatever it says, but the first side's tree is wrong every time.
    """
    features = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (1, 0, 1)]
    demanded = [1, 2, 0]
    cost = [[40 * (c != label) for label in demanded] + [10 * (c == label) for label in demanded] for c in range(3)]
    truth = Truth(features, cost, [1] * 6, 0, 15, 1)
    everything = frozenset(range(6))
    second = [sum(row[3:]) for row in truth.residual]
    assert max(second) <= truth.a  # so the side would be excluded if one label at a time were looked at
    without = Truth([row[1:] for row in features], cost, [1] * 6, 0, 15, 1)
    least = int(truth.least(everything, None, None))
    assert least < without.least(everything, None, None)
    assert accepted(truth, truth.proof((), None, None, least))
    assert not accepted(truth, truth.proof((), None, None, least + 1))


def test_reduced_support_for_many_labels() -> None:
    """If rows that lose W at most cost no less than W as one leaf, so they do as any tree, however many leaves."""
    checked = 0
    for seed in range(600):
        rng = random.Random(seed)
        features = [[row >> j & 1 for j in range(3)] for row in range(8)]
        right = [rng.randrange(4) for _ in features]  # most of what a row can lose, it loses by any label but one
        cost = [[(rng.randint(2, 3) if c != label else rng.randint(0, 1)) for label in right] for c in range(4)]
        truth = Truth(features, cost, [1] * 8, 0, rng.choice([1, 2, 3, 4]), 1)
        for path in [(1,), (-1,), (1, 2), (-1, 3)]:
            rows = truth.rows(path)
            most = sum(max(costs[r] for costs in truth.residual) for r in rows)
            if most <= truth.leaf(rows):
                checked += most > 2 * truth.a
                assert truth.least(rows, None, None) >= most
    assert checked > 10
