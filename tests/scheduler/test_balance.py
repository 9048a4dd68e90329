"""Shares of the work follow from how long it took."""

from __future__ import annotations

import pytest

from dosdt.scheduler.balance import fair_shares, imbalance


def test_who_is_half_as_fast_gets_half_as_much() -> None:
    fast, slow = fair_shares([1.0, 1.0], [1.0, 2.0])
    assert fast == pytest.approx(2 * slow)


def test_shares_that_were_fair_stay() -> None:
    shares = fair_shares([1.5, 0.5], [3.0, 3.0])
    assert shares == pytest.approx([1.5, 0.5])


def test_nobody_is_left_without_work() -> None:
    assert min(fair_shares([1.0, 1.0], [0.001, 50.0])) >= 0.1
    assert fair_shares([1.0, 2.0], [0.0, 0.0]) == [1.0, 1.0]


def test_imbalance() -> None:
    assert imbalance([2.0, 2.0]) == 1.0
    assert imbalance([3.0, 1.0]) == 1.5
    assert imbalance([0.0, 0.0]) == 1.0
