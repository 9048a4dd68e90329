"""What the benchmarks share: tables by name, cases in processes of their own, rows of Markdown.

Imports nothing large, for the same reason as `harness.py`.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from dosdt.errors import InputError

CaseT = TypeVar("CaseT")
AnswerT = TypeVar("AnswerT")


class Table(NamedTuple):
    """A data set by name: a CSV file of the folder that DOSDT_DATA names or, without a folder, built in."""

    name: str
    folder: str | None

    def load(self) -> tuple[Any, Any]:
        """Return features and labels."""
        if self.folder is None:
            from dosdt.datasets import load

            data = load(self.name)
            return data.X, data.y
        from dosdt.tables import read_table, split_target

        return split_target(read_table(Path(self.folder) / f"{self.name}.csv"))

    def problem(self, regularization: str) -> Any:
        """Return the exact problem; numbers are cut where a reference model cuts them."""
        from dosdt.binarizer import Binarizer
        from dosdt.problem import Problem

        X, y = self.load()
        return Problem.from_arrays(Binarizer(thresholds="reference").fit(X, y).transform(X), y, regularization)


def machine() -> str:
    """Return what seconds depend on; with a load near the number of cores, they say little."""
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}, Python {platform.python_version()}"
    )


def data_folder() -> str | None:
    """Return the folder with the tables, or None to use built-in data."""
    return os.environ.get("DOSDT_DATA") or None


def run_alone(work: Callable[[CaseT], AnswerT], case: CaseT) -> AnswerT | None:
    """Return ``work(case)`` from a fresh process, so that no case helps or slows the next; None if it was killed."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        try:
            return process.submit(work, case).result()
        except BrokenProcessPool:
            return None


def line(cells: Iterable[str]) -> str:
    """Return one row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def header(titles: list[str], *, words: int) -> str:
    """Return the head of a Markdown table; the first so many columns hold words, the others numbers."""
    return f"{line(titles)}\n|{'---|' * words}{'---:|' * (len(titles) - words)}"


def number(value: float | None) -> str:
    """Return a count in full, a measure with three digits."""
    if value is None:
        return "-"
    if isinstance(value, int) or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3f}" if value < 1 else f"{value:#.3g}"


def print_table(head: str, rows: Iterable[str]) -> None:
    """Print rows as they are made, under the machine; what is wrong with the first is said without a table."""
    where = machine()
    for number, row in enumerate(rows):
        if not number:
            print(f"{where}.\n\n{head}")
        print(row, flush=True)


def guarded(name: str, work: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Return the script's exit code; what is wrong with its input is said in one line."""
    try:
        return work(arguments)
    except InputError as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        return 2
