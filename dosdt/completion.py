"""What a shell offers when Tab is pressed: fast, so nothing here imports what a search needs.

Where a function returns nothing, shells offer file names by themselves.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

Offer = list[tuple[str, str]]
"""Words with what they mean, which some shells show."""

ALGORITHMS = {"subproblem": "over subsets of the rows", "leafset": "the paper's, over sets of leaves"}
POLICIES = ("curiosity", "objective", "lower_bound", "entropy", "gini", "fifo", "lifo")
SUBPROBLEM_BOUNDS = ("reduced_support", "grandchildren", "similarity", "cache")
THRESHOLDS = {
    "auto": "all, or a boosted model's choice if there are many",
    "all": "between all neighbouring values",
    "quantile": "some in each column",
    "reference": "a boosted model's choice",
}
MISSING = {"error": "refuse them", "category": "ask whether a value is missing"}
_TABLES = (".csv", ".tsv", ".parquet", ".pq")
_HEADER = 2**16  # bytes; a longer first line is not offered


def words(*names: str, **meanings: str) -> Callable[[str], Offer]:
    """Return a function that offers these words."""
    known = dict.fromkeys(names, "") | meanings

    def offer(incomplete: str) -> Offer:
        return _beginning(incomplete, known.items())

    return offer


def data(incomplete: str) -> Offer:
    """Offer data sets, and tables in files beside them."""
    from dosdt.datasets import available

    named = _beginning(incomplete, ((info.name, info.description) for info in available()))
    if not named:
        return []
    tables = (path.name for path in Path().iterdir() if path.suffix.lower() in _TABLES)
    return named + _beginning(incomplete, ((name, "file") for name in sorted(tables)))


def formats(incomplete: str) -> Offer:
    """Offer what a tree can be shown as."""
    from dosdt.present import FORMATS

    return _beginning(incomplete, ((name, "") for name in FORMATS))


def bounds(context: typer.Context, incomplete: str) -> Offer:
    """Offer the bounds and caches of the algorithm that is named on the same line."""
    from dosdt.bounds import BOUNDS, CACHES

    if context.params.get("algorithm") == "leafset":
        return _beginning(incomplete, (BOUNDS | CACHES).items())
    return _beginning(incomplete, ((name, "") for name in SUBPROBLEM_BOUNDS))


def columns(context: typer.Context, incomplete: str) -> Offer:
    """Offer the columns of the text file that is named on the same line."""
    # An option that still lacks its value leaves the arguments before it unread.
    given: Any = context.params.get("data") or next(iter(context.args), None)
    if not isinstance(given, str) or Path(given).suffix.lower() not in (".csv", ".tsv", ".txt"):
        return []
    with suppress(OSError, UnicodeDecodeError, csv.Error, StopIteration), open(given, "rb") as file:
        line, ended, _ = file.read(_HEADER).partition(b"\n")
        if ended:
            text = line.decode("utf-8-sig").strip()
            delimiter = max(",;\t|", key=text.count)
            names = next(csv.reader([text], delimiter=delimiter))
            # What a shell would have to quote is left to whoever types.
            return _beginning(incomplete, ((name, "") for name in names if name.isidentifier()))
    return []


def _beginning(incomplete: str, known: Iterable[tuple[str, str]]) -> Offer:
    return [(word, meaning) for word, meaning in known if word.startswith(incomplete)]
