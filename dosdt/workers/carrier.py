"""How letters get from every member of a team to every other: one by one, or in bundles by way of others.

With W members, a step has W·(W - 1) letters, and each costs its sender and its receiver some time, however short it
is. So large teams stand in a square: a member hands each of its row the letters for that one's column, who hands them
on down the column. Each then writes about 2·√W bundles instead of W - 1 letters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isqrt

import msgpack

from dosdt.workers.mailbox import Mailbox

SMALL = 8
"""Up to here, each writes to each: the way by others takes twice as long."""


class Square:
    """Members by rows and columns; the last row may be shorter.

    Parameters
    ----------
    size : int
        How many members there are.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.columns = max(1, isqrt(max(size - 1, 0)) + 1)

    def column(self, member: int) -> range:
        """Return all members of a member's column."""
        return range(member % self.columns, self._size, self.columns)

    def by_way_of(self, sender: int, column: int) -> int:
        """Return who hands a sender's letters on in a column: of its own row, or above where that is too short."""
        member = sender - sender % self.columns + column
        return member if member < self._size else member - self.columns

    def senders_by_way_of(self, member: int) -> list[int]:
        """Return whose letters a member hands on."""
        return [sender for sender in range(self._size) if self.by_way_of(sender, member % self.columns) == member]


class Carrier:
    """Sends and collects the letters of one member.

    Parameters
    ----------
    number, size : int
        Which member it is, of how many.
    mailbox : Mailbox
        Where what others send arrives.
    epoch : int
        The number of the team.
    hand_over : function of a member, a place in its mailbox and bytes

    Attributes
    ----------
    messages, written : int
        How many were sent to others, and how many bytes.
    """

    def __init__(
        self, number: int, size: int, mailbox: Mailbox, epoch: int, hand_over: Callable[[int, int, bytes], None]
    ) -> None:
        self._number, self._size = number, size
        self._mailbox, self._epoch, self._hand_over = mailbox, epoch, hand_over
        self._square = Square(size) if size > SMALL else None
        self._passed_on = self._square.senders_by_way_of(number) if self._square is not None else []
        self.messages = self.written = 0

    def send(self, step: int, outbox: Sequence[bytes]) -> None:
        """Send one letter to each member."""
        if self._square is None:
            for to, letter in enumerate(outbox):
                self._send(to, 2 * step, letter)
            return
        for column in range(self._square.columns):
            bundle = msgpack.packb([outbox[to] for to in self._square.column(column)])
            self._send(self._square.by_way_of(self._number, column), 2 * step, bundle)

    def collect(self, step: int) -> list[bytes]:
        """Wait for one letter from each member, and return them in order; hand on those that are for others."""
        if self._square is None:
            return self._mailbox.collect(self._epoch, 2 * step, range(self._size))
        bundles = map(msgpack.unpackb, self._mailbox.collect(self._epoch, 2 * step, self._passed_on))
        column = self._square.column(self._number)
        for to, letters in zip(column, zip(*bundles, strict=True), strict=True):
            self._send(to, 2 * step + 1, msgpack.packb([self._passed_on, letters]))
        inbox: dict[int, bytes] = {}
        for bundle in self._mailbox.collect(self._epoch, 2 * step + 1, column):
            inbox.update(zip(*msgpack.unpackb(bundle), strict=True))
        return [inbox[sender] for sender in range(self._size)]

    def _send(self, to: int, place: int, content: bytes) -> None:
        if to == self._number:
            self._mailbox.deliver(self._epoch, place, to, content)
        else:
            self._hand_over(to, place, content)
            self.messages += 1
            self.written += len(content)
