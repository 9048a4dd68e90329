"""What is shown must hold for the digits that are shown."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dosdt.present import at_most, verdict


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(1, 20), "5 %"),
        (Fraction(1, 3), "33.4 %"),
        (Fraction(2349, 100_000), "2.35 %"),
        (Fraction(23401, 1_000_000), "2.35 %"),
        (Fraction(1, 10**9), "0.0000001 %"),
        (Fraction(99_999, 100_000), "100 %"),
        (Fraction(0), "0 %"),
    ],
)
def test_shares_are_rounded_up(share: Fraction, text: str) -> None:
    assert at_most(share) == text


@pytest.mark.parametrize(
    ("status", "gap", "text"),
    [
        ("optimal", 0, "optimal: proved, no allowed tree over these features is better"),
        ("gap_reached", Fraction(1, 25), "gap_reached: within 4 % of optimal, proved"),
        ("time_limit", Fraction(1, 2), "time_limit: the time ran out before the proof was complete"),
        ("interrupted", Fraction(1, 2), "interrupted: Ctrl-C came before the proof was complete"),
        ("interrupted", 0, "interrupted, but after the proof: no allowed tree over these features is better"),
    ],
)
def testverdicts(status: str, gap: Fraction, text: str) -> None:
    assert verdict(status, Fraction(gap)) == text
