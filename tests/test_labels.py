"""Class labels are numbered in sorted order, or refused in one line."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dosdt.errors import InputError
from dosdt.labels import encode_labels


@pytest.mark.parametrize(
    ("y", "classes", "kind"),
    [
        ([3, 1, 3], [1, 3], "i"),
        ([True, False, True], [False, True], "b"),
        (["b", "a", "b"], ["a", "b"], "U"),
        ([2.0, -1.0, 2.0], [-1.0, 2.0], "f"),
        (np.array([3, 1, 3], np.uint8), [1, 3], "u"),
        (np.array([[3], [1], [3]]), [1, 3], "i"),
        (np.array(["b", "a", "b"], object), ["a", "b"], "U"),
        (np.array([1, 0, True], object), [0, 1], "i"),
        (np.array([np.True_, np.False_, np.True_], object), [False, True], "b"),
        (np.array([2, 1.0, 2], object), [1.0, 2.0], "f"),
        (np.array(["b", "a", "b"], np.dtypes.StringDType()), ["a", "b"], "U"),
        (pd.Series(["b", "a", "b"]), ["a", "b"], "U"),
        (pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"], "U"),
        (pd.Series(["b", "a", "b"], dtype="string"), ["a", "b"], "U"),
        (pd.Series([2, 1, 2], dtype="Int64"), [1, 2], "i"),
        (pd.Series([True, False, True], dtype="boolean"), [False, True], "b"),
        (pd.DataFrame({"y": [2, 1, 2]}), [1, 2], "i"),
    ],
)
def test_classes_are_sorted_and_keep_their_kind(y: Any, classes: list[Any], kind: str) -> None:
    found, numbers = encode_labels(y)
    assert found.tolist() == classes
    assert found.dtype.kind == kind
    assert numbers.tolist() == [1, 0, 1]
    assert numbers.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "the target has no rows"),
        ([1, 1, 1], "the target has only one class, 1;"),
        (["yes"], "only one class, 'yes'"),
        ([[1, 2], [3, 4]], r"must be one column of labels, got an array of shape \(2, 2\)"),
        ([[1], [2, 3]], "must be one column of labels, got rows of different lengths"),
        (5, r"must be one column of labels, got an array of shape \(\)"),
        ([1, "a", 2], r"mixes labels of different types: 1 \(row 1\) and 'a' \(row 2\); make them all text"),
        (["a", "b", 2], r"mixes labels of different types: 'a' \(row 1\) and 2 \(row 3\)"),
        (np.array(["a", True], object), "mixes labels of different types"),
        (["a", None, "b"], r"missing labels \(NaN\) in 1 rows \(2\); drop them"),
        (["a", float("nan"), "b"], r"missing labels \(NaN\) in 1 rows \(2\)"),
        ([None] * 9 + [1, 2], r"in 9 rows \(1, 2, 3, 4, 5, \.\.\.\)"),
        (pd.Series(["a", None, "b"], dtype="string"), r"missing labels \(NaN\) in 1 rows \(2\)"),
        (pd.Series([1, None, 2], dtype="Int64"), r"in 1 rows \(2\)"),
        (pd.Series([True, None, False], dtype="boolean"), r"missing labels \(NaN\) in 1 rows \(2\)"),
        ([1.0, np.nan, 2.0], r"missing or infinite labels \(NaN or infinity\) in 1 rows \(2\)"),
        ([1.0, 2.0, np.inf], r"infinity\) in 1 rows \(3\)"),
        ([0.5, 1.5], "Unknown label type: the target holds continuous numbers"),
        (np.array([0.5, 1], object), "Unknown label type"),
        (np.array([1.0, np.inf], object), "infinity"),
        ([1j, 2j], "Complex data not supported: the target holds complex128"),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), r"holds datetime64\[D\] values"),
        ([datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], r"type date \(row 1\); labels must be booleans"),
        ([b"a", b"b"], r"type bytes \(row 1\)"),
        ([1, [2, 3]], "rows of different lengths"),
        ([2**70, 1], "holds object values"),
        ([Decimal(1), Decimal(2)], "holds object values"),
    ],
)
def test_refused(y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        encode_labels(y)
    assert "\n" not in str(error.value)


def test_the_caller_names_the_labels() -> None:
    with pytest.raises(InputError, match="^column 'income' has only one class"):
        encode_labels([1, 1], "column 'income'")


@pytest.mark.parametrize("n_rows", [5, 2**17])
@pytest.mark.parametrize("dtype", [object, "str", np.str_, np.int8, np.uint8, np.int64, np.float64, np.bool_])
def test_classes_of_few_and_many_rows(n_rows, dtype):
    codes = np.arange(n_rows) % 3 % (2 if dtype is np.bool_ else 3)
    texts = np.array(["no", "yes", "a"], dtype=object)
    if dtype in (object, "str", np.str_):
        values, expected, places = pd.Series(texts[codes], dtype=dtype), ["a", "no", "yes"], (codes + 1) % 3
    else:
        values, expected, places = codes.astype(dtype), sorted(set(codes.tolist())), codes
    classes, numbers = encode_labels(values)
    assert classes.tolist() == expected
    assert np.array_equal(numbers, places)
