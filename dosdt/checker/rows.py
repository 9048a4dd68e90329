"""The data as a certificate's features show them: distinct rows, what each class weighs there, and what labels cost.

Everything is computed from the raw table with exact numbers, by code of the checker's own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.checker.answers import packed_answers
from dosdt.checker.claims import Certificate, Label, Refused
from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.frames import matching_table
from dosdt.rules import Rule

Answers = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows with the same answers to all questions, together.

    Attributes
    ----------
    features : ndarray of bool, shape (n, M)
        The distinct rows, sorted.
    weight : list of n lists of n_classes int
        Sample weight of every class in every distinct row, in units of `unit`.
    unit : Fraction
    """

    features: Answers
    weight: list[list[int]]
    unit: Fraction

    def fingerprint(self) -> bytes:
        """Return a hash of the distinct rows and the weight of every class in each."""
        digest = hashlib.sha256(
            f"dosdt data 1 {self.features.shape} {self.unit.numerator:x}/{self.unit.denominator:x}\n".encode()
        )
        digest.update(np.packbits(self.features).tobytes())
        for row in self.weight:
            digest.update(b"".join(b"%x " % weight for weight in row))
        return digest.digest()

    def totals(self) -> list[Fraction]:
        """Return the sample weight of every class."""
        return [sum(column) * self.unit for column in zip(*self.weight, strict=True)]


@dataclass(frozen=True, eq=False)
class Rows:
    """The distinct rows as whole numbers, of any size.

    Attributes
    ----------
    features : ndarray of bool, shape (n, M)
    cost : list of n_classes lists of n int
        What predicting a class costs on a row, in units of the certificate's `unit`.
    weight : list of n int
        Weight of every row with class weights, in a unit of its own.
    total : Fraction
        N, the total weight.
    min_support : int
        Least weight of a leaf, in the unit of `weight`; 0 if any will do.
    """

    features: Answers
    cost: list[list[int]]
    weight: list[int]
    total: Fraction
    min_support: int


def group(
    features: Sequence[Rule],
    columns: tuple[str, ...],
    kinds: Sequence[str],
    missing: str,
    classes: Sequence[Label],
    X: Any,
    y: Any,
    sample_weight: Any = None,
) -> Groups:
    """Ask every row all questions and put rows with the same answers together."""
    label = _numbered(y, classes)
    weight, unit = _weights(sample_weight, len(label))
    with suppress(TypeError):  # what is no table at all is refused as such
        if len(X) != len(label):
            raise InputError(f"inconsistent numbers of rows: {len(X)} of features, {len(label)} of labels")
    if (empty := np.flatnonzero(np.bincount(label, minlength=len(classes)) == 0)).size:
        raise Refused(f"field 'classes' has the label {classes[empty[0]]!r}, which no row of the data has")
    if sample_weight is not None and not weight.all():
        from sklearn.utils import _safe_indexing

        used = np.flatnonzero(weight)
        X, label, weight = _safe_indexing(X, used), label[used], weight[used]
    text = [name for name, kind in zip(columns, kinds, strict=True) if kind == "text"]
    try:
        table = matching_table(X, columns, categories=text)
    except InputError as error:
        raise Refused(f"field 'columns' does not fit the data: {error}") from None
    if table.n_rows != len(weight):
        raise InputError(f"inconsistent numbers of rows: {table.n_rows} of features, {len(weight)} of labels")
    distinct, place = _distinct(packed_answers(features, table, missing))
    sums = np.zeros(len(distinct) * len(classes), dtype=weight.dtype)
    np.add.at(sums, place * len(classes) + label, weight)
    bits = np.unpackbits(distinct, axis=1, count=len(features)).astype(np.bool_)
    return Groups(bits, sums.reshape(len(distinct), len(classes)).tolist(), unit)


