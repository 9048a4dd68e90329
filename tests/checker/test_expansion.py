"""The checker alone, without any search: facts made by hand, true and false ones."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest

from dosdt.checker import counting
from dosdt.checker.claims import Fact, Refused
from dosdt.checker.counting import Counting
from dosdt.checker.expansion import check_facts

NAMES = ["first", "second", "third", "fourth"]


class Truth:
    """A small random problem and what its subsets cost, by trying everything."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        n, m, n_classes = rng.randint(4, 16), rng.randint(2, 4), rng.randint(2, 4)
        rows = rng.sample(range(2**m), min(n, 2**m))
        self.features: npt.NDArray[np.bool_] = np.array([[row >> j & 1 for j in range(m)] for row in rows], np.bool_)
        self.n, self.m = self.features.shape
        scale = rng.choice([1, 1, 2**30, 10**30])
        self.cost = [[scale * rng.randint(0, 6) for _ in range(self.n)] for _ in range(n_classes)]
        self.weight = [rng.randint(1, 4) for _ in range(self.n)]
        self.min_support = rng.choice([0, 0, 3])
        self.a, self.b = scale * rng.choice([0, 1, 2, 3]), rng.choice([1, 1, 2, 3])
        self.counting = Counting(self.features, self.cost, self.weight, self.min_support, self.a, self.b)
        floor = [min(column) for column in zip(*self.cost, strict=True)]
        self.residual = [[value - low for value, low in zip(row, floor, strict=True)] for row in self.cost]
        self.least = cache(self._least)

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
        truth = Truth(seed)
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
        truth = Truth(seed)
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
        truth = Truth(seed)
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
