"""Looks after a team while it works, and says when another would do better."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from dosdt.scheduler.balance import imbalance
from dosdt.scheduler.settings import Settings

_SECONDS_BETWEEN_LOOKS = 0.5
_UNEVEN = 1.35
"""So many times as busy as the others on average is a worker with too much to do."""
_WORK_FOR_A_SAVE = 50
"""So many times as long as it has saved a team has worked before it saves again."""
_LONG_ENOUGH = 15.0
"""Seconds after which it shows how fast workers are."""


class Watched(Protocol):
    """A team as its vigil sees it; members are numbers."""

    @property
    def heard(self) -> float:
        """When a member was last heard of."""
        ...

    @property
    def stopping_since(self) -> float | None:
        """When all were told to stop, if they were."""
        ...

    @property
    def saves(self) -> int:
        """How often all that is known has been saved."""
        ...

    def mend(self) -> bool:
        """Put new shards in the place of lost ones; return whether there were any."""
        ...

    def ask(self) -> None:
        """Ask all members whether they are there."""
        ...

    def silent(self) -> Sequence[int]:
        """Return who has not answered yet."""
        ...

    def let_go(self, member: int) -> None:
        """Do without a member from now on."""
        ...

    def save(self) -> None:
        """Ask all members to save what they know."""
        ...

    def saving(self) -> float:
        """Return how many seconds of each member saving has taken so far."""
        ...

    def others_have_come(self) -> bool:
        """Say whether there are workers that are not in the team."""
        ...

    def busy(self) -> Sequence[float] | None:
        """Return how many seconds each member was busy, if that is known of all."""
        ...

    def share_out(self, busy: Sequence[float]) -> None:
        """Share out the work of the next team so that all would have been busy for the same time."""
        ...


class Vigil:
    """Watches one team after another.

    Parameters
    ----------
    settings : Settings
    certify : bool
        Whether all that members have proved must be at hand in the end.
    clock : callable

    Attributes
    ----------
    answer_within : float
        Seconds after which a worker that does not answer is let go. They grow whenever that has happened: on a
        machine that is busy with other things, nobody would ever be fast enough.
    """

    def __init__(self, settings: Settings, certify: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._certify, self._clock = settings, certify, clock
        self._patience, self.answer_within = settings.patience, settings.answer_within
        self._epoch = 0
        self._begin()

    def _begin(self) -> None:
        self._start = self._looked = self._saved = self._clock()
        self._asked_at: float | None = None
        self._answered_in_vain = False
        self._saves_before_change: int | None = None

    def begin(self, epoch: int) -> None:
        """Take note that a team begins to work now."""
        self._epoch = epoch
        self._begin()

    def be_more_patient(self) -> None:
        """Take in that somebody was let go for not having answered."""
        self._patience *= 2
        self.answer_within *= 2

    def wants_another_team(self, team: Watched) -> bool:
        """Say whether the team should be called off; mend what can be mended without that."""
        now = self._clock()
        if now - self._looked < _SECONDS_BETWEEN_LOOKS:
            return False
        self._looked = now
        if team.mend() and self._certify:
            return True  # what was saved there is not saved twice by the same member
        if team.stopping_since is not None and now - team.stopping_since > self._settings.answer_within:
            return True
        if self._somebody_is_silent(team, now):
            return True
        if now - self._saved >= self._settings.save_seconds and _WORK_FOR_A_SAVE * team.saving() <= now - self._start:
            self._saved = now
            team.save()
        return self._others_would_do_better(team, now)

    def _somebody_is_silent(self, team: Watched, now: float) -> bool:
        """Ask all workers whether they are there if nothing was heard for long; let go of who does not answer."""
        if self._asked_at is None:
            if now - team.heard > self._patience:
                team.ask()
                self._asked_at = now
            return False
        silent = team.silent()
        if silent and now - self._asked_at < self.answer_within:
            return False
        self._asked_at = None
        if silent:
            for member in silent:
                team.let_go(member)
            self.be_more_patient()
            return True
        if now - team.heard > self._patience and self._answered_in_vain:
            return True  # all are there, and wait for a letter that was lost
        self._answered_in_vain = True
        self._patience *= 2  # or their steps are long
        return False

    def _others_would_do_better(self, team: Watched, now: float) -> bool:
        """Save first, and change the team when all is saved, if workers have come or the work is uneven."""
        come = team.others_have_come()
        if self._saves_before_change is not None:
            return team.saves > self._saves_before_change
        lasted = now - self._start
        busy = team.busy()
        uneven = busy is not None and len(busy) > 1 and imbalance(busy) > _UNEVEN
        if (come and lasted > min(3.0 * self._epoch, 30.0)) or (uneven and lasted > _LONG_ENOUGH * self._epoch):
            if uneven and busy is not None:
                team.share_out(busy)
            self._saves_before_change = team.saves
            team.save()
        return False
