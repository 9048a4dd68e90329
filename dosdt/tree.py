"""A finished decision tree: splits, leaves, and what they say about new rows.

The tree is a flat tuple of nodes in which children come after their parent, so every walk is a loop over the
tuple, forwards or backwards, and a tree thousands of levels deep needs no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dosdt.errors import InputError
from dosdt.evaluation import answer
from dosdt.rules import RULE_KINDS, Rule

if TYPE_CHECKING:
    from dosdt.explain import Explanation
    from dosdt.frames import ColumnTable


@dataclass(frozen=True, slots=True)
class Split:
    """An inner node: rows that answer yes to `rule` go to node `yes`, all others to node `no`."""

    rule: Rule
    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class Leaf:
    """A node that predicts.

    Parameters
    ----------
    label : int
        Index of the predicted class in `Tree.classes`.
    class_weights : tuple of Fraction, one per class
        Training weight of every class among the rows that reach the leaf.
    cost : Fraction
        Training cost of the leaf: misclassified weight, or cost-matrix cost.
    """

    label: int
    class_weights: tuple[Fraction, ...]
    cost: Fraction


@dataclass(frozen=True, slots=True)
class Tree:
    """An immutable decision tree over the original columns.

    Parameters
    ----------
    nodes : tuple of Split and Leaf
        The root first, children after their parent.
    classes : tuple
        The class labels: all str, all bool, or all numbers.
    columns : tuple of str
        Names of all the columns of the training data, in order, also of those no rule asks about.
    """

    nodes: tuple[Split | Leaf, ...]
    classes: tuple[Any, ...]
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_names(self.classes, self.columns)
        if not self.nodes:
            raise InputError("a tree needs at least one node")
        columns = frozenset(self.columns)
        has_parent = [False] * len(self.nodes)
        for index, node in enumerate(self.nodes):
            where = f"node {index} of the tree"
            if isinstance(node, Leaf):
                _check_leaf(node, len(self.classes), where)
                continue
            if not isinstance(node, Split):
                raise InputError(f"{where} must be a Split or a Leaf, got {type(node).__name__}")
            _check_rule(node.rule, columns, where)
            for child in (node.yes, node.no):
                if type(child) is not int or not index < child < len(self.nodes):
                    raise InputError(f"{where} has child {child!r}; it must be a later node of the tree")
                if has_parent[child]:
                    raise InputError(f"node {child} of the tree has two parents")
                has_parent[child] = True
        if not all(has_parent[1:]):
            raise InputError(f"node {has_parent.index(False, 1)} of the tree has no parent")

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves, in node order."""
        return tuple(node for node in self.nodes if isinstance(node, Leaf))

    @property
    def n_leaves(self) -> int:
        """How many leaves there are."""
        return (len(self.nodes) + 1) // 2  # every split has exactly two children

    @property
    def depth(self) -> int:
        """Splits on the longest way from the root to a leaf; 0 for a single leaf."""
        depths = [0] * len(self.nodes)
        for index, node in enumerate(self.nodes):
            if isinstance(node, Split):
                depths[node.yes] = depths[node.no] = depths[index] + 1
        return max(depths)

    @property
    def cost(self) -> Fraction:
        """Training cost of the whole tree, without the penalty per leaf."""
        return sum((leaf.cost for leaf in self.leaves), Fraction(0))

    @property
    def used_rules(self) -> tuple[Rule, ...]:
        """The distinct rules of the splits, in order of first use."""
        return tuple(dict.fromkeys(node.rule for node in self.nodes if isinstance(node, Split)))

    def apply(self, table: ColumnTable) -> npt.NDArray[np.intp]:
        """Return the node index of the leaf every row of `table` ends in, shape (n,)."""
        ends = np.zeros(table.n_rows, dtype=np.intp)
        # A rule is asked only about the rows that reach its split: gathering them costs no more than asking
        # all rows (measured on numbers, where asking is cheapest), and far less for text.
        waiting: dict[int, npt.NDArray[np.intp]] = {0: np.arange(table.n_rows, dtype=np.intp)}
        for index, node in enumerate(self.nodes):
            rows = waiting.pop(index, None)
            if rows is None:
                continue
            if isinstance(node, Leaf):
                ends[rows] = index
                continue
            values = table.column(node.rule.column)
            # The root sees every row in order, which saves the copy.
            answers = answer(node.rule, values if index == 0 else values[rows])
            for child, reached in ((node.yes, rows[answers]), (node.no, rows[~answers])):
                if reached.size:
                    waiting[child] = reached
        return ends

    def predict_index(self, table: ColumnTable) -> npt.NDArray[np.intp]:
        """Return the predicted class of every row as an index into `classes`, shape (n,)."""
        labels = [node.label if isinstance(node, Leaf) else 0 for node in self.nodes]
        return np.asarray(labels, dtype=np.intp)[self.apply(table)]

    def predict(self, table: ColumnTable) -> npt.NDArray[Any]:
        """Return the predicted class label of every row, shape (n,), in the dtype of the labels."""
        return np.asarray(self.classes)[self.predict_index(table)]

    def explain(self, table: ColumnTable) -> Explanation:
        """Return why the only row of `table` gets its label, and what would change that."""
        from dosdt.explain import explain

        return explain(self, table)

    def predict_proba(self, table: ColumnTable) -> npt.NDArray[np.float64]:
        """Return each class's share of the training weight in the leaf of every row, shape (n, n_classes)."""
        shares = np.zeros((len(self.nodes), len(self.classes)))
        for index, node in enumerate(self.nodes):
            if isinstance(node, Leaf):
                total = sum(node.class_weights)
                if total:
                    shares[index] = [float(weight / total) for weight in node.class_weights]
                else:
                    shares[index, node.label] = 1.0
        return shares[self.apply(table)]


