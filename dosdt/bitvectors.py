"""Subsets of the distinct rows as integers, and sums over them.

A subset is one `gmpy2.mpz`: bit i is set when distinct row i is in it. Intersection is ``&``, difference from
a superset is ``^``, and both cost a few nanoseconds per machine word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from gmpy2 import mpz, popcount

if TYPE_CHECKING:
    RowSet = int  # gmpy2 has no types; an mpz does all that is asked of it as an int does
else:
    RowSet = mpz

Words = npt.NDArray[np.uint64]
WORD = np.dtype("<u8")


def pack(mask: npt.NDArray[np.bool_]) -> RowSet:
    """Return the subset whose bit i is ``mask[i]``."""
    rows: RowSet = mpz(int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little"))
    return rows


def unpack(rows: RowSet, n_rows: int) -> npt.NDArray[np.bool_]:
    """Return the subset as a boolean mask of shape (n_rows,)."""
    data = int(rows).to_bytes((n_rows + 7) // 8, "little")
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:n_rows].astype(np.bool_)


def n_words(n_rows: int) -> int:
    """Return how many words of 64 bits hold a subset of so many rows."""
    return (n_rows + 63) // 64


def to_words(rows: RowSet, width: int) -> Words:
    """Return the subset as `width` words, the lowest rows first: thousands of them are compared at once."""
    return np.frombuffer(int(rows).to_bytes(8 * width, "little"), WORD)


def from_words(words: Words) -> RowSet:
    """Return the subset that some words hold."""
    rows: RowSet = mpz(int.from_bytes(words.tobytes(), "little"))
    return rows


def unpack_many(words: Words, n_rows: int) -> npt.NDArray[np.bool_]:
    """Return several subsets, shape (n, n_words), as boolean masks of shape (n, n_rows)."""
    data = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(data, axis=1, count=n_rows, bitorder="little").view(np.bool_)


class PlaneSum:
    """Sums of non-negative integers over subsets, by bit planes.

    Plane k holds the rows whose value has bit k set, so the sum over a subset S is
    ``Σ 2^k · popcount(S & plane k)``. With the largest values in the low bits the high planes are short, and
    ``&`` costs only as much as its shorter operand.

    Parameters
    ----------
    values : sequence of int, length n_rows
        One value per distinct row, of any size.
    """

    __slots__ = ("_planes",)

    def __init__(self, values: Sequence[int]) -> None:
        highest = max(values, default=0).bit_length()
        planes = []
        for shift in range(highest):
            mask = np.fromiter(((value >> shift) & 1 for value in values), np.bool_, len(values))
            if mask.any():
                planes.append((shift, pack(mask)))
        self._planes = planes

    def over(self, rows: RowSet) -> int:
        """Return the sum of the values of the rows in the subset."""
        total = 0
        for shift, plane in self._planes:
            total += popcount(rows & plane) << shift
        return total
