"""Trees over binary features: which rows reach a node, pruning, and the tree that people see."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from random_problems import random_problem
from sketch_checks import cost_of, keeps, leaf_of, random_sketch

from dosdt.contract import Constraints, Sketch, leaf_node, split_node
from dosdt.frames import column_table
from dosdt.problem import Problem
from dosdt.rules import Rule
from dosdt.sketches import captured, prune, tree_of
from dosdt.tree import Leaf, Split


def test_captured() -> None:
    for seed in range(40):
        problem, rng = random_problem(seed, least="0").problem, random.Random(seed)
        sketch = random_sketch(rng, problem, rng.randint(0, 12))
        masks = captured(problem, sketch)
        assert masks[0].all()
        ends = [leaf_of(sketch, values) for values in problem.features.tolist()]
        for place, node in enumerate(sketch.nodes):
            if node.feature < 0:
                assert np.flatnonzero(masks[place]).tolist() == [row for row, end in enumerate(ends) if end == place]
            else:
                assert (masks[node.yes] | masks[node.no]).tolist() == masks[place].tolist()


def undone(sketch: Sketch, place: int = 0) -> list[frozenset[int]]:
    """Return every set of splits that can stay when some are undone: all the ways to prune."""
    node = sketch.nodes[place]
    if node.feature < 0:
        return [frozenset()]
    kept = [{place} | yes | no for yes in undone(sketch, node.yes) for no in undone(sketch, node.no)]
    return [frozenset(), *map(frozenset, kept)]


def best_pruned(problem: Problem, sketch: Sketch, least: int) -> int:
    """Return the cost of the best of them, by trying all."""
    masks = captured(problem, sketch)
    weight = [sum(np.array(problem.weight, object)[mask]) for mask in masks]
    loss = [min(sum(np.array(cost, object)[mask]) for cost in problem.cost) for mask in masks]
    costs = []
    for splits in undone(sketch):
        leaves = {child for at in splits for child in (sketch.nodes[at].yes, sketch.nodes[at].no)} - splits
        if not splits:
            leaves = {0}
        elif any(weight[leaf] < least for leaf in leaves):
            continue
        costs.append(sum(problem.b * loss[leaf] + problem.a for leaf in leaves))
    return min(costs)


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_prune_is_the_best_that_is_left(start: int) -> None:
    for seed in range(start, start + 50):
        problem, rng = random_problem(seed, least="0").problem, random.Random(seed)
        sketch = random_sketch(rng, problem, rng.randint(0, 6))
        least = rng.choice([0, 0, 1, sum(problem.weight) // 6, sum(problem.weight) // 2, 2 * sum(problem.weight)])
        solution = prune(problem, sketch, Constraints(min_support=least))
        assert solution.cost == cost_of(problem, solution.sketch) == best_pruned(problem, sketch, least)
        assert keeps(problem, solution.sketch, Constraints(min_support=least))
        # Never worse than the tree itself, where it was allowed, nor than a single leaf.
        if keeps(problem, sketch, Constraints(min_support=least)):
            assert solution.cost <= cost_of(problem, sketch)
        singles = [Sketch((leaf_node(label),)) for label in range(len(problem.classes))]
        assert solution.cost <= min(cost_of(problem, single) for single in singles)
        assert prune(problem, solution.sketch, Constraints(min_support=least)) == solution


def test_prune_of_a_very_deep_tree() -> None:
    """A chain of thousands of splits needs no recursion."""
    problem = Problem.from_arrays([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], "0")
    nodes = [split_node(k % 2, 2 * k + 1, 2 * k + 2) if side else leaf_node(0) for k, side in _chain(3000)]
    solution = prune(problem, Sketch(tuple(nodes)), Constraints())
    assert solution.cost == cost_of(problem, solution.sketch)
    assert len(solution.sketch.nodes) <= 5


def _chain(depth: int) -> list[tuple[int, bool]]:
    """Return (number of the split, whether it is one) for every node of a chain that goes on at "no"."""
    nodes = [(0, True)]
    for k in range(1, depth):
        nodes += [(0, False), (k, True)]
    return [*nodes, (0, False), (0, False)]


def test_ties_go_to_fewer_leaves() -> None:
    problem = Problem.from_arrays([[0], [0], [1], [1]], [0, 1, 0, 1], "0")
    sketch = Sketch((split_node(0, 1, 2), leaf_node(1), leaf_node(0)))
    assert prune(problem, sketch, Constraints()).sketch == Sketch((leaf_node(0),))


def test_the_tree_that_people_see() -> None:
    for seed in range(60):
        given, rng = random_problem(seed, least="0"), random.Random(seed)
        problem = given.problem
        sketch = random_sketch(rng, problem, rng.randint(0, 8))
        names = [f"feature {j}" for j in range(len(given.features[0]))]
        rules = [Rule(name, "is_true") for name in names]
        tree = tree_of(problem, sketch, rules, names)
        assert tree.columns == tuple(names)
        assert tree.classes == problem.classes
        weights = given.weights or [Fraction(1)] * len(given.labels)
        ends = tree.apply(column_table(np.array(given.features), names=names)).tolist()
        for place, (node, shape) in enumerate(zip(tree.nodes, sketch.nodes, strict=True)):
            if isinstance(node, Split):
                assert node.rule == rules[problem.columns[shape.feature].source]
                assert (node.yes, node.no) == (shape.yes, shape.no)
                continue
            assert isinstance(node, Leaf)
            rows = [row for row, end in enumerate(ends) if end == place]
            by_class = [
                sum((weights[row] for row in rows if given.labels[row] == c), Fraction(0)) for c in problem.classes
            ]
            assert list(node.class_weights) == by_class
            assert node.label == shape.label
            costs = given.costs or [[Fraction(int(t != g)) for g in problem.classes] for t in problem.classes]
            paid = (weights[row] * costs[given.labels[row]][node.label] for row in rows)
            assert node.cost == sum(paid, Fraction(0))
        share = tree.cost / problem.total_weight + given.regularization * tree.n_leaves
        assert problem.objective(cost_of(problem, sketch)) == share
