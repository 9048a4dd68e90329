"""Bounds from elsewhere hold where no more is allowed than where they were proved."""

from __future__ import annotations

from gmpy2 import mpz

from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.subsets import Subset


def test_the_best_bound_that_holds() -> None:
    told, rows = Hearsay(), mpz(5)
    assert told.bound(Subset(rows, None, None)) == 0
    told.add(Subset(rows, 3, None), 10)
    told.add(Subset(rows, None, None), 7)
    told.add(Subset(rows, 2, 4), 12)
    assert told.bound(Subset(rows, None, None)) == 7
    assert told.bound(Subset(rows, None, 4)) == 7
    assert told.bound(Subset(rows, 4, None)) == 7
    assert told.bound(Subset(rows, 3, 9)) == 10
    assert told.bound(Subset(rows, 2, 5)) == 10
    assert told.bound(Subset(rows, 2, 4)) == told.bound(Subset(rows, 1, 2)) == 12
    assert told.bound(Subset(mpz(4), 1, 2)) == 0
    told.add(Subset(rows, None, None), 20)
    assert told.bound(Subset(rows, 1, 2)) == 20
