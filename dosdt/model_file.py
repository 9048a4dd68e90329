"""Models as files: readable JSON with a schema version, never pickle.

Reading trusts nothing: a file that was cut off, edited or written by something else ends in one line that
names the field.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dosdt.errors import InputError
from dosdt.exact import relative_gap
from dosdt.files import write_atomically
from dosdt.json_fields import (
    as_fraction,
    as_text,
    each_in,
    field_in,
    fraction_in,
    integer_in,
    parse,
    ratio,
    scalar,
    shown,
    text_in,
    wrong,
)
from dosdt.rules import RULE_KINDS, Rule
from dosdt.search_record import SearchRecord, record_from_dict, record_to_dict
from dosdt.tree import Leaf, Split, Tree, plain

if TYPE_CHECKING:
    from dosdt.explain import Explanation

FORMAT = "dosdt-model"
SCHEMA = 2
COLUMN_KINDS = ("bool", "int", "float", "text")
MISSING_POLICIES = ("error", "category")


@dataclass(frozen=True, slots=True)
class Model:
    """A tree together with what is known about how it was found.

    Parameters
    ----------
    tree : Tree
        The tree.
    target : str or None
        Name of the label column, if it had one.
    kinds : tuple of {"bool", "int", "float", "text"}
        Type of each training column, one per entry of `tree.columns`.
    missing : {"error", "category"}
        What missing values meant in training.
    regularization : Fraction
        The penalty λ per leaf.
    objective : Fraction
        Cost of the tree divided by the training weight, plus λ per leaf.
    lower_bound : Fraction
        No tree has a smaller objective; equal to `objective` when the tree is proved optimal.
    status : str
        Why the search stopped, such as ``optimal`` or ``time_limit``.
    training_weight : Fraction
        Total weight of the training rows, N.
    algorithm : str
        Name of the search.
    search : SearchRecord, optional
        How the tree was found.
    """

    tree: Tree
    target: str | None
    kinds: tuple[str, ...]
    missing: str
    regularization: Fraction
    objective: Fraction
    lower_bound: Fraction
    status: str
    training_weight: Fraction
    algorithm: str
    search: SearchRecord | None = None

    def __post_init__(self) -> None:
        columns = self.tree.columns
        if len(self.kinds) != len(columns):
            raise wrong("kinds", f"a list of {len(columns)}, one per column", len(self.kinds))
        ordered = {rule.column for rule in self.tree.used_rules if rule.kind == "at_most"}
        for column, kind in zip(columns, self.kinds, strict=True):
            if kind not in COLUMN_KINDS:
                raise wrong("kinds", f"one of {', '.join(COLUMN_KINDS)} for column {column!r}", kind)
            if kind == "text" and column in ordered:
                raise wrong("kinds", f"int or float for column {column!r}, which a rule orders", kind)
        if self.missing not in MISSING_POLICIES:
            raise wrong("missing", f"one of {', '.join(MISSING_POLICIES)}", self.missing)
        if self.regularization < 0:
            raise wrong("regularization", "at least 0", self.regularization)
        if self.training_weight <= 0:
            raise wrong("training_weight", "positive", self.training_weight)
        if self.lower_bound > self.objective:
            raise wrong("lower_bound", "at most the objective", self.lower_bound)

    def _repr_html_(self) -> str:
        from dosdt.notebook import model_html

        return model_html(self.tree, self.status, self.objective, self.gap)

    @property
    def gap(self) -> Fraction:
        """How much better another tree could be, relative to this one."""
        return relative_gap(self.objective, self.lower_bound)

    def explain(self, x: Any) -> Explanation:
        """Return why one case gets its label, and the smallest changes that would change it.

        Parameters
        ----------
        x : mapping of column to value, Series, or table of one row
        """
        from dosdt.explain import explain, one_row
        from dosdt.inputs import table_for

        kinds = dict(zip(self.tree.columns, self.kinds, strict=True))
        return explain(self.tree, table_for(self, one_row(x)), kinds=kinds, gaps=self.missing == "category")


def save_model(model: Model, path: str | os.PathLike[str]) -> None:
    """Write `model` to `path`; the file appears whole or not at all."""
    try:
        text = json.dumps(model_to_dict(model), indent=1, allow_nan=False)
    except ValueError as error:  # a label or threshold JSON has no number for
        raise InputError(f"cannot write {os.fspath(path)!r}: {error}") from error
    write_atomically(path, text + "\n")


def load_model(path: str | os.PathLike[str]) -> Model:
    """Read a model written by `save_model`; anything else is an `InputError` of one line."""
    name = repr(os.fspath(path))
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"there is no model file {name}") from error
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read model file {name}: {reason}") from error
    try:
        return model_from_dict(parse(data, "model"))
    except InputError as error:
        raise InputError(f"model file {name}: {error}") from error


def model_to_dict(model: Model) -> dict[str, Any]:
    """Return `model` as what JSON can say: fractions as ``"num/den"``, nodes in one flat list."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "algorithm": model.algorithm,
        "status": model.status,
        "regularization": ratio(model.regularization),
        "objective": ratio(model.objective),
        "lower_bound": ratio(model.lower_bound),
        "training_weight": ratio(model.training_weight),
        "search": None if model.search is None else record_to_dict(model.search),
        "target": model.target,
        "missing": model.missing,
        "columns": list(model.tree.columns),
        "kinds": list(model.kinds),
        "classes": [plain(label) for label in model.tree.classes],
        "nodes": nodes_to_list(model.tree),
    }


