"""A shard keeps what it is told, by region."""

from __future__ import annotations

import pytest

from dosdt.scheduler.treecache import TreeCacheShard
from dosdt.team import Record


def test_facts_are_added_and_found_by_region() -> None:
    shard = TreeCacheShard()
    shard.append(1, [(3, b"a"), (5, b"b")], False)
    shard.append(2, [(3, b"c")], False)
    assert shard.read([3]) == [Record(3, b"a"), Record(3, b"c")]
    assert shard.read([4]) == []
    assert shard.read() == [Record(3, b"a"), Record(5, b"b"), Record(3, b"c")]
    assert (len(shard), shard.n_bytes) == (3, 3)


def test_a_whole_counts_when_it_is_complete() -> None:
    shard = TreeCacheShard()
    shard.append(1, [(3, b"old")], True)
    assert shard.read() == []
    shard.commit(1)
    shard.append(2, [(3, b"new")], True)
    shard.append(3, [(3, b"newer")], True)
    assert shard.read([3]) == [Record(3, b"old")]
    shard.commit(2)
    assert shard.read() == [Record(3, b"new")]
    shard.commit(3)
    assert shard.read() == [Record(3, b"newer")]


def test_a_whole_never_goes_back_nor_out_of_nothing() -> None:
    """An empty whole would say that nothing is open: proved."""
    shard = TreeCacheShard()
    shard.append(1, [(3, b"first")], True)
    shard.append(2, [(3, b"second")], True)
    shard.commit(2)
    for generation in (1, 2, 7):
        with pytest.raises(ValueError, match="nothing of generation"):
            shard.commit(generation)
    assert shard.read() == [Record(3, b"second")]
    shard.append(8, [], True)  # nothing is open here
    shard.commit(8)
    assert shard.read() == []
