"""What some answers say about one column: the values for which a conjunction of questions is answered so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from dosdt.rules import Rule

Value = Any
"""What a column holds in one row: bool, int, float or str; None if that is missing."""


@dataclass(frozen=True)
class Region:
    """A set of values of one column that is not empty.

    Attributes
    ----------
    column : str
    missing : bool
        Whether it holds no value at all, only that the value is missing. Nothing below matters then.
    flag : bool
        Whether the values are 0 and 1.
    whole : bool
        Whether they are whole numbers.
    low, high : int, float or None
        Numbers above `low` and up to `high`; None where there is no end.
    equals : value or None
        The only value.
    excluded : tuple of values
        What it does not hold.
    """

    column: str
    missing: bool = False
    flag: bool = False
    whole: bool = False
    low: int | float | None = None
    high: int | float | None = None
    equals: int | float | str | None = None
    excluded: tuple[int | float | str, ...] = ()

    def __contains__(self, value: Value) -> bool:
        if value is None or self.missing:
            return value is None and self.missing
        if self.equals is not None:
            return bool(value == self.equals)
        return (
            (self.low is None or value > self.low)
            and (self.high is None or value <= self.high)
            and value not in self.excluded
        )

    def __str__(self) -> str:
        """Return the region in words, such as ``age > 25 and age <= 40``."""
        if self.missing:
            return f"{self.column} is missing"
        if self.equals is not None:
            if self.flag:
                return f"{self.column} is {'true' if self.equals else 'false'}"
            return f"{self.column} = {self.equals}"
        parts = [] if self.low is None else [f"{self.column} > {self.low}"]
        if self.high is not None:
            parts.append(f"{self.column} <= {self.high}")
        if len(self.excluded) == 1:
            parts.append(f"{self.column} is not {self.excluded[0]}")
        elif self.excluded:
            *some, last = map(str, self.excluded)
            parts.append(f"{self.column} is neither {', '.join(some)} nor {last}")
        return " and ".join(parts) or f"{self.column} is not missing"

    def distance(self, value: Value) -> Fraction:
        """Return how far a value is from the region: 0 within it, at most 1.

        For numbers it is the change over the larger of the two, without their signs; any other change is 1.
        """
        if value in self:
            return Fraction(0)
        nearest = self.nearest(value)
        if nearest is None or value is None or isinstance(value, str | bool) or self.flag:
            return Fraction(1)
        old, new = Fraction(value), Fraction(nearest)
        if old == new:  # the end of the region, which is not in it: as near as can be
            return Fraction(0)
        return min(Fraction(1), abs(new - old) / max(abs(new), abs(old)))

    def nearest(self, value: Value) -> int | float | None:
        """Return the number in the region, or at its end, that is nearest to a number; None if there is none."""
        if isinstance(self.equals, int | float) and not isinstance(self.equals, bool):
            return self.equals
        if value is None or isinstance(value, str) or self.missing or isinstance(self.equals, str):
            return None
        if self.whole:
            down = up = value if isinstance(value, int) else floor(value)
            if self.high is not None:
                down = min(down, floor(self.high))
            if self.low is not None:
                up = max(up, floor(self.low) + 1)
            for step in range(len(self.excluded) + 1):
                for candidate in sorted((down - step, up + step), key=lambda new: abs(new - value)):
                    if candidate in self:
                        return candidate
            return None
        if self.low is not None and value <= self.low:
            return self.low
        return self.high if self.high is not None and value > self.high else value


def region(
    column: str, answers: Sequence[tuple[Rule, bool]], *, missing: bool, flag: bool, whole: bool = False
) -> Region | None:
    """Return the values for which these questions about a column are answered so, or None if there are none.

    Parameters
    ----------
    answers : sequence of (Rule, bool)
        Questions, all about this column, and the answers.
    missing : bool
        Whether to return the region of no value, instead of that of values.
    flag, whole : bool
        Whether values of the column are 0 and 1, or whole numbers.
    """
    if missing:
        # No value answers no to everything but "is missing".
        fits = all(wanted == (rule.kind == "is_missing") for rule, wanted in answers)
        return Region(column, missing=True) if fits else None
    low = high = None
    wanted_values: list[Any] = []
    excluded: list[Any] = []
    for rule, wanted in answers:
        if rule.kind == "is_missing":
            if wanted:
                return None
        elif rule.kind == "at_most":
            if wanted:
                high = rule.value if high is None else min(high, rule.value)  # type: ignore[type-var]
            else:
                low = rule.value if low is None else max(low, rule.value)  # type: ignore[type-var]
        else:
            (wanted_values if wanted else excluded).append(1 if rule.kind == "is_true" else rule.value)
    found = Region(column, False, flag, whole, low, high, None, _within(low, high, excluded))  # type: ignore[arg-type]
    if flag:
        wanted_values = wanted_values or [value for value in (0, 1) if value in found][:2]
        if not wanted_values:
            return None
        if len(wanted_values) == 2 and wanted_values[0] != wanted_values[1]:
            return Region(column, flag=True)
    if wanted_values:
        value = wanted_values[0]
        fits = all(value == other for other in wanted_values) and value in found
        if flag or whole:
            fits = fits and value in ((0, 1) if flag else (floor(value),))
        return Region(column, flag=flag, whole=whole, equals=value) if fits else None
    return None if _empty(found) else found


def _within(low: Any, high: Any, values: list[Any]) -> tuple[Any, ...]:
    """Return the values that lie between two ends, once each; the others need not be excluded."""
    kept = (
        value
        for value in values
        if isinstance(value, str) or ((low is None or value > low) and (high is None or value <= high))
    )
    return tuple(dict.fromkeys(kept))


def _empty(found: Region) -> bool:
    if found.low is None or found.high is None:
        return False
    if not found.whole:
        return found.low >= found.high  # a number between two is never the last
    inside = floor(found.high) - floor(found.low)
    return inside <= sum(isinstance(value, int) or value == floor(value) for value in found.excluded)  # type: ignore[arg-type]
