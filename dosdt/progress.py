"""What a search is doing, on stderr: one live line on a terminal, a few plain lines in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction

from dosdt.exact import relative_gap
from dosdt.problem import Problem
from dosdt.solver import TracePoint

Report = Callable[[TracePoint], None]


@contextmanager
def progress(show: bool, problem: Problem) -> Iterator[Report | None]:
    """Give a function that shows the state of a search on stderr, or None if nothing is to be shown."""
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    size = f"{problem.n_samples:,} rows, {problem.n_rows:,} distinct, {problem.n_columns:,} yes/no features"
    console.print(size, markup=False)
    if not console.is_terminal:
        yield _log(lambda line: console.print(line, markup=False, soft_wrap=True))
        return
    with Live(console=console, refresh_per_second=8, transient=True) as live:
        # A line that wraps could not be redrawn in place.
        yield lambda point: live.update(Text(_line(point), no_wrap=True, overflow="ellipsis"))


def _log(write: Callable[[str], None]) -> Report:
    """Write after 1, 2, 4, 8, ... seconds: a log of a long search stays short."""
    due = 1.0

    def report(point: TracePoint) -> None:
        nonlocal due
        if point.seconds >= due:
            write(_line(point))
            while due <= point.seconds:
                due *= 2

    return report


def _line(point: TracePoint) -> str:
    gap = relative_gap(point.incumbent, point.lower_bound)
    return (
        f"{point.seconds:.1f} s  best {_decimal(point.incumbent)}  bound {_decimal(point.lower_bound)}  "
        f"gap {100 * float(gap):.1f} %  {_count(point.evaluated)} evaluated  "
        f"{_count(point.open)} open{_left(point)}{_team(point)}"
    )


def _decimal(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.5f}"  # floats end at 1.8e308


def _count(count: int) -> str:
    if count < 100_000:
        return f"{count:,}"
    return f"{count / 1e3:.0f}k" if count < 1_000_000 else f"{count / 1e6:.1f}M"


def _left(point: TracePoint) -> str:
    """Return the bound on the evaluations left as a power of ten, where the search knows one."""
    return "" if point.remaining_log10 is None else f"  at most 10^{point.remaining_log10:,} left"


def _team(point: TracePoint) -> str:
    """Return how many take part, if there are several, and what they know."""
    if point.workers <= 1:
        return ""
    facts = f"  {_count(point.facts)} facts" if point.facts else ""
    return f"{facts}  {point.workers} workers"
