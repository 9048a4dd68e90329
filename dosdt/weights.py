"""Sample weights, class weights and costs, exactly: integers times one rational unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.distinct import distinct
from dosdt.errors import InputError
from dosdt.exact import common_denominator, exact

IntArray = npt.NDArray[Any]  # int64 where the sums fit, Python integers (dtype object) where they do not


def sample_weights(weights: Any, n: int) -> tuple[IntArray, Fraction]:
    """Return weights as integers of shape (n,) and the unit that one of them stands for."""
    if weights is None:
        return np.ones(n, np.int64), Fraction(1)
    given = weight_array(weights)
    if given.ndim == 0:
        given = np.full(n, given)
    if given.ndim != 1:
        raise InputError(f"sample_weight must be 1D, one number per row; got an array of shape {given.shape}")
    if len(given) != n:
        raise InputError(
            f"sample_weight.shape == {given.shape}, expected {(n,)}! One number per row: {n} rows, "
            f"{len(given)} weights"
        )
    if given.dtype.kind == "b":
        given = given.astype(np.int64)
    if given.dtype.kind in "iuf":
        values, inverse = distinct(given)
    else:
        values, inverse = _distinct_objects(given)
    first = np.empty(len(values), np.intp)
    first[inverse[::-1]] = np.arange(n - 1, -1, -1)  # of rows with the same weight the last one written is the first
    fractions = []
    for value, row in zip(values, first.tolist(), strict=True):
        fraction = exact(value, f"sample_weight in row {row + 1}")
        if fraction < 0:
            raise InputError(f"sample_weight must not be negative: row {row + 1} has {value}")
        fractions.append(fraction)
    integers, unit = whole(fractions)
    if not any(integers):
        raise InputError("sample_weight is zero for every row; at least one row must count")
    return fitting(integers, n)[inverse], unit


def weight_array(weights: Any) -> npt.NDArray[Any]:
    """Return weights as an array that holds each as it was given."""
    try:
        given = np.asarray(weights)
        if hasattr(weights, "dtype") or given.dtype.kind in "bi":
            return given
    except ValueError:  # of rows of different lengths, which are reported with their row
        pass
    return np.asarray(weights, dtype=object)  # numpy would make floats of large integers beside small ones


def class_weights(
    weights: Mapping[Any, Any] | str | None, classes: Sequence[Any], totals: Sequence[Fraction]
) -> list[Fraction]:
    """Return one factor per class; `totals` is the sample weight of each class, for ``"balanced"``."""
    if weights is None:
        return [Fraction(1)] * len(classes)
    if isinstance(weights, str):
        if weights != "balanced":
            raise InputError(f"class_weight must be None, 'balanced' or a mapping, got {weights!r}")
        everything = sum(totals, Fraction(0))
        # A class whose rows all weigh nothing cannot be balanced, and has no say either way.
        return [everything / (len(classes) * total) if total else Fraction(0) for total in totals]
    if not isinstance(weights, Mapping):
        raise InputError(f"class_weight must be None, 'balanced' or a mapping, got {weights!r}")
    unknown = [key for key in weights if key not in list(classes)]
    if unknown:
        raise InputError(f"class_weight names {unknown[0]!r}, which is not a class; classes are {list(classes)}")
    factors = [exact(weights.get(label, 1), f"class_weight of {label!r}") for label in classes]
    for label, factor in zip(classes, factors, strict=True):
        if factor < 0:
            raise InputError(f"class_weight must not be negative: class {label!r} has {weights[label]}")
    return factors


def cost_table(matrix: Any, n_classes: int) -> list[list[Fraction]]:
    """Return ``cost_matrix[true][predicted]`` as fractions; None is one for every error."""
    if matrix is None:
        return [[Fraction(int(true != guess)) for guess in range(n_classes)] for true in range(n_classes)]
    try:
        rows = [list(row) for row in (matrix.to_numpy() if hasattr(matrix, "to_numpy") else matrix)]
    except TypeError:
        raise InputError("cost_matrix must be a square table: cost_matrix[true][predicted]") from None
    if len(rows) != n_classes or any(len(row) != n_classes for row in rows):
        lengths = " and ".join(map(str, sorted({len(row) for row in rows}))) or "0"
        shape = f"{len(rows)} x {lengths}"
        raise InputError(f"cost_matrix must be {n_classes} x {n_classes}, one row per true class, got {shape}")
    table = []
    for true, row in enumerate(rows):
        costs = [exact(cost, f"cost_matrix[{true}][{guess}]") for guess, cost in enumerate(row)]
        for guess, cost in enumerate(costs):
            if cost < 0:
                raise InputError(f"cost_matrix must not be negative: cost_matrix[{true}][{guess}] is {row[guess]}")
        table.append(costs)
    return table


def whole(values: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Return integers without a common factor, and the unit that turns them back into `values`."""
    denominator = common_denominator(values)
    integers = [value.numerator * (denominator // value.denominator) for value in values]
    factor = gcd(*integers) or 1
    return [integer // factor for integer in integers], Fraction(factor, denominator)


def fitting(integers: Sequence[int], terms: int) -> IntArray:
    """Return the integers as int64 if a sum of `terms` of them surely fits, else as Python integers."""
    small = max(integers, default=0) * max(terms, 1) < 2**62
    array: IntArray = np.array(integers, dtype=np.int64 if small else object)
    return array


def _distinct_objects(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """As `distinct`, for objects that need not be comparable: in order of appearance."""
    seen: dict[tuple[type, Any], int] = {}
    inverse = np.empty(len(values), np.intp)
    for row, value in enumerate(values.tolist()):
        try:
            # The type counts too: 0.1 is a tenth, and not the fraction that is equal to it as a float.
            inverse[row] = seen.setdefault((type(value), value), len(seen))
        except TypeError:
            raise InputError(f"sample_weight in row {row + 1} must be a number, got {value!r}") from None
    found = np.empty(len(seen), dtype=object)
    found[:] = [value for _, value in seen]
    return found, inverse
