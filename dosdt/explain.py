"""Why a tree says what it says about one row, and the least that would have to be different for another answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from dosdt.errors import InputError
from dosdt.evaluation import answer
from dosdt.regions import Region, Value, region
from dosdt.rules import Rule, is_missing
from dosdt.tree import Leaf, Split, Tree, plain

if TYPE_CHECKING:
    from dosdt.frames import ColumnTable

_SHOWN = 3


@dataclass(frozen=True)
class Change:
    """One column that would have to be different.

    Attributes
    ----------
    value : bool, int, float, str or None
        What it is now; None if it is missing.
    to : Region
        What it would have to be.
    """

    value: Value
    to: Region

    def __str__(self) -> str:
        if self.value is not None and self.to.excluded and self.to.low is None is self.to.high:
            return str(self.to)  # which says what it is now
        return f"{self.to} instead of {_shown(self.value, self.to.flag)}"


@dataclass(frozen=True)
class Counterfactual:
    """Another answer and all that would have to be different for it; what is not named stays as it is.

    Attributes
    ----------
    label : class label
    share : Fraction
        The label's share of the training weight in the leaf that would be reached.
    changes : tuple of Change, one per column
    distance : Fraction
        The sum of the changes' distances, each from 0 to 1; see `Region.distance`.
    leaf : int
        Which node of the tree would be reached.
    """

    label: Any
    share: Fraction
    changes: tuple[Change, ...]
    distance: Fraction
    leaf: int

    def __str__(self) -> str:
        return "; ".join(map(str, self.changes))


@dataclass(frozen=True)
class Explanation:
    """Why a row gets its label, and what would change that.

    Attributes
    ----------
    label : class label
        What the tree predicts.
    shares : dict of class label to Fraction
        Each class's share of the training weight in the row's leaf.
    weight : Fraction
        The training weight in the leaf.
    conditions : tuple of Region
        The rule that fired, one condition for each column that was asked; all of them hold for the row.
    counterfactuals : tuple of Counterfactual
        One for each leaf with another label that can be reached, those that change the fewest columns first, and
        among these the one with the smallest distance. Fewer changes than the first has never change the answer.
    leaf : int
        The node of the tree that the row ends in.
    """

    label: Any
    shares: dict[Any, Fraction]
    weight: Fraction
    conditions: tuple[Region, ...]
    counterfactuals: tuple[Counterfactual, ...]
    leaf: int

    @property
    def rule(self) -> str:
        """The rule that fired, in words."""
        return " and ".join(map(str, self.conditions)) or "always"

    def __str__(self) -> str:
        from dosdt.present import number, percent
        from dosdt.words import one_line

        shares = ", ".join(f"{label}: {percent(share)}" for label, share in self.shares.items())
        lines = [
            f"predicts    {self.label}",
            f"because     {self.rule}",
            f"there       {shares} of {number(self.weight)} in training",
        ]
        for other in self.counterfactuals[:_SHOWN]:
            lines.append(f"would be    {other.label} ({percent(other.share)}) with {other}")
        if len(self.counterfactuals) > _SHOWN:
            lines.append(f"            and {len(self.counterfactuals) - _SHOWN} more ways, with no fewer changes")
        elif not self.counterfactuals:
            lines.append("would be    the same whatever changes")
        return "\n".join(map(one_line, lines)) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as what JSON can say; shares are floats."""
        return {
            "label": plain(self.label),
            "rule": self.rule,
            "conditions": [_described(condition) for condition in self.conditions],
            "shares": [{"label": plain(label), "share": float(share)} for label, share in self.shares.items()],
            "leaf": self.leaf,
            "counterfactuals": [
                {
                    "label": plain(other.label),
                    "share": float(other.share),
                    "leaf": other.leaf,
                    "distance": float(other.distance),
                    "changes": [{**_described(change.to), "value": change.value} for change in other.changes],
                }
                for other in self.counterfactuals
            ],
        }


