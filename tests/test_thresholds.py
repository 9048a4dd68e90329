"""Thresholds part neighbours exactly and are short to read."""

import math
import random
import sys

import numpy as np
import pytest

from dosdt.thresholds import cuts, distinct_values, quantile_gaps, short_decimal


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (1.0, 2.0, 1.5),
        (0.1, 0.2, 0.15),
        (0.0, 1.0, 0.5),
        (-1.0, 1.5, 0),
        (-0.2, 0.1, 0),
        (1.1, 9.7, 5),
        (3.14159, 3.14161, 3.1416),
        (9.96, 10.1, 10),
        (99.5, 150.25, 120),
        (-2.5, -1.25, -2),
        (0.0, 1e-300, 5e-301),
        (1e300, 3e300, 2e300),
        (-sys.float_info.max, sys.float_info.max, 0),
        (1e308, sys.float_info.max, 1e308),
    ],
)
def test_short_decimals(low, high, expected):
    found = short_decimal(low, high)
    assert low <= found < high
    if expected == 1e308:  # any number between is right, as long as it is finite
        assert math.isfinite(found)
    else:
        assert found == expected
        assert str(found) == str(expected)


@pytest.mark.parametrize("low", [0.0, 1.0, -1.0, 5e-324, -5e-324, 1e16, 1e300, -1e-310, 2.0**53, 0.1])
def test_adjacent_floats(low):
    high = math.nextafter(low, math.inf)
    found = short_decimal(low, high)
    assert low <= found < high


def test_random_gaps_are_parted_near_the_middle():
    rng = random.Random(1)
    for _ in range(3000):
        scale = 10.0 ** rng.randint(-300, 300)
        low, high = sorted(rng.uniform(-1, 1) * scale * 10.0 ** rng.randint(-3, 3) for _ in range(2))
        if low == high:
            continue
        found = short_decimal(low, high)
        assert low <= found < high
        # a quarter of the gap around the midpoint, with room for rounding
        assert abs(found - (low / 2 + high / 2)) <= (high / 4 - low / 4) * (1 + 1e-9)


def test_no_shorter_decimal_would_do():
    rng = random.Random(2)
    for _ in range(300):
        low, high = sorted(rng.uniform(0, 100) for _ in range(2))
        middle, quarter = (low + high) / 2, (high - low) / 4
        digits = len(f"{short_decimal(low, high):.15g}".replace(".", "").strip("0"))
        for fewer in range(1, digits):
            assert abs(float(f"{middle:.{fewer - 1}e}") - middle) > quarter


def test_whole_numbers_are_cut_at_whole_numbers():
    assert cuts(np.array([20, 31, 32]), range(2)) == [25, 31]
    assert cuts(np.array([-3, -2, 0]), range(2)) == [-3, -1]
    found = cuts(np.array([20.0, 31.0, 32.0]), [1])
    assert found == [31]
    assert type(found[0]) is int
    assert cuts(np.array([0.5, 1.0]), []) == []


def test_large_integers_are_exact():
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    assert cuts(np.array([low, high]), [0]) == [-1]
    near = np.array([high - 1, high])
    (found,) = cuts(near, [0])
    assert (near <= found).tolist() == [True, False]
    near = np.array([2**53, 2**53 + 1])
    assert (near <= cuts(near, [0])[0]).tolist() == [True, False]


def test_huge_whole_floats_stay_floats():
    assert cuts(np.array([1e300, 3e300]), [0]) == [2e300]
    assert type(cuts(np.array([1e300, 3e300]), [0])[0]) is float


def test_quantiles():
    even = np.ones(100, dtype=np.int64)
    assert quantile_gaps(even, 3) == [24, 49, 74]
    assert quantile_gaps(even, 1) == [49]
    assert quantile_gaps(even, 99) == list(range(99))
    assert quantile_gaps(even, 1000) == list(range(99))
    # most of the data on one value: its two sides are all that is worth cutting
    assert quantile_gaps(np.array([1, 1, 96, 1, 1]), 2) == [1, 2]
    assert quantile_gaps(np.array([5]), 2) == []
    assert quantile_gaps(np.array([], dtype=np.int64), 2) == []


def test_quantiles_of_numbers_of_any_size():
    rng = np.random.default_rng(1)
    for _ in range(50):
        counts = rng.integers(1, 30, 40)
        for scale in (2**50, 10**40):
            large = np.array([int(count) * scale for count in counts], dtype=object)
            assert quantile_gaps(large, 5) == quantile_gaps(counts, 5)
    # a hair below and above the middle: floats could not tell
    assert quantile_gaps(np.array([2**60, 1, 2**60 + 1, 1]), 1) == [1]
    assert quantile_gaps(np.array([2**60 + 1, 1, 2**60, 1]), 1) == [0]


def test_distinct_values_with_their_weights():
    values = np.array([2.0, np.nan, 1.0, 2.0])
    assert [part.tolist() for part in distinct_values(values, None)] == [[1, 2], [1, 2]]
    weights = np.array([10**40, 7, 3, 1], dtype=object)
    assert [part.tolist() for part in distinct_values(values, weights)] == [[1, 2], [3, 10**40 + 1]]


def test_quantiles_never_give_more_than_asked():
    rng = np.random.default_rng(0)
    for _ in range(200):
        counts = rng.integers(1, 30, rng.integers(1, 40))
        most = int(rng.integers(1, 10))
        gaps = quantile_gaps(counts, most)
        assert gaps == sorted(set(gaps))
        assert len(gaps) <= most
        assert len(gaps) > 0 or len(counts) < 2
        assert all(0 <= gap < len(counts) - 1 for gap in gaps)
        if len(counts) - 1 > most:
            below = np.cumsum(counts)[:-1]
            best = {int(np.argmin(abs(below - q * counts.sum() / (most + 1)))) for q in range(1, most + 1)}
            assert set(gaps) == best
