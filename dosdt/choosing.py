"""Choosing λ: which to try, what the folds say of each, and which of them to take."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from math import isfinite, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.errors import InputError
from dosdt.folds import Score
from dosdt.path import PathPoint

RULES = ("one_se", "best")


def results(regularizations: Sequence[Fraction], folds: Sequence[Sequence[Score]]) -> dict[str, Any]:
    """Return scores[fold][λ] as `GridSearchCV` shows them, one entry for each λ."""
    scores = np.array([[entry.score for entry in fold] for fold in folds])
    if not all(map(isfinite, scores.ravel())):
        raise InputError("scoring gave a score that is no finite number; choose another scoring or fewer folds")
    mean, std = scores.mean(axis=0), scores.std(axis=0)
    leaves = np.array([[entry.leaves for entry in fold] for fold in folds])
    times = np.array([[[entry.fit_seconds, entry.score_seconds] for entry in fold] for fold in folds])
    error = scores.std(axis=0, ddof=1) / sqrt(len(folds)) if len(folds) > 1 else np.zeros_like(mean)
    table: dict[str, Any] = {}
    for k, what in enumerate(("fit", "score")):
        table[f"mean_{what}_time"] = times[:, :, k].mean(axis=0)
        table[f"std_{what}_time"] = times[:, :, k].std(axis=0)
    column = np.ma.MaskedArray(np.empty(len(regularizations), dtype=object), mask=False)
    column[:] = list(regularizations)
    table["param_regularization"] = column
    table["params"] = [{"regularization": value} for value in regularizations]
    for number, fold in enumerate(folds):
        table[f"split{number}_test_score"] = scores[number]
        table[f"split{number}_leaves"] = leaves[number]
        table[f"split{number}_status"] = np.array([entry.status.value for entry in fold], dtype=object)
    table |= {"mean_test_score": mean, "std_test_score": std, "std_error": error}
    table["rank_test_score"] = 1 + (mean[:, None] < mean[None, :]).sum(axis=1).astype(np.int32)
    table["mean_leaves"] = leaves.mean(axis=0)
    return table


def chosen(mean: npt.NDArray[np.float64], error: npt.NDArray[np.float64], rule: str) -> int:
    """Return the place of the λ that a rule chooses; the largest λ comes first."""
    best = int(np.argmax(mean))
    if rule == "best":
        return best
    return int(np.argmax(mean >= mean[best] - error[best]))


def middles(points: Sequence[PathPoint]) -> list[Fraction]:
    """Return one λ from within each interval, with few digits, largest first."""
    return [middle(point.low, point.high) for point in points]


def middle(low: Fraction, high: Fraction | None) -> Fraction:
    """Return a decimal of few digits between two λ, near their geometric mean; 0 and infinity have none."""
    if high is None:
        high = 4 * low or Fraction(1)
    low = low or high / 4
    with suppress(OverflowError):  # floats end at 1.8e308
        mean = sqrt(float(low)) * sqrt(float(high))
        for digits in range(17):
            rounded = Fraction(f"{mean:.{digits}e}")
            if low < rounded < high:
                return rounded
    return (low + high) / 2
