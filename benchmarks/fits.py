"""A fitted tree as plain numbers, the same for every method: it is judged here, exactly, from the raw rows.

A tree is a list of nodes ``[feature, yes, no, label]``, root first, children after their parents; a leaf has
feature -1. That is `dosdt.contract.Sketch` as JSON holds it, over the features of the data set.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.data import Data

Nodes = Sequence[Sequence[int]]


def leaf_of(nodes: Nodes, features: Any) -> Any:
    """Return the number of the leaf that every row reaches, shape (n,)."""
    place = np.zeros(len(features), np.intp)
    for number, (feature, yes, no, _) in enumerate(nodes):  # children come after their parents
        if feature >= 0:
            here = place == number
            place[here] = np.where(features[here, feature], yes, no)
    return place


def predict(nodes: Nodes, features: Any) -> Any:
    """Return the label of every row, shape (n,)."""
    return np.array([label for *_, label in nodes])[leaf_of(nodes, features)]


def count_leaves(nodes: Nodes) -> int:
    """Return the number of leaves."""
    return sum(feature < 0 for feature, *_ in nodes)


def depth(nodes: Nodes) -> int:
    """Return the most questions on a path."""
    depths = [0] * len(nodes)
    for number, (feature, yes, no, _) in enumerate(nodes):
        if feature >= 0:
            depths[yes] = depths[no] = depths[number] + 1
    return max(depths)


def errors(nodes: Nodes, data: Data) -> int:
    """Return how many rows the tree gets wrong."""
    return int(np.count_nonzero(predict(nodes, data.features) != data.labels))


def useless_splits(nodes: Nodes) -> int:
    """Return how many splits have two leaves with the same label."""
    sides = [(nodes[yes], nodes[no]) for feature, yes, no, _ in nodes if feature >= 0]
    return sum(a[0] < 0 and b[0] < 0 and a[3] == b[3] for a, b in sides)


def judged(nodes: Nodes, train: Data, test: Data | None, regularization: str | None) -> dict[str, Any]:
    """Return what a tree comes to; the objective needs λ."""
    wrong, leaves = errors(nodes, train), count_leaves(nodes)
    answer: dict[str, Any] = {
        "nodes": [list(map(int, node)) for node in nodes],
        "rows": len(train.labels),
        "errors": wrong,
        "leaves": leaves,
        "depth": depth(nodes),
        "useless_splits": useless_splits(nodes),
        "accuracy": 1 - wrong / len(train.labels),
    }
    if test is not None:
        answer["test_accuracy"] = 1 - errors(nodes, test) / len(test.labels)
    if regularization is not None:
        answer["objective"] = str(Fraction(wrong, len(train.labels)) + Fraction(regularization) * leaves)
    return answer
