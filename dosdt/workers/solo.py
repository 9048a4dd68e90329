"""A team of one in this process: for a search that is to outlive the process, on a machine without Ray."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.team import Record, posts
from dosdt.threads import one_thread
from dosdt.workers.drive import News
from dosdt.workers.memory import Memory


class Solo:
    """A crew of one; see `dosdt.workers.drive.Crew`.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    limit : int
        Cost that a tree must stay below to be of interest.
    records : sequence of Record
        What was saved before.
    memory : int, optional
        Bytes that this process may use; None is what it uses already and 80 % of what is free.
    """

    def __init__(
        self, problem: Problem, plan: Plan, limit: int, records: Sequence[Record] = (), memory: int | None = None
    ) -> None:
        self._member = plan.member(problem, posts([1.0])[0], limit)
        self._certify = plan.certify
        self._records: list[Record] = list(records)
        if records:
            self._member.recall(record.content for record in records)
        self._inbox: list[bytes] = []
        self._saves = self._steps = 0
        self._memory = Memory(memory)

    def advance(self, seconds: float) -> News:
        """Take steps for about so long."""
        member, until = self._member, time.perf_counter() + seconds
        with one_thread():
            while not member.finished:
                self._inbox = member.step(self._inbox)
                self._steps += 1
                if (saved := member.saved()) is not None:
                    self._records = saved.records if saved.whole else self._records + saved.records
                    self._saves += 1
                if time.perf_counter() >= until:
                    break
        return News(
            finished=member.finished,
            best=member.best,
            lower_bound=member.lower_bound(),
            evaluated=member.evaluated,
            open=member.open,
            workers=1,
            cached=member.cached,
            over_memory=self._memory.is_over(member.spare_memory),
            saves=self._saves,
        )

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit` from now on."""
        self._member.tighten(limit)

    def stop(self, *, save: bool = False) -> None:
        """Finish soon, and save before if asked to."""
        if save and not self._certify:  # for a certificate it saves at the end anyway
            self._member.save()
        self._member.stop()

    def save(self) -> None:
        """Save all that is known."""
        self._member.save()

    def records(self) -> list[Record]:
        """Return what was saved."""
        return self._records

    def statistics(self) -> dict[str, Any]:
        """Return counts, by name."""
        return {"expanded": self._member.expanded, "workers": 1, "steps": self._steps, **self._member.statistics()}
