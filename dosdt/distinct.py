"""Distinct values, and which of them every row has: by counting or hashing where sorting all rows would be slow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.intp]
Binary = npt.NDArray[np.bool_]

_TABLE = 2**16  # integers spread no wider than this are looked up in a table, which fits in a cache
_MANY = 2**17  # rows; sorting fewer takes less time than loading pandas, which has the hash table
_CHUNK = 2**15  # rows packed at a time, so that their words stay in a cache
_WORD = 64  # features in one machine word
_HASHED = tuple(map(np.dtype, ("i4", "u4", "i8", "u8", "f4", "f8")))


def distinct(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Places]:
    """Return what ``numpy.unique(values, return_inverse=True)`` does, for numbers or booleans of shape (n,)."""
    if _narrow(values):
        found, counts, offsets = _by_table(values)
        return found, (np.cumsum(counts > 0) - 1)[offsets]
    if len(values) < _MANY or values.dtype not in _HASHED:
        return np.unique(values, return_inverse=True)
    import pandas as pd

    codes, found = pd.factorize(values, use_na_sentinel=False)
    order = np.argsort(found)
    ranks = np.empty(len(order), np.intp)
    ranks[order] = np.arange(len(order))
    return found[order], ranks[codes]


def distinct_counts(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return what ``numpy.unique(values, return_counts=True)`` does, for numbers or booleans of shape (n,)."""
    if _narrow(values):
        found, counts, _ = _by_table(values)
        return found, counts[counts > 0]
    return np.unique(values, return_counts=True)  # with nothing to carry along, sorting is fast


def distinct_rows(binary: Binary, columns: Sequence[int]) -> tuple[Binary, Places]:
    """Return the distinct rows of some columns in sorted order and, for every row, which of them it is.

    Rows sort by the first of the columns, then by the second, and so on, no before yes.

    Parameters
    ----------
    binary : ndarray of bool, shape (n, p)
    columns : sequence of one or more positions among the p columns

    Returns
    -------
    rows : ndarray of bool, shape (k, len(columns))
    places : ndarray of shape (n,)
    """
    parts = [columns[start : start + _WORD] for start in range(0, len(columns), _WORD)]
    found, places = distinct(_packed(binary, parts[0]))
    rows = _unpacked(found, len(parts[0]))
    for part in parts[1:]:
        found, others = distinct(_packed(binary, part))
        # Two places as one number: below n², so it fits, and in the same order as the pair.
        pairs, places = distinct(places * len(found) + others)
        left, right = np.divmod(pairs, len(found))
        rows = np.hstack([rows[left], _unpacked(found[right], len(part))])
    return rows, places


def _narrow(values: npt.NDArray[Any]) -> bool:
    if len(values) == 0 or values.dtype.kind not in "biu":
        return False
    return int(values.max()) - int(values.min()) < _TABLE


def _by_table(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp], Places]:
    """Count every number from the least to the largest; return those that occur, the counts, and rows' places."""
    # Without a sign the difference is right even where the type is too narrow for it, as with -128 and 127.
    native = values.dtype.newbyteorder("=")
    unsigned = np.dtype(f"u{native.itemsize}")
    plain = values.astype(native, copy=False).view(unsigned)
    least = values.min(keepdims=True).astype(native).view(unsigned)
    offsets = (plain - least).astype(np.intp)
    counts = np.bincount(offsets)
    return (np.flatnonzero(counts).astype(unsigned) + least).view(native), counts, offsets


def _packed(binary: Binary, columns: Sequence[int]) -> npt.NDArray[Any]:
    """Return every row's answers as one number, the first column in the highest bit."""
    width = next(bits for bits in (8, 16, 32, 64) if len(columns) <= bits)
    words = np.zeros(len(binary), f"u{width // 8}")
    for start in range(0, len(words), _CHUNK):
        chunk = words[start : start + _CHUNK]
        for column in columns:
            chunk <<= 1
            chunk |= binary[start : start + _CHUNK, column]
    return words


def _unpacked(words: npt.NDArray[Any], n_columns: int) -> Binary:
    shifts = np.arange(n_columns - 1, -1, -1, dtype=words.dtype)
    return np.asarray((words[:, None] >> shifts) & 1, np.bool_)
