"""Progress of many searches, on stderr: bars on a terminal, a few plain lines in a log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import log
from typing import Any

from dosdt.present import number
from dosdt.problem import Problem
from dosdt.solver import TracePoint


class PathBars:
    """What a path's progress is told to; without `show`, nobody hears of it.

    Parameters
    ----------
    show : callable, optional
        Takes the name of a bar, what stands behind it and how much of it is done, from 0 to 1.
    share : callable, optional
        Says how much of the path is done when it is proved down to some λ.
    most : int, optional
        Leaves of the front.
    """

    def __init__(
        self,
        show: Callable[[str, str, float], None] | None = None,
        share: Callable[[Fraction], float] | None = None,
        most: int | None = None,
    ) -> None:
        self._show, self._share, self._most = show, share, most
        self._now: tuple[str, str, float] = "path", "", 0.0
        self._evaluated = self._searches = 0

    def path(self, proved_to: Fraction, regularization: Fraction) -> None:
        """Hear that a search at this λ begins, and that all is proved down to another."""
        share = self._share(proved_to) if self._share is not None else 0.0
        self._begin("path", f"λ = {number(regularization, 4)}", share)

    def front(self, leaves: int) -> None:
        """Hear that the fewest errors with so many leaves are to be found."""
        if self._show is not None and self._now[0] == "path":
            self._show("path", "done", 1.0)
        self._begin("front", f"{leaves} leaves", (leaves - 2) / max(1, (self._most or 2) - 1))

    @property
    def search(self) -> Callable[[TracePoint], None] | None:
        """What the running search is to report to."""
        return None if self._show is None else self._hear

    def _begin(self, bar: str, what: str, share: float) -> None:
        self._searches += 1
        self._now = bar, what, share
        if self._show is not None:
            self._show(bar, f"{what}, search {self._searches:,}", share)

    def _hear(self, point: TracePoint) -> None:
        bar, what, share = self._now
        if self._show is not None:
            self._show(bar, f"{what}, search {self._searches:,}, {point.evaluated:,} evaluated", share)


@contextmanager
def path_bars(show: bool, problem: Problem, least: Fraction, most: int | None) -> Iterator[PathBars]:
    """Give what shows the progress of a path down to λ = `least`, and of a front up to `most` leaves."""
    if not show:
        yield PathBars()
        return
    with bars(["path"] if most is None else ["path", "front"]) as update:
        yield PathBars(update, lambda proved_to: _share(problem, least, proved_to), most)


@contextmanager
def bars(names: list[str]) -> Iterator[Callable[[str, str, float], None]]:
    """Show bars with these names; the function that this gives takes a name, what stands behind it and its share."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _log(lambda line: console.print(line, markup=False, soft_wrap=True))
        return
    columns = TextColumn("{task.description:<6}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[what]}")
    with Progress(*columns, console=console, transient=True, refresh_per_second=8) as progress:
        tasks: dict[str, Any] = {
            name: progress.add_task(name, total=1.0, start=False, visible=False, what="") for name in names
        }

        def update(name: str, what: str, share: float) -> None:
            progress.start_task(tasks[name])
            progress.update(tasks[name], completed=share, what=what, visible=True)

        yield update


def _log(write: Callable[[str], None]) -> Callable[[str, str, float], None]:
    """Write after 1, 2, 4, 8, ... seconds: a log of a long search stays short."""
    start, due = time.perf_counter(), 1.0

    def report(name: str, what: str, share: float) -> None:
        nonlocal due
        if (seconds := time.perf_counter() - start) >= due:
            write(f"{seconds:.1f} s  {name} {100 * share:.0f} %  {what}")
            while due <= seconds:
                due *= 2

    return report


def _share(problem: Problem, least: Fraction, proved_to: Fraction) -> float:
    """Return how much of the way from one error per leaf to the smallest λ is done: in octaves, as λ is halved."""
    unit = problem.cost_unit / problem.total_weight
    largest = max(min(map(sum, problem.cost)) * unit, proved_to)
    # Fractions may be too small or too large for floats; their logarithms are not.
    top, now, end = (_log2(max(value, unit / (2 * problem.n_rows))) for value in (largest, proved_to, least))
    return 1.0 if top <= end else min(1.0, (top - now) / (top - end))


def _log2(value: Fraction) -> float:
    return (log(value.numerator) - log(value.denominator)) / log(2)
