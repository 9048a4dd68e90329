"""Answers to a certificate's questions, from the raw columns and by code of the checker's own."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, nextafter
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.checker.claims import Refused
from dosdt.frames import ColumnTable
from dosdt.rules import Rule

Answers = npt.NDArray[np.bool_]


def packed_answers(features: Sequence[Rule], table: ColumnTable, missing: str) -> npt.NDArray[np.uint8]:
    """Return all answers, eight to a byte: shape (rows, ⌈M/8⌉)."""
    check_memory(table.n_rows * len(features) // 8)
    packed = np.empty((table.n_rows, -(-len(features) // 8)), np.uint8)
    column = _Columns(table, missing)
    for start in range(0, len(features), 8):
        answers = [column.answers(rule) for rule in features[start : start + 8]]
        packed[:, start // 8] = np.packbits(np.stack(answers, axis=1), axis=1)[:, 0]
    return packed


def check_memory(needed: int) -> None:
    """Refuse what does not fit into the memory that is free, rather than try."""
    if needed >= 2**28:
        import psutil

        if needed > psutil.virtual_memory().available:
            raise Refused(f"field 'features' and the data need {needed / 2**30:.1f} GiB of memory, more than is free")


class _Columns:
    """Answers questions about the columns of a table; text is numbered once."""

    def __init__(self, table: ColumnTable, missing: str) -> None:
        self._table, self._missing = table, missing
        self._texts: dict[str, tuple[npt.NDArray[np.intp], dict[str, int]]] = {}

    def answers(self, rule: Rule) -> Answers:
        """Return the answer of every row, exactly; a missing value answers no to all but "is missing"."""
        values = self._table.column(rule.column)
        if values.dtype.kind == "O":
            return self._about_text(rule, values)
        gone: Answers = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), np.bool_)
        self._refuse_missing(rule, bool(gone.any()))
        if rule.kind == "is_missing":
            return gone
        if isinstance(rule.value, str):
            raise Refused(f"the question {str(rule)!r} needs text, but the column holds numbers")
        value = 1 if rule.value is None else rule.value
        values = values.astype(np.int64) if values.dtype.kind == "b" else values
        # The largest number of the column's own type that is at most `value`: numpy would round to compare.
        if values.dtype.kind == "i":
            most: Any = floor(value)
            if not -(2**63) <= most < 2**63:
                return np.full(len(values), rule.kind == "at_most" and most > 0)
        else:
            try:
                most = float(value)
            except OverflowError:
                most = inf if value > 0 else -inf
            if most > value:
                most = nextafter(most, -inf)
        if rule.kind == "at_most":
            return np.asarray(values <= most)
        return np.asarray(values == most) if most == value else np.zeros(len(values), np.bool_)

    def _about_text(self, rule: Rule, values: npt.NDArray[Any]) -> Answers:
        import pandas as pd

        if rule.column not in self._texts:
            codes, found = pd.factorize(values)
            self._texts[rule.column] = codes, {str(text): code for code, text in enumerate(found)}
        codes, number = self._texts[rule.column]
        self._refuse_missing(rule, bool((codes < 0).any()))
        if rule.kind == "is_missing":
            return np.asarray(codes < 0)
        if not isinstance(rule.value, str):
            raise Refused(f"the question {str(rule)!r} needs numbers, but the column holds text")
        return np.asarray(codes == number.get(rule.value, -2))

    def _refuse_missing(self, rule: Rule, some: bool) -> None:
        if some and self._missing == "error":
            raise Refused(f"column {rule.column!r} has missing values, and there were none when it was certified")
