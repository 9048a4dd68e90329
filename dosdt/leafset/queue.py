"""The queue of the leaf-set search: millions of open trees, and what is known of them as a whole."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heapify, heappop, heappush

Key = tuple[int, ...]
"""A tree: its leaves' codes in canonical order (see `dosdt.leafset.leaves.Option`)."""
OpenTree = tuple[float, int, int, int, Key]
"""A tree in the queue: priority, serial number, lower bound, how many leaves are to be split, key.

Plain tuples, as there are millions: the garbage collector looks at a plain tuple of numbers once and at a named
one for ever. All else about a tree is worked out again from its key, as only few are ever expanded.
"""
Task = list[OpenTree]
"""A batch of open trees."""


def lower_bound_of(task: Task) -> int | None:
    """Return the smallest bound of an open tree, or None if there are none."""
    return min((bound for _, _, bound, _, _ in task), default=None)


class TreeQueue:
    """A heap of open trees that counts them by bound and by size, so that nothing has to be looked for.

    Parameters
    ----------
    task : list of OpenTree
        What is open; the queue takes the list over.
    """

    def __init__(self, task: Task) -> None:
        heapify(task)
        self.trees = task
        self.sizes: defaultdict[int, int] = defaultdict(int)
        """How many open trees have so many leaves that stay."""
        self._bounds: defaultdict[int, int] = defaultdict(int)
        for tree in task:
            self._count(tree, 1)

    def __len__(self) -> int:
        return len(self.trees)

    def push(self, tree: OpenTree) -> None:
        """Add an open tree."""
        heappush(self.trees, tree)
        self._bounds[tree[2]] += 1
        self.sizes[len(tree[4]) - tree[3]] += 1

    def extend(self, trees: Task) -> None:
        """Add many open trees, for less than one by one."""
        for tree in trees:
            heappush(self.trees, tree)
        for bound, count in Counter([tree[2] for tree in trees]).items():
            self._bounds[bound] += count
        for size, count in Counter([len(tree[4]) - tree[3] for tree in trees]).items():
            self.sizes[size] += count

    def pop(self) -> OpenTree:
        """Take the most promising tree; it counts as open until it is given to `close` or `put_back`."""
        return heappop(self.trees)

    def put_back(self, tree: OpenTree) -> None:
        """Return a tree that was taken and is still open."""
        heappush(self.trees, tree)

    def close(self, tree: OpenTree) -> None:
        """Count a tree that was taken as done."""
        self._count(tree, -1)

    def take(self, count: int, limit: float) -> Task:
        """Take so many of the less promising trees, or all, and close them; what has no bound below `limit` goes."""
        taken: Task = []
        while self.trees and len(taken) < count:
            tree = self.trees.pop()  # a heap without its end is a heap
            self.close(tree)
            if tree[2] < limit:
                taken.append(tree)
        return taken

    def lower_bound(self) -> int | None:
        """Return the smallest bound of an open tree, or None if there are none."""
        return min(self._bounds, default=None)

    def _count(self, tree: OpenTree, change: int) -> None:
        for counts, key in ((self._bounds, tree[2]), (self.sizes, len(tree[4]) - tree[3])):
            counts[key] += change
            if not counts[key]:
                del counts[key]
