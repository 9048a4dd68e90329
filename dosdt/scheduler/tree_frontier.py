"""The frontier of the leaf-set search: open trees, most promising first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

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
        self._heap: list[OpenTree] = list(task)
        heapify(self._heap)

    def __len__(self) -> int:
        return len(self._heap)

    def next_task(self) -> Task | None:
        """Return the most promising trees, or None if there are none."""
        if not self._heap:
            return None
        if self._batch is None or len(self._heap) <= self._batch:
            task, self._heap = self._heap, []
            return task
        return [heappop(self._heap) for _ in range(self._batch)]

    def absorb(self, result: Result[Task]) -> None:
        """Take back what a run has left."""
        for survivors in result.survivors:
            if not self._heap:
                self._heap = list(survivors)
                heapify(self._heap)
            else:
                for tree in survivors:
                    heappush(self._heap, tree)

    def lower_bound(self) -> int | None:
        """Return the smallest bound of an open tree, or None if there are none."""
        return min((tree.lower_bound for tree in self._heap), default=None)
