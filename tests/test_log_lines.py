"""Lines of a log: which points are worth one, and what they look like."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dosdt.log_lines import MARKS, Events, Lines, count, decimal, duration, gap
from dosdt.solver import TracePoint

START = TracePoint(0.0, 0, Fraction(1, 2), Fraction(1, 10), 1, None, 1, 0)


def after(point: TracePoint = START, **changes: Any) -> TracePoint:
    return point._replace(**{name: Fraction(v) if isinstance(v, str) else v for name, v in changes.items()})


def marks(*points: TracePoint) -> list[str | None]:
    events = Events()
    return [*(events.mark(point) for point in points), events.mark(points[-1], last=True)]


def test_every_better_tree_has_a_line() -> None:
    points = [START, *(after(seconds=0.01 * k, incumbent=f"{50 - k}/100") for k in range(1, 10))]
    assert marks(*points) == [" ", *"*" * 9, None]


def test_a_bound_has_one_when_it_is_noticeably_nearer() -> None:
    bounds = ["0.1", "0.15", "0.19", "0.2", "0.25", "0.275", "0.29"]
    points = [after(seconds=0.1 * k, lower_bound=bound) for k, bound in enumerate(bounds)]
    # 0.4 are left at first: 0.3 are a quarter less, and 0.225 another.
    assert marks(*points) == [" ", None, None, "+", None, "+", None, "+"]


def test_time_has_fewer_and_fewer() -> None:
    points = [after(seconds=k / 10, evaluated=k) for k in range(1, 1001)]
    events = Events()
    shown = [point.seconds for point in points if events.mark(point) is not None]
    assert shown == [0.1, 1, 2, 4, 8, 16, 32, 64]


def test_the_last_line_says_that_all_is_proved() -> None:
    proved = after(seconds=0.2, lower_bound="0.5", evaluated=9)
    assert marks(START, proved) == [" ", None, "="]
    assert marks(START, after(incumbent="0.1")) == [" ", "*", None]  # that says it, too
    assert marks(proved) == [" ", None]
    assert Events().mark(proved, last=True) == "="


def test_the_last_line_of_a_stopped_search() -> None:
    assert marks(START, after(seconds=0.5, evaluated=7)) == [" ", None, " "]
    assert marks(START, after(seconds=0.5)) == [" ", None, None]  # nothing but time has passed
    assert marks(START, after(seconds=0.5, lower_bound="0.11")) == [" ", None, "+"]


def test_teams() -> None:
    formed = after(seconds=0.3, workers=4)
    lost = after(formed, lost=1, seconds=0.4)
    fewer = after(lost, workers=3, seconds=0.5)
    unknown = after(fewer, workers=0, seconds=0.6)
    again = after(fewer, seconds=0.7)
    assert marks(START, formed, lost, fewer, unknown, again) == [" ", "@", "!", "@", None, None, None]
    better = after(fewer, workers=0, incumbent="0.4")
    assert marks(START, fewer, better, after(better, workers=3)) == [" ", "!", "*", None, None]


@pytest.mark.parametrize("team", [False, True])
def test_columns_stand_below_each_other(team: bool) -> None:
    lines = Lines(team=team)
    far = TracePoint(9999.9, 999_999, Fraction(1, 3), Fraction(1, 7), 123_456_789, 12, 512, 10**11, 128, 3)
    texts = [*lines.next(START, " "), *lines.next(far, "*")]
    assert len({len(text) for text in texts}) == 1
    assert len(texts[0]) <= 79
    assert texts[0].split()[-1] == ("workers" if team else "gap")
    assert texts[2].split()[:9] == [
        "*",
        "9999.9s",
        "999,999",
        "123.46M",
        "100.00G",
        "0.33333",
        "512",
        "0.14286",
        "57.15%",
    ]
    assert [mark in lines.legend() for mark in MARKS] == [True, True, True, team, team]


def test_the_header_comes_again() -> None:
    lines = Lines()
    texts = [text for k in range(45) for text in lines.next(after(evaluated=k), " ")]
    assert [k for k, text in enumerate(texts) if text == lines.header()] == [0, 21, 42]


@pytest.mark.parametrize("width", range(12, 90, 3))
def test_what_does_not_fit_is_left_out(width: int) -> None:
    header = Lines("evaluated", team=True, width=width).header()
    assert len(header) <= max(width, 19)  # the tree's objective and the gap are always there
    assert {"incumbent", "gap"} <= set(header.split())
    if width >= 79:
        assert len(header.split()) == 9


def test_numbers() -> None:
    assert [duration(s) for s in (0, 9.994, 12.34, 36_000)] == ["0.00s", "9.99s", "12.3s", "10.00h"]
    assert [count(n) for n in (0, 999_999, 1_234_567, 2 * 10**9)] == ["0", "999,999", "1.23M", "2.00G"]
    assert [decimal(Fraction(x)) for x in ("0.3559684", "12", "123456", "0")] == [
        "0.35597",
        "12.00000",
        "1.23e+5",
        "0.00000",
    ]
    assert decimal(Fraction(10**400)) == "1.00e+400"
    # 0 is a promise, and what is shown must hold.
    assert [gap(Fraction(1), 1 - Fraction(x)) for x in ("0", "1e-9", "1/3", "1")] == [
        "0.00%",
        "0.01%",
        "33.34%",
        "100.00%",
    ]
    assert gap(Fraction(0), Fraction(0)) == "0.00%"
