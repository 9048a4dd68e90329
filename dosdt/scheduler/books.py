"""Counts and seconds of a run, over all its teams."""

from __future__ import annotations

from copy import copy
from typing import Any

from dosdt.workers.papers import Report

_SUMMED = ("expanded", "evaluated", "busy", "cpu", "messages", "written")
_OWN_NAMES = (*_SUMMED, "steps", "repeated")


class Books:
    """Adds up what workers report.

    The team at work is known by the latest report of each member, the teams before it by sums.

    Attributes
    ----------
    teams, most_workers : int
        How many teams there were, and the size of the largest.
    lost, schedulers_lost : int
        Workers and shards that have died or were let go, and schedulers that have died.
    saves : int
        How often all that is known has been saved.
    """

    def __init__(self) -> None:
        self.teams = self.most_workers = self.lost = self.schedulers_lost = self.saves = 0
        self._sums: dict[str, float] = {}
        self._idle: dict[int, float] = {}
        self._pids: list[int] = []
        self._reports: dict[int, Report] = {}

    def open(self, pids: list[int]) -> None:
        """Begin with a team of workers with these process numbers."""
        self.teams += 1
        self.most_workers = max(self.most_workers, len(pids))
        self._pids, self._reports = pids, {}

    def note(self, report: Report) -> None:
        """Take in the latest report of a member."""
        self._reports[report.number] = report

    def close(self) -> None:
        """Add up what the team has done."""
        for number, report in self._reports.items():
            for name in _SUMMED:
                self._add(name, getattr(report, name))
            if number == 0:  # all go through the same steps
                self._add("steps", report.step)
            for name, count in report.statistics.items():
                self._add(name, count)
            pid = self._pids[number]
            self._idle[pid] = self._idle.get(pid, 0.0) + report.waited
        self._reports = {}

    def closed(self) -> Books:
        """Return a copy in which all is added up, for whoever goes on from here."""
        books = copy(self)
        books._sums, books._idle = dict(self._sums), dict(self._idle)
        books.close()
        return books

    @property
    def latest(self) -> list[Report]:
        """The latest reports of the team at work."""
        return list(self._reports.values())

    def busy(self) -> list[float] | None:
        """Return how many seconds each member of the team was busy; None if some have not reported yet."""
        if len(self._reports) < len(self._pids):
            return None
        return [self._reports[number].busy for number in range(len(self._pids))]

    def saving(self) -> float:
        """Return the most seconds that a member of the team has spent on saving."""
        return max((report.saving for report in self._reports.values()), default=0.0)

    def total(self, name: str) -> float:
        """Return a sum over all teams."""
        return self._sums.get(name, 0.0) + sum(float(getattr(report, name)) for report in self._reports.values())

    def statistics(self) -> dict[str, Any]:
        """Return counts and seconds of all teams whose books are closed, by name."""
        sums = self._sums
        expanded = max(sums.get("expanded", 0), 1)
        return {
            "expanded": int(sums.get("expanded", 0)),
            "workers": self.most_workers,
            "teams": self.teams,
            "workers_and_shards_lost": self.lost,
            "schedulers_lost": self.schedulers_lost,
            "steps": int(sums.get("steps", 0)),
            "messages": int(sums.get("messages", 0)),
            "bytes_sent": int(sums.get("written", 0)),
            "work_inflation": expanded / max(expanded - sums.get("repeated", 0), 1),
            "busy_seconds": sums.get("busy", 0.0),
            "cpu_seconds": sums.get("cpu", 0.0),
            "idle_seconds": list(self._idle.values()),
            "tree_cache_saves": self.saves,
            **{name: int(count) for name, count in sums.items() if name not in _OWN_NAMES},
        }

    def _add(self, name: str, value: float) -> None:
        self._sums[name] = self._sums.get(name, 0.0) + value
