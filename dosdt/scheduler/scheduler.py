"""The scheduler: an actor that holds the incumbent, forms teams of the workers there are, and mends what breaks.

It knows nothing of what members write to each other. When a worker dies, hangs, is slow or comes late, it calls the
team off and forms a new one, which begins with what the TreeCache holds. That is always safe: a lost fact costs work,
never the proof.
"""

from __future__ import annotations

import threading
import time
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError, RayTaskError

from dosdt.contract import Solution
from dosdt.plan import Plan
from dosdt.scheduler.balance import fair_shares, imbalance
from dosdt.scheduler.incumbent import Incumbent
from dosdt.scheduler.treecache import TreeCacheShard
from dosdt.team import Record
from dosdt.workers.worker import Orders, Report, Worker

_SECONDS_BETWEEN_SAVES = 10.0
_SECONDS_BETWEEN_LOOKS = 0.5
_UNEVEN = 1.35
"""So many times as busy as the others on average is a worker with too much to do."""
_LONG_ENOUGH = 15.0
"""Seconds after which it shows how fast workers are."""
_NOBODY_COMES = 60.0
_COMMIT_WITHIN = 10.0
_OWN_NAMES = ("expanded", "evaluated", "busy", "cpu", "messages", "written", "steps", "repeated")


class Settings(NamedTuple):
    """How to run a team on Ray.

    Attributes
    ----------
    workers : int, optional
        How many; None is one for each CPU of the cluster, also of nodes that join later.
    memory : int, optional
        Bytes that all workers of one node may use together.
    save_seconds : float
        How often what is known is saved to the TreeCache.
    patience : float
        Seconds of silence after which workers are asked whether they are still there.
    answer_within : float
        Seconds after which a worker that does not answer is let go.
    """

    workers: int | None
    memory: int | None = None
    save_seconds: float = _SECONDS_BETWEEN_SAVES
    patience: float = 10.0
    answer_within: float = 5.0


class Bulletin(NamedTuple):
    """What the scheduler knows of the run."""

    finished: bool
    solution: Solution
    lower_bound: int
    expanded: int
    evaluated: int
    open: int
    over_memory: bool
    ready: bool
    workers: int
    saves: int
    failure: str | None
    statistics: dict[str, Any]


