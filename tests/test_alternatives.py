"""All trees near the optimum, held against trees made one by one."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import ceil
from typing import Any

import pytest
from everytree import Everything, uses

from dosdt import Problem, find_alternatives
from dosdt.alternatives import Alternatives
from dosdt.contract import Constraints
from dosdt.tree import Leaf, Tree


class Case:
    """A small random problem with limits, copies of columns, ties, weights and costs."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        while True:
            n_features, n_rows = rng.choice([(2, 14), (3, 14), (3, 9), (4, 7)])
            self.features = [[rng.randint(0, 1) for _ in range(n_features)] for _ in range(n_rows)]
            if rng.random() < 0.4:  # a copy of a column, or its opposite
                chosen, flip = rng.randrange(n_features), rng.randint(0, 1)
                self.features = [[*row, row[chosen] ^ flip] for row in self.features]
            n_classes = rng.choice([2, 2, 3])
            self.labels = [rng.randrange(n_classes) for _ in range(n_rows)]
            varied = any(len(set(column)) == 2 for column in zip(*self.features, strict=True))
            if len(set(self.labels)) == n_classes and varied:
                break
        self.penalty = Fraction(rng.choice(["0", "0.01", "1/30", "0.05", "0.1", "0.0123456789012345678"]))
        self.weights = self.costs = None
        if rng.random() < 0.3:
            unit = rng.choice([1, 1, 2**55])  # beyond what floats and 64 bits hold exactly
            self.weights = [Fraction(unit + rng.randint(0, 5), rng.choice([1, 2, 3])) for _ in range(n_rows)]
        if rng.random() < 0.3:
            self.costs = [
                [Fraction(rng.randint(0, 5) * (t != g), 2) for g in range(n_classes)] for t in range(n_classes)
            ]
        self.limits: dict[str, Any] = {"max_depth": None, "max_leaves": None, "min_support": Fraction(0)}
        if not self.penalty or rng.random() < 0.5:
            self.limits["max_depth"] = rng.choice([None, 0, 1, 2, 3])
            self.limits["max_leaves"] = rng.choice([None, 1, 2, 3, 5, 100])
            self.limits["min_support"] = Fraction(rng.choice([0, 0, 1, 2, 5]))
        if not self.penalty and self.limits["max_depth"] is None and self.limits["max_leaves"] is None:
            self.limits["max_leaves"] = 4
        self.useless = rng.random() < 0.4
        self.within = Fraction(rng.choice(["0", "0.02", "0.05", "0.1", "0.3", "5"]))

    @property
    def everything(self) -> Everything:
        return Everything(
            self.features,
            self.labels,
            self.penalty,
            weights=self.weights,
            costs=self.costs,
            useless=self.useless,
            **self.limits,
        )

    def found(self, **options: Any) -> Alternatives:
        problem = Problem.from_arrays(
            self.features, self.labels, self.penalty, sample_weight=self.weights, cost_matrix=self.costs
        )
        support = ceil(self.limits["min_support"] / problem.weight_unit)
        constraints = Constraints(self.limits["max_depth"], self.limits["max_leaves"], support)
        return find_alternatives(problem, constraints=constraints, useless_splits=self.useless, **options)


def nested(tree: Tree, place: int = 0) -> Any:
    """Return a tree as `everytree` writes it; features are called x0, x1, ..."""
    node = tree.nodes[place]
    if isinstance(node, Leaf):
        return node.label
    return int(node.rule.column[1:]), nested(tree, node.yes), nested(tree, node.no)


@pytest.mark.parametrize("seed", range(120))
def test_all_trees_are_found_and_no_other(seed: int) -> None:
    case = Case(seed)
    everything, found = case.everything, case.found(within=case.within)
    expected = everything.within(everything.best + case.within)
    assert found.complete
    assert found.optimum == everything.best
    assert found.bound == everything.best + case.within
    assert found.count == len(expected)
    assert found.n_optimal == sum(objective == everything.best for objective, _ in expected)
    for use in found.features:
        assert use.trees == sum(int(use.name[1:]) in uses(tree) for _, tree in expected)
        assert use.share == Fraction(use.trees, found.count)
    if found.count <= 3000:
        listed = [(one.objective, nested(one.tree)) for one in found]
        assert Counter(listed) == Counter(expected)
        order = [(one.objective, one.tree.n_leaves) for one in found]
        assert order == sorted(order)
        assert found.by_leaves == dict(sorted(Counter(leaves for _, leaves in order).items()))
    else:
        assert (found[found.count - 1].objective, nested(found[found.count - 1].tree)) in expected


@pytest.mark.parametrize("seed", range(500, 530))
def test_the_best_trees_with_all_that_tie_with_the_last(seed: int) -> None:
    case = Case(seed)
    objectives = sorted(objective for objective, _ in case.everything.trees)
    for best in (1, 2, 5, 40):
        found = case.found(best=best)
        last = objectives[min(best, len(objectives)) - 1]
        assert found.bound == last
        assert found.count == sum(objective <= last for objective in objectives)


@pytest.mark.parametrize("scale", [1, 2**55])
def test_counts_beyond_64_bits(scale: int) -> None:
    """On all rows of n features every tree is possible: T(0) = 1, T(n) = 1 + n·T(n - 1)²."""
    n, rng = 6, random.Random(1)
    features = [[row >> j & 1 for j in range(n)] for row in range(2**n)]
    labels = [rng.randint(0, 1) for _ in features]
    problem = Problem.from_arrays(features, labels, "0.01", sample_weight=[scale] * len(labels))
    found = find_alternatives(problem, within=100, useless_splits=True)
    trees = [1]
    for k in range(1, n + 1):
        trees.append(1 + k * trees[-1] ** 2)
    assert found.count == trees[n] > 2**64
    assert [use.trees for use in found.features] == [trees[n] - trees[n - 1]] * n
    assert found[found.count - 1].objective == max(found[found.count - k].objective for k in range(1, 9))
    with pytest.raises(OverflowError):
        len(found)
