"""Letters that wait for the step they belong to, from whichever thread they come."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence


class CalledOff(Exception):  # noqa: N818 - an outcome, not a fault
    """The team was called off: its members are to be given other posts."""


class Mailbox:
    """Letters by team and place; who collects those of one place knows who sends them."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._letters: defaultdict[tuple[int, int], dict[int, bytes]] = defaultdict(dict)
        self._called_off = 0

    def deliver(self, epoch: int, place: int, sender: int, letter: bytes) -> None:
        """Put a letter into its place."""
        with self._condition:
            if epoch > self._called_off:
                self._letters[epoch, place][sender] = letter
                self._condition.notify_all()

    def collect(self, epoch: int, place: int, senders: Sequence[int]) -> list[bytes]:
        """Wait for one letter from each sender, and return them in order."""
        with self._condition:
            while len(self._letters[epoch, place]) < len(senders):
                if epoch <= self._called_off:
                    raise CalledOff
                self._condition.wait()
            letters = self._letters.pop((epoch, place))
            return [letters[sender] for sender in senders]

    def call_off(self, epoch: int) -> None:
        """Wait no more for letters of a team, or of those before it."""
        with self._condition:
            self._called_off = max(self._called_off, epoch)
            self._letters = defaultdict(
                dict, {place: letters for place, letters in self._letters.items() if place[0] > self._called_off}
            )
            self._condition.notify_all()