def price(groups: Groups, certificate: Certificate) -> Rows:
    """Return the rows with costs and weights as the certificate defines them."""
    factors, matrix = certificate.class_weight, certificate.cost_matrix
    n = len(factors)
    weight_of, weight_scale = _whole([groups.unit * factor for factor in factors])
    weight = [sum(map(int.__mul__, row, weight_of)) for row in groups.weight]
    total = sum(weight) * weight_scale
    if not total:
        raise Refused("field 'class_weight' leaves no weight at all")
    # A row's cost is a sum over its classes; each class's share need not be whole, but the sum must.
    flat, scale = _whole(
        [groups.unit * factors[t] * matrix[t][c] / certificate.unit for c in range(n) for t in range(n)]
    )
    cost = []
    for c in range(n):
        shares = flat[c * n : c * n + n]
        parts = [sum(map(int.__mul__, row, shares)) for row in groups.weight]
        if any(part % scale.denominator for part in parts):
            raise Refused("field 'unit' does not divide the costs of all rows")
        cost.append([part // scale.denominator for part in parts])
    return Rows(groups.features, cost, weight, total, ceil(certificate.min_support / weight_scale))


def _whole(values: Sequence[Fraction]) -> tuple[list[int], Fraction]:
    """Return whole numbers and the unit, one over an integer, that turns them back into `values`."""
    below = lcm(*(value.denominator for value in values))
    return [value.numerator * (below // value.denominator) for value in values], Fraction(1, below)


def _weights(given: Any, n: int) -> tuple[npt.NDArray[Any], Fraction]:
    """Return whole weights, shape (n,), and their unit."""
    if given is None:
        return np.ones(n, np.int64), Fraction(1)
    values = np.asarray(given) if hasattr(given, "dtype") else np.asarray(given, dtype=object)
    values = np.full(n, values) if values.ndim == 0 else values
    if values.shape != (n,):
        raise InputError(f"sample_weight must have one number for each of {n} rows, got shape {values.shape}")
    if values.dtype.kind in "biuf":
        distinct, inverse = np.unique(
            values.astype(np.int64) if values.dtype.kind == "b" else values, return_inverse=True
        )
        found = [exact(value, "sample_weight") for value in distinct]
    else:
        # The type counts too: 0.1 is a tenth, and not the fraction that is equal to it as a float.
        seen: dict[tuple[type, Any], int] = {}
        try:
            inverse = np.array([seen.setdefault((type(value), value), len(seen)) for value in values], np.intp)
        except TypeError:
            raise InputError("sample_weight must hold numbers only") from None
        found = [exact(value, "sample_weight") for _, value in seen]
    if min(found) < 0 or not any(found):
        raise InputError("sample_weight must be 0 or more everywhere, and more than 0 somewhere")
    whole, unit = _whole(found)
    exact_type: Any = np.int64 if max(whole) * n < 2**62 else object
    return np.array(whole, dtype=exact_type)[inverse], unit


def _numbered(y: Any, classes: Sequence[Label]) -> npt.NDArray[np.intp]:
    """Return the place of every label among the classes."""
    number = {label: place for place, label in enumerate(classes)}
    if y is None:
        raise InputError("a certificate is checked against labels as well: pass y")
    values = np.asarray(y) if hasattr(y, "dtype") else np.asarray(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"the labels must be one column, got an array of shape {values.shape}")
    if values.dtype.kind in "biufUS":
        distinct, inverse = np.unique(values, return_inverse=True)
        labels, row_of = distinct.tolist(), inverse
    else:
        labels, row_of = values.tolist(), np.arange(len(values))
    try:
        places = np.array([number.get(label, -1) for label in labels], np.intp)[row_of]
    except TypeError:
        raise InputError("the labels must be text, numbers or booleans") from None
    if (places < 0).any():
        row = int(np.argmax(places < 0))
        raise Refused(f"field 'classes' lacks the label {values[row]!r} (row {row + 1} of the data)")
    return places


def _distinct(packed: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the distinct rows, sorted, and which of them every row is.

    Machine words sort far faster than strings of bytes: one word after another refines the order.
    """
    n, width = packed.shape
    place = np.zeros(n, np.int64)
    first = np.zeros(min(n, 1), np.int64)
    for start in range(0, width, 8):
        words = np.zeros((n, 8), np.uint8)
        words[:, : width - start] = packed[:, start : start + 8]
        _, word = np.unique(words.view(">u8").ravel().astype(np.uint64), return_inverse=True)
        _, first, place = np.unique(place * (word.max() + 1) + word, return_index=True, return_inverse=True)
    return packed[first], place.astype(np.int64)
