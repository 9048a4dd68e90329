"""Reading a certificate without trusting any of it.

The file is a msgpack map of format name, version, payload and the payload's sha256; the payload is a map of the
fields of `Certificate`. Before anything is built, the bytes are walked through once: every element that a header
claims must be there, so what is built afterwards is never more than linear in the size of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from math import isfinite
from typing import Any, NoReturn, TypeVar

import msgpack

from dosdt.checker.claims import EXPAND, FORMAT, LARGEST, VERSION, Certificate, Fact, Label, Node, Refused
from dosdt.rules import RULE_KINDS, Rule

COLUMN_KINDS = ("bool", "int", "float", "text")
MISSING_POLICIES = ("error", "category")

T = TypeVar("T")
_NAMES = tuple(field.name for field in fields(Certificate))


def read_certificate(data: bytes) -> Certificate:
    """Return what the bytes of a file say; `Refused` names the first field that is wrong."""
    # A map with four entries starts with this byte; whatever else is a file of another kind altogether.
    envelope = _unpack(data, "the file") if data[:1] == b"\x84" else None
    if not isinstance(envelope, dict) or envelope.get("format") != FORMAT:
        raise Refused("the file is not a dosdt certificate; write one with 'dosdt fit --certificate'")
    version = envelope.get("version")
    if type(version) is not int or version < 1:
        raise _wrong("version", "a whole number, 1 or more", version)
    if version > VERSION:
        raise Refused(f"the file was written by a newer dosdt (version {version}, this one reads {VERSION}); upgrade")
    _exactly(envelope, ("format", "version", "payload", "sha256"))
    payload = envelope["payload"]
    if not isinstance(payload, bytes):
        raise _wrong("payload", "bytes", payload)
    if hashlib.sha256(payload).digest() != envelope["sha256"]:
        raise Refused("field 'sha256' is not that of the payload: the file was damaged")
    content = _unpack(payload, "field 'payload'")
    if not isinstance(content, dict):
        raise _wrong("payload", "a map", content)
    _exactly(content, _NAMES)
    return _certificate(content)


def _unpack(data: bytes, what: str) -> Any:
    """Return the one object that the bytes hold."""
    try:
        size = max(len(data), 1)
        walker = msgpack.Unpacker(max_buffer_size=size)
        walker.feed(data)
        walker.skip()
        if walker.tell() != len(data):
            raise Refused(f"{what} has more bytes than its content")
        return msgpack.unpackb(data, strict_map_key=True, object_pairs_hook=_map, ext_hook=_no_extension)
    except msgpack.OutOfData:
        raise Refused(f"{what} ends in the middle: it was cut off, or claims more than it holds") from None
    except (RecursionError, msgpack.StackError):
        raise Refused(f"{what} is nested too deeply to be a certificate") from None
    except (ValueError, TypeError, msgpack.UnpackException):
        raise Refused(f"{what} is not msgpack as a certificate is") from None


def _map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise Refused("a field occurs twice")
    return result


def _no_extension(code: int, _data: bytes) -> NoReturn:
    raise Refused(f"a field holds a msgpack extension ({code}), which no certificate does")


def _exactly(content: dict[Any, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in content:
            raise Refused(f"field {name!r} is missing")
    for name in content:
        if name not in names:
            raise Refused(f"field {_shown(name)} is unknown")


def _certificate(content: dict[str, Any]) -> Certificate:
    columns = _each(content["columns"], "columns", _text)
    if len(set(columns)) < len(columns):
        raise _wrong("columns", "a list of different names", columns)
    kinds = _each(content["kinds"], "kinds", _text)
    if len(kinds) != len(columns) or not set(kinds) <= set(COLUMN_KINDS):
        raise _wrong("kinds", f"a list of {len(columns)}, one of {', '.join(COLUMN_KINDS)} per column", kinds)
    missing = _text(content["missing"], "missing")
    if missing not in MISSING_POLICIES:
        raise _wrong("missing", f"one of {', '.join(MISSING_POLICIES)}", missing)
    features = _each(content["features"], "features", _rule)
    if not features:
        raise _wrong("features", "a list of one or more questions", features)
    for place, rule in enumerate(features):
        if rule.column not in columns:
            raise _wrong(f"features[{place}]", "about one of the columns", rule.column)
    classes = _each(content["classes"], "classes", _label)
    n = len(classes)
    if n < 2 or len(set(classes)) < n:
        raise _wrong("classes", "a list of two or more different labels", classes)
    class_weight = _each(content["class_weight"], "class_weight", _fraction)
    if len(class_weight) != n:
        raise _wrong("class_weight", f"a list of {n}, one per class", class_weight)
    cost_matrix = _each(content["cost_matrix"], "cost_matrix", lambda row, where: _each(row, where, _fraction))
    if len(cost_matrix) != n or any(len(row) != n for row in cost_matrix):
        raise _wrong("cost_matrix", f"{n} rows of {n}, one per class", cost_matrix)
    weights = content["weights"]
    if type(weights) is not bool:
        weights = _text(weights, "weights")
    target = content["target"]
    m = len(features)
    certificate = Certificate(
        fingerprint=_bytes(content["fingerprint"], "fingerprint"),
        features=features,
        columns=columns,
        kinds=kinds,
        missing=missing,
        target=None if target is None else _text(target, "target"),
        weights=weights,
        classes=classes,
        class_weight=class_weight,
        cost_matrix=cost_matrix,
        regularization=_fraction(content["regularization"], "regularization"),
        max_depth=_limit(content["max_depth"], "max_depth", 0),
        max_leaves=_limit(content["max_leaves"], "max_leaves", 1),
        min_support=_fraction(content["min_support"], "min_support"),
        unit=_fraction(content["unit"], "unit"),
        penalty=_fraction(content["penalty"], "penalty"),
        status=_text(content["status"], "status"),
        tree=_each(content["tree"], "tree", lambda node, where: _node(node, where, m, n)),
        objective=_fraction(content["objective"], "objective"),
        lower_bound=_fraction(content["lower_bound"], "lower_bound"),
        facts=_facts(content["facts"], m),
    )
    if not certificate.unit:
        raise _wrong("unit", "more than 0", certificate.unit)
    return certificate


def _facts(value: Any, m: int) -> tuple[Fact, ...]:
    if type(value) is not list:
        raise _wrong("facts", "a list", value)
    return tuple(_fact(entry, number, m) for number, entry in enumerate(value, 1))


def _fact(value: Any, number: int, m: int) -> Fact:
    where = f"facts[{number}]"
    if type(value) is not list or len(value) != 6:
        raise _wrong(where, "a list of rule, path, depth, leaves, bound and citations", value)
    rule, path, depth, leaves, bound, cites = value
    if rule != EXPAND:
        raise _wrong(f"{where}.rule", repr(EXPAND), rule)
    if type(path) is not list or len(path) > m or not all(_is_side(side, m) for side in path):
        raise _wrong(f"{where}.path", f"a list of at most {m} signed feature numbers from 1 to {m}", path)
    if type(cites) is not list or not all(
        type(cite) is list and len(cite) == 2 and _is_side(cite[0], m) and type(cite[1]) is int for cite in cites
    ):
        raise _wrong(f"{where}.cites", "a list of pairs: a signed feature number and a fact's number", cites)
    for _, cited in cites:
        if not 1 <= cited < number:
            raise Refused(f"fact {number} does not follow: it cites fact {cited}, which is not an earlier one")
    return Fact(
        tuple(path),
        _limit(depth, f"{where}.depth", 1),
        _limit(leaves, f"{where}.leaves", 2),
        _natural(bound, f"{where}.bound"),
        tuple([(side, cited) for side, cited in cites]),
    )


def _is_side(value: Any, m: int) -> bool:
    return type(value) is int and 0 < abs(value) <= m


def _node(value: Any, where: str, m: int, n_classes: int) -> Node:
    if type(value) is list and all(type(entry) is int for entry in value):
        if len(value) == 1 and 0 <= value[0] < n_classes:
            return Node(0, 0, 0, value[0])
        if len(value) == 3 and 1 <= value[0] <= m and min(value) >= 1:
            return Node(value[0], value[1], value[2], 0)
    raise _wrong(where, "[class number] or [feature number, yes child, no child]", value)


def _rule(value: Any, where: str) -> Rule:
    if type(value) is not list or len(value) != 3:
        raise _wrong(where, "a list of column, kind and value", value)
    column, kind, operand = value
    known = next((name for name in RULE_KINDS if name == kind), None)
    number = type(operand) is int or (type(operand) is float and isfinite(operand))
    fits = {
        "is_true": operand is None,
        "is_missing": operand is None,
        "at_most": number,
        "equals": number or type(operand) is str,
    }
    if known is None or not fits[known]:
        raise _wrong(where, f"one of {', '.join(RULE_KINDS)}, with a number or text to compare with", value)
    return Rule(_text(column, where), known, operand)


def _label(value: Any, where: str) -> Label:
    if not isinstance(value, bool | int | float | str) or value != value:
        raise _wrong(where, "text, a number or a boolean", value)
    return value


def _limit(value: Any, where: str, least: int) -> int | None:
    if value is not None and (type(value) is not int or value < least):
        raise _wrong(where, f"empty or a whole number, {least} or more", value)
    return value


def _natural(value: Any, where: str) -> int:
    """Return a whole number; large ones are bytes, the highest first."""
    if type(value) is int and value >= 0:
        return value
    if type(value) is bytes and len(value) <= LARGEST:
        return int.from_bytes(value, "big")
    raise _wrong(where, f"a whole number, 0 or more, of at most {LARGEST} bytes", value)


def _fraction(value: Any, where: str) -> Fraction:
    if type(value) is list and len(value) == 2:
        above, below = _natural(value[0], where), _natural(value[1], where)
        if below:
            return Fraction(above, below)
    raise _wrong(where, "a fraction: two whole numbers, the second not 0", value)


def _text(value: Any, where: str) -> str:
    if type(value) is not str:
        raise _wrong(where, "text", value)
    return value


def _bytes(value: Any, where: str) -> bytes:
    if type(value) is not bytes:
        raise _wrong(where, "bytes", value)
    return value


def _each(value: Any, where: str, read: Callable[[Any, str], T]) -> tuple[T, ...]:
    if type(value) is not list:
        raise _wrong(where, "a list", value)
    return tuple(read(entry, f"{where}[{place}]") for place, entry in enumerate(value))


def _shown(value: object) -> str:
    if isinstance(value, dict | list | tuple | bytes):
        return f"{len(value)} entries of a {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _wrong(where: str, wanted: str, value: object) -> Refused:
    return Refused(f"field {where!r} must be {wanted}, got {_shown(value)}")
