"""The checker's own answers to questions, against Python's exact comparisons."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from dosdt.checker.answers import packed_answers
from dosdt.checker.claims import Refused
from dosdt.checker.rows import group
from dosdt.frames import ColumnTable
from dosdt.rules import Rule

NUMBERS = [0, 1, -1, 2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1, 2**63 - 1, -(2**63), 2**60 + 1]
FLOATS = [0.0, 0.5, -0.5, 1.0, 2.0**53, 2.0**53 + 2, 2.0**53 + 4, -(2.0**53) - 2, 2.0**63, -(2.0**63), 1e300, -1e300]
THRESHOLDS = [*NUMBERS, *FLOATS, 2**63 - 2, 10**400, -(10**400)]


def answers(rule: Rule, values: np.ndarray, missing: str = "category") -> list[bool]:  # type: ignore[type-arg]
    table = ColumnTable(("x",), (values,), len(values))
    return [bool(byte & 128) for byte in packed_answers([rule], table, missing)[:, 0]]


@pytest.mark.parametrize("values", [np.array(NUMBERS), np.array(FLOATS)])
def test_numbers_are_compared_exactly(values: np.ndarray) -> None:  # type: ignore[type-arg]
    exact = [Fraction(value) for value in values.tolist()]
    for threshold in THRESHOLDS:
        limit = Fraction(threshold)
        assert answers(Rule("x", "at_most", threshold), values) == [value <= limit for value in exact], threshold
        assert answers(Rule("x", "equals", threshold), values) == [value == limit for value in exact], threshold
    assert answers(Rule("x", "is_true"), values) == [value == 1 for value in exact]


def test_text_booleans_and_gaps() -> None:
    text = np.array(["red", None, "blue", "red"], dtype=object)
    assert answers(Rule("x", "equals", "red"), text) == [True, False, False, True]
    assert answers(Rule("x", "equals", "green"), text) == [False] * 4
    assert answers(Rule("x", "is_missing"), text) == [False, True, False, False]
    gaps = np.array([1.0, np.nan, -1.0])
    assert answers(Rule("x", "at_most", 5), gaps) == [True, False, True]
    assert answers(Rule("x", "is_missing"), gaps) == [False, True, False]
    assert answers(Rule("x", "is_true"), np.array([True, False])) == [True, False]
    for rule, values in [
        (Rule("x", "at_most", 5), text),
        (Rule("x", "is_true"), text),
        (Rule("x", "equals", "1"), gaps),
    ]:
        with pytest.raises(Refused, match="needs"):
            answers(rule, values)
    with pytest.raises(Refused, match="missing values"):
        answers(Rule("x", "at_most", 5), gaps, "error")


def test_rows_are_grouped_by_all_their_answers() -> None:
    """Also when these take more than one machine word."""
    rng = random.Random(0)
    for width in (1, 7, 8, 9, 64, 65, 130):
        names = tuple(f"x{j}" for j in range(width))
        kinds = [[rng.randrange(2) for _ in names] for _ in range(10)]
        rows = [rng.choice(kinds) for _ in range(60)]
        labels = [0, 1] + [rng.randrange(2) for _ in rows[2:]]
        weights = [Fraction(rng.randint(1, 3), 2) for _ in rows]
        rules = [Rule(name, "is_true") for name in names]
        found = group(rules, names, ["int"] * width, "error", [0, 1], rows, labels, weights)
        expected: dict[tuple[int, ...], list[Fraction]] = {}
        for row, label, weight in zip(rows, labels, weights, strict=True):
            expected.setdefault(tuple(row), [Fraction(0), Fraction(0)])[label] += weight
        assert [tuple(map(int, row)) for row in found.features] == sorted(expected)
        assert [[w * found.unit for w in row] for row in found.weight] == [expected[row] for row in sorted(expected)]
        again = group(rules, names, ["int"] * width, "error", [0, 1], rows[::-1], labels[::-1], weights[::-1])
        assert again.fingerprint() == found.fingerprint()
        with pytest.raises(Refused, match="has the label 2, which no row of the data has"):
            group(rules, names, ["int"] * width, "error", [0, 1, 2], rows, labels, weights)
