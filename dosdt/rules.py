"""Yes/no questions about one original column: what a split asks."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf, isfinite, nextafter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

RuleKind = Literal["is_true", "at_most", "equals", "is_missing"]
RULE_KINDS: tuple[RuleKind, ...] = ("is_true", "at_most", "equals", "is_missing")


@dataclass(frozen=True)
class Rule:
    """One question with a yes/no answer, such as ``age <= 25`` or ``colour = red``.

    Parameters
    ----------
    column : str
        Name of the original column.
    kind : {"is_true", "at_most", "equals", "is_missing"}
        ``is_true``: the column is 0/1 or boolean; ``at_most``: ``column <= value``;
        ``equals``: ``column = value``; ``is_missing``: no value is given.
    value : int, float, str or None
        The threshold or category; None for the other kinds.
    """

    column: str
    kind: RuleKind
    value: int | float | str | None = None

    def __str__(self) -> str:
        if self.kind == "at_most":
            return f"{self.column} <= {self.value}"
        if self.kind == "equals":
            return f"{self.column} = {self.value}"
        if self.kind == "is_missing":
            return f"{self.column} is missing"
        return self.column

    def evaluate(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Answer the question for every entry of `values`, shape (n,); a missing value answers no."""
        if self.kind == "is_missing":
            return is_missing(values)
        if values.dtype.kind == "b":
            values = values.view(np.uint8)
        value: Any = 1 if self.kind == "is_true" else self.value
        if isinstance(value, np.generic):
            value = value.item()
        own = floor_in(values.dtype, value)
        if self.kind == "at_most":
            with np.errstate(invalid="ignore"):
                answer = values <= own
        elif own == value:
            answer = values == own  # True == 1, and NaN or None are not
        else:
            answer = np.zeros(values.shape)
        return np.asarray(answer, dtype=np.bool_)


def floor_in(dtype: np.dtype[Any], value: Any) -> Any:
    """Return the largest number of a column's own type that is at most `value`.

    numpy compares whole numbers with floats as floats, which are not exact beyond 2^53.
    """
    if dtype.kind in "iu" and isinstance(value, float) and isfinite(value):
        return floor(value)
    if dtype.kind == "f" and isinstance(value, int):
        try:
            nearest = float(value)
        except OverflowError:
            return inf if value > 0 else -inf
        return nearest if nearest <= value else nextafter(nearest, -inf)
    return value


def is_missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which entries are missing: NaN in numbers, None or NaN among objects."""
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values), dtype=np.bool_)
    if values.dtype.kind == "O":
        # NaN is the only value that differs from itself.
        return np.asarray((values != values) | (values == None), dtype=np.bool_)  # noqa: E711
    return np.zeros(values.shape, dtype=np.bool_)
