"""The simplest frontier."""

from __future__ import annotations

from dosdt.contract import Result
from dosdt.scheduler.task_list import TaskList


def test_the_last_comes_first() -> None:
    tasks = TaskList("whole", lower_bound=7)
    assert (len(tasks), tasks.lower_bound()) == (1, 7)
    assert tasks.next_task() == "whole"
    assert (len(tasks), tasks.lower_bound(), tasks.next_task()) == (0, None, None)
    tasks.absorb(Result(survivors=["left", "right"]))
    assert (len(tasks), tasks.lower_bound()) == (2, 7)
    assert [tasks.next_task() for _ in range(3)] == ["right", "left", None]
    tasks.absorb(Result())
    assert tasks.next_task() is None