def plain(value: Any) -> Any:
    """Return a numpy scalar, as labels and thresholds may be, as the Python value it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def _is_number(value: object) -> bool:
    if isinstance(value, float | np.floating):
        return isfinite(value)
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_names(classes: tuple[Any, ...], columns: tuple[str, ...]) -> None:
    families = (lambda c: isinstance(c, str), lambda c: isinstance(c, bool | np.bool_), _is_number)
    if not any(all(map(family, classes)) for family in families):
        raise InputError(f"classes must be all text, all booleans or all finite numbers, got {classes!r}")
    if not classes or len(set(classes)) < len(classes):
        raise InputError(f"classes must be distinct and at least one, got {classes!r}")
    if not all(isinstance(name, str) for name in columns):
        raise InputError(f"column names must be text, got {columns!r}")
    if len(set(columns)) < len(columns):
        name = next(name for name in columns if columns.count(name) > 1)
        raise InputError(f"column name {name!r} occurs more than once; rename one of them")


def _check_leaf(leaf: Leaf, n_classes: int, where: str) -> None:
    if type(leaf.label) is not int or not 0 <= leaf.label < n_classes:
        raise InputError(f"{where} has label {leaf.label!r}; it must be an index below {n_classes}")
    if len(leaf.class_weights) != n_classes:
        raise InputError(f"{where} has {len(leaf.class_weights)} class weights for {n_classes} classes")
    if not all(isinstance(weight, Fraction) and weight >= 0 for weight in leaf.class_weights):
        raise InputError(f"{where} has class weights that are not non-negative fractions")
    if not isinstance(leaf.cost, Fraction):
        raise InputError(f"{where} has cost {leaf.cost!r}; it must be a fraction")


def _check_rule(rule: Rule, columns: frozenset[str], where: str) -> None:
    if rule.column not in columns:
        raise InputError(f"{where} asks about column {rule.column!r}, which is not a column of the data")
    if rule.kind not in RULE_KINDS:
        raise InputError(f"{where} has a rule of unknown kind {rule.kind!r}")
    fits = {
        "at_most": _is_number(rule.value),
        "equals": isinstance(rule.value, str) or _is_number(rule.value),
    }.get(rule.kind, rule.value is None)
    if not fits:
        raise InputError(f"{where} has a rule of kind {rule.kind!r} with value {rule.value!r}")
