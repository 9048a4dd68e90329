"""The trees that a member sends and gets, and whose number for a leaf is whose."""

from __future__ import annotations

import numpy as np

from dosdt.leafset.arrays import grown
from dosdt.leafset.leaves import LeafCache
from dosdt.leafset.letters import Array, Header, Letter, Lists, encode, lists_of
from dosdt.leafset.queue import Key
from dosdt.team import Post


class Mail:
    """One member's letters to and from the others.

    Parameters
    ----------
    leaves : LeafCache
    post : Post
    """

    def __init__(self, leaves: LeafCache, post: Post) -> None:
        self._leaves = leaves
        self.sent = 0
        """Trees sent so far, or waiting to be."""
        self._trees: list[list[Key]] = [[] for _ in range(post.size)]
        self._bounds: list[list[int]] = [[] for _ in range(post.size)]
        # By own leaf number, which leaves each member has been told; by the number it gives, each leaf's own.
        self._told: list[Array] = [np.zeros(0, np.bool_) for _ in range(post.size)]
        self._own: list[Array] = [np.zeros(0, np.int64) for _ in range(post.size)]

    def put(self, home: int, key: Key, bound: int) -> None:
        """Lay a tree aside for a member."""
        self.sent += 1
        self._trees[home].append(key)
        self._bounds[home].append(bound)

    def drop(self, limit: int) -> None:
        """Forget the trees laid aside that cannot cost less than `limit`."""
        for home, bounds in enumerate(self._bounds):
            if any(bound >= limit for bound in bounds):
                trees = zip(self._trees[home], bounds, strict=True)
                self._trees[home] = [key for key, bound in trees if bound < limit]
                self._bounds[home] = [bound for bound in bounds if bound < limit]
                self.sent -= len(bounds) - len(self._bounds[home])

    def lower_bound(self) -> int | None:
        """Return the smallest bound of the trees laid aside, or None if there are none."""
        return min((min(bounds) for bounds in self._bounds if bounds), default=None)

    def write(self, header: Header) -> list[bytes]:
        """Return a letter to each member, with the trees laid aside for it."""
        nothing = encode(Letter(header, _NO_NUMBERS, _NO_LISTS, _NO_LISTS))
        letters = [self._letter(header, home) if trees else nothing for home, trees in enumerate(self._trees)]
        for home in range(len(letters)):
            self._trees[home], self._bounds[home] = [], []
        return letters

    def read(self, letter: Letter) -> Lists:
        """Return the trees of a letter in codes of one's own, each in the sender's order."""
        sender, (sizes, codes) = letter.header.sender, letter.trees
        if len(letter.leaves):
            own = self._own[sender] = grown(self._own[sender], int(letter.leaves.max()) + 1)
            own[letter.leaves] = [self._leaves.at(path).index for path in letter.paths.tuples()]
        return Lists(sizes, 2 * self._own[sender][codes >> 1] + (codes & 1))

    def _letter(self, header: Header, home: int) -> bytes:
        leaves = self._leaves.leaves
        trees = lists_of(self._trees[home])
        told = self._told[home] = grown(self._told[home], len(leaves))
        used = trees.items >> 1
        new = np.unique(used[~told[used]])
        told[new] = True
        paths = lists_of([leaves[index].path for index in new.tolist()])
        return encode(Letter(header, new, paths, trees))


_NO_NUMBERS = np.zeros(0, np.int64)
_NO_LISTS = Lists(_NO_NUMBERS, _NO_NUMBERS)
