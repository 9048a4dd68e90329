"""Where to cut a column of numbers: between neighbouring values, at numbers a person can read."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

import numpy as np
import numpy.typing as npt

from dosdt.columns import Column
from dosdt.distinct import distinct, distinct_counts
from dosdt.rules import is_missing
from dosdt.weights import IntArray

# Every whole number up to here is a float of its own.
_EXACT_FLOATS = 2.0**53


def cuts(distinct: npt.NDArray[np.int64 | np.float64], gaps: Iterable[int]) -> list[int | float]:
    """Return one threshold in each of the given gaps; gap `i` lies between distinct[i] and distinct[i + 1].

    `distinct` is sorted, shape (k,), with no missing value. Whole numbers are cut at the floor of the
    midpoint, other numbers at a short decimal near it; ``low <= threshold < high`` holds always.
    """
    if distinct.dtype.kind == "i" or _whole(distinct):
        return [(int(distinct[gap]) + int(distinct[gap + 1])) // 2 for gap in gaps]
    return [short_decimal(float(distinct[gap]), float(distinct[gap + 1])) for gap in gaps]


def distinct_values(values: Column, weights: IntArray | None) -> tuple[Column, IntArray]:
    """Return the sorted values that are not missing and how much each of them weighs, both of shape (k,)."""
    missing = is_missing(values)
    if missing.any():
        values = values[~missing]
        weights = None if weights is None else weights[~missing]
    if weights is None:
        return distinct_counts(values)
    found, place = distinct(values)
    sums = np.zeros(len(found), weights.dtype)
    np.add.at(sums, place, weights)
    return found, sums


def quantile_gaps(counts: IntArray, most: int) -> list[int]:
    """Return at most `most` gaps that cut the data into parts of nearly equal size.

    `counts` says how often each distinct value occurs, shape (k,). For ``q = 1 .. most`` the gap is taken
    whose share of values below comes nearest to ``q / (most + 1)``.
    """
    n_gaps = len(counts) - 1
    if n_gaps <= most:
        return list(range(n_gaps))
    total = int(counts.sum())
    kind = np.int64 if total * (most + 1) < 2**62 else object
    below = np.cumsum(counts.astype(kind))[:-1] * (most + 1)
    targets = np.arange(1, most + 1).astype(kind) * total
    right = np.clip(np.searchsorted(below, targets), 0, n_gaps - 1)
    left = np.maximum(right - 1, 0)
    nearest = np.where(targets - below[left] <= below[right] - targets, left, right)
    return sorted({int(gap) for gap in nearest})


def short_decimal(low: float, high: float) -> int | float:
    """Return the decimal of fewest digits within a quarter of the gap of the midpoint of two floats."""
    width = high - low
    if isfinite(width):
        middle, quarter = low + width / 2, width / 4
    else:
        middle, quarter = low / 2 + high / 2, high / 4 - low / 4
    if abs(middle) <= quarter and low <= 0 < high:
        return 0
    # Rounding to d digits gives the nearest decimal of d digits; 17 digits name every float.
    for digits in range(17):
        candidate = float(f"{middle:.{digits}e}")
        if low <= candidate < high and abs(candidate - middle) <= quarter:
            return readable(candidate)
    return readable(middle if low <= middle < high else low)


def readable(value: float) -> int | float:
    """Return a whole float as an int, so that it prints as ``25`` and not ``25.0``."""
    return int(value) if value.is_integer() and abs(value) < _EXACT_FLOATS else value


def _whole(distinct: npt.NDArray[np.int64 | np.float64]) -> bool:
    return bool(np.all(distinct == np.floor(distinct)) and np.all(np.abs(distinct) < _EXACT_FLOATS))
