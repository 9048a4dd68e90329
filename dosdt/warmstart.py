"""A good tree to start from: CART, pruned exactly for our own objective."""

from __future__ import annotations

import numpy as np

from dosdt.contract import Constraints, Sketch, SketchNode, Solution, leaf_node, split_node
from dosdt.problem import Problem
from dosdt.sketches import prune


def cart(problem: Problem, constraints: Constraints) -> Solution:
    """Return CART's tree, grown out and then pruned; it is never worse than a single leaf."""
    from sklearn.tree import DecisionTreeClassifier

    heaviest = max(map(max, problem.class_weight))  # dividing integers first, they may be of any size
    weights = np.array([[weight / heaviest for weight in column] for column in problem.class_weight])
    label, row = np.nonzero(weights)
    model = DecisionTreeClassifier(
        # No tree is deeper than there are features or has more leaves than there are rows.
        max_depth=min(constraints.max_depth or problem.n_columns, problem.n_columns),
        max_leaf_nodes=max(2, min(constraints.max_leaves or problem.n_rows, problem.n_rows)),
        random_state=0,
    )
    if constraints.max_depth == 0 or constraints.max_leaves == 1:
        return prune(problem, Sketch((leaf_node(0),)), constraints)
    model.fit(problem.features[row], label, sample_weight=weights[label, row])
    grown = model.tree_
    nodes: list[SketchNode] = []
    for feature, at_most, above in zip(
        grown.feature.tolist(), grown.children_left.tolist(), grown.children_right.tolist(), strict=True
    ):
        # Features are 0 or 1, so "at most the threshold" is the answer no.
        nodes.append(split_node(feature, above, at_most) if feature >= 0 else leaf_node(0))
    return prune(problem, Sketch(tuple(nodes)), constraints)
