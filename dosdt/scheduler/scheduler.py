"""The scheduler: an actor that holds the incumbent, forms teams of the workers there are, and mends what breaks.

It knows nothing of what members write to each other. When a worker dies, hangs, is slow or comes late, it calls the
team off and forms a new one, which begins with what the TreeCache holds. That is always safe: a lost fact costs work,
never the proof. When the scheduler itself dies, the driver starts another one with what it was told last.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayError

from dosdt.contract import Solution
from dosdt.plan import Plan
from dosdt.scheduler.actors import cpus
from dosdt.scheduler.balance import fair_shares
from dosdt.scheduler.incumbent import Incumbent
from dosdt.scheduler.roster import Hand, Roster
from dosdt.scheduler.saves import Saves
from dosdt.scheduler.settings import Bulletin, Known, Settings
from dosdt.scheduler.shards import Shards
from dosdt.scheduler.shift import Shift
from dosdt.scheduler.vigil import Vigil
from dosdt.team import Record
from dosdt.workers.papers import Orders, Report

_NOBODY_COMES = 60.0
_ALL_COME = 10.0
"""Seconds within which all that there is room for come, at the start."""


class Scheduler:
    """Runs teams until one has finished; other threads answer the driver and listen to the workers."""

    def __init__(self, problem: list[Any], plan: Plan, settings: Settings, known: Known) -> None:
        self._plan, self._settings = plan, settings
        self._lock = threading.RLock()
        self._incumbent = Incumbent(known.solution)
        self._limit = min(known.limit, known.solution.cost)
        self._bound = known.lower_bound
        self._books = known.books
        self._roster = Roster(settings.workers, problem[0])  # a reference
        self._shards = Shards()
        self._saves = Saves(whole=plan.algorithm == "leafset")
        self._vigil = Vigil(settings, plan.certify)
        self._shift: Shift | None = None
        self._epoch = 0
        self._heard = time.monotonic()
        self._final: list[Record] | None = None
        self._finished = self._over_memory = False
        self._stopping_since: float | None = None
        self._failure: str | None = None

    # -- what the driver asks -------------------------------------------------------------------------------------

    def run(self, records: list[Record]) -> None:
        """Search until the proof is complete or somebody says stop; `records` are those of an earlier run."""
        try:
            self._shards.start(max(1, min(4, self._roster.wanted // 2)))
            if records:
                self._saves.usable = self._shards.fill(records, self._saves.whole) or not self._saves.whole
            while not self._finished:
                self._mend()
                if self._wait_for_workers():
                    self._go_on()
                elif self._stopping_since is not None:
                    self._finished = True
                else:
                    self._failure = f"no worker could be started within {_NOBODY_COMES:.0f} seconds"
                    return
        except Exception as error:
            self._failure = f"{type(error).__name__}: {error}"
            raise

    @ray.method(concurrency_group="driver")
    def status(self) -> Bulletin:
        """Return what is known now."""
        with self._lock:
            latest = self._books.latest
            return Bulletin(
                self._finished,
                self._incumbent.solution,
                self._bound,
                sum(report.open for report in latest),
                sum(report.cached for report in latest),
                self._over_memory,
                self._epoch > 0,
                0 if self._shift is None else len(self._shift.team),
                self._failure,
                self._books.closed(),
            )

    @ray.method(concurrency_group="driver")
    def tell(self, word: str, limit: int = 0) -> None:
        """Pass ``tighten``, ``stop``, ``save`` or ``save_and_stop`` on to the workers."""
        if word == "save_and_stop":
            if not self._plan.certify:  # for a certificate they save at the end anyway
                self._tell("save")  # whoever says stop to the others has said save before
            word = "stop"
        self._tell(word, limit)

    def _tell(self, word: str, limit: int = 0) -> None:
        with self._lock:
            if word == "tighten":
                self._limit = min(self._limit, limit)
            elif word == "stop" and self._stopping_since is None:
                self._stopping_since = time.monotonic()
            if self._shift is not None:
                self._shift.tell(word, limit)

    @ray.method(concurrency_group="driver")
    def records(self) -> list[Record] | None:
        """Return all that the TreeCache holds; None if that is of no use, or cannot be had now."""
        with self._lock:  # nothing may be committed meanwhile
            return self._final if self._final is not None else self._all_records()

    def _all_records(self) -> list[Record] | None:
        return None if self._saves.whole and not self._saves.usable else self._shards.read()

    @ray.method(concurrency_group="driver")
    def processes(self) -> dict[str, list[int]]:
        """Return the process numbers of all, by what they are, for tests that kill them."""
        workers = [] if self._shift is None else [hand.pid for hand in self._shift.team]
        return {"schedulers": [os.getpid()], "workers": workers, "shards": self._shards.pids()}

    @ray.method(concurrency_group="driver")
    def dismiss(self) -> None:
        """End all workers and shards."""
        self._finished = True
        for actor in self._roster.actors + self._shards.actors:
            ray.kill(actor)

    # -- what workers say -----------------------------------------------------------------------------------------

    @ray.method(concurrency_group="mail")
    def report(self, report: Report) -> None:
        """Take in how a worker is doing."""
        with self._lock:
            self._heard = time.monotonic()
            self._take(report)
            if report.epoch == self._epoch:
                self._books.note(report)
                self._over_memory |= report.over_memory

    @ray.method(concurrency_group="books")
    def kept(self, generation: int, since: int, number: int, best: Solution | None, done: list[Any]) -> None:
        """Take in that a worker has saved what it knows; see `Saves`."""
        try:
            ray.get(done, timeout=_NOBODY_COMES)
        except RayError:
            return  # a shard has died
        with self._lock:
            self._offer(best)
            if not self._saves.complete(generation, since, number):
                return
            # Else some shards hold this generation, and others do not.
            self._saves.usable = not self._saves.whole or self._shards.commit(generation)
            self._books.saves += self._saves.usable

    def _take(self, report: Report) -> None:
        # The bound of a team that was called off holds, too: it says what no tree avoids.
        self._offer(report.best)
        self._bound = max(self._bound, report.lower_bound)

    def _offer(self, solution: Solution | None) -> None:
        self._incumbent.offer(solution)
        self._limit = min(self._limit, self._incumbent.cost)

    # -- one team after another -----------------------------------------------------------------------------------

    def _wait_for_workers(self) -> bool:
        """Wait until there is somebody to work; return whether there is."""
        now = time.monotonic()
        until, all_by = now + _NOBODY_COMES, now + _ALL_COME
        while time.monotonic() < until and self._stopping_since is None and not self._finished:
            self._roster.hire()
            self._roster.welcome()
            here = len(self._roster.ready)
            enough = self._epoch or here >= min(cpus(), self._roster.wanted) or time.monotonic() > all_by
            if here and enough:
                return True
            time.sleep(0.05)
        return False

    def _go_on(self) -> None:
        """Form a team of all workers there are, and let it work until it is finished or has to be called off."""
        with self._lock:
            self._epoch += 1
            team = list(self._roster.ready)
            self._books.open([hand.pid for hand in team])
            self._saves.begin(self._epoch, len(team))
            self._vigil.begin(self._epoch)
            self._heard = time.monotonic()
            self._shift = shift = Shift(self._epoch, team, self._orders(team))
        watched = _Watched(self, shift)
        finished = shift.work(
            self._vigil.answer_within, lambda: self._vigil.wants_another_team(watched), self._let_go
        )
        if shift.lost_patience:
            self._vigil.be_more_patient()
        with self._lock:
            self._over_memory |= shift.over_memory
            for report in shift.reports:
                self._take(report)
                self._books.note(report)
                self._over_memory |= report.over_memory
            self._books.close()
            if self._plan.certify and finished and self._stopping_since is None:
                # A proof needs all facts. If one cannot be had any more, the next team proves it again.
                self._final = self._all_records()
                finished = self._final is not None
            if finished or self._stopping_since is not None:
                self._finished = True

    def _orders(self, team: Sequence[Hand]) -> Any:
        shares, workers = [hand.share for hand in team], [hand.actor for hand in team]

        def orders(number: int) -> Orders:
            return Orders(
                self._epoch,
                number,
                shares,
                workers,
                self._shards.actors,
                self._saves.since,
                ray.get_runtime_context().current_actor,
                self._plan,
                self._limit,
                self._saves.usable,
                (self._settings.memory, sum(other.node == team[number].node for other in team)),
            )

        return orders

    def _let_go(self, hand: Hand) -> None:
        with self._lock:
            self._books.lost += self._roster.let_go(hand)

    def _mend(self) -> bool:
        """Put a new shard in the place of one that has died or hangs; return whether there was one."""
        if not (lost := self._shards.lost()):
            return False
        with self._lock:
            self._shards.replace(lost)
            self._books.lost += len(lost)
            self._saves.shard_replaced()
            if self._shift is not None:
                self._shift.use(self._saves.since, self._shards.actors)
            self._tell("save")
        return True


class _Watched:
    """The team at work, as `dosdt.scheduler.vigil.Watched` has it."""

    def __init__(self, scheduler: Scheduler, shift: Shift) -> None:
        self._scheduler, self._shift = scheduler, shift
        self.ask, self.silent, self.mend = shift.ask, shift.silent, scheduler._mend

    @property
    def heard(self) -> float:
        return self._scheduler._heard

    @property
    def stopping_since(self) -> float | None:
        return self._scheduler._stopping_since

    @property
    def saves(self) -> int:
        return self._scheduler._books.saves

    def let_go(self, member: int) -> None:
        self._scheduler._let_go(self._shift.team[member])

    def save(self) -> None:
        self._scheduler._tell("save")

    def saving(self) -> float:
        with self._scheduler._lock:
            return self._scheduler._books.saving()

    def others_have_come(self) -> bool:
        roster = self._scheduler._roster
        if not self._scheduler._finished:
            roster.hire()
        roster.welcome()
        return len(roster.ready) > len(self._shift.team)

    def busy(self) -> list[float] | None:
        with self._scheduler._lock:
            return self._scheduler._books.busy()

    def share_out(self, busy: Sequence[float]) -> None:
        team = self._shift.team
        for hand, share in zip(team, fair_shares([hand.share for hand in team], busy), strict=True):
            hand.share = share
