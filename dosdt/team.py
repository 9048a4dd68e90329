"""What a search keeps to so that several of its kind solve one problem together, in step.

The members of a team go through the same steps. In each, a member takes in what all members said to it in the last
one, works for a short while and says something to each. So a team is as predictable as a single search: what it does
depends on the messages alone, never on who was faster. What the members know is shared out by *regions*: a subset, or
a tree of few leaves, belongs to a region by a hash of what it is, and every region has one member as its home. What
is to outlive a team is in records, each of which belongs to some region, too.

A runtime only carries messages: `dosdt.workers.lockstep` within one process, `dosdt.workers.crew` on Ray.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dosdt.contract import Solution

REGIONS = 4093
"""Many more than members, so that each gets its fair share; a prime, so that all bits of a hash matter."""


class Post(NamedTuple):
    """A member's place in its team.

    Attributes
    ----------
    number : int
        Which member it is, from 0.
    size : int
        How many there are.
    homes : tuple of REGIONS int
        The member that each region belongs to.
    """

    number: int
    size: int
    homes: tuple[int, ...]


def posts(shares: Sequence[float]) -> list[Post]:
    """Return the posts of a team whose members take these shares of the work, relative to each other."""
    total, filled = float(sum(shares)), 0.0
    homes: list[int] = []
    for number, share in enumerate(shares):
        filled += share
        last = REGIONS if number == len(shares) - 1 else round(REGIONS * filled / total)
        homes += [number] * (last - len(homes))
    # Regions next to each other are no nearer than others, so each member can have a run of them.
    return [Post(number, len(shares), tuple(homes)) for number in range(len(shares))]


def region_of(number: int) -> int:
    """Return the region of what has this hash, which must be the same in all processes."""
    return number % REGIONS


class Record(NamedTuple):
    """Something a member knows that must outlive it, as bytes that any member of any team understands."""

    region: int
    content: bytes


@dataclass(frozen=True)
class Saved:
    """What a member wants to be kept by the TreeCache.

    Attributes
    ----------
    records : list of Record
    whole : bool
        Whether what all members save in the same step is all there is to know, so that earlier records can go;
        otherwise each record holds for ever and is added to the others.
    """

    records: list[Record]
    whole: bool


class Member(Protocol):
    """One of several searches that solve a problem together.

    A new member knows nothing but the problem. Before its first step it may be told what others have saved, and the
    cost that a tree must stay below to be of interest.
    """

    expanded: int
    """Subsets or trees expanded here."""

    @property
    def evaluated(self) -> int:
        """Subsets expanded or trees evaluated here."""
        ...

    @property
    def open(self) -> int:
        """How much is open here."""
        ...

    @property
    def cached(self) -> int:
        """How much is remembered here."""
        ...

    @property
    def finished(self) -> bool:
        """Whether there is no further step; all members finish in the same one."""
        ...

    @property
    def limit(self) -> int:
        """Cost that a tree must stay below to be of interest."""
        ...

    @property
    def best(self) -> Solution | None:
        """The best tree that this member has found; None if it has found none better than the limit it was given."""
        ...

    def lower_bound(self) -> int:
        """Return a bound on all trees that the team may still find, as of the last step; the limit when finished."""
        ...

    def step(self, inbox: Sequence[bytes]) -> list[bytes]:
        """Take in one message from each member, none before the first step, and return one for each.

        A step takes a tenth of a second or so at most.
        """
        ...

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit` from now on; may be called from another thread at any time."""
        ...

    def stop(self) -> None:
        """Ask all members to finish soon, whatever is open; may be called from another thread at any time."""
        ...

    def save(self) -> None:
        """Ask all members to save what they know; may be called from another thread at any time."""
        ...

    def saved(self) -> Saved | None:
        """Return what is to be kept, if all members have been asked to save in this step; call it after each step."""
        ...

    def recall(self, contents: Iterable[bytes]) -> None:
        """Take in the contents of records; call it before the first step."""
        ...

    def spare_memory(self) -> None:
        """Make do with less from now on, if possible; may be called from another thread at any time."""
        ...

    def statistics(self) -> dict[str, int]:
        """Return counts of this member's own, by name; sums over members make sense."""
        ...
