"""How trees are put into words and numbers, wherever they are shown."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dosdt.tree import Leaf


def one_line(text: str) -> str:
    """Return `text` with line breaks and other characters that do not print written as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def evidence(leaf: Leaf) -> str:
    """Return what the training data say in favour of the leaf's class: ``412 of 530, 78 %``."""
    weight, total = leaf.class_weights[leaf.label], sum(leaf.class_weights, Fraction(0))
    return f"{number(weight)} of {number(total)}, {whole_percent(weight / total if total else Fraction(1))}"


def whole_percent(share: Fraction) -> str:
    """Return a share as ``78 %``; 0 and 100 are promises, not roundings."""
    text = f"{round(100 * share)}"
    if text == "100" and share < 1:
        text = ">99"
    elif text == "0" and share > 0:
        text = "<1"
    return f"{text} %"


def number(value: Fraction) -> str:
    """Return a weight: whole, or to six digits."""
    if value.denominator == 1:
        return str(value.numerator)
    # Decimal, not float: weights may be larger than a float can be.
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"
