"""The columns a tree asks about: how a form asks for one case, and what the data hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import floor, inf
from typing import Any

import numpy as np

from dosdt.columns import Column
from dosdt.evaluation import answer
from dosdt.frames import ColumnTable
from dosdt.model_file import Model
from dosdt.rules import Rule, floor_in, is_missing
from dosdt.thresholds import readable
from dosdt.tree import Split, Tree, plain

MOST_OPTIONS = 60
BINS = 16


@dataclass(frozen=True)
class Field:
    """One column.

    Attributes
    ----------
    name : str
    kind : {"number", "choice", "flag"}
        What is to be entered.
    whole : bool
        Whether its numbers are whole, and compared as such.
    start : str
        A typical value: the median, or the most frequent one.
    options : tuple of str
        Categories to choose from.
    missing : bool
        Whether a value may be missing.
    summary : str
        What the data hold, in words.
    bars : tuple of int
        Rows in each of `BINS` parts of equal width, or of each of the most frequent categories.
    """

    name: str
    kind: str
    whole: bool
    start: str
    options: tuple[str, ...]
    missing: bool
    summary: str
    bars: tuple[int, ...]


def fields_of(model: Model, table: ColumnTable) -> tuple[Field, ...]:
    """Return the columns that the tree asks about, in the order in which it first does."""
    kinds = dict(zip(model.tree.columns, model.kinds, strict=True))
    by_column: dict[str, list[Rule]] = {}
    for rule in model.tree.used_rules:
        by_column.setdefault(rule.column, []).append(rule)
    return tuple(
        _field(name, kinds[name], rules, table.column(name), model.missing == "category")
        for name, rules in by_column.items()
    )


def rule_data(rule: Rule, columns: dict[str, int]) -> dict[str, Any]:
    """Return a rule as the page's script reads it: numbers as text, for whole ones are compared as such.

    `whole` is what a whole number is compared with, `number` what any other is; None is equal to nothing.
    """
    data: dict[str, Any] = {"column": columns[rule.column], "kind": rule.kind}
    value = plain(rule.value)
    if isinstance(value, str):
        return data | {"text": value}
    if rule.kind in ("at_most", "equals"):
        near = floor_in(np.dtype(np.float64), value)
        exact = rule.kind == "at_most" or near == value
        data["number"] = repr(float(near)).replace("inf", "Infinity") if exact else None
        data["whole"] = str(floor(value)) if rule.kind == "at_most" or value == floor(value) else None
    return data


def nodes_data(tree: Tree, columns: dict[str, int]) -> list[dict[str, Any]]:
    """Return the tree as the page's script walks it."""
    return [
        {"rule": rule_data(node.rule, columns), "yes": node.yes, "no": node.no} if isinstance(node, Split) else {}
        for node in tree.nodes
    ]


def _field(name: str, held: str, rules: list[Rule], values: Column, may_miss: bool) -> Field:
    gone = is_missing(values)
    present, n_missing = values[~gone], int(gone.sum())
    texts = any(isinstance(rule.value, str) for rule in rules)
    options: tuple[str, ...] = ()
    bars: tuple[int, ...] = ()
    if any(rule.kind == "is_true" for rule in rules):
        kind = "flag"
        yes = int(np.count_nonzero(answer(Rule(name, "is_true"), present))) if present.dtype.kind != "O" else 0
        start, bars = ("yes" if 2 * yes > len(present) else "no"), (len(present) - yes, yes)
        words = f"yes in {yes:,} rows, no in {len(present) - yes:,}"
    elif texts or present.dtype.kind == "O" or (held == "text" and not len(present)):
        kind = "choice"
        counts = Counter(_category(value, rules) for value in present.tolist())
        common = [text for text, _ in counts.most_common(MOST_OPTIONS)]
        asked = [rule.value for rule in rules if isinstance(rule.value, str)]
        options = tuple(sorted({*common, *asked}))
        start = common[0] if common else options[0] if options else ""
        bars = tuple(count for _, count in counts.most_common(BINS))
        top = ", ".join(f"{text} ({count:,})" for text, count in counts.most_common(3))
        words = f"{len(counts):,} {'category' if len(counts) == 1 else 'categories'}: {top}"
        words += ", …" if len(counts) > 3 else ""
    else:
        kind, start, words = "number", "0", "no values"
        if len(present):
            ordered = np.sort(present)
            low, middle, high = (_shown(value) for value in (ordered[0], ordered[len(ordered) // 2], ordered[-1]))
            start, words = middle, f"{low} to {high}, median {middle}"
            bars = _histogram(present)
    if n_missing:
        words += f"; {n_missing:,} missing"
    return Field(name, kind, held == "int", start, options, may_miss, words, bars)


def _category(value: Any, rules: list[Rule]) -> str:
    """Return a value as the category that a rule calls it, where one does; a file may hold it as a number."""
    if isinstance(value, str):
        return value
    held = np.array([value])
    for rule in rules:
        if isinstance(rule.value, str) and answer(rule, held)[0]:
            return rule.value
    return _shown(value)


def _shown(value: Any) -> str:
    value = plain(value)
    return str(readable(value) if isinstance(value, float) else value)


def _histogram(values: Column) -> tuple[int, ...]:
    low, high = plain(values.min()), plain(values.max())
    if not 0 < float(high - low) < inf:
        return (len(values),)
    # Long whole numbers differ by less than floats can tell, so take the differences first.
    exact = values.dtype.kind != "f" and high - low < 2**62
    above = (values.astype(np.int64) - int(low)).astype(np.float64) if exact else values.astype(np.float64) - low
    places = np.minimum((above / above.max() * BINS).astype(np.int64), BINS - 1)
    return tuple(np.bincount(places, minlength=BINS).tolist())
