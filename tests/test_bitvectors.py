"""Subsets as integers, and sums over them."""

from __future__ import annotations

import random

import numpy as np
import pytest

from dosdt.bitvectors import PlaneSum, pack, unpack


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 63, 64, 65, 1000])
def test_pack_and_unpack(n: int) -> None:
    for seed in range(5):
        mask = np.random.default_rng(seed).random(n) < 0.4
        rows = pack(mask)
        assert [bool(rows >> i & 1) for i in range(n)] == mask.tolist()
        assert unpack(rows, n).tolist() == mask.tolist()
        assert unpack(rows, n).dtype == np.bool_


def test_set_operations() -> None:
    rng = np.random.default_rng(1)
    one, other = rng.random(130) < 0.5, rng.random(130) < 0.5
    assert pack(one) & pack(other) == pack(one & other)
    assert pack(one) ^ (pack(one) & pack(other)) == pack(one & ~other)


@pytest.mark.parametrize("largest", [0, 1, 6, 2**20, 2**64 + 1, 10**40])
def test_sums_by_planes(largest: int) -> None:
    rng = random.Random(largest)
    for n in (1, 5, 64, 200):
        values = [rng.randint(0, largest) for _ in range(n)]
        planes = PlaneSum(values)
        assert planes.over(pack(np.zeros(n, np.bool_))) == 0
        assert planes.over(pack(np.ones(n, np.bool_))) == sum(values)
        for _ in range(10):
            mask = np.array([rng.random() < 0.5 for _ in range(n)])
            assert planes.over(pack(mask)) == sum(v for v, chosen in zip(values, mask, strict=True) if chosen)


def test_no_rows() -> None:
    assert PlaneSum([]).over(pack(np.zeros(0, np.bool_))) == 0
