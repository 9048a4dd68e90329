"""The exact problem: distinct rows with integer costs, and what one leaf costs in the same unit."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.distinct import Binary, distinct_rows
from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.labels import encode_labels
from dosdt.weights import IntArray, class_weights, cost_table, sample_weights, whole


@dataclass(frozen=True)
class Column:
    """A binary feature that the search may split on.

    `source` is its position among the features given; `aliases` and `complements` name the features that were
    dropped because they always give the same, or always the opposite, answer.
    """

    name: str
    source: int
    aliases: tuple[str, ...] = ()
    complements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """Minimise ``b·errors + a·leaves`` over decision trees; all numbers are Python integers.

    Rows with identical features are one distinct row; heavy rows come first. Weights are in units of
    `weight_unit`, costs in units of `cost_unit`.

    Attributes
    ----------
    features : ndarray of bool, shape (n_rows, n_columns)
        The distinct rows over the kept columns.
    class_weight : tuple of n_classes tuples of n_rows int
        Training weight of every class in every distinct row.
    cost : tuple of n_classes tuples of n_rows int
        ``cost[c][r]`` is what predicting class c costs on row r.
    a, b : int
        A tree costs ``b·errors + a·leaves``, where errors is a sum of `cost`; a/b is λ·N in lowest terms.
    """

    features: Binary
    class_weight: tuple[tuple[int, ...], ...]
    cost: tuple[tuple[int, ...], ...]
    a: int
    b: int
    columns: tuple[Column, ...]
    classes: tuple[Any, ...]
    regularization: Fraction
    weight_unit: Fraction
    cost_unit: Fraction
    n_samples: int

    @classmethod
    def from_arrays(
        cls,
        features: npt.ArrayLike,
        labels: Any,
        regularization: object,
        *,
        sample_weight: Any = None,
        class_weight: Mapping[Any, Any] | str | None = None,
        cost_matrix: Any = None,
        names: Sequence[str] | None = None,
    ) -> Problem:
        """Build the problem from raw rows.

        Parameters
        ----------
        features : array-like of 0/1 or bool, shape (n_samples, n_features)
        labels : array-like, shape (n_samples,)
        regularization : number or str
            λ, the penalty per leaf; taken as the decimal that was typed.
        sample_weight : array-like of non-negative numbers, shape (n_samples,), optional
        class_weight : mapping from class to factor, or "balanced", optional
        cost_matrix : table of shape (n_classes, n_classes), optional
            ``cost_matrix[true][predicted]``, in sorted order of the classes.
        names : sequence of str, optional
        """
        binary = _binary(features)
        classes, label = encode_labels(labels)
        if len(binary) != len(label):
            raise InputError(f"inconsistent numbers of rows: {len(binary)} of features, {len(label)} of labels")
        names = list(names) if names is not None else [f"x{j}" for j in range(binary.shape[1])]
        if len(names) != binary.shape[1]:
            raise InputError(f"there are {binary.shape[1]} features, but {len(names)} names")
        weight, weight_unit = sample_weights(sample_weight, len(label))
        if not (used := weight != 0).all():
            binary, label, weight = binary[used], label[used], weight[used]
        n_samples = len(label)
        columns = _distinct_columns(binary, names)
        if not columns:
            raise InputError("no feature is left: every feature has the same value in all rows")
        kept, group = distinct_rows(binary, [column.source for column in columns])
        counts = _group_sums(group, label, weight, len(kept), len(classes))

        factors = class_weights(class_weight, classes.tolist(), [sum(row) * weight_unit for row in counts.T.tolist()])
        integer_factors, factor_unit = whole(factors)
        weight_unit *= factor_unit
        table = cost_table(cost_matrix, len(classes))
        integer_costs, matrix_unit = whole([cost for row in table for cost in row])
        largest = sum(map(sum, counts.tolist())) * max(integer_factors) * max(1, *integer_costs)
        if largest >= 2**62:
            counts = counts.astype(object)
        counts = counts * np.array(integer_factors, counts.dtype)
        if not counts.any():
            raise InputError("class_weight leaves no weight at all; at least one class must count")
        costs = counts @ np.array(integer_costs, counts.dtype).reshape(len(classes), len(classes))

        # Heavy rows in the low bits keep the high bit planes short; the sort is stable, so order is determined.
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        total = sum(map(sum, counts.tolist())) * weight_unit
        regularization = check_regularization(regularization)
        cost_unit = weight_unit * matrix_unit
        penalty = regularization * total / cost_unit
        return cls(
            features=kept[order],
            class_weight=tuple(map(tuple, counts[order].T.tolist())),
            cost=tuple(map(tuple, costs[order].T.tolist())),
            a=penalty.numerator,
            b=penalty.denominator,
            columns=tuple(columns),
            classes=tuple(classes.tolist()),
            regularization=regularization,
            weight_unit=weight_unit,
            cost_unit=cost_unit,
            n_samples=n_samples,
        )

    def with_regularization(self, regularization: object) -> Problem:
        """Return the same problem with another λ."""
        value = check_regularization(regularization)
        penalty = value * self.total_weight / self.cost_unit
        return replace(self, regularization=value, a=penalty.numerator, b=penalty.denominator)

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return len(self.features)

    @property
    def n_columns(self) -> int:
        """Number of binary features that can be split on."""
        return len(self.columns)

    @cached_property
    def weight(self) -> tuple[int, ...]:
        """Weight of every distinct row, in units of `weight_unit`."""
        return tuple(map(sum, zip(*self.class_weight, strict=True)))

    @cached_property
    def floor(self) -> tuple[int, ...]:
        """Smallest cost of every distinct row: no tree avoids it (the equivalent points bound)."""
        return tuple(map(min, zip(*self.cost, strict=True)))

    @cached_property
    def ceiling(self) -> tuple[int, ...]:
        """Largest cost of every distinct row: no tree does worse on it."""
        return tuple(map(max, zip(*self.cost, strict=True)))

    @cached_property
    def total_weight(self) -> Fraction:
        """N, the total weight, in the user's own unit."""
        return sum(self.weight) * self.weight_unit

    def objective(self, cost: int) -> Fraction:
        """Turn ``b·errors + a·leaves`` into the objective ``errors/N + λ·leaves``."""
        return cost * self.cost_unit / (self.b * self.total_weight)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that decides what a tree costs; names and labels do not."""
        digest = hashlib.sha256(b"dosdt problem 1\n")
        digest.update(repr((self.features.shape, self.a, self.b, self.class_weight, self.cost)).encode())
        digest.update(np.packbits(self.features).tobytes())
        return digest.hexdigest()


def check_regularization(value: object) -> Fraction:
    """Return λ as an exact fraction, or say why it cannot be one."""
    regularization = exact(value, "regularization")
    if regularization < 0:
        raise InputError(f"regularization must not be negative, got {value}")
    return regularization


def _binary(features: npt.ArrayLike) -> Binary:
    try:
        given = np.asarray(features)
        # A byte that is 0 or 1 is a boolean already; large tables come from the binarizer as bytes.
        bytewise = given.dtype == np.uint8 and given.size > 0 and given.max() <= 1
        answer = given.view(np.bool_) if bytewise else given.astype(np.bool_, copy=False)
    except (ValueError, TypeError):
        raise InputError("features must be a table of 0 and 1 with rows of equal length") from None
    if given.ndim != 2:
        raise InputError(f"features must be a table of rows and columns, got an array of shape {given.shape}")
    if not bytewise and (given.dtype.kind not in "biufO" or not np.array_equal(answer, given)):
        raise InputError("features must be 0 or 1; use dosdt.Binarizer for numbers and categories")
    return answer


def _distinct_columns(binary: Binary, names: Sequence[str]) -> list[Column]:
    """Drop constant columns; of identical or complementary ones keep the first."""
    first: dict[bytes, int] = {}
    same: dict[int, list[str]] = {}
    opposite: dict[int, list[str]] = {}
    for j, name in enumerate(names):
        column = binary[:, j]
        if column.all() or not column.any():
            continue
        key = np.packbits(column).tobytes()
        if (kept := first.get(key)) is not None:
            same[kept].append(name)
        elif (kept := first.get(np.packbits(~column).tobytes())) is not None:
            opposite[kept].append(name)
        else:
            first[key], same[j], opposite[j] = j, [], []
    return [Column(names[j], j, tuple(same[j]), tuple(opposite[j])) for j in first.values()]


def _group_sums(
    group: npt.NDArray[np.int64], label: npt.NDArray[np.int64], weight: IntArray, n_rows: int, n_classes: int
) -> IntArray:
    """Return the weight of every class in every distinct row, shape (n_rows, n_classes)."""
    sums = np.zeros(n_rows * n_classes, dtype=weight.dtype)
    np.add.at(sums, group * n_classes + label, weight)
    return sums.reshape(n_rows, n_classes)
