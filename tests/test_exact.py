"""Numbers mean what was typed."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from gmpy2 import mpq, mpz

from dosdt.errors import InputError
from dosdt.exact import common_denominator, exact


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.005, Fraction(1, 200)),
        (np.float64(0.005), Fraction(1, 200)),
        (np.float32(0.005), Fraction(1, 200)),
        (np.float16(0.5), Fraction(1, 2)),
        ("0.005", Fraction(1, 200)),
        (" 1/200 ", Fraction(1, 200)),
        ("1e-3", Fraction(1, 1000)),
        ("+.5", Fraction(1, 2)),
        (Decimal("0.005"), Fraction(1, 200)),
        (Fraction(1, 3), Fraction(1, 3)),
        (mpq(1, 3), Fraction(1, 3)),
        (mpz(7), Fraction(7)),
        (3, Fraction(3)),
        (np.int8(3), Fraction(3)),
        (np.uint64(2**64 - 1), Fraction(2**64 - 1)),
        (2**200, Fraction(2**200)),
        (-0.0, Fraction(0)),
        (1e300, Fraction(10**300)),
        (5e-324, Fraction(5, 10**324)),
        (0.1 + 0.2, Fraction(30000000000000004, 10**17)),
    ],
)
def test_what_was_typed(value: object, expected: Fraction) -> None:
    found = exact(value, "x")
    assert found == expected
    assert (type(found), type(found.numerator), type(found.denominator)) == (Fraction, int, int)


def test_any_float_is_the_decimal_it_prints_as() -> None:
    rng = random.Random(0)
    for _ in range(300):
        value = rng.uniform(0, 1) * 10 ** rng.randint(-20, 20)
        assert exact(value, "x") == exact(np.float64(value), "x") == Fraction(repr(value))
        assert float(exact(value, "x")) == value


@pytest.mark.parametrize(
    "value",
    [
        *(math.nan, math.inf, -math.inf, np.float32("nan"), Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity")),
        *("", "  ", "small", "nan", "inf", "1/0", "1/", "1//2", "0,5", "1e", "0x10"),
        *(None, True, False, np.True_, 1j, [1], b"1", np.array(1.0)),
        # Small to write, but with more digits than fit in memory.
        *("1e999999999", "1e-999999999", "0e999999999", Decimal("1e-999999999")),
    ],
)
def test_anything_else_is_one_line(value: object) -> None:
    with pytest.raises(InputError, match="^regularization must be a finite number, got ") as error:
        exact(value, "regularization")
    assert "\n" not in str(error.value)


def test_common_denominator() -> None:
    assert common_denominator([Fraction(1, 6), Fraction(3, 4), Fraction(2)]) == 12
    assert common_denominator([]) == 1
