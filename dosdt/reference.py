"""Thresholds worth keeping: those a small gradient-boosted model uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.columns import Column
from dosdt.distinct import distinct
from dosdt.errors import InputError
from dosdt.rules import is_missing
from dosdt.weights import IntArray

N_TREES = 40
TREE_DEPTH = 2
MOST_ROWS = 20_000
_LEAST_SHARE = 2.0**-40
"""A row's least weight beside the heaviest: with none at all a class could be lost."""


def reference_gaps(
    numbers: Mapping[str, Column],
    others: npt.NDArray[np.uint8],
    y: Any,
    weights: IntArray | None,
    random_state: Any,
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
    weights : ndarray of positive integers, shape (n,), optional
        A row of weight 2 counts as two rows: the model sees distinct rows, each with all its weight.
    random_state : int, RandomState or None
        Seed of the model.
    """
    from sklearn.ensemble import GradientBoostingClassifier

    weights = np.ones(len(others), np.int64) if weights is None else weights
    ranks = [_ranks(values, weights) for values in numbers.values()]
    features = np.column_stack([*ranks, others])
    labels = _labels(y, features.shape[0])
    if features.shape[1] == 0:
        return {}
    rows, shares = _sample(features, labels, weights)
    model = GradientBoostingClassifier(n_estimators=N_TREES, max_depth=TREE_DEPTH, random_state=random_state)
    model.fit(features[rows], labels[rows], sample_weight=shares)
    used: list[set[int]] = [set() for _ in numbers]
    for regressor in model.estimators_.ravel():
        for feature, threshold in zip(regressor.tree_.feature, regressor.tree_.threshold, strict=True):
            if 0 <= feature < len(used):
                used[feature].add(int(threshold))
    return {name: sorted(gaps) for name, gaps in zip(numbers, used, strict=True)}


def _sample(
    features: npt.NDArray[Any], labels: npt.NDArray[np.intp], weights: IntArray
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Return a first row of each kind, in sorted order, and how much all of its kind weigh beside the heaviest."""
    import pandas as pd

    kind = pd.factorize(labels)[0].astype(np.int64)
    for column in features.T:
        if kind.max() + 1 == len(kind):
            break  # all different already
        values = column.astype(np.int64)
        kind = pd.factorize(kind * (values.max() + 1) + values)[0].astype(np.int64)
    first = np.full(kind.max() + 1, -1, np.intp)
    first[kind[::-1]] = np.arange(len(kind))[::-1]
    sums = np.zeros(len(first), weights.dtype)
    np.add.at(sums, kind, weights)
    if len(first) > MOST_ROWS:
        # More rows would choose much the same thresholds, and take minutes; but no class may be lost.
        kept = np.linspace(0, len(first) - 1, MOST_ROWS).astype(np.intp)
        kept = np.union1d(kept, np.unique(labels[first], return_index=True)[1])
        first, sums = first[kept], sums[kept]
    order = np.lexsort([labels[first], *features[first].T])
    heaviest = max(sums.tolist())
    return first[order], np.array([max(weight / heaviest, _LEAST_SHARE) for weight in sums[order].tolist()])


def _ranks(values: Column, weights: IntArray) -> npt.NDArray[np.float32]:
    """Return each value's place among the distinct ones; a missing value takes the median's.

    The model rounds its input to 32 bits, which merges neighbouring values and overflows on large ones.
    Ranks survive that, and the whole part of a threshold on them is the gap it lies in.
    """
    missing = is_missing(values)
    ranks = np.zeros(len(values), dtype=np.float32)
    found, places = distinct(values[~missing])
    if len(places):
        ranks[~missing] = places
        sums = np.zeros(len(found), weights.dtype)
        np.add.at(sums, places, weights[~missing])
        below = np.cumsum(sums)
        ranks[missing] = np.searchsorted(below, below[-1] // 2, side="right")
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
    codes, classes = pd.factorize(labels, sort=True)  # so that the order of the rows does not matter
    if codes.min() < 0:
        row = int(np.argmax(codes < 0)) + 1
        raise InputError(f"y has a missing label, NaN (row {row}); drop the row")
    if len(classes) < 2:
        raise InputError('y holds only one class; thresholds="reference" needs two: pass thresholds="all"')
    return codes
