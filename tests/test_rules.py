"""Questions about a column are answered exactly, also where numpy would round."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dosdt.rules import Rule, is_missing


def test_numbers_compare_exactly() -> None:
    """As Python compares them: integers beyond 2^53 are not rounded to the nearest float."""
    rng = random.Random(0)
    for _ in range(2000):
        base = rng.choice([0, 2**53, 2**60, -(2**53), -(2**62), 2**63 - 10])
        ints = [min(2**63 - 1, base + rng.randint(-5, 5)) for _ in range(4)]
        near = base + rng.randint(-5, 5)
        value = rng.choice(
            [near, float(near), rng.uniform(-3, 3), 10**400, -(10**400), np.int64(ints[0]), np.float64(ints[0])]
        )
        plain = value.item() if isinstance(value, np.generic) else value
        for column in (np.array(ints), np.array(ints, dtype=float), np.array([True, False])):
            values = column.tolist()
            assert Rule("x", "at_most", value).evaluate(column).tolist() == [v <= plain for v in values]
            assert Rule("x", "equals", value).evaluate(column).tolist() == [v == plain for v in values]


def test_a_missing_value_answers_no() -> None:
    numbers = np.array([1.0, np.nan, 0.0])
    text = np.array(["1", None, "b", float("nan")], dtype=object)
    assert Rule("x", "is_true").evaluate(numbers).tolist() == [True, False, False]
    assert Rule("x", "at_most", 5).evaluate(numbers).tolist() == [True, False, True]
    assert Rule("x", "equals", 0).evaluate(numbers).tolist() == [False, False, True]
    assert Rule("x", "is_missing").evaluate(numbers).tolist() == [False, True, False]
    assert Rule("x", "equals", "b").evaluate(text).tolist() == [False, False, True, False]
    assert Rule("x", "is_missing").evaluate(text).tolist() == [False, True, False, True]


@pytest.mark.parametrize("values", [np.array([1, 2]), np.array([True, False])])
def test_whole_numbers_and_booleans_are_never_missing(values: np.ndarray) -> None:
    assert is_missing(values).tolist() == [False, False]


def test_empty_columns() -> None:
    for dtype in (bool, np.int64, np.float64, object):
        for rule in (Rule("x", "is_missing"), Rule("x", "equals", 1), Rule("x", "is_true")):
            answer = rule.evaluate(np.array([], dtype=dtype))
            assert (answer.shape, answer.dtype) == ((0,), np.bool_)


def test_text() -> None:
    assert str(Rule("age", "at_most", 25)) == "age <= 25"
    assert str(Rule("colour", "equals", "red")) == "colour = red"
    assert str(Rule("income", "is_missing")) == "income is missing"
    assert str(Rule("member", "is_true")) == "member"
