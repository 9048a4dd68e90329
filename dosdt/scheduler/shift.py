"""One team at work, from its orders to its last reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from dosdt.scheduler.roster import Hand
from dosdt.workers.papers import Orders, Report


class Shift:
    """Workers that have got their orders.

    Parameters
    ----------
    epoch : int
        The number of the team.
    team : sequence of Hand
    orders : function of a member's number

    Attributes
    ----------
    reports : list of Report
        The last of each worker that was not called off.
    over_memory : bool
        Whether somebody could not get the memory it needed.
    lost_patience : bool
        Whether somebody was let go for not having ended in time.
    """

    def __init__(self, epoch: int, team: Sequence[Hand], orders: Callable[[int], Orders]) -> None:
        self.epoch, self.team = epoch, team
        self.reports: list[Report] = []
        self.over_memory = self.lost_patience = False
        self._asked: dict[Any, int] = {}
        self._running = {hand.actor.work.remote(orders(number)): hand for number, hand in enumerate(team)}

    def work(self, answer_within: float, wants_another: Callable[[], bool], let_go: Callable[[Hand], None]) -> bool:
        """Wait until all have ended; return whether they have finished, rather than been called off.

        Parameters
        ----------
        answer_within : float
            Seconds in which whoever is called off has to end.
        wants_another : callable
            Says whether to call the team off.
        let_go : callable
            Does without a worker from now on.
        """
        called_off, until = False, float("inf")
        while self._running:
            ready, _ = ray.wait(list(self._running), timeout=0.1)
            for ref in ready:
                called_off |= not self._ended(ref, let_go)
            if self._running and (called_off or wants_another()):
                if until == float("inf"):
                    until = time.monotonic() + answer_within
                    self.tell("call_off")
                called_off = True
                if time.monotonic() > until:  # it does not even hear that it is called off
                    self.lost_patience = True
                    for hand in self._running.values():
                        let_go(hand)
                # Who was let go may take long to die, and nobody waits for it.
                self._running = {ref: hand for ref, hand in self._running.items() if not hand.gone}
        return not called_off

    def tell(self, word: str, limit: int = 0) -> None:
        """Say something to all of them."""
        for hand in self.team:
            hand.actor.tell.remote(self.epoch, word, limit)

    def use(self, since: int, shards: list[Any]) -> None:
        """Let all of them save to these shards from now on."""
        for hand in self.team:
            hand.actor.use.remote(since, shards)

    def ask(self) -> None:
        """Ask all of them whether they are there."""
        self._asked = {hand.actor.tell.remote(self.epoch, "hello"): k for k, hand in enumerate(self.team)}

    def silent(self) -> list[int]:
        """Return who has not answered yet."""
        _, waiting = ray.wait(list(self._asked), num_returns=len(self._asked), timeout=0)
        return [self._asked[ref] for ref in waiting]

    def _ended(self, work: Any, let_go: Callable[[Hand], None]) -> bool:
        """Take in how a worker has ended; return whether it had finished."""
        hand = self._running.pop(work)
        try:
            report: Report | None = ray.get(work)
        except RayTaskError as error:
            if isinstance(error.cause, MemoryError):
                self.over_memory = True
            elif not isinstance(error.cause, RayError):  # else somebody it asked has died
                raise
            return False
        except RayError:
            let_go(hand)
            return False
        if report is None:
            return False
        self.reports.append(report)
        return True
