"""Subsets of the distinct rows as integers, and sums over them.

A subset is one `gmpy2.mpz`: bit i is set when distinct row i is in it. Intersection is ``&``, difference from
a superset is ``^``, and both cost a few nanoseconds per machine word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from gmpy2 import mpz, popcount, to_binary

if TYPE_CHECKING:
    RowSet = int  # gmpy2 has no types; an mpz does all that is asked of it as an int does
else:
    RowSet = mpz


def pack(mask: npt.NDArray[np.bool_]) -> RowSet:
    """Return the subset whose bit i is ``mask[i]``."""
    rows: RowSet = mpz(int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little"))
    return rows


def unpack(rows: RowSet, n_rows: int) -> npt.NDArray[np.bool_]:
    """Return the subset as a boolean mask of shape (n_rows,)."""
    data = int(rows).to_bytes((n_rows + 7) // 8, "little")
    return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:n_rows].astype(np.bool_)


def unpack_many(row_sets: Sequence[RowSet], n_rows: int) -> npt.NDArray[np.bool_]:
    """Return several subsets as boolean masks, shape (len(row_sets), n_rows)."""
    width = (n_rows + 7) // 8
    # Two bytes for type and sign, then the lowest byte first, without zeros at the end.
    data = b"".join([to_binary(rows)[2:].ljust(width, b"\0") for rows in row_sets])
    packed = np.frombuffer(data, np.uint8).reshape(len(row_sets), width)
    return np.unpackbits(packed, axis=1, count=n_rows, bitorder="little").view(np.bool_)


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
