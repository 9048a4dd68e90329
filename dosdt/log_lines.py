"""The course of a search as lines in fixed columns, one for each event; nothing here writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import NamedTuple

from dosdt.exact import relative_gap
from dosdt.solver import TracePoint

MARKS = {"*": "better tree", "+": "better bound", "=": "proved", "@": "team formed", "!": "worker lost"}
"""What stands at the start of a line, by what has happened."""

_LINES_PER_HEADER = 20
_NOTICEABLE = Fraction(3, 4)
"""A bound is worth a line when no more than this is left of what was open at the last one."""


class Column(NamedTuple):
    """A column of the log; a wider cell than `width` moves those after it, and hides nothing."""

    name: str
    width: int
    cell: Callable[[TracePoint], str]


_LEAST_WANTED = ("cached", "open", "workers", "leaves", "expanded", "evaluated", "bound", "time")
"""What a narrow terminal goes without, in this order."""


class Lines:
    """Points of a search written below each other.

    Parameters
    ----------
    work : str
        What is counted as work: ``"expanded"`` subsets or ``"evaluated"`` trees.
    team : bool
        Whether several may take part.
    width : int, optional
        Characters in a line at most; columns that do not fit are left out.
    """

    def __init__(self, work: str = "expanded", *, team: bool = False, width: int | None = None) -> None:
        columns = [
            Column("time", 8, lambda point: duration(point.seconds)),
            Column(work, 10, lambda point: count(point.evaluated)),
            Column("open", 8, lambda point: count(point.open)),
            Column("cached", 8, lambda point: count(point.cached)),
            Column("incumbent", 10, lambda point: decimal(point.incumbent)),
            Column("leaves", 7, lambda point: "-" if point.leaves is None else count(point.leaves)),
            Column("bound", 9, lambda point: decimal(point.lower_bound)),
            Column("gap", 8, lambda point: gap(point.incumbent, point.lower_bound)),
        ]
        if team:
            columns.append(Column("workers", 8, lambda point: count(point.workers)))
        for name in _LEAST_WANTED:
            if width is None or 1 + sum(column.width for column in columns) <= width:
                break
            columns = [column for column in columns if column.name != name]
        self._columns = columns
        self._until_header = 0

    def legend(self) -> str:
        """Return what the marks mean, those that can occur here."""
        team = any(column.name == "workers" for column in self._columns)
        return "   ".join(f"{mark} {text}" for mark, text in MARKS.items() if team or mark not in "@!")

    def header(self) -> str:
        """Return the names of the columns."""
        return " " + "".join(f"{column.name:>{column.width}}" for column in self._columns)

    def line(self, point: TracePoint, mark: str = " ") -> str:
        """Return a point as one line."""
        return mark + "".join(f" {column.cell(point):>{column.width - 1}}" for column in self._columns)

    def next(self, point: TracePoint, mark: str) -> Iterator[str]:
        """Give the next line, and the header before it whenever it has been out of sight for long."""
        if self._until_header == 0:
            self._until_header = _LINES_PER_HEADER
            yield self.header()
        self._until_header -= 1
        yield self.line(point, mark)


class Events:
    """Tells which points are worth a line, so that the log of a long search stays short.

    These are the first and the last; every better tree; a change of the team; a bound that has come noticeably
    nearer; and whatever there is after 1, 2, 4, 8, ... seconds.
    """

    def __init__(self) -> None:
        self._shown: TracePoint | None = None
        self._due = 1.0

    def mark(self, point: TracePoint, *, last: bool = False) -> str | None:
        """Return what has happened since the last line as a mark, blank if nothing in particular, or None."""
        mark = self._mark(point, last)
        if mark is not None:
            # A scheduler that has just been replaced knows of no team yet.
            kept = self._shown.workers if self._shown is not None and not point.workers else point.workers
            self._shown = point._replace(workers=kept)
            while self._due <= point.seconds:
                self._due *= 2
        return mark

    def _mark(self, point: TracePoint, last: bool) -> str | None:
        shown = self._shown
        if shown is None:
            return "=" if last and point.incumbent == point.lower_bound else " "
        if point.incumbent < shown.incumbent:
            return "*"
        if point.lost > shown.lost:
            return "!"
        if point.workers and point.workers != shown.workers:
            return "@"
        left, left_then = point.incumbent - point.lower_bound, shown.incumbent - shown.lower_bound
        if not left:
            return "=" if last and left_then else None  # the last point follows at once
        if left <= _NOTICEABLE * left_then:
            return "+"
        if point.seconds >= self._due or (last and (point.evaluated, left) != (shown.evaluated, left_then)):
            return "+" if left < left_then else " "
        return None


def duration(seconds: float) -> str:
    """Return seconds in a few characters: ``0.07s``, ``12.3s``, ``3.25h``."""
    if seconds < 10:
        return f"{seconds:.2f}s"
    return f"{seconds:.1f}s" if seconds < 10_000 else f"{seconds / 3600:.2f}h"


def count(number: int) -> str:
    """Return a count in seven characters at most: ``99,999``, ``1.23M``."""
    if number < 1_000_000:
        return f"{number:,}"
    return f"{number / 1e6:.2f}M" if number < 1_000_000_000 else f"{number / 1e9:.2f}G"


def decimal(value: Fraction) -> str:
    """Return an objective as a decimal; Decimal, since floats end at 1.8e308."""
    number = Decimal(value.numerator) / Decimal(value.denominator)
    text = f"{number:.5f}"
    return text if len(text) <= 8 else f"{number:.2e}"


def gap(incumbent: Fraction, bound: Fraction) -> str:
    """Return the gap in percent, rounded up: 0 is a promise."""
    share = 100 * relative_gap(incumbent, bound)
    rounded = (Decimal(share.numerator) / Decimal(share.denominator)).quantize(Decimal("0.01"), ROUND_CEILING)
    return f"{rounded}%"