class _Hand:
    """A worker as the scheduler sees it."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.hello = actor.hello.remote()
        self.node: str | None = None
        self.pid = 0
        self.share = 1.0


class Scheduler:
    """Runs teams until one has finished; other threads answer the driver and listen to the workers."""

    def __init__(self, problem: list[Any], plan: Plan, solution: Solution, settings: Settings) -> None:
        self._problem = problem[0]  # a reference: each worker fetches the data once
        self._plan, self._settings = plan, settings
        self._lock = threading.RLock()
        self._incumbent = Incumbent(solution)
        self._limit = solution.cost
        self._bound = 0
        self._hands: list[_Hand] = []
        self._ready: list[_Hand] = []
        self._team: list[_Hand] = []
        self._shards: list[Any] = []
        self._shards_since = 0
        self._pings: list[tuple[Any, float]] = []
        self._epoch = 0
        self._reports: dict[int, Report] = {}
        self._past: dict[str, float] = {}
        self._idle: dict[int, float] = {}
        self._heard = time.monotonic()
        self._patience = settings.patience
        self._kept: dict[int, set[int]] = {}
        self._committed = 0
        self._saves = 0
        self._recall = False
        self._whole = plan.algorithm == "leafset"
        self._final: list[Record] | None = None
        self._stopping = self._finished = self._over_memory = False
        self._stopping_since = 0.0
        self._failure: str | None = None
        self._deaths = self._joins = self._most_workers = 0

    # -- what the driver asks -------------------------------------------------------------------------------------

    def run(self, records: list[Record]) -> None:
        """Search until the proof is complete or somebody says stop; `records` are those of an earlier run."""
        try:
            self._hire_shards(records)
            self._hire()
            while not self._finished:
                self._look_after_shards()
                if self._wait_for_workers():
                    self._go_on()
                elif self._stopping:
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
            reports = list(self._reports.values())
            return Bulletin(
                self._finished,
                self._incumbent.solution,
                self._bound,
                int(self._total("expanded")),
                int(self._total("evaluated")),
                sum(report.open for report in reports),
                self._over_memory,
                self._epoch > 0,
                len(self._team),
                self._saves,
                self._failure,
                self._statistics(),
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
            elif word == "stop" and not self._stopping:
                self._stopping, self._stopping_since = True, time.monotonic()
            for hand in self._team:
                hand.actor.tell.remote(self._epoch, word, limit)

    @ray.method(concurrency_group="driver")
    def records(self) -> list[Record] | None:
        """Return all that the TreeCache holds; None if that is of no use, or cannot be had now."""
        with self._lock:  # nothing may be committed meanwhile
            return self._final if self._final is not None else self._all_records()

    def _all_records(self) -> list[Record] | None:
        if self._whole and not self._recall:
            return None
        records: list[Record] = []
        for part in [shard.read.remote() for shard in self._shards]:
            try:
                records += ray.get(part, timeout=_NOBODY_COMES)
            except RayError:
                return None  # the next save fills another shard
        return records

    @ray.method(concurrency_group="driver")
    def processes(self) -> dict[str, list[int]]:
        """Return the process numbers of workers and shards, for tests that kill them."""
        shards = []
        for shard in list(self._shards):
            try:
                shards.append(ray.get(shard.pid.remote(), timeout=5))
            except RayError:
                continue
        return {"workers": [hand.pid for hand in self._team], "shards": shards}

    @ray.method(concurrency_group="driver")
    def dismiss(self) -> None:
        """End all workers and shards."""
        self._finished = True
        for actor in [hand.actor for hand in self._hands] + self._shards:
            ray.kill(actor)

    # -- what workers say -----------------------------------------------------------------------------------------

    @ray.method(concurrency_group="mail")
    def report(self, report: Report) -> None:
        """Take in how a worker is doing."""
        with self._lock:
            self._heard = time.monotonic()
            self._take(report)
            if report.epoch == self._epoch:
                self._reports[report.number] = report
                self._over_memory |= report.over_memory

    @ray.method(concurrency_group="books")
    def kept(
        self, generation: int, since: int, whole: bool, number: int, best: Solution | None, done: list[Any]
    ) -> None:
        """Take in that a worker has saved what it knows; it counts once all of its team have, in the same step.

        And to the same shards: when one is replaced, what was saved to the old one is gone.
        """
        try:
            ray.get(done, timeout=_NOBODY_COMES)
        except RayError:
            return  # a shard has died
        with self._lock:
            self._offer(best)
            if generation >> 32 != self._epoch or generation <= self._committed or since != self._shards_since:
                return
            self._recall |= not whole  # each fact holds by itself
            saved = self._kept.setdefault(generation, set())
            saved.add(number)
            if len(saved) < len(self._team):
                return
            self._kept = {later: who for later, who in self._kept.items() if later > generation}
            self._committed = generation
            if whole:
                try:
                    ray.get([shard.commit.remote(generation) for shard in self._shards], timeout=_COMMIT_WITHIN)
                except RayError:
                    self._recall = False  # some shards hold this generation, others do not
                    return
            self._recall = True
            self._saves += 1

    def _take(self, report: Report) -> None:
        # The bound of a team that was called off holds, too: it says what no tree avoids.
        self._offer(report.best)
        self._bound = max(self._bound, report.lower_bound)

    def _offer(self, solution: Solution | None) -> None:
        self._incumbent.offer(solution)
        self._limit = min(self._limit, self._incumbent.cost)

    # -- workers and shards ---------------------------------------------------------------------------------------

    def _wanted(self) -> int:
        if self._settings.workers is not None:
            return self._settings.workers
        return _cpus()

    def _hire(self) -> None:
        """Ask for as many workers as are wanted; those there is no room for come when there is."""
        if self._finished:
            return
        for _ in range(self._wanted() - len(self._hands)):
            kind = actor_kind(Worker, num_cpus=1, concurrency_groups={"mail": 1, "control": 1})
            actor = kind.options(scheduling_strategy="SPREAD").remote(self._problem)
            self._hands.append(_Hand(actor))

    def _hire_shards(self, records: list[Record]) -> None:
        n = max(1, min(4, self._wanted() // 2))
        self._shards = [_new_shard() for _ in range(n)]
        self._pings = [(shard.pid.remote(), time.monotonic()) for shard in self._shards]
        self._shards_since = 1
        if not records:
            return
        parts = [[tuple(record) for record in records if record[0] % n == k] for k in range(n)]
        try:
            ray.get([s.append.remote(0, part, self._whole) for s, part in zip(self._shards, parts, strict=True)])
            if self._whole:
                ray.get([shard.commit.remote(0) for shard in self._shards])
            self._recall = True
        except RayError:
            self._recall = not self._whole

    def _welcome(self) -> bool:
        """Take note of workers that have started, and of those that never will; return whether any are new."""
        before = len(self._ready)
        for hand in [hand for hand in self._hands if hand.node is None]:
            ready, _ = ray.wait([hand.hello], timeout=0)
            if ready:
                try:
                    hand.node, hand.pid = ray.get(hand.hello)
                    self._ready.append(hand)
                except RayError:
                    self._hands.remove(hand)
        return len(self._ready) > before

    def _wait_for_workers(self) -> bool:
        """Wait until there is somebody to work; return whether there is."""
        until = time.monotonic() + _NOBODY_COMES
        first = time.monotonic() + 10.0
        while time.monotonic() < until and not (self._stopping or self._finished):
            self._hire()
            self._welcome()
            # At the start, all that there is room for come within a few seconds of each other.
            room = _cpus()
            enough = self._epoch or len(self._ready) >= min(room, self._wanted()) or time.monotonic() > first
            if self._ready and enough:
                return True
            time.sleep(0.05)
        return False

    def _let_go(self, hand: _Hand) -> None:
        """Do without a worker from now on."""
        with self._lock:
            if hand not in self._hands:
                return
            ray.kill(hand.actor)
            self._hands.remove(hand)
            self._ready.remove(hand)
            self._deaths += 1

    def _look_after_shards(self) -> bool:
        """Put a new shard in the place of one that has died or hangs; return whether there was one."""
        now = time.monotonic()
        lost = []
        for k, (ping, asked) in enumerate(self._pings):
            ready, _ = ray.wait([ping], timeout=0)
            try:
                if ready:
                    ray.get(ping)
                    self._pings[k] = self._shards[k].pid.remote(), now
                elif now - asked > _NOBODY_COMES:
                    lost.append(k)
            except RayError:
                lost.append(k)
        if not lost:
            return False
        with self._lock:
            shards = list(self._shards)
            for k in lost:
                ray.kill(shards[k])
                shards[k] = _new_shard()
                self._pings[k] = shards[k].pid.remote(), now
                self._deaths += 1
            self._shards = shards
            self._shards_since += 1
            self._kept = {}
            # Facts that were lost cost work; of a whole that lost a part nothing can be used.
            self._recall = self._recall and not self._whole
            for hand in self._team:
                hand.actor.use.remote(self._shards_since, shards)
            self._tell("save")
        return True

    # -- one team -------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Form a team of all workers there are, and let it work until it is finished or has to be called off."""
        with self._lock:
            self._epoch += 1
            self._team = team = list(self._ready)
            self._most_workers = max(self._most_workers, len(team))
            self._reports, self._kept = {}, {}
            self._heard = time.monotonic()
            shares = [hand.share for hand in team]
            per_node = [sum(other.node == hand.node for other in team) for hand in team]
            running = {
                hand.actor.work.remote(
                    Orders(
                        self._epoch,
                        number,
                        shares,
                        [other.actor for other in team],
                        self._shards,
                        self._shards_since,
                        ray.get_runtime_context().current_actor,
                        self._plan,
                        self._limit,
                        self._recall,
                        (self._settings.memory, per_node[number]),
                    )
                ): number
                for number, hand in enumerate(team)
            }
        vigil = _Vigil(self)
        called_off, reports = False, {}
        until = float("inf")
        while running:
            ready, _ = ray.wait(list(running), timeout=0.1)
            for ref in ready:
                number = running.pop(ref)
                report = self._last_report(team[number], ref)
                called_off |= report is None
                if report is not None:
                    reports[number] = report
            if running and (called_off or vigil.wants_another_team()):
                if until == float("inf"):
                    until = time.monotonic() + self._settings.answer_within
                    for hand in team:
                        hand.actor.tell.remote(self._epoch, "call_off")
                called_off = True
                if time.monotonic() > until:  # it does not even hear that it is called off
                    for number in running.values():
                        self._let_go(team[number])
                # Who was let go may take long to die, and nobody waits for it.
                running = {ref: number for ref, number in running.items() if team[number] in self._hands}
        with self._lock:
            for number, report in reports.items():
                self._take(report)
                self._reports[number] = report
                self._over_memory |= report.over_memory
            self._close_books(team)
            if self._plan.certify and not called_off and not self._stopping:
                # A proof needs all facts. If one cannot be had any more, the next team proves it again.
                self._final = self._all_records()
                called_off = self._final is None
            if not called_off or self._stopping:
                self._finished = True

    def _last_report(self, hand: _Hand, work: Any) -> Report | None:
        """Return what a worker said in the end; None if it was called off or is no more."""
        try:
            report: Report | None = ray.get(work)
            return report
        except RayTaskError as error:
            if isinstance(error.cause, MemoryError):
                self._over_memory = True
            elif not isinstance(error.cause, RayError):  # else somebody it asked has died
                raise
        except RayError:
            self._let_go(hand)
        return None

    def _close_books(self, team: list[_Hand]) -> None:
        """Add up what a team has done."""
        for number, report in self._reports.items():
            for name in ("expanded", "evaluated", "busy", "cpu", "messages", "written", "step"):
                value = float(getattr(report, name))
                if name == "step":
                    self._past["steps"] = self._past.get("steps", 0) + (value if number == 0 else 0)
                else:
                    self._past[name] = self._past.get(name, 0) + value
            for name, count in report.statistics.items():
                self._past[name] = self._past.get(name, 0) + count
            self._idle[team[number].pid] = self._idle.get(team[number].pid, 0.0) + report.waited
        self._reports = {}

    def _total(self, name: str) -> float:
        return self._past.get(name, 0) + sum(float(getattr(report, name)) for report in self._reports.values())

    def _statistics(self) -> dict[str, Any]:
        past = self._past
        expanded = max(past.get("expanded", 0), 1)
        return {
            "workers": self._most_workers,
            "teams": self._epoch,
            "workers_and_shards_lost": self._deaths,
            "steps": int(past.get("steps", 0)),
            "messages": int(past.get("messages", 0)),
            "bytes_sent": int(past.get("written", 0)),
            "work_inflation": expanded / max(expanded - past.get("repeated", 0), 1),
            "busy_seconds": past.get("busy", 0.0),
            "cpu_seconds": past.get("cpu", 0.0),
            "idle_seconds": list(self._idle.values()),
            "tree_cache_saves": self._saves,
            **{name: int(count) for name, count in past.items() if name not in _OWN_NAMES},
        }


