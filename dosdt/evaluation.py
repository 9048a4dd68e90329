"""Answers to many questions at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dosdt.columns import Column, parse_number
from dosdt.errors import InputError
from dosdt.rules import Rule, is_missing

if TYPE_CHECKING:
    from dosdt.frames import ColumnTable

_WORTH_ASKING = 2**30  # bytes


def evaluate_rules(rules: Sequence[Rule], table: ColumnTable) -> npt.NDArray[np.uint8]:
    """Return every rule's `answer`, 1 for yes and 0 for no, shape (n_rows, len(rules)), stored by column."""
    _check_memory(table.n_rows, len(rules))
    answers = np.empty((table.n_rows, len(rules)), dtype=np.uint8, order="F")
    encoded: dict[str, tuple[npt.NDArray[np.intp], Column]] = {}
    for j, rule in enumerate(rules):
        values = table.column(rule.column)
        if values.dtype.kind != "O":
            answers[:, j] = answer(rule, values)
            continue
        # Text is compared once for each distinct string, not once for each row.
        if rule.column not in encoded:
            encoded[rule.column] = _encode(values)
        codes, distinct = encoded[rule.column]
        answers[:, j] = answer(rule, distinct)[codes]
    return answers


def answer(rule: Rule, values: Column) -> npt.NDArray[np.bool_]:
    """Return the rule's answer for every entry of a normalised column, shape (n,).

    A text category compared with a column of numbers or booleans means the number or truth value it spells:
    of two files, one may hold text where the other happens to hold only numbers.
    """
    if values.dtype.kind == "O":
        if rule.kind == "is_missing" or isinstance(rule.value, str):
            return rule.evaluate(values)
        if not is_missing(values).all():
            raise InputError(f"column {rule.column!r} holds text, but {str(rule)!r} needs numbers")
    elif rule.kind != "equals" or not isinstance(rule.value, str):
        return rule.evaluate(values)
    else:
        number = parse_number(rule.value)
        if number is None and values.dtype.kind == "b":
            number = {"true": 1, "false": 0}.get(rule.value.casefold())
        if number is not None:
            return replace(rule, value=number).evaluate(values)
    return np.zeros(values.shape, dtype=np.bool_)


def _encode(values: Column) -> tuple[npt.NDArray[np.intp], Column]:
    """Return distinct strings, with None at the end, and the place of every value among them."""
    import pandas as pd

    codes, distinct = pd.factorize(values)
    return codes, np.array([*distinct, None], dtype=object)


def _check_memory(n_rows: int, n_rules: int) -> None:
    if n_rows * n_rules < _WORTH_ASKING:
        return
    import psutil

    if n_rows * n_rules > psutil.virtual_memory().available:
        raise InputError(
            f"{n_rows} rows times {n_rules} questions need {n_rows * n_rules / 2**30:.0f} GiB; "
            'use fewer rows, or thresholds="quantile" with max_thresholds'
        )
