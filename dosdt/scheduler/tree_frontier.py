"""The frontier of the leaf-set search: open trees, most promising first."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from dosdt.contract import Result
from dosdt.leafset.queue import OpenTree, Task, lower_bound_of


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
        # Not in the heap yet, as a run that was the last needs no order; each with its bound.
        self._returned: list[tuple[int, Task]] = []
        self.absorb(Result(survivors=[list(task)]))

    def __len__(self) -> int:
        return len(self._heap) + sum(len(task) for _, task in self._returned)

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
        """Take over what a run has left."""
        for survivors in result.survivors:
            bound = lower_bound_of(survivors) if result.lower_bound is None else result.lower_bound
            if bound is not None:
                self._returned.append((bound, survivors))

    def lower_bound(self) -> int | None:
        """Return a bound on every tree that open ones can lead to, or None if there are none."""
        bounds = [bound for bound, _ in self._returned]
        if self._heap:
            bounds.append(min(bound for _, _, bound, _, _ in self._heap))
        return min(bounds, default=None)

    def _order(self) -> None:
        for _, task in self._returned:
            if len(task) > len(self._heap):
                task += self._heap
                self._heap = task
                heapify(self._heap)
            else:
                for tree in task:
                    heappush(self._heap, tree)
        self._returned = []
