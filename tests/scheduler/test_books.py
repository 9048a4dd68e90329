"""Counts over several teams, and taken over by another scheduler."""

from __future__ import annotations

import pickle

from dosdt.scheduler.books import Books
from dosdt.workers.papers import Report


def report(number: int, expanded: int, *, step: int = 3, busy: float = 1.0, waited: float = 0.5) -> Report:
    return Report(
        epoch=1,
        number=number,
        step=step,
        expanded=expanded,
        evaluated=2 * expanded,
        open=4,
        cached=6,
        lower_bound=0,
        best=None,
        busy=busy,
        cpu=busy,
        waited=waited,
        saving=number / 4,
        messages=10,
        written=100,
        over_memory=False,
        statistics={"facts": expanded, "repeated": 5},
    )


def test_sums_over_teams() -> None:
    books = Books()
    books.open([70, 71])
    books.note(report(0, 10))
    books.note(report(1, 20))
    books.note(report(1, 30))  # the latest counts
    assert books.total("expanded") == 40
    assert books.saving() == 0.25
    assert books.statistics()["expanded"] == 0, "the team is at work"
    books.close()
    books.open([71])
    books.note(report(0, 5))
    books.close()
    said = books.statistics()
    assert (said["expanded"], said["facts"], said["messages"], said["bytes_sent"]) == (45, 45, 30, 300)
    assert (said["teams"], said["workers"]) == (2, 2)
    assert said["steps"] == 6, "all members of a team go through the same steps"
    assert said["idle_seconds"] == [0.5, 1.0], "one for each process"
    assert said["work_inflation"] == 45 / 30
    assert "repeated" not in said
    assert books.total("evaluated") == 90


def test_how_busy_all_were() -> None:
    books = Books()
    books.open([1, 2])
    assert books.busy() is None
    books.note(report(1, 1, busy=2.0))
    assert books.busy() is None
    books.note(report(0, 1, busy=1.0))
    assert books.busy() == [1.0, 2.0]
    books.open([1])
    assert books.busy() is None


def test_a_copy_for_whoever_goes_on() -> None:
    books = Books()
    books.saves = 3
    books.open([1])
    books.note(report(0, 10))
    copy = pickle.loads(pickle.dumps(books.closed()))
    assert copy.total("expanded") == copy.statistics()["expanded"] == 10
    assert (copy.saves, copy.latest) == (3, [])
    assert len(books.latest) == 1, "the team itself goes on"
    copy.open([9])
    copy.note(report(0, 1))
    copy.close()
    assert copy.statistics()["expanded"] == 11
    assert copy.statistics()["teams"] == 2
    assert books.total("expanded") == 10
