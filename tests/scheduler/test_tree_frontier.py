"""The frontier hands out the most promising trees and loses none."""

from __future__ import annotations

import random

import pytest

from dosdt.contract import Result
from dosdt.leafset.queue import OpenTree, Task, lower_bound_of
from dosdt.scheduler.tree_frontier import TreeFrontier


def tree(priority: float, serial: int, bound: int = 0) -> OpenTree:
    return priority, serial, bound, 0, (serial,)


def random_task(rng: random.Random, first: int, n: int) -> Task:
    return [tree(rng.choice([0.5, rng.random()]), serial, rng.randint(5, 99)) for serial in range(first, first + n)]


def drain(frontier: TreeFrontier) -> list[OpenTree]:
    found: list[OpenTree] = []
    while (task := frontier.next_task()) is not None:
        assert task
        found += task
    return found


def test_nothing_to_do() -> None:
    frontier = TreeFrontier([])
    assert len(frontier) == 0
    assert frontier.next_task() is None
    assert frontier.lower_bound() is None
    frontier.absorb(Result())
    assert frontier.next_task() is None


def test_one_process_gets_everything_at_once() -> None:
    task = random_task(random.Random(0), 0, 20)
    frontier = TreeFrontier(task)
    assert len(frontier) == 20
    assert frontier.lower_bound() == lower_bound_of(task) == min(each[2] for each in task)
    everything = frontier.next_task()
    assert everything is not None
    assert sorted(everything) == sorted(task)
    assert frontier.next_task() is None
    assert len(frontier) == 0


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_the_most_promising_come_first(batch: int) -> None:
    task = random_task(random.Random(batch), 0, 31)
    assert drain(TreeFrontier(task, batch=1)) == sorted(task)
    batches = TreeFrontier(task, batch=batch)
    places = {each: place for place, each in enumerate(sorted(task))}
    for start in range(0, 31, batch):
        found = batches.next_task()
        assert found is not None
        assert sorted(places[each] for each in found) == list(range(start, min(31, start + batch)))
    assert batches.next_task() is None


@pytest.mark.parametrize("batch", [None, 1, 4])
def test_survivors_come_back(batch: int | None) -> None:
    """Any mixture of handing out and taking back keeps every tree, and its bound."""
    rng = random.Random(9)
    inside = set(random_task(rng, 0, 10))
    frontier = TreeFrontier(list(inside), batch=batch)
    serial = 10
    for _ in range(60):
        task = frontier.next_task()
        if task is not None:
            assert set(task) <= inside
            inside -= set(task)
        n = rng.randint(0, 4)
        survivors = [random_task(rng, serial, n)] if n else []
        if task is not None and rng.random() < 0.5:
            survivors.append(task)
        serial += n
        known = lower_bound_of([each for some in survivors for each in some]) if rng.random() < 0.5 else None
        frontier.absorb(Result(survivors=survivors, lower_bound=known))
        inside |= {each for some in survivors for each in some}
        assert len(frontier) == len(inside)
        assert frontier.lower_bound() == min((each[2] for each in inside), default=None)
    assert sorted(drain(frontier)) == sorted(inside)


def test_what_was_given_is_not_changed() -> None:
    task = [tree(3, 0), tree(1, 1), tree(2, 2)]
    before = list(task)
    frontier = TreeFrontier(task, batch=1)
    frontier.next_task()
    frontier.absorb(Result(survivors=[[tree(0, 3)]]))
    assert task == before
