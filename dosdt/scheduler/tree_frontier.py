"""The frontier of the leaf-set search: open trees, most promising first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import chain

from dosdt.contract import Result
from dosdt.leafset.search import OpenTree, Task


class TreeFrontier:
    """A heap of open trees from which batches are handed out.

    Parameters
    ----------
    task : list of OpenTree
        What to start with.
    batch : int, optional
        How many trees make a task; None hands out all there are, as one process wants it.
    """

    def __init__(self, task: Task, *, batch: int | None = None) -> None:
        self._batch = batch
        self._heap: list[OpenTree] = []
        self._returned: list[OpenTree] = list(task)  # not in the heap yet: a run that was the last needs no order

    def __len__(self) -> int:
        return len(self._heap) + len(self._returned)

    def next_task(self) -> Task | None:
        """Return the most promising trees, or None if there are none."""
        self._order()
        if not self._heap:
            return None
        if self._batch is None or len(self._heap) <= self._batch:
            task, self._heap = self._heap, []
            return task
        return [heappop(self._heap) for _ in range(self._batch)]

    def absorb(self, result: Result[Task]) -> None:
        """Take back what a run has left."""
        for survivors in result.survivors:
            self._returned.extend(survivors)

    def lower_bound(self) -> int | None:
        """Return the smallest bound of an open tree, or None if there are none."""
        return min((tree.lower_bound for tree in chain(self._heap, self._returned)), default=None)

    def _order(self) -> None:
        if len(self._returned) > len(self._heap):
            self._heap += self._returned
            heapify(self._heap)
        else:
            for tree in self._returned:
                heappush(self._heap, tree)
        self._returned = []
