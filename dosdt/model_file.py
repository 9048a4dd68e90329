"""Models as files: readable JSON with a schema version, never pickle.

Reading trusts nothing: a file that was cut off, edited or written by something else ends in one line that
names the field.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dosdt.errors import InputError
from dosdt.exact import relative_gap
from dosdt.files import write_atomically
from dosdt.rules import RULE_KINDS, Rule
from dosdt.tree import Leaf, Split, Tree, plain

if TYPE_CHECKING:
    from dosdt.explain import Explanation

FORMAT = "dosdt-model"
SCHEMA = 1
COLUMN_KINDS = ("bool", "int", "float", "text")
MISSING_POLICIES = ("error", "category")

T = TypeVar("T")
_FRACTION = re.compile(r"-?[0-9]+/[0-9]+")


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

    def __post_init__(self) -> None:
        columns = self.tree.columns
        if len(self.kinds) != len(columns):
            raise _wrong("kinds", f"a list of {len(columns)}, one per column", len(self.kinds))
        ordered = {rule.column for rule in self.tree.used_rules if rule.kind == "at_most"}
        for column, kind in zip(columns, self.kinds, strict=True):
            if kind not in COLUMN_KINDS:
                raise _wrong("kinds", f"one of {', '.join(COLUMN_KINDS)} for column {column!r}", kind)
            if kind == "text" and column in ordered:
                raise _wrong("kinds", f"int or float for column {column!r}, which a rule orders", kind)
        if self.missing not in MISSING_POLICIES:
            raise _wrong("missing", f"one of {', '.join(MISSING_POLICIES)}", self.missing)
        if self.regularization < 0:
            raise _wrong("regularization", "at least 0", self.regularization)
        if self.training_weight <= 0:
            raise _wrong("training_weight", "positive", self.training_weight)
        if self.lower_bound > self.objective:
            raise _wrong("lower_bound", "at most the objective", self.lower_bound)

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
        return model_from_dict(_parse(data))
    except InputError as error:
        raise InputError(f"model file {name}: {error}") from error


def model_to_dict(model: Model) -> dict[str, Any]:
    """Return `model` as what JSON can say: fractions as ``"num/den"``, nodes in one flat list."""
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "algorithm": model.algorithm,
        "status": model.status,
        "regularization": _ratio(model.regularization),
        "objective": _ratio(model.objective),
        "lower_bound": _ratio(model.lower_bound),
        "training_weight": _ratio(model.training_weight),
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
    schema = _integer(data, "schema")
    if schema > SCHEMA:
        versions = f"schema {_shown(schema)}, this one reads up to {SCHEMA}"
        raise InputError(f"was written by a newer dosdt ({versions}); upgrade dosdt")
    if schema < 1:
        raise _wrong("schema", "at least 1", schema)
    target = _field(data, "target")
    return Model(
        tree=Tree(
            nodes=_each(_node, data, "nodes"),
            classes=_each(_scalar, data, "classes"),
            columns=_each(_as_text, data, "columns"),
        ),
        target=None if target is None else _as_text(target, "target"),
        kinds=_each(_as_text, data, "kinds"),
        missing=_text(data, "missing"),
        regularization=_fraction(data, "regularization"),
        objective=_fraction(data, "objective"),
        lower_bound=_fraction(data, "lower_bound"),
        status=_text(data, "status"),
        training_weight=_fraction(data, "training_weight"),
        algorithm=_text(data, "algorithm"),
    )


def nodes_to_list(tree: Tree) -> list[dict[str, Any]]:
    """Return the nodes of a tree as what JSON can say, the root first."""
    return [_node_to_dict(node) for node in tree.nodes]


def _node_to_dict(node: Split | Leaf) -> dict[str, Any]:
    if isinstance(node, Leaf):
        weights = [_ratio(weight) for weight in node.class_weights]
        return {"label": node.label, "class_weights": weights, "cost": _ratio(node.cost)}
    rule = {"column": node.rule.column, "kind": node.rule.kind, "value": plain(node.rule.value)}
    return {"rule": rule, "yes": node.yes, "no": node.no}


def _node(data: object, where: str) -> Split | Leaf:
    if not isinstance(data, dict):
        raise _wrong(where, "an object", data)
    if "rule" not in data:
        weights = _each(_as_fraction, data, "class_weights", where)
        return Leaf(_integer(data, "label", where), weights, _fraction(data, "cost", where))
    inner = f"{where}.rule"
    rule = data["rule"]
    if not isinstance(rule, dict):
        raise _wrong(inner, "an object", rule)
    kind = next((kind for kind in RULE_KINDS if kind == _text(rule, "kind", inner)), None)
    if kind is None:
        raise _wrong(f"{inner}.kind", f"one of {', '.join(RULE_KINDS)}", rule["kind"])
    value = _field(rule, "value", inner)
    if value is not None:
        value = _scalar(value, f"{inner}.value")
    question = Rule(_text(rule, "column", inner), kind, value)
    return Split(question, _integer(data, "yes", where), _integer(data, "no", where))


def _parse(data: bytes) -> object:
    if not data.strip():
        raise InputError("the file is empty")
    try:
        return json.loads(data, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise InputError("it is nested too deeply to be a dosdt model") from error
    except json.JSONDecodeError as error:
        text = error.doc.rstrip()
        if text.startswith("{") and (error.pos >= len(text) or not text.endswith("}")):
            raise InputError("it ends in the middle, so it was cut off; save the model again") from error
        raise InputError(f"it is not JSON (line {error.lineno}: {error.msg})") from error
    except UnicodeDecodeError as error:
        raise InputError("it is not JSON but binary data") from error
    except InputError:
        raise
    except ValueError as error:  # Python refuses to read integers of thousands of digits
        raise InputError("it holds a number too long to read") from error


def _refuse(constant: str) -> float:
    raise InputError(f"it holds {constant}, which is no number")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise InputError(f"it holds the number {_shown(text)}, which is too large")
    return value


def _ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"


def _shown(value: object) -> str:
    """Return `value` short enough for an error line."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__}"
    text = str(value) if isinstance(value, Fraction) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _wrong(where: str, wanted: str, value: object) -> InputError:
    return InputError(f"field {where!r} must be {wanted}, got {_shown(value)}")


