"""Finding subsets among those that have a number: by a hash of their rows, and then by comparing the rows.

A hash says where to look, never what is equal: whatever is found is compared bit by bit, thousands at once.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.bitvectors import WORD, Words
from dosdt.subproblem.subsets import Batch

Ids = npt.NDArray[np.intp]
Hashes = npt.NDArray[np.uint64]

_FACTORS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0xD6E8FEB86659FD93], np.uint64)
"""Odd numbers whose bits look like chance."""
_SHIFTS = np.array([32, 29], np.uint64)
_ARRAYS = ("words", "depth", "leaves", "hashes")
_GROWTH = 1.25
UNKNOWN = -1


def row_hashes(words: Words) -> Hashes:
    """Return a hash of the rows of each subset: the same in all processes and on all machines."""
    # Every word is stirred by itself, differently in every place, so that sums tell which rows were where.
    stirred = words ^ (np.arange(1, words.shape[1] + 1, dtype=np.uint64) * _FACTORS[0])
    for factor, shift in zip(_FACTORS[1:3], _SHIFTS, strict=True):
        stirred *= factor
        stirred ^= stirred >> shift
    hashes: Hashes = stirred.sum(axis=1, dtype=np.uint64) * _FACTORS[3]
    hashes ^= hashes >> _SHIFTS[0]
    return hashes


class Index:
    """Subsets by number.

    Attributes
    ----------
    words, depth, leaves : arrays
        As in `Batch`, with room for more.
    hashes : uint64 array of shape (numbers,)
        Of the rows alone.
    """

    def __init__(self, width: int) -> None:
        self.words: Words = np.empty((0, width), WORD)
        self.depth, self.leaves = (np.empty(0, np.int32) for _ in range(2))
        self.hashes: Hashes = np.empty(0, np.uint64)
        self._n = 0
        self._numbers: dict[int, int] = {}

    def __len__(self) -> int:
        return self._n

    def batch(self, numbers: Any) -> Batch:
        """Return the subsets with some numbers."""
        return Batch(self.words[numbers], self.depth[numbers], self.leaves[numbers])

    def find(self, batch: Batch) -> Ids:
        """Return the number of each subset, `UNKNOWN` where there is none."""
        found: Ids = np.full(len(batch.words), UNKNOWN)
        left = np.arange(len(found))
        keys = _keys(row_hashes(batch.words), batch)
        while len(left):
            numbers = self._look_up(keys)
            known = numbers != UNKNOWN
            left, keys, numbers = left[known], keys[known], numbers[known]
            same = self._same(batch.part(left), numbers)
            found[left[same]] = numbers[same]
            left, keys = left[~same], _next(keys[~same])
        return found

    def add(self, batch: Batch) -> Ids:
        """Return the number of each subset, a new one from `len` on where there is none."""
        answer: Ids = np.empty(len(batch.words), np.intp)
        left, hashes = np.arange(len(answer)), row_hashes(batch.words)
        keys = _keys(hashes, batch)
        while len(left):
            numbers = self._look_up(keys)
            new = np.flatnonzero(numbers == UNKNOWN)
            if len(new):
                # Of those with the same key the first gets the number; the others are compared with it.
                _, first, which = np.unique(keys[new], return_index=True, return_inverse=True)
                order = np.argsort(first)
                rank = np.empty_like(order)
                rank[order] = np.arange(len(order))
                chosen = new[first[order]]
                numbers[new] = self._n + rank[which]
                self._numbers.update(zip(keys[chosen].tolist(), range(self._n, self._n + len(chosen)), strict=True))
                self._append(batch.part(left[chosen]), hashes[left[chosen]])
            same = self._same(batch.part(left), numbers)
            answer[left[same]] = numbers[same]
            left, keys = left[~same], _next(keys[~same])
        return answer

    def append(self, batch: Batch) -> Ids:
        """Give each subset a new number by which alone it is known."""
        first = self._n
        self._append(batch, row_hashes(batch.words))
        return np.arange(first, self._n)

    def cut(self, n: int) -> None:
        """Forget all but the first n numbers."""
        gone = self.batch(slice(n, self._n))
        left, keys = np.arange(n, self._n), _keys(self.hashes[n : self._n], gone)
        while len(left):
            numbers = self._look_up(keys)
            for key in keys[numbers == left].tolist():
                del self._numbers[key]
            behind = (numbers != left) & (numbers != UNKNOWN)
            left, keys = left[behind], _next(keys[behind])
        self._n = n

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Forget some numbers, and count the others anew."""
        number = np.where(kept, np.cumsum(kept) - 1, UNKNOWN).tolist()
        # Whoever stood behind one that is gone may not be found any more, which costs work only.
        self._numbers = {key: number[old] for key, old in self._numbers.items() if number[old] != UNKNOWN}
        left = int(kept.sum())
        for name in _ARRAYS:
            array = getattr(self, name)
            array[:left] = array[: self._n][kept]
        self._n = left

    def _look_up(self, keys: Hashes) -> Ids:
        numbers = np.fromiter(map(self._numbers.get, keys.tolist(), repeat(UNKNOWN)), np.intp, len(keys))
        numbers[numbers >= self._n] = UNKNOWN
        return numbers

    def _same(self, batch: Batch, numbers: Ids) -> npt.NDArray[np.bool_]:
        words, depth, leaves = self.batch(numbers)
        same: npt.NDArray[np.bool_] = (words == batch.words).all(axis=1)
        same &= (depth == batch.depth) & (leaves == batch.leaves)
        return same

    def _append(self, batch: Batch, hashes: Hashes) -> None:
        first, last = self._n, self._n + len(hashes)
        if last > len(self.hashes):
            room = max(last, int(len(self.hashes) * _GROWTH), 64)
            for name in _ARRAYS:
                array = getattr(self, name)
                array.resize((room, *array.shape[1:]), refcheck=False)
        self.words[first:last], self.depth[first:last], self.leaves[first:last] = batch
        self.hashes[first:last] = hashes
        self._n = last


def _keys(hashes: Hashes, batch: Batch) -> Hashes:
    keys: Hashes = (
        hashes
        + (batch.depth.astype(np.uint64) << np.uint64(32)) * _FACTORS[2]
        + batch.leaves.astype(np.uint64) * _FACTORS[3]
    )
    return keys


def _next(keys: Hashes) -> Hashes:
    """Return where to look for those that are not what was found."""
    following: Hashes = keys * _FACTORS[2] + np.uint64(1)
    return following
