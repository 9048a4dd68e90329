"""The simplest frontier: a few tasks, the last one first."""

from __future__ import annotations

from typing import Generic, TypeVar

from dosdt.contract import Result

TaskT = TypeVar("TaskT")


class TaskList(Generic[TaskT]):
    """Hands out one task after another; for a search that is run by one process.

    Parameters
    ----------
    task : the whole problem
    lower_bound : int
        A bound on every tree, known from the start.
    """

    def __init__(self, task: TaskT, lower_bound: int) -> None:
        self._tasks = [task]
        self._lower_bound = lower_bound

    def __len__(self) -> int:
        return len(self._tasks)

    def next_task(self) -> TaskT | None:
        """Return a task, or None if there is none."""
        return self._tasks.pop() if self._tasks else None

    def absorb(self, result: Result[TaskT]) -> None:
        """Take back what a run has left."""
        self._tasks.extend(result.survivors)

    def lower_bound(self) -> int | None:
        """Return the bound known from the start; what runs later prove stays with the search."""
        return self._lower_bound if self._tasks else None
