"""Counting and hashing find what sorting finds."""

import numpy as np
import pytest

from dosdt import distinct as module
from dosdt.distinct import distinct, distinct_counts, distinct_rows

COLUMNS = {
    "bool": np.array([True, False, True]),
    "all true": np.array([True, True]),
    "all of int8": np.array([127, -128, 0, -128, 127], np.int8),
    "uint8": np.array([255, 0, 255], np.uint8),
    "int16": np.array([-(2**15), 2**15 - 1, 5, 5], np.int16),
    "small and far from zero": np.array([2**62, 2**62 + 3, 2**62], np.int64),
    "the least": np.array([-(2**63), -(2**63) + 7, -(2**63)], np.int64),
    "the largest": np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], np.uint64),
    "wide": np.array([2**63 - 1, -(2**63), 0, 2**63 - 1], np.int64),
    "beyond floats": np.array([2**53, 2**53 + 1, -(2**60), 2**53], np.int64),
    "wide uint32": np.array([2**32 - 1, 1, 0, 1], np.uint32),
    "other byte order": np.array([300, -5, 300, 7], ">i4"),
    "other byte order, wide": np.array([2**40, -5, 2**40, 7], ">i8"),
    "float": np.array([0.5, -1e300, 0.5, np.inf, 0.1 + 0.2, 0.3]),
    "NaN": np.array([np.nan, 1.0, np.nan, -1.0]),
    "float16": np.array([0.5, 2, 0.5], np.float16),
    "other byte order, float": np.array([0.5, 2, 0.5], ">f8"),
    "every second": np.arange(20)[::2] % 3,
    "empty": np.array([], np.int64),
}


@pytest.fixture(params=["sorted", "hashed"])
def way(request, monkeypatch):
    """Take the way of small tables, and that of large ones."""
    if request.param == "hashed":
        monkeypatch.setattr(module, "_MANY", 0)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("name", COLUMNS)
def test_as_numpy_finds_them(name):
    values = COLUMNS[name]
    found, places = distinct(values)
    expected, inverse = np.unique(values, return_inverse=True)
    assert (found.dtype.kind, found.dtype.itemsize) == (values.dtype.kind, values.dtype.itemsize)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(places, inverse)
    found, counts = distinct_counts(values)
    expected, times = np.unique(values, return_counts=True)
    assert (found.dtype.kind, found.dtype.itemsize) == (values.dtype.kind, values.dtype.itemsize)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counts, times)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 2, 7, 8, 9, 16, 17, 32, 33, 63, 64, 65, 128, 129, 200])
def test_rows_in_sorted_order(n_columns, order, monkeypatch):
    monkeypatch.setattr(module, "_CHUNK", 16)  # so that even few rows take several
    rng = np.random.default_rng(n_columns)
    # Rows repeat, and near copies differ in one place anywhere.
    rows = rng.random((12, n_columns)) < 0.5
    binary = rows[rng.integers(0, 12, 60)]
    binary[np.arange(0, 60, 5), rng.integers(0, n_columns, 12)] ^= True
    binary = np.asarray(binary, order=order)
    columns = rng.permutation(n_columns)[: max(1, n_columns - 1)].tolist()
    found, places = distinct_rows(binary, columns)
    chosen = binary[:, columns]
    assert found.dtype == np.bool_
    assert found.tolist() == [list(row) for row in sorted(set(map(tuple, chosen.tolist())))]
    assert found[places].tolist() == chosen.tolist()