def model_from_dict(data: object) -> Model:
    """Return the model `model_to_dict` described; an `InputError` names the first field that is wrong."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError("this is not a dosdt model; save one with 'dosdt fit --model'")
    schema = integer_in(data, "schema")
    if schema > SCHEMA:
        versions = f"schema {shown(schema)}, this one reads up to {SCHEMA}"
        raise InputError(f"was written by a newer dosdt ({versions}); upgrade dosdt")
    if schema < SCHEMA:
        raise InputError(f"was written by an older dosdt (schema {shown(schema)}, not {SCHEMA}); fit it again")
    target, search = field_in(data, "target"), field_in(data, "search")
    return Model(
        tree=Tree(
            nodes=each_in(_node, data, "nodes"),
            classes=each_in(scalar, data, "classes"),
            columns=each_in(as_text, data, "columns"),
        ),
        target=None if target is None else as_text(target, "target"),
        kinds=each_in(as_text, data, "kinds"),
        missing=text_in(data, "missing"),
        regularization=fraction_in(data, "regularization"),
        objective=fraction_in(data, "objective"),
        lower_bound=fraction_in(data, "lower_bound"),
        status=text_in(data, "status"),
        training_weight=fraction_in(data, "training_weight"),
        algorithm=text_in(data, "algorithm"),
        search=None if search is None else record_from_dict(search, "search"),
    )


def nodes_to_list(tree: Tree) -> list[dict[str, Any]]:
    """Return the nodes of a tree as what JSON can say, the root first."""
    return [_node_to_dict(node) for node in tree.nodes]


def _node_to_dict(node: Split | Leaf) -> dict[str, Any]:
    if isinstance(node, Leaf):
        weights = [ratio(weight) for weight in node.class_weights]
        return {"label": node.label, "class_weights": weights, "cost": ratio(node.cost)}
    rule = {"column": node.rule.column, "kind": node.rule.kind, "value": plain(node.rule.value)}
    return {"rule": rule, "yes": node.yes, "no": node.no}


def _node(data: object, where: str) -> Split | Leaf:
    if not isinstance(data, dict):
        raise wrong(where, "an object", data)
    if "rule" not in data:
        weights = each_in(as_fraction, data, "class_weights", where)
        return Leaf(integer_in(data, "label", where), weights, fraction_in(data, "cost", where))
    inner = f"{where}.rule"
    rule = data["rule"]
    if not isinstance(rule, dict):
        raise wrong(inner, "an object", rule)
    kind = next((kind for kind in RULE_KINDS if kind == text_in(rule, "kind", inner)), None)
    if kind is None:
        raise wrong(f"{inner}.kind", f"one of {', '.join(RULE_KINDS)}", rule["kind"])
    value = field_in(rule, "value", inner)
    if value is not None:
        value = scalar(value, f"{inner}.value")
    question = Rule(text_in(rule, "column", inner), kind, value)
    return Split(question, integer_in(data, "yes", where), integer_in(data, "no", where))