class _Vigil:
    """Looks after a team while it works."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._start = self._looked = self._saved = time.monotonic()
        self._asked: dict[Any, int] = {}
        self._asked_at = 0.0
        self._answered_in_vain = False
        self._saves_before_change: int | None = None

    def wants_another_team(self) -> bool:
        """Say whether the team should be called off; mend what can be mended without that."""
        s, now = self._scheduler, time.monotonic()
        if now - self._looked < _SECONDS_BETWEEN_LOOKS:
            return False
        self._looked = now
        if s._look_after_shards() and s._plan.certify:
            return True  # what was saved there is not saved twice by the same member
        if s._stopping and now - s._stopping_since > s._settings.answer_within:
            return True
        if self._somebody_is_silent(now):
            return True
        if now - self._saved >= s._settings.save_seconds:
            self._saved = now
            s._tell("save")
        s._hire()
        s._welcome()
        return self._somebody_else_would_do_better(now)

    def _somebody_is_silent(self, now: float) -> bool:
        """Ask all workers whether they are there if nothing was heard for long; let go of who does not answer."""
        s = self._scheduler
        if self._asked:
            _, waiting = ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
            if waiting and now - self._asked_at < s._settings.answer_within:
                return False
            silent = [s._team[self._asked[ref]] for ref in waiting]
            self._asked = {}
            for hand in silent:
                s._let_go(hand)
            if not silent:
                if now - s._heard > s._patience and self._answered_in_vain:
                    return True  # all are there, and wait for a letter that was lost
                self._answered_in_vain = True
                s._patience *= 2  # or their steps are long
            return bool(silent)
        if now - s._heard > s._patience:
            self._asked = {hand.actor.tell.remote(s._epoch, "hello"): k for k, hand in enumerate(s._team)}
            self._asked_at = now
        return False

    def _somebody_else_would_do_better(self, now: float) -> bool:
        """Save first, and change the team when all is saved, if workers have come or the work is uneven."""
        s = self._scheduler
        if self._saves_before_change is not None:
            return s._saves > self._saves_before_change
        lasted = now - self._start
        come = len(s._ready) > len(s._team)
        with s._lock:
            busy = [s._reports[k].busy for k in range(len(s._team)) if k in s._reports]
        uneven = len(busy) == len(s._team) > 1 and imbalance(busy) > _UNEVEN
        if (come and lasted > min(3.0 * s._epoch, 30.0)) or (uneven and lasted > _LONG_ENOUGH * s._epoch):
            if uneven:
                shares = fair_shares([hand.share for hand in s._team], busy)
                for hand, share in zip(s._team, shares, strict=True):
                    hand.share = share
            self._saves_before_change = s._saves
            s._joins += 1
            s._tell("save")
        return False


class _Shard(TreeCacheShard):
    """A shard as an actor."""

    def pid(self) -> int:
        """Return the process number; also how to see that it is alive."""
        import os

        return os.getpid()


def actor_kind(kind: type, **options: Any) -> Any:
    """Return a class whose objects are actors."""
    remote: Any = ray.remote
    return remote(**options)(kind)


def _cpus() -> int:
    """Return how many CPUs the cluster has now."""
    resources: Any = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 1)))


def _new_shard() -> Any:
    return actor_kind(_Shard, num_cpus=0).options(scheduling_strategy="SPREAD").remote()
