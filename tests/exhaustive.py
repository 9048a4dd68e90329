"""An optimum by trying everything, written apart from the package: fractions and raw rows only."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache


def optimum(
    features: Sequence[Sequence[int]],
    labels: Sequence[int],
    regularization: Fraction,
    *,
    weights: Sequence[Fraction] | None = None,
    costs: Sequence[Sequence[Fraction]] | None = None,
    max_depth: int | None = None,
    max_leaves: int | None = None,
    min_support: Fraction = Fraction(0),
) -> Fraction:
    """Return the smallest ``cost/N + λ·leaves`` over all trees; labels are 0, 1, ..., ``costs[true][guess]``."""
    weights = weights or [Fraction(1)] * len(labels)
    n_classes = max(labels) + 1 if costs is None else len(costs)
    costs = costs or [[Fraction(int(t != g)) for g in range(n_classes)] for t in range(n_classes)]
    total = sum(weights, Fraction(0))
    n_features = len(features[0])

    def leaf(rows: frozenset[int]) -> Fraction:
        errors = [sum((weights[r] * costs[labels[r]][g] for r in rows), Fraction(0)) for g in range(n_classes)]
        return min(errors) / total + regularization

    @cache
    def best(rows: frozenset[int], depth: int | None, leaves: int | None) -> Fraction | None:
        """Return the best cost of a tree for the rows, or None where too few rows are left for any."""
        if sum((weights[r] for r in rows), Fraction(0)) < min_support:
            return None
        value = leaf(rows)
        if depth == 0 or leaves == 1:
            return value
        deeper = None if depth is None else depth - 1
        for feature in range(n_features):
            yes = frozenset(r for r in rows if features[r][feature])
            no = rows - yes
            if not yes or not no:
                continue
            shares = [(None, None)] if leaves is None else [(k, leaves - k) for k in range(1, leaves)]
            for yes_leaves, no_leaves in shares:
                left, right = best(yes, deeper, yes_leaves), best(no, deeper, no_leaves)
                if left is not None and right is not None:
                    value = min(value, left + right)
        return value

    value = best(frozenset(range(len(labels))), max_depth, max_leaves)
    return leaf(frozenset(range(len(labels)))) if value is None else value


def evaluate(
    answers: Sequence[int],
    labels: Sequence[int],
    leaves: int,
    regularization: Fraction,
    *,
    weights: Sequence[Fraction] | None = None,
    costs: Sequence[Sequence[Fraction]] | None = None,
) -> Fraction:
    """Return the objective of given predictions, computed from the raw rows."""
    weights = weights or [Fraction(1)] * len(labels)
    cost = Fraction(0)
    for guess, true, weight in zip(answers, labels, weights, strict=True):
        cost += weight * (costs[true][guess] if costs else int(guess != true))
    return cost / sum(weights, Fraction(0)) + regularization * leaves
