"""The shards of the TreeCache as actors, and what to do when they die."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayError

from dosdt.scheduler.actors import actor_kind
from dosdt.scheduler.treecache import TreeCacheShard
from dosdt.team import Record

_PATIENCE = 60.0
"""Seconds for a shard to answer, or to hand over all it holds."""
_COMMIT_WITHIN = 10.0


class _Shard(TreeCacheShard):
    """A shard as an actor."""

    def pid(self) -> int:
        """Return the process number; also how to see that it is alive."""
        return os.getpid()


class Shards:
    """The actors that hold the TreeCache; one that dies is replaced by an empty one.

    Attributes
    ----------
    actors : list of actor handles
        A new list whenever one is replaced.
    """

    def __init__(self) -> None:
        self.actors: list[Any] = []
        self._pings: list[tuple[Any, float]] = []

    def start(self, n: int) -> None:
        """Start this many."""
        self.actors = [_new_shard() for _ in range(n)]
        self._pings = [(shard.pid.remote(), time.monotonic()) for shard in self.actors]

    def fill(self, records: Sequence[Record], whole: bool) -> bool:
        """Let them hold what an earlier run has saved; return whether all do."""
        n = len(self.actors)
        parts = [[tuple(record) for record in records if record[0] % n == k] for k in range(n)]
        try:
            ray.get([s.append.remote(0, part, whole) for s, part in zip(self.actors, parts, strict=True)])
            if whole:
                ray.get([shard.commit.remote(0) for shard in self.actors])
        except RayError:
            return False
        return True

    def commit(self, generation: int) -> bool:
        """Let what was saved as a whole take the place of all that was before; return whether it did everywhere."""
        try:
            ray.get([shard.commit.remote(generation) for shard in self.actors], timeout=_COMMIT_WITHIN)
        except RayError:
            return False
        return True

    def read(self) -> list[Record] | None:
        """Return all that they hold; None if some of it cannot be had."""
        records: list[Record] = []
        for part in [shard.read.remote() for shard in self.actors]:
            try:
                records += ray.get(part, timeout=_PATIENCE)
            except RayError:
                return None  # the next save fills another shard
        return records

    def lost(self) -> list[int]:
        """Return which have died or hang, and ask the others whether they are there."""
        now = time.monotonic()
        lost = []
        for k, (ping, asked) in enumerate(self._pings):
            ready, _ = ray.wait([ping], timeout=0)
            try:
                if ready:
                    ray.get(ping)
                    self._pings[k] = self.actors[k].pid.remote(), now
                elif now - asked > _PATIENCE:
                    lost.append(k)
            except RayError:
                lost.append(k)
        return lost

    def replace(self, lost: Sequence[int]) -> None:
        """Put new shards in the place of these."""
        actors = list(self.actors)
        for k in lost:
            ray.kill(actors[k])
            actors[k] = _new_shard()
            self._pings[k] = actors[k].pid.remote(), time.monotonic()
        self.actors = actors

    def pids(self) -> list[int]:
        """Return the process numbers of those that are alive."""
        pids = []
        for shard in self.actors:
            try:
                pids.append(ray.get(shard.pid.remote(), timeout=5))
            except RayError:
                continue
        return pids


def _new_shard() -> Any:
    return actor_kind(_Shard, num_cpus=0).options(scheduling_strategy="SPREAD").remote()
