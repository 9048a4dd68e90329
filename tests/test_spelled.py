"""Numbers as people write them are read in the one way that fits a whole column, or not at all."""

from __future__ import annotations

import random

import pytest

from dosdt.spelled import AmbiguousError, spelled_numbers


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234", "12", "1,234,567"], [1234, 12, 1234567]),
        (["1,234.5", "999"], [1234.5, 999.0]),
        (["-1,234.5", "+2,000"], [-1234.5, 2000.0]),
        (["1.234,50", "12"], [1234.5, 12.0]),
        (["19,5", "7,25", "3"], [19.5, 7.25, 3.0]),
        (["1.234.567", "1.234"], [1234567, 1234]),
        (["1 234", "12", "1 234 567"], [1234, 12, 1234567]),
        (["1\u00a0234,5", "12"], [1234.5, 12.0]),
        (["1\u202f234.5", "12"], [1234.5, 12.0]),
        (["1'234", "12'345'678"], [1234, 12345678]),
        (["$1,234.50", "$7"], [1234.5, 7.0]),
        (["-$5", "$-6", "$ 7"], [-5, -6, 7]),
        (["12 €", "1.250 €", "7,5 €"], [12.0, 1250.0, 7.5]),
        (["12%", "7.5 %"], [12.0, 7.5]),
        (["12%", "7"], None),  # a share or percent?
        (["$5", "€5"], None),
        (["$5%"], None),
        (["12", "x"], None),
        (["1,23,456"], None),
        (["1,2345.6", "1,234.5"], None),
        (["1.234,5", "1,234.5"], None),
        (["12 kg"], None),
        (["2024-01-05"], None),
        (["1e3%"], None),
        (["1_000"], None),
        (["٣%"], [3]),
        ([""], None),
        ([], None),
    ],
)
def test_columns(texts: list[str], numbers: list[float] | None) -> None:
    found = spelled_numbers(texts)
    assert found == numbers
    if numbers:
        assert found is not None
        assert {type(number) for number in found} == {type(number) for number in numbers}


@pytest.mark.parametrize(("text", "readings"), [("1,234", (1234, 1.234)), ("1.234", (1.234, 1234))])
def test_what_may_be_two_numbers(text: str, readings: tuple[float, float]) -> None:
    unit = "" if "," in text else "%"  # without a unit, a point is a point
    with pytest.raises(AmbiguousError) as error:
        spelled_numbers([text + unit, "12" + unit])
    assert (error.value.text, error.value.readings) == (text, readings)
    assert spelled_numbers([text + unit, "12" + unit], comma_separates=True) == [readings[0], 12]
    # One value that can only be read in one way decides for all.
    assert spelled_numbers([text + unit, ("1,234,567" if "," in text else "1.5") + unit])[0] == readings[0]  # type: ignore[index]


@pytest.mark.parametrize("way", [",.", ".,", " .", " ,", "'."])
def test_what_is_written_is_read(way: str) -> None:
    """Random numbers, written in one way and with one unit, come back exactly."""
    rng = random.Random(way)
    thousands, point = way
    for _ in range(200):
        unit = rng.choice(["", "%", " €"])
        wholes = [rng.randrange(10 ** rng.randint(1, 9)) for _ in range(6)] + [1_234_567]
        cents = [rng.choice(["", f"{rng.randrange(100):02d}"]) for _ in wholes]
        texts = [
            f"{whole:,}".replace(",", thousands) + (point + cent if cent else "") + unit
            for whole, cent in zip(wholes, cents, strict=True)
        ]
        expected = [float(f"{whole}.{cent or 0}") for whole, cent in zip(wholes, cents, strict=True)]
        assert spelled_numbers(texts) == expected
