"""Thresholds worth keeping: those a small gradient-boosted model uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.columns import Column
from dosdt.errors import InputError
from dosdt.rules import is_missing

N_TREES = 40
TREE_DEPTH = 2
MOST_ROWS = 20_000


def reference_gaps(
    numbers: Mapping[str, Column], others: npt.NDArray[np.uint8], y: Any, random_state: Any
) -> dict[str, list[int]]:
    """Return, for every column of `numbers`, the gaps between its distinct values that the model cuts.

    Parameters
    ----------
    numbers : mapping of column name to values, each of shape (n,)
        The columns to be cut.
    others : ndarray of shape (n, k)
        0/1 features the model may use besides.
    y : array-like of shape (n,)
        Labels.
    random_state : int, RandomState or None
        Seed of the model.
    """
    from sklearn.ensemble import GradientBoostingClassifier

    ranks = [_ranks(values) for values in numbers.values()]
    features = np.column_stack([*ranks, others])
    labels = _labels(y, features.shape[0])
    if features.shape[1] == 0:
        return {}
    model = GradientBoostingClassifier(n_estimators=N_TREES, max_depth=TREE_DEPTH, random_state=random_state)
    if len(labels) > MOST_ROWS:
        # More rows would choose much the same thresholds, and take minutes.
        kept = np.linspace(0, len(labels) - 1, MOST_ROWS).astype(np.intp)
        features, labels = features[kept], labels[kept]
    model.fit(features, labels)
    used: list[set[int]] = [set() for _ in numbers]
    for regressor in model.estimators_.ravel():
        for feature, threshold in zip(regressor.tree_.feature, regressor.tree_.threshold, strict=True):
            if 0 <= feature < len(used):
                used[feature].add(int(threshold))
    return {name: sorted(gaps) for name, gaps in zip(numbers, used, strict=True)}


def _ranks(values: Column) -> npt.NDArray[np.float32]:
    """Return each value's place among the distinct ones; a missing value takes the median's.

    The model rounds its input to 32 bits, which merges neighbouring values and overflows on large ones.
    Ranks survive that, and the whole part of a threshold on them is the gap it lies in.
    """
    missing = is_missing(values)
    ranks = np.zeros(len(values), dtype=np.float32)
    _, places = np.unique(values[~missing], return_inverse=True)
    if len(places):
        ranks[~missing] = places
        ranks[missing] = np.sort(places)[len(places) // 2]
    return ranks


def _labels(y: Any, n_rows: int) -> npt.NDArray[np.intp]:
    import pandas as pd

    if y is None:
        raise InputError(
            'a reference model requires y to be passed, but the target y is None; pass y, or thresholds="all"'
        )
    labels = np.asarray(y, dtype=object)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels.ravel()
    if labels.shape != (n_rows,):
        raise InputError(f"y has shape {labels.shape}, but X has {n_rows} rows; pass one label for every row")
    codes, classes = pd.factorize(labels)
    if codes.min() < 0:
        row = int(np.argmax(codes < 0)) + 1
        raise InputError(f"y has a missing label, NaN (row {row}); drop the row")
    if len(classes) < 2:
        raise InputError('y holds only one class; thresholds="reference" needs two: pass thresholds="all"')
    return codes
