"""Numbers as people write them: ``1,234.50``, ``1.234,50 €``, ``12 %``. A column is read in one way or not at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from dosdt.columns import parse_number

_SPACES = " \u00a0\u202f'"  # between thousands; the middle ones do not break a line
_UNITS = "$€£¥₹%"
_WRITTEN = re.compile(
    rf"(?P<before>[$€£¥₹]?) ?(?P<sign>[-+]?) ?(?P<unit>[$€£¥₹]?) ?(?P<body>\d(?:[\d.,{_SPACES}]*\d)?)[ \u00a0\u202f]?"
    rf"(?P<after>[{_UNITS}]?)"
)
_POINT = re.compile(r"\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_COMMA = re.compile(r"\d+(?:,\d+)?|\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_SPACED_POINT = re.compile(rf"\d+(?:\.\d+)?|\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?:\.\d+)?")
_SPACED_COMMA = re.compile(rf"\d+(?:,\d+)?|\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?:,\d+)?")


class AmbiguousError(ValueError):
    """Texts that are one number to some people and another to others; holds one of them, and both numbers."""

    def __init__(self, text: str, readings: tuple[float, float]) -> None:
        super().__init__(text)
        self.text, self.readings = text, readings


class _Way(NamedTuple):
    """A way of writing numbers: what they look like, and how a computer would write them."""

    pattern: re.Pattern[str]
    plain: Callable[[str], str]


_WAYS = (
    _Way(_POINT, lambda body: body.replace(",", "")),
    _Way(_COMMA, lambda body: body.replace(".", "").replace(",", ".")),
    _Way(_SPACED_POINT, lambda body: re.sub(f"[{_SPACES}]", "", body)),
    _Way(_SPACED_COMMA, lambda body: re.sub(f"[{_SPACES}]", "", body).replace(",", ".")),
)


def spelled_numbers(texts: Iterable[str], *, comma_separates: bool = False) -> list[int] | list[float] | None:
    """Return the numbers that texts spell, or None if they are not all numbers with the same unit, if any.

    Parameters
    ----------
    texts : iterable of str
        Distinct values of a column.
    comma_separates : bool
        Whether a comma ends a field of the file, so that whoever wrote it hardly uses it for decimals.
    """
    signs: list[str] = []
    bodies: list[str] = []
    unit: str | None = None
    ways = list(_WAYS)
    for text in texts:
        match = _WRITTEN.fullmatch(text)
        if match is None:
            return None
        units = [mark for mark in (match["before"], match["unit"], match["after"]) if mark]
        own = "".join(units)
        if len(units) > 1 or (unit is not None and own != unit):
            return None
        unit = own
        ways = [way for way in ways if way.pattern.fullmatch(match["body"])]
        if not ways:
            return None
        signs.append(match["sign"])
        bodies.append(match["body"])
    if not bodies:
        return None
    first, *others = ([_number(s, way.plain(b)) for s, b in zip(signs, bodies, strict=True)] for way in ways)
    for other in others:
        for body, one, another in zip(bodies, first, other, strict=True):
            if one != another and not comma_separates:
                raise AmbiguousError(body, (one, another))
    if all(isinstance(number, int) for number in first):
        return [int(number) for number in first]
    return [float(number) for number in first]


def _number(sign: str, body: str) -> int | float:
    number = parse_number(sign + body)
    assert number is not None, "digits are a number"
    return number
