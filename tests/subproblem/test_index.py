"""Numbers of subsets: equal subsets have one, others have others, whatever the hash says."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest

from dosdt.bitvectors import WORD
from dosdt.subproblem import index as module
from dosdt.subproblem.index import UNKNOWN, Index, row_hashes
from dosdt.subproblem.subsets import UNLIMITED, Batch

Key = tuple[tuple[int, ...], int, int]


@pytest.fixture(params=["good", "few", "none"])
def hashing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Hashes as they are, with few values, and with one: nothing may depend on them but time."""
    kind: str = request.param
    few = {"few": 3, "none": 1}
    if kind in few:

        def poor(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
            return row_hashes(words) % np.uint64(few[kind])

        monkeypatch.setattr(module, "row_hashes", poor)
        monkeypatch.setattr(module, "_keys", lambda hashes, _: hashes)
    return kind


def batches(seed: int) -> Iterator[Batch]:
    rng = np.random.default_rng(seed)
    for _ in range(8):
        n = int(rng.integers(0, 40))
        limits = (rng.choice([2, 3, UNLIMITED], n).astype(np.int32) for _ in range(2))
        yield Batch(rng.integers(0, 3, (n, 2)).astype(WORD), *limits)


def keys(batch: Batch) -> list[Key]:
    return [(tuple(words), depth, leaves) for words, depth, leaves in zip(*(x.tolist() for x in batch), strict=True)]


@pytest.mark.parametrize("seed", range(20))
def test_numbers_are_those_of_a_dictionary(hashing: str, seed: int) -> None:
    index, expected = Index(2), dict[Key, int]()
    for batch in batches(seed):
        assert index.find(batch).tolist() == [expected.get(key, UNKNOWN) for key in keys(batch)]
        before, numbers = len(index), index.add(batch).tolist()
        new = {key: number for key, number in zip(keys(batch), numbers, strict=True) if key not in expected}
        assert sorted(new.values()) == list(range(before, len(index)))
        if hashing == "good":  # those that are new are numbered as they come
            assert list(new.values()) == list(range(before, len(index)))
        expected |= new
        assert [expected[key] for key in keys(batch)] == numbers
        assert keys(index.batch(numbers)) == keys(batch)
    assert len(index) == len(expected) > 10


@pytest.mark.parametrize("seed", range(20))
def test_what_was_cut_off_is_not_found(hashing: str, seed: int) -> None:
    index, rng = Index(2), np.random.default_rng(seed)
    for batch in batches(seed):
        index.add(batch)
        n = int(rng.integers(0, len(index) + 1))
        kept = keys(index.batch(slice(n)))
        index.cut(n)
        assert len(index) == n
        found = index.find(batch)
        for key, number in zip(keys(batch), found.tolist(), strict=True):
            assert number == (kept.index(key) if key in kept else UNKNOWN) or (
                number == UNKNOWN and hashing != "good"
            )


@pytest.mark.parametrize("seed", range(20))
def test_who_is_kept_is_counted_anew(hashing: str, seed: int) -> None:
    index, rng = Index(2), np.random.default_rng(seed)
    for batch in batches(seed):
        index.add(batch)
        before, kept = keys(index.batch(slice(len(index)))), rng.random(len(index)) < 0.7
        index.keep(kept)
        left = [key for key, keep in zip(before, kept.tolist(), strict=True) if keep]
        assert keys(index.batch(slice(len(index)))) == left
        for key, number in zip(keys(batch), index.find(batch).tolist(), strict=True):
            # Whoever stood behind one that is gone may be lost, but nobody is taken for another.
            assert number == UNKNOWN or left[number] == key
            assert number != UNKNOWN or key not in left or hashing != "good"


def test_who_is_appended_is_not_found() -> None:
    index = Index(2)
    batch = next(batch for batch in batches(0) if len(batch.words))
    first = index.append(batch)
    assert first.tolist() == list(range(len(batch.words)))
    assert (index.find(batch) == UNKNOWN).all()


def test_hashes_tell_single_bits_apart() -> None:
    words = np.zeros((64 * 5, 5), WORD)
    for bit in range(64 * 5):
        words[bit, bit // 64] = np.uint64(1) << np.uint64(bit % 64)
    pairs = words[:, None] | words[None]
    distinct = np.unique(pairs.reshape(-1, 5), axis=0)
    assert len(np.unique(row_hashes(distinct))) == len(distinct)
    regions = np.bincount((row_hashes(distinct) % np.uint64(7)).astype(int), minlength=7)
    assert regions.min() > 0.9 * regions.mean()
