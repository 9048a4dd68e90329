"""Which member of a team a tree belongs to."""

from __future__ import annotations

import numpy as np

from dosdt.leafset.leaves import LeafCache
from dosdt.leafset.letters import Array, Lists
from dosdt.leafset.queue import Key
from dosdt.team import Post, region_of

_MASK = (1 << 64) - 1
_BITS = 52  # a region depends on no more, and sums of so few stay within a machine word, where Python is fastest


class Homes:
    """Finds the home of a tree: the same in all processes, whatever numbers they have given to its leaves.

    Every code has a mark that follows from what the leaf is, and a tree's hash is the sum of its marks.

    Parameters
    ----------
    leaves : LeafCache
    post : Post
    """

    def __init__(self, leaves: LeafCache, post: Post) -> None:
        self._leaves = leaves
        self._homes = post.homes
        self._marks: list[int] = []
        self._mark = self._marks.__getitem__

    def home(self, key: Key) -> int:
        """Return the member that a tree belongs to."""
        try:
            return self._homes[region_of(sum(map(self._mark, key)))]
        except IndexError:  # leaves that are new here
            self._catch_up()
        return self._homes[region_of(sum(map(self._mark, key)))]

    def regions(self, trees: Lists) -> Array:
        """Return the regions of many trees."""
        self._catch_up()
        hashes = np.add.reduceat(np.array(self._marks)[trees.items], trees.starts)
        return np.array([region_of(number) for number in hashes.tolist()])

    def _catch_up(self) -> None:
        for leaf in self._leaves.leaves[len(self._marks) // 2 :]:
            number = self._leaves.number(leaf)
            self._marks += [_mixed(2 * number), _mixed(2 * number + 1)]


def _mixed(number: int) -> int:
    """Return bits that each depend on all of the number's (the end of SplitMix64)."""
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & _MASK
    return (number ^ (number >> 31)) >> (64 - _BITS)