def explain(
    tree: Tree, table: ColumnTable, *, kinds: Mapping[str, str] | None = None, gaps: bool = True
) -> Explanation:
    """Explain the tree's answer for a table's only row.

    Parameters
    ----------
    tree : Tree
    table : ColumnTable
        With one row, and all columns that the tree asks about.
    kinds : mapping of column to {"bool", "int", "float", "text"}, optional
        What columns hold; where that is not known, numbers need not be whole.
    gaps : bool
        Whether a value may become missing; it is only said to where no value would do.
    """
    if table.n_rows != 1:
        raise InputError(f"one row is explained at a time, got {table.n_rows}; pass one, such as X.iloc[[0]]")
    kinds = kinds or {}
    asked: dict[str, list[Rule]] = {}
    for rule in tree.used_rules:
        asked.setdefault(rule.column, []).append(rule)
    row = {name: _value(table, name) for name in asked}
    given = {rule: bool(answer(rule, table.column(rule.column))[0]) for rule in tree.used_rules}
    # A row that is not like the training data is not told that it must be.
    flags = {
        name: (kinds.get(name) == "bool" or _flag(rules)) and row[name] in (None, 0, 1)
        for name, rules in asked.items()
    }
    whole = {name: kinds.get(name) == "int" and _is_whole(value) for name, value in row.items()}

    def within(column: str, answers: Sequence[tuple[Rule, bool]], missing: bool) -> Region | None:
        return region(column, answers, missing=missing, flag=flags[column], whole=whole[column])

    fired = int(tree.apply(table)[0])
    paths = _paths(tree)
    own = tree.nodes[fired]
    assert isinstance(own, Leaf)
    conditions = [within(column, answers, row[column] is None) for column, answers in paths[fired].items()]
    others = []
    for place, path in paths.items():
        leaf = tree.nodes[place]
        assert isinstance(leaf, Leaf)
        if leaf.label == own.label:
            continue
        changes = []
        for column, answers in path.items():
            if all(given[rule] == wanted for rule, wanted in answers):
                continue
            to = within(column, answers, False) or (within(column, answers, True) if gaps else None)
            if to is None:
                break
            changes.append(Change(row[column], to))
        else:
            distance = sum((change.to.distance(change.value) for change in changes), Fraction(0))
            label, share = tree.classes[leaf.label], _shares(leaf)[leaf.label]
            others.append(Counterfactual(label, share, tuple(changes), distance, place))
    others.sort(key=lambda other: (len(other.changes), other.distance, other.leaf))
    return Explanation(
        label=tree.classes[own.label],
        shares=dict(zip(tree.classes, _shares(own), strict=True)),
        weight=sum(own.class_weights, Fraction(0)),
        conditions=tuple(condition for condition in conditions if condition is not None),
        counterfactuals=tuple(others),
        leaf=fired,
    )


def one_row(x: Any) -> Any:
    """Return one case, given as a mapping, a series, a list or a table of one row, as a table."""
    import pandas as pd

    if isinstance(x, pd.Series):
        x = x.to_dict()
    if isinstance(x, Mapping):
        return pd.DataFrame({name: pd.Series([value]) for name, value in x.items()})
    if isinstance(x, list | tuple) and x and not isinstance(x[0], list | tuple | np.ndarray):
        return [list(x)]
    return x[None] if isinstance(x, np.ndarray) and x.ndim == 1 else x


def _paths(tree: Tree) -> dict[int, dict[str, list[tuple[Rule, bool]]]]:
    """Return, for every leaf, the answers that lead to it, by column in the order of the questions."""
    above: dict[int, list[tuple[Rule, bool]]] = {0: []}
    found: dict[int, dict[str, list[tuple[Rule, bool]]]] = {}
    for place, node in enumerate(tree.nodes):
        answers = above.pop(place)
        if isinstance(node, Split):
            above[node.yes] = [*answers, (node.rule, True)]
            above[node.no] = [*answers, (node.rule, False)]
            continue
        found[place] = {}
        for rule, wanted in answers:
            found[place].setdefault(rule.column, []).append((rule, wanted))
    return found


def _value(table: ColumnTable, name: str) -> Value:
    """Return what the only row holds in a column, None if that is missing."""
    values = table.column(name)
    return None if is_missing(values)[0] else plain(values[0])


def _is_whole(value: Value) -> bool:
    return value is None or (not isinstance(value, str) and value == floor(value))


def _flag(rules: Sequence[Rule]) -> bool:
    """Say whether a column can only be 0 and 1, from what is asked about it."""
    kinds = {rule.kind for rule in rules}
    return "is_true" in kinds and kinds <= {"is_true", "is_missing"}


def _shares(leaf: Leaf) -> list[Fraction]:
    total = sum(leaf.class_weights, Fraction(0))
    if not total:
        return [Fraction(int(label == leaf.label)) for label in range(len(leaf.class_weights))]
    return [weight / total for weight in leaf.class_weights]


def _shown(value: Value, flag: bool) -> str:
    if value is None:
        return "missing"
    if flag and value in (0, 1):
        return "true" if value else "false"
    from dosdt.thresholds import readable

    return str(readable(value) if isinstance(value, float) else value)


def _described(part: Region) -> dict[str, Any]:
    return {
        "column": part.column,
        "words": str(part),
        "missing": part.missing,
        "above": part.low,
        "at_most": part.high,
        "equals": part.equals,
        "not": list(part.excluded),
    }
