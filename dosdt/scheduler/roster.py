"""Who works: workers that were asked for, those that have come, and those that are let go."""

from __future__ import annotations

from typing import Any

import ray
from ray.exceptions import RayError

from dosdt.scheduler.actors import actor_kind, cpus
from dosdt.workers.worker import Worker


class Hand:
    """A worker as the scheduler sees it."""

    def __init__(self, actor: Any) -> None:
        self.actor = actor
        self.hello = actor.hello.remote()
        self.node: str | None = None
        self.pid = 0
        self.share = 1.0
        self.gone = False


class Roster:
    """All workers there are or are to be.

    Parameters
    ----------
    workers : int, optional
        How many are wanted; None is one for each CPU of the cluster.
    problem : reference to the Problem
        Each worker fetches it once.

    Attributes
    ----------
    ready : list of Hand
        Those that have started.
    """

    def __init__(self, workers: int | None, problem: Any) -> None:
        self._workers, self._problem = workers, problem
        self._hands: list[Hand] = []
        self.ready: list[Hand] = []

    @property
    def wanted(self) -> int:
        """How many workers there should be."""
        return cpus() if self._workers is None else self._workers

    @property
    def actors(self) -> list[Any]:
        """All of them, also those that are still to come."""
        return [hand.actor for hand in self._hands]

    def hire(self) -> None:
        """Ask for as many workers as are wanted; those there is no room for come when there is."""
        for _ in range(self.wanted - len(self._hands)):
            kind = actor_kind(Worker, num_cpus=1, concurrency_groups={"mail": 1, "control": 1})
            actor = kind.options(scheduling_strategy="SPREAD").remote(self._problem)
            self._hands.append(Hand(actor))

    def welcome(self) -> None:
        """Take note of workers that have started, and of those that never will."""
        for hand in [hand for hand in self._hands if hand.node is None]:
            ready, _ = ray.wait([hand.hello], timeout=0)
            if ready:
                try:
                    hand.node, hand.pid = ray.get(hand.hello)
                    self.ready.append(hand)
                except RayError:
                    self._hands.remove(hand)

    def let_go(self, hand: Hand) -> bool:
        """Do without a worker from now on; return whether there was such a one."""
        if hand.gone:
            return False
        hand.gone = True
        ray.kill(hand.actor)
        self._hands.remove(hand)
        self.ready.remove(hand)
        return True