def _field(data: dict[str, Any], key: str, where: str = "") -> Any:
    if key not in data:
        raise InputError(f"field {_join(where, key)!r} is missing")
    return data[key]


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _each(read: Callable[[Any, str], T], data: dict[str, Any], key: str, where: str = "") -> tuple[T, ...]:
    """Read every entry of a list."""
    path = _join(where, key)
    entries = _field(data, key, where)
    if not isinstance(entries, list):
        raise _wrong(path, "a list", entries)
    return tuple(read(entry, f"{path}[{i}]") for i, entry in enumerate(entries))


def _text(data: dict[str, Any], key: str, where: str = "") -> str:
    return _as_text(_field(data, key, where), _join(where, key))


def _fraction(data: dict[str, Any], key: str, where: str = "") -> Fraction:
    return _as_fraction(_field(data, key, where), _join(where, key))


def _integer(data: dict[str, Any], key: str, where: str = "") -> int:
    value = _field(data, key, where)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(_join(where, key), "a whole number", value)
    return value


def _as_text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong(where, "text", value)
    return value


def _scalar(value: object, where: str) -> bool | int | float | str:
    if not isinstance(value, bool | int | float | str):
        raise _wrong(where, "text, a number or a boolean", value)
    return value


def _as_fraction(value: object, where: str) -> Fraction:
    # Fraction alone would also take "1e999999999" and fill the memory with it.
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        with suppress(ValueError, ZeroDivisionError):  # more digits than Python reads, or n/0
            return Fraction(value)
    raise _wrong(where, 'a fraction such as "1/200"', value)
