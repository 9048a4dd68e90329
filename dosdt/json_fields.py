"""Reading JSON that nobody vouches for: every field is checked, and the error names it in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from math import isfinite
from typing import Any, TypeVar

from dosdt.errors import InputError

T = TypeVar("T")
_FRACTION = re.compile(r"-?[0-9]+/[0-9]+")


def parse(data: bytes, what: str) -> object:
    """Return what the JSON says; `what` is to be there, such as ``model``."""
    if not data.strip():
        raise InputError("the file is empty")
    try:
        return json.loads(data, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise InputError(f"it is nested too deeply to be a dosdt {what}") from error
    except json.JSONDecodeError as error:
        text = error.doc.rstrip()
        if text.startswith("{") and (error.pos >= len(text) or not text.endswith("}")):
            raise InputError(f"it ends in the middle, so it was cut off; save the {what} again") from error
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
        raise InputError(f"it holds the number {shown(text)}, which is too large")
    return value


def ratio(value: Fraction) -> str:
    """Return a fraction as ``num/den``, also if it is whole."""
    return f"{value.numerator}/{value.denominator}"


def shown(value: object) -> str:
    """Return `value` short enough for an error line."""
    if isinstance(value, dict | list):
        return f"a {type(value).__name__}"
    text = str(value) if isinstance(value, Fraction) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def wrong(where: str, wanted: str, value: object) -> InputError:
    """Return the error that says what a field must be."""
    return InputError(f"field {where!r} must be {wanted}, got {shown(value)}")


def field_in(data: dict[str, Any], key: str, where: str = "") -> Any:
    """Return a field; `where` is the path of the object it is in."""
    if key not in data:
        raise InputError(f"field {join(where, key)!r} is missing")
    return data[key]


def join(where: str, key: str) -> str:
    """Return the path of a field."""
    return f"{where}.{key}" if where else key


def each_in(read: Callable[[Any, str], T], data: dict[str, Any], key: str, where: str = "") -> tuple[T, ...]:
    """Read every entry of a list."""
    path = join(where, key)
    entries = field_in(data, key, where)
    if not isinstance(entries, list):
        raise wrong(path, "a list", entries)
    return tuple(read(entry, f"{path}[{i}]") for i, entry in enumerate(entries))


def text_in(data: dict[str, Any], key: str, where: str = "") -> str:
    """Read a text."""
    return as_text(field_in(data, key, where), join(where, key))


def fraction_in(data: dict[str, Any], key: str, where: str = "") -> Fraction:
    """Read a fraction."""
    return as_fraction(field_in(data, key, where), join(where, key))


def integer_in(data: dict[str, Any], key: str, where: str = "") -> int:
    """Read a whole number."""
    value = field_in(data, key, where)
    if not isinstance(value, int) or isinstance(value, bool):
        raise wrong(join(where, key), "a whole number", value)
    return value


def as_text(value: object, where: str) -> str:
    """Return a value that must be text."""
    if not isinstance(value, str):
        raise wrong(where, "text", value)
    return value


def scalar(value: object, where: str) -> bool | int | float | str:
    """Return a value that must not be a list or an object."""
    if not isinstance(value, bool | int | float | str):
        raise wrong(where, "text, a number or a boolean", value)
    return value


def as_fraction(value: object, where: str) -> Fraction:
    """Return the fraction that a text spells."""
    # Fraction alone would also take "1e999999999" and fill the memory with it.
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        with suppress(ValueError, ZeroDivisionError):  # more digits than Python reads, or n/0
            return Fraction(value)
    raise wrong(where, 'a fraction such as "1/200"', value)
