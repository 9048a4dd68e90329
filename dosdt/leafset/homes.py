"""Which member of a team a tree belongs to."""

from __future__ import annotations

from dosdt.leafset.leaves import LeafCache
from dosdt.leafset.queue import Key
from dosdt.team import Post, region_of

_MASK = (1 << 64) - 1
_BITS = 52  # a region depends on no more
_LOW = (1 << _BITS) - 1


class Homes:
    """Finds the home of a tree: the same in all processes, whatever numbers they have given to its leaves.

    That is the home of the heaviest leaf to be split. Every code has a rank: first its weight, then bits that follow
    from what the leaf is; leaves that stay come last.

    Parameters
    ----------
    leaves : LeafCache
    post : Post
    """

    def __init__(self, leaves: LeafCache, post: Post) -> None:
        self._leaves = leaves
        self._homes = post.homes
        self._ranks: list[int] = []
        self._rank = self._ranks.__getitem__

    def home(self, key: Key) -> int:
        """Return the member that a tree belongs to."""
        try:
            return self._homes[region_of(max(map(self._rank, key)) & _LOW)]
        except IndexError:  # leaves that are new here
            self._catch_up()
        return self._homes[region_of(max(map(self._rank, key)) & _LOW)]

    def _catch_up(self) -> None:
        for leaf in self._leaves.leaves[len(self._ranks) // 2 :]:
            self._ranks += [0, (leaf.weight + 1) << _BITS | _mixed(self._leaves.number(leaf))]


def _mixed(number: int) -> int:
    """Return bits that each depend on all of the number's (the end of SplitMix64)."""
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & _MASK
    return (number ^ (number >> 31)) >> (64 - _BITS)
