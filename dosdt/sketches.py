"""From a search's tree over binary features to costs, and to the tree that people see."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

import numpy as np

from dosdt.contract import Constraints, Sketch, SketchNode, Solution, leaf_node, split_node
from dosdt.distinct import Binary
from dosdt.problem import Problem
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree


def captured(problem: Problem, sketch: Sketch) -> list[Binary]:
    """Return, for every node, which distinct rows reach it, each of shape (n_rows,)."""
    masks: list[Binary] = [np.ones(problem.n_rows, np.bool_) for _ in sketch.nodes]
    for place, node in enumerate(sketch.nodes):
        if node.feature >= 0:
            answers = problem.features[:, node.feature]
            masks[node.yes] = masks[place] & answers
            masks[node.no] = masks[place] & ~answers
    return masks


def prune(problem: Problem, sketch: Sketch, constraints: Constraints) -> Solution:
    """Return the best tree that is left when some splits of a tree are undone.

    Leaves get their cheapest label. Every answer has leaves of at least the minimum support, unless there is
    just one; depth and number of leaves never grow.
    """
    masks = captured(problem, sketch)
    best: list[int | None] = [None] * len(sketch.nodes)
    labels: list[int] = [0] * len(sketch.nodes)
    splits = [False] * len(sketch.nodes)
    for place in reversed(range(len(sketch.nodes))):  # children come after their parents
        node, mask = sketch.nodes[place], masks[place]
        if place and _total(problem.weight, mask) < constraints.min_support:
            continue
        costs = [_total(cost, mask) for cost in problem.cost]
        labels[place] = costs.index(min(costs))
        value = problem.b * min(costs) + problem.a
        if node.feature >= 0:
            yes, no = best[node.yes], best[node.no]
            if yes is not None and no is not None and yes + no < value:
                value, splits[place] = yes + no, True
        best[place] = value
    nodes: list[SketchNode] = [leaf_node(-1)]
    stack = [(0, 0)]
    while stack:
        old, new = stack.pop()
        node = sketch.nodes[old]
        if not splits[old]:
            nodes[new] = leaf_node(labels[old])
            continue
        nodes[new] = split_node(node.feature, len(nodes), len(nodes) + 1)
        stack += [(node.yes, len(nodes)), (node.no, len(nodes) + 1)]
        nodes += [leaf_node(-1), leaf_node(-1)]
    cost = best[0]
    assert cost is not None  # the root is never held to the minimum support
    return Solution(cost, Sketch(tuple(nodes)))


def tree_of(problem: Problem, sketch: Sketch, rules: Sequence[Rule], columns: Sequence[str]) -> Tree:
    """Return the tree in terms of the original columns; `rules` are those of all features given."""
    nodes: list[Leaf | Split] = []
    for node, mask in zip(sketch.nodes, captured(problem, sketch), strict=True):
        if node.feature >= 0:
            nodes.append(Split(rules[problem.columns[node.feature].source], node.yes, node.no))
        else:
            weights = tuple(_total(weight, mask) * problem.weight_unit for weight in problem.class_weight)
            cost = _total(problem.cost[node.label], mask) * problem.cost_unit
            nodes.append(Leaf(node.label, weights, cost))
    return Tree(tuple(nodes), problem.classes, tuple(columns))


def _total(values: Sequence[int], mask: Binary) -> int:
    return sum(compress(values, mask.tolist()))
