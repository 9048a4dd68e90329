"""The simplest frontier: a few tasks, the last one first."""

from __future__ import annotations

from typing import Generic, TypeVar

from dosdt.contract import Result

TaskT = TypeVar("TaskT")


class TaskList(Generic[TaskT]):
    """Hands out one task after another; for a search that one process runs on the whole problem.

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
        if result.lower_bound is not None:
            self._lower_bound = max(self._lower_bound, result.lower_bound)

    def lower_bound(self) -> int | None:
        """Return the best bound that was proved, or None if nothing is left."""
        return self._lower_bound if self._tasks else None
