"""A worker: an actor that runs a member and carries its letters."""

from __future__ import annotations

import gc
import os
import threading
import time
from typing import Any

import ray
from ray.exceptions import RayError

from dosdt.contract import Solution
from dosdt.problem import Problem
from dosdt.team import REGIONS, Member, Saved, posts
from dosdt.threads import one_thread
from dosdt.workers.carrier import Carrier
from dosdt.workers.mailbox import CalledOff, Mailbox
from dosdt.workers.memory import Memory
from dosdt.workers.pace import pause_after
from dosdt.workers.papers import Orders, Report, generation

_REPORTS = 160
"""So many a second the scheduler hears at the most, however large the team is."""
_PATIENCE_WITH_SHARDS = 30.0


class Worker:
    """Runs one member after another; in threads of their own it takes letters and hears of limits."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._mailbox = Mailbox()
        self._lock = threading.Lock()
        self._member: Member | None = None
        self._epoch = 0
        self._early: list[tuple[int, str, int]] = []
        self._shards: tuple[int, list[Any]] = (0, [])

    def hello(self) -> tuple[str, int]:
        """Return the node that this worker is on, and its process number."""
        return ray.get_runtime_context().get_node_id(), os.getpid()

    def work(self, orders: Orders) -> Report | None:
        """Take part in a team until it is finished; return the last report, or None if it was called off."""
        try:
            with one_thread():
                return self._work(orders)
        except CalledOff:
            return None
        finally:
            with self._lock:
                self._member = None

    @ray.method(concurrency_group="mail")
    def deliver(self, epoch: int, place: int, sender: int, letter: bytes) -> None:
        """Take a letter from another worker."""
        self._mailbox.deliver(epoch, place, sender, letter)

    @ray.method(concurrency_group="control")
    def tell(self, epoch: int, word: str, limit: int = 0) -> None:
        """Hear from the scheduler: ``tighten``, ``stop``, ``save``, ``call_off``, or nothing at all."""
        if word == "call_off":
            self._mailbox.call_off(epoch)
            return
        with self._lock:
            if epoch > self._epoch:
                self._early.append((epoch, word, limit))  # its member is still to come
            elif epoch == self._epoch and self._member is not None:
                _pass_on(self._member, word, limit)

    @ray.method(concurrency_group="control")
    def use(self, since: int, shards: list[Any]) -> None:
        """Save to these shards from now on."""
        self._use(since, shards)

    def _use(self, since: int, shards: list[Any]) -> None:
        with self._lock:
            if since > self._shards[0]:
                self._shards = since, shards

    def _work(self, orders: Orders) -> Report:
        # A member whose team was called off may still be in memory, and hidden from the collector.
        gc.unfreeze()
        gc.collect()
        post = posts(orders.shares)[orders.number]
        memory = Memory(*orders.memory)
        self._use(orders.shards_since, orders.shards)
        member = orders.plan.member(self._problem, post, orders.limit)
        if orders.recall:
            own = [region for region in range(REGIONS) if post.homes[region] == post.number]
            try:
                parts = ray.get([shard.read.remote(own) for shard in orders.shards])
            except RayError:
                raise CalledOff from None  # a shard has died, and it may be that all of them are needed
            member.recall(record.content for records in parts for record in records)
        with self._lock:
            self._member, self._epoch = member, orders.epoch
            for epoch, word, limit in self._early:
                if epoch == orders.epoch:
                    _pass_on(member, word, limit)
            self._early = [early for early in self._early if early[0] > orders.epoch]

        def hand_over(to: int, place: int, letter: bytes) -> None:
            orders.workers[to].deliver.remote(orders.epoch, place, post.number, letter)

        carrier = Carrier(post.number, post.size, self._mailbox, orders.epoch, hand_over)
        inbox: list[bytes] = []
        step, busy, waited, saving, due = 0, 0.0, 0.0, 0.0, 0.0
        reported: Solution | None = None
        cpu, began = time.thread_time(), time.perf_counter()
        while True:
            start = time.perf_counter()
            outbox = member.step(inbox)
            if not member.finished:  # as are all others then
                carrier.send(step, outbox)
            sent = time.perf_counter()
            saved = member.saved()
            if saved is not None:
                done = self._keep(orders, step, saved, member.best)
                if member.finished:  # who reads the shards when all have finished finds it there
                    ray.wait(done, num_returns=len(done), timeout=_PATIENCE_WITH_SHARDS)
            now = time.perf_counter()
            busy += now - start
            saving += now - sent if saved is not None else 0.0
            news = member.best if member.best is not reported else None
            if now >= due or news is not None or member.finished:
                due = now + max(pause_after(now - began), post.size / _REPORTS)
                reported = member.best
                report = Report(
                    orders.epoch,
                    post.number,
                    step,
                    member.expanded,
                    member.evaluated,
                    member.open,
                    member.cached,
                    member.lower_bound(),
                    member.best if member.finished else news,
                    busy,
                    time.thread_time() - cpu,
                    waited,
                    saving,
                    carrier.messages,
                    carrier.written,
                    memory.is_over(member.spare_memory),
                    member.statistics(),
                )
                if member.finished:
                    return report
                orders.scheduler.report.remote(report)
            inbox = carrier.collect(step)
            waited += time.perf_counter() - now
            step += 1

    def _keep(self, orders: Orders, step: int, saved: Saved, best: Solution | None) -> list[Any]:
        """Send what was saved to the shards, and tell the scheduler when they have it."""
        (since, shards), number = self._shards, generation(orders.epoch, step)
        parts: list[list[tuple[int, bytes]]] = [[] for _ in shards]
        for record in saved.records:
            parts[record.region % len(shards)].append((record.region, record.content))
        done = [shard.append.remote(number, part, saved.whole) for shard, part in zip(shards, parts, strict=True)]
        # The scheduler waits for them, so that the search need not. What was saved is no use without the best tree.
        orders.scheduler.kept.remote(number, since, orders.number, best, done)
        return done


def _pass_on(member: Member, word: str, limit: int) -> None:
    if word == "tighten":
        member.tighten(limit)
    elif word == "stop":
        member.stop()
    elif word == "save":
        member.save()
