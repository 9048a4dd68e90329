"""Bounds from elsewhere hold where no more is allowed than where they were proved."""

from __future__ import annotations

import numpy as np

from dosdt.bitvectors import WORD
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import UNLIMITED, Batch


def one(rows: list[int], depth: int | None, leaves: int | None) -> Batch:
    limits = (np.array([UNLIMITED if limit is None else limit], np.int32) for limit in (depth, leaves))
    return Batch(np.array([rows], WORD), *limits)


def test_the_best_bound_that_holds() -> None:
    told, rows = Hearsay(), [5, 7]

    def bound(depth: int | None, leaves: int | None) -> int:
        return told.bounds(one(rows, depth, leaves))[0]

    assert bound(None, None) == 0
    told.add(one(rows, 3, None), [10])
    told.add(one(rows, None, None), [7])
    told.add(one(rows, 2, 4), [12])
    assert bound(None, None) == 7
    assert bound(None, 4) == 7
    assert bound(4, None) == 7
    assert bound(3, 9) == 10
    assert bound(2, 5) == 10
    assert bound(2, 4) == bound(1, 2) == 12
    assert told.bounds(one([5, 6], 1, 2)) == told.bounds(one([7, 5], 1, 2)) == [0]
    told.add(one(rows, None, None), [20])
    assert bound(1, 2) == 20


def test_many_at_once() -> None:
    told = Hearsay()
    limits = np.full(3, UNLIMITED, np.int32)
    batch = Batch(np.array([[1], [2], [3]], WORD), limits, limits)
    told.add(batch.part([0, 2]), [4, 6])
    assert told.bounds(batch) == [4, 0, 6]
    assert len(told) == 2
