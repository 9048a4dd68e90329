"""CART, by scikit-learn, with the settings that the paper's authors give it for each λ."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from benchmarks.data import Data


def settings(regularization: Fraction, n_rows: int) -> dict[str, Any] | None:
    """Return scikit-learn's parameters for λ, or None where they allow a single leaf only."""
    most_leaves = floor(1 / (2 * regularization))
    if most_leaves < 2:
        return None
    return {
        "min_samples_split": max(ceil(2 * regularization * n_rows), 2),
        "min_samples_leaf": ceil(regularization * n_rows),
        "max_leaf_nodes": most_leaves,
        "min_impurity_decrease": float(regularization),
    }


def fit(data: Data, parameters: dict[str, Any] | None) -> list[list[int]]:
    """Return CART's tree; without parameters, a single leaf."""
    from sklearn.tree import DecisionTreeClassifier

    if parameters is None:
        return [[-1, -1, -1, int(np.bincount(data.labels).argmax())]]
    grown = DecisionTreeClassifier(random_state=0, **parameters).fit(data.features, data.labels).tree_
    columns = (grown.feature, grown.children_left, grown.children_right, grown.value[:, 0, :].argmax(axis=1))
    # Features are 0 or 1, so "at most the threshold" is the answer no.
    return [
        [feature, above, at_most, -1] if feature >= 0 else [-1, -1, -1, label]
        for feature, at_most, above, label in zip(*(column.tolist() for column in columns), strict=True)
    ]
