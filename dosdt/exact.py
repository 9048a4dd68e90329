"""Exact numbers: what a person typed, as a fraction.

A float means the decimal it prints as, so 0.005 is 1/200 and not the binary number next to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from math import lcm
from numbers import Integral, Rational, Real

from dosdt.errors import InputError

_LARGEST_EXPONENT = 1000  # a short text such as 1e999999999 would fill the memory with its digits


def exact(value: object, what: str) -> Fraction:
    """Return `value` as a fraction; `what` names it in the error message."""
    try:
        if isinstance(value, bool):
            raise ValueError
        if isinstance(value, Integral):
            return Fraction(int(value))
        if isinstance(value, Rational):
            return Fraction(int(value.numerator), int(value.denominator))
        if isinstance(value, Decimal):
            return _of_decimal(value)
        if isinstance(value, Real):
            # repr of a numpy scalar names its type, so go through str: both print the shortest decimal.
            return Fraction(str(value))
        if isinstance(value, str):
            text = value.strip()
            # Fraction reads "1/200"; Decimal reads every way to write a decimal, 1e-3 included.
            return Fraction(text) if "/" in text else _of_decimal(Decimal(text))
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation):
        pass
    raise InputError(f"{what} must be a finite number, got {value!r}")


def _of_decimal(value: Decimal) -> Fraction:
    if value.is_finite() and abs(value.adjusted()) > _LARGEST_EXPONENT:
        raise OverflowError
    return Fraction(value)


def relative_gap(objective: Fraction, lower_bound: Fraction) -> Fraction:
    """Return how much better than `objective` the best may be, as a share of it."""
    return (objective - lower_bound) / objective if objective else Fraction(0)


def common_denominator(values: Iterable[Fraction]) -> int:
    """Return the smallest positive integer that makes every value whole when multiplied by it."""
    return lcm(*(value.denominator for value in values))
