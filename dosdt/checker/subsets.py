"""Subsets of the rows as integers: bit i is set when row i is in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Subsets:
    """The subsets that questions lead to.

    Parameters
    ----------
    features : ndarray of bool, shape (n, M)
    """

    def __init__(self, features: npt.NDArray[np.bool_]) -> None:
        self._n = len(features)
        self._columns = [
            int.from_bytes(np.packbits(features[:, j], bitorder="little").tobytes(), "little")
            for j in range(features.shape[1])
        ]
        self.everything = (1 << self._n) - 1

    def side(self, subset: int, side: int) -> int:
        """Return the rows of a subset that answer yes to feature `side`, or no to feature -`side`; from 1."""
        return subset & self._columns[side - 1] if side > 0 else subset & ~self._columns[-side - 1]

    def at(self, path: Sequence[int]) -> int:
        """Return the rows that a path leads to."""
        subset = self.everything
        for side in path:
            subset = self.side(subset, side)
        return subset

    def rows(self, subset: int) -> npt.NDArray[np.intp]:
        """Return the numbers of the rows in a subset."""
        data = subset.to_bytes((self._n + 7) // 8, "little")
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        return bits.view(np.bool_).nonzero()[0]
