"""Counting against exhaustive search: costs are exact, bounds hold, and what is excluded is not needed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from everything import Everything, Rows, problems

from dosdt.bitvectors import Words, n_words, pack, to_words
from dosdt.penalty import Prices
from dosdt.subproblem.counts import Counter, Counts, WideCounter
from dosdt.subproblem.terms import SWITCHES


def words(masks: npt.NDArray[np.bool_]) -> Words:
    return np.array([to_words(pack(mask), n_words(len(mask))) for mask in masks])


def counted(kind: type[Counter], n: int, **options: object) -> Iterator[tuple[Everything, Prices, Rows, Counts, int]]:
    """Yield problems whose prices are the true ones, with the counts of some subset of their rows."""
    rng = np.random.default_rng(0)
    for known in problems(n, **options):
        prices = Prices(known.problem)
        if not prices.same:
            continue
        counter = kind(known.problem, prices.penalty, 0, frozenset(SWITCHES))
        for kept in (1.0, 0.7):
            mask = rng.random(known.problem.n_rows) < kept
            if mask.any():
                rows = frozenset(np.flatnonzero(mask).tolist())
                yield known, prices, rows, counter.count(counter.rows_of(words(mask[None]))), counter.never


def children(known: Everything, rows: Rows) -> list[Rows]:
    yes = [frozenset(r for r in rows if column[r]) for column in known.problem.features.T]
    return yes + [rows - part for part in yes]


@pytest.mark.parametrize("kind", [Counter, WideCounter])
def test_costs_are_exact_and_bounds_hold(kind: type[Counter]) -> None:
    checked = 0
    for known, prices, rows, counts, never in counted(kind, 150, max_classes=4):
        assert counts.leaf[0] == known.loss(rows) - known.floor(rows) + known.a
        sides = children(known, rows)
        for x, part in enumerate(sides):
            if counts.lowers[0, x] == never or not part:
                continue
            checked += 1
            floor = known.floor(part)
            assert counts.leaves[0, x] == known.loss(part) - floor + known.a
            assert counts.losses[0, x] == known.ceiling(part) - floor
            assert counts.lowers[0, x] <= known.best(part)[0] - floor <= counts.splits[0, x] <= counts.leaves[0, x]
            if counts.levels == 2 and counts.splits[0, x] < counts.leaves[0, x]:
                one_split = [known.loss(yes) + known.loss(no) for _, yes, no in known.sides(part)]
                assert counts.splits[0, x] == min(one_split) - floor + 2 * prices.a
    assert checked > 300


@pytest.mark.parametrize("kind", [Counter, WideCounter])
def test_an_optimum_is_left_without_the_splits_that_cannot_pay(kind: type[Counter]) -> None:
    excluded = 0
    for known, _, rows, counts, never in counted(kind, 150, max_classes=4):
        sides, m = children(known, rows), known.problem.n_columns
        costs = [known.loss(rows) + known.a]
        for x in range(m):
            if counts.leaves[0, x] == never:
                excluded += bool(sides[x]) and bool(sides[m + x])
            else:
                costs.append(known.best(sides[x])[0] + known.best(sides[m + x])[0])
        assert min(costs) == known.best(rows)[0]
    assert excluded > 100


def test_many_subsets_at_once_are_counted_as_one_by_one() -> None:
    known = next(iter(problems(1, max_classes=3)))
    counter = Counter(known.problem, Prices(known.problem).penalty, 0, frozenset(SWITCHES))
    every, features = np.ones(known.problem.n_rows, np.bool_), known.problem.features.T
    masks = np.array([every, *features, *~features])
    subsets = counter.rows_of(words(masks))
    for mask, subset in zip(masks, subsets, strict=True):
        assert set().union(*map(set, subset)) <= set(np.flatnonzero(mask).tolist())
        for one, other in zip(subset, counter.rows_of(words(mask[None]))[0], strict=True):
            assert np.array_equal(one, other)
    together = counter.count(subsets)
    for k, subset in enumerate(subsets):
        alone = counter.count([subset])
        for all_of_them, one in zip(together, alone, strict=True):
            if not isinstance(one, int):
                assert np.array_equal(all_of_them[k], one[0])
