"""All trees over raw rows, made one by one, written apart from the package: fractions and tuples only.

A tree is a class number, or ``(feature, yes, no)``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

Rows = tuple[int, ...]


class Everything:
    """All trees for some rows, with their objectives; `weights` must not be zero, ``costs[true][guess]``."""

    def __init__(
        self,
        features: Sequence[Sequence[int]],
        labels: Sequence[int],
        regularization: Fraction,
        *,
        weights: Sequence[Fraction] | None = None,
        costs: Sequence[Sequence[Fraction]] | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_support: Fraction = Fraction(0),
        useless: bool = False,
    ) -> None:
        self._features, self._labels, self._penalty = features, labels, regularization
        self._weights = weights or [Fraction(1)] * len(labels)
        n = max(labels) + 1 if costs is None else len(costs)
        self._costs = costs or [[Fraction(int(t != g)) for g in range(n)] for t in range(n)]
        self._total = sum(self._weights, Fraction(0))
        self._support, self._useless = min_support, useless
        found = self._trees(tuple(range(len(labels))), max_depth)
        self.trees = [
            (objective, tree) for objective, leaves, tree in found if max_leaves is None or leaves <= max_leaves
        ]

    def within(self, bound: Fraction) -> list[tuple[Fraction, Any]]:
        """Return those with at most this objective."""
        return [(objective, tree) for objective, tree in self.trees if objective <= bound]

    @property
    def best(self) -> Fraction:
        """The smallest objective."""
        return min(objective for objective, _ in self.trees)

    def _leaf(self, rows: Rows) -> tuple[Fraction, int]:
        prices = [
            sum((self._weights[r] * self._costs[self._labels[r]][g] for r in rows), Fraction(0))
            for g in range(len(self._costs))
        ]
        return min(prices), prices.index(min(prices))

    def _trees(self, rows: Rows, depth: int | None) -> Iterator[tuple[Fraction, int, Any]]:
        price, label = self._leaf(rows)
        yield price / self._total + self._penalty, 1, label
        if depth == 0:
            return
        deeper = None if depth is None else depth - 1
        for feature in range(len(self._features[0])):
            yes = tuple(r for r in rows if self._features[r][feature])
            no = tuple(r for r in rows if not self._features[r][feature])
            if not yes or not no:
                continue
            if any(sum((self._weights[r] for r in side), Fraction(0)) < self._support for side in (yes, no)):
                continue
            others = list(self._trees(no, deeper))
            for first, yes_leaves, left in self._trees(yes, deeper):
                for second, no_leaves, right in others:
                    saves = self._leaf(yes)[0] + self._leaf(no)[0] < price
                    if isinstance(left, int) and isinstance(right, int) and not saves and not self._useless:
                        continue
                    yield first + second, yes_leaves + no_leaves, (feature, left, right)


def uses(tree: Any) -> set[int]:
    """Return the features that a tree asks."""
    return set() if isinstance(tree, int) else {tree[0]} | uses(tree[1]) | uses(tree[2])


def counts(
    features: Sequence[Sequence[int]], labels: Sequence[int], regularization: Fraction, bound: Fraction, useless: bool
) -> Counter[Fraction]:
    """Return how many trees with at most this objective have each, one class against another, without making them.

    All that is left out on the way is what costs more than the bound by itself.
    """
    n = len(labels)

    def price(rows: frozenset[int]) -> Fraction:
        ones = sum(labels[r] for r in rows)
        return Fraction(min(ones, len(rows) - ones), n)

    @cache
    def trees(rows: frozenset[int]) -> Counter[Fraction]:
        """The number of trees of each cost."""
        found = Counter([price(rows) + regularization])
        for feature in range(len(features[0])):
            yes = frozenset(r for r in rows if features[r][feature])
            no = rows - yes
            if not yes or not no:
                continue
            for first, several in trees(yes).items():
                for second, more in trees(no).items():
                    if first + second <= bound:
                        found[first + second] += several * more
            if not useless and price(yes) + price(no) == price(rows):
                found[price(yes) + price(no) + 2 * regularization] -= 1
        return Counter({cost: number for cost, number in found.items() if number > 0 and cost <= bound})

    return trees(frozenset(range(n)))
