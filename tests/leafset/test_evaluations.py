"""The paper's bounds on evaluations: its own printed numbers, and direct sums."""

from __future__ import annotations

from math import comb, perm

import pytest

from dosdt.leafset.evaluations import (
    coarse_remaining_evaluations,
    evaluations_log10,
    power_of_ten,
    remaining_evaluations,
    saved_by_symmetry,
    symmetry_aware_evaluations,
    total_evaluations,
    trees_of_depth,
    trees_up_to_depth,
)


@pytest.mark.parametrize(
    ("n_features", "depth", "digits", "exponent"),
    [
        *[(10, 1, "10", 1), (10, 2, "1000", 3), (10, 3, "5329", 6), (10, 4, "5609", 13)],
        *[(20, 1, "20", 1), (20, 2, "8000", 3), (20, 3, "9411", 8), (20, 4, "8358", 18)],
    ],
)
def test_number_of_trees_as_printed(n_features: int, depth: int, digits: str, exponent: int) -> None:
    # The paper's table counts trees with at least one split, and cuts digits off.
    count = str(trees_up_to_depth(n_features, depth) - 1)
    assert count.startswith(digits)
    assert len(count) == exponent + 1


def test_trees_of_depth_follow_the_papers_sum() -> None:
    """N_2 = Σ_{n_1=1}^{2} M · C(2, n_1) · (M - 1)^{n_1}."""
    for m in range(2, 8):
        assert trees_of_depth(m, 2) == sum(m * comb(2, n) * (m - 1) ** n for n in (1, 2))
    assert trees_of_depth(3, 5) == 0


def test_symmetry_saves_what_the_paper_says() -> None:
    assert saved_by_symmetry(10, 5) == 35463
    assert f"{saved_by_symmetry(20, 10):.5e}" == "7.36891e+11"
    assert symmetry_aware_evaluations(3, 2) == 1 + 3 + trees_of_depth(3, 2) - (perm(3, 2) - comb(3, 2))


def test_sums_of_falling_factorials() -> None:
    assert total_evaluations(2, 3) == sum(perm(9, k) for k in range(4))
    queue = [(1, 2), (1, 2), (3, 1), (0, 0)]
    direct = sum(sum(perm(9 - size, k) for k in range(more + 1)) for size, more in queue)
    assert remaining_evaluations(2, queue) == direct
    coarse = sum(sum(perm(9 - j, k) for k in range(5 - j + 1)) for j in (1, 1, 3, 5))
    assert coarse_remaining_evaluations(2, {1: 2, 3: 1, 5: 1}, 5) == coarse


def test_fine_is_no_larger_than_coarse() -> None:
    """With the same incumbent the fine bound knows more: f <= K - L."""
    assert remaining_evaluations(3, [(2, 3), (1, 1)]) <= coarse_remaining_evaluations(3, {2: 1, 1: 1}, 5)


def test_powers_of_ten() -> None:
    for exponent in (0, 1, 5, 17, 300, 5000):
        assert abs(power_of_ten(10**exponent) - exponent) <= 1
    exact = power_of_ten(total_evaluations(20, 500))
    assert abs(evaluations_log10(20, 500) - exact) <= 1
    assert evaluations_log10(10_000, 100) > 400_000
