"""The queue knows its bound and sizes at any time, without looking at its trees."""

from __future__ import annotations

import random
from collections import Counter

from dosdt.leafset.queue import OpenTree, TreeQueue, lower_bound_of


def random_tree(rng: random.Random, serial: int) -> OpenTree:
    key = tuple(range(rng.randint(1, 6)))
    return rng.choice([0.5, rng.random()]), serial, rng.randint(3, 40), rng.randint(1, len(key)), key


def test_counts_follow_the_trees() -> None:
    rng = random.Random(0)
    queue = TreeQueue([random_tree(rng, serial) for serial in range(5)])
    taken: list[OpenTree] = []
    for serial in range(5, 2000):
        what = rng.random()
        if what < 0.4:
            queue.push(random_tree(rng, serial))
        elif what < 0.7 and queue:
            tree = queue.pop()
            assert tree == min([tree, *queue.trees])
            taken.append(tree)
        elif taken and what < 0.8:
            queue.put_back(taken.pop())
        elif taken:
            queue.close(taken.pop())
        still_open = queue.trees + taken
        assert queue.lower_bound() == lower_bound_of(still_open)
        assert queue.sizes == Counter(len(key) - to_split for _, _, _, to_split, key in still_open)
        assert len(queue) == len(queue.trees)


def test_less_promising_trees_are_taken() -> None:
    rng = random.Random(1)
    for limit in (41, 20):
        queue = TreeQueue([random_tree(rng, serial) for serial in range(100)])
        before = set(queue.trees)
        taken = queue.take(30, limit)
        left = set(queue.trees)
        assert len(taken) == 30
        assert all(bound < limit for _, _, bound, _, _ in taken)
        assert {tree for tree in before - left if tree[2] < limit} == set(taken)
        assert queue.lower_bound() == lower_bound_of(queue.trees)
        assert [queue.pop() for _ in range(len(queue))] == sorted(left)
        assert queue.take(1, limit) == []


def test_nothing_is_open() -> None:
    queue = TreeQueue([])
    assert queue.lower_bound() is None
    assert lower_bound_of([]) is None
    assert not queue
