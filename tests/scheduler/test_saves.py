"""Which saves are complete: of all members, in one step, and to the same shards."""

from __future__ import annotations

import pytest

from dosdt.scheduler.saves import Saves
from dosdt.workers.papers import generation


def test_all_have_to_save_in_the_same_step() -> None:
    saves = Saves(whole=True)
    saves.begin(1, 2)
    assert not saves.complete(generation(1, 5), 1, 0)
    assert not saves.complete(generation(1, 6), 1, 1)
    assert not saves.complete(generation(1, 5), 1, 0), "the same one again"
    assert saves.complete(generation(1, 6), 1, 0)
    assert not saves.complete(generation(1, 5), 1, 1), "it is older than what is complete"
    assert not saves.usable, "not before the shards have it"


def test_a_save_of_another_team_does_not_count() -> None:
    saves = Saves(whole=True)
    saves.begin(1, 2)
    saves.complete(generation(1, 5), 1, 0)
    saves.begin(2, 1)
    assert not saves.complete(generation(1, 5), 1, 1)
    assert saves.complete(generation(2, 0), 1, 0)


@pytest.mark.parametrize("whole", [True, False])
def test_a_shard_is_replaced(whole: bool) -> None:
    saves = Saves(whole)
    saves.begin(1, 2)
    saves.usable = True
    saves.complete(generation(1, 5), saves.since, 0)
    saves.shard_replaced()
    assert saves.usable is not whole, "facts hold each by itself; a whole without a part is nothing"
    assert not saves.complete(generation(1, 5), saves.since - 1, 1), "it went to the old one"
    assert not saves.complete(generation(1, 6), saves.since, 0)
    assert saves.complete(generation(1, 6), saves.since, 1)


def test_each_fact_can_be_used_at_once() -> None:
    saves = Saves(whole=False)
    saves.begin(1, 2)
    assert not saves.usable
    assert not saves.complete(generation(1, 5), 1, 0)
    assert saves.usable
