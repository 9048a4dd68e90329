"""Lower bounds that come from elsewhere: another process, or a search of the same data under other terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from dosdt.subproblem.ghosts import Array
from dosdt.subproblem.subsets import Batch


class _Told(NamedTuple):
    depth: int
    leaves: int
    lower: int


class Hearsay:
    """Bounds on subsets, found by their rows: they hold wherever no more depth and leaves are allowed."""

    def __init__(self) -> None:
        self._bounds: dict[bytes, list[_Told]] = {}

    def __len__(self) -> int:
        return len(self._bounds)

    def add(self, batch: Batch, lowers: Iterable[int]) -> None:
        """Take in that no tree for a subset costs less than its bound."""
        for (rows, depth, leaves), lower in zip(_each(batch), lowers, strict=True):
            told = self._bounds.setdefault(rows, [])
            # What says no more than the new bound can go.
            told[:] = [old for old in told if old.lower > lower or old.depth > depth or old.leaves > leaves]
            told.append(_Told(depth, leaves, lower))

    def bounds(self, batch: Batch) -> list[int]:
        """Return the best bound that holds for each subset; 0 where there is none."""
        return [
            max((told.lower for told in known if told.depth >= depth and told.leaves >= leaves), default=0)
            if (known := self._bounds.get(rows))
            else 0
            for rows, depth, leaves in _each(batch)
        ]


def _each(batch: Batch) -> Iterator[tuple[bytes, int, int]]:
    data: bytes = np.ascontiguousarray(batch.words).tobytes()
    size = 8 * batch.words.shape[1]
    rows = (data[start : start + size] for start in range(0, len(data), size))
    limits: list[Array] = [batch.depth, batch.leaves]
    return zip(rows, *(limit.tolist() for limit in limits), strict=True)
