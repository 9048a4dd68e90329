"""The trees that a member sends and gets, and whose number for a leaf is whose."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dosdt.leafset.arrays import grown
from dosdt.leafset.leaves import Leaf, LeafCache
from dosdt.leafset.letters import NO_NUMBERS, Array, Header, Letter, Lists, encode, lists_of
from dosdt.leafset.queue import Key, Task, lower_bound_of
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
        """Trees sent home so far, or waiting to be."""
        self.given = 0
        """Open trees given to others so far."""
        self._trees: list[list[Key]] = [[] for _ in range(post.size)]
        self._bounds: list[list[int]] = [[] for _ in range(post.size)]
        self._given: list[Task] = [[] for _ in range(post.size)]
        # By own leaf number, which leaves each member has been told; by the number it gives, each leaf's own.
        self._told: list[Array] = [np.zeros(0, np.bool_) for _ in range(post.size)]
        self._own: list[Array] = [np.zeros(0, np.int64) for _ in range(post.size)]
        # By own leaf number, of which leaves each member has been shown what was found.
        self._shown: list[Array] = [np.zeros(0, np.bool_) for _ in range(post.size)]

    def put(self, home: int, key: Key, bound: int) -> None:
        """Lay a tree aside for a member."""
        self.sent += 1
        self._trees[home].append(key)
        self._bounds[home].append(bound)

    def give(self, member: int, trees: Task) -> None:
        """Lay open trees aside for a member that has nothing to do."""
        self.given += len(trees)
        self._given[member] += trees

    def drop(self, limit: int) -> None:
        """Forget the new trees laid aside that cannot cost less than `limit`."""
        for home, bounds in enumerate(self._bounds):
            if any(bound >= limit for bound in bounds):
                trees = zip(self._trees[home], bounds, strict=True)
                self._trees[home] = [key for key, bound in trees if bound < limit]
                self._bounds[home] = [bound for bound in bounds if bound < limit]
                self.sent -= len(bounds) - len(self._bounds[home])

    def lower_bound(self) -> int | None:
        """Return the smallest bound of the trees laid aside, or None if there are none."""
        given = [bound for task in self._given if (bound := lower_bound_of(task)) is not None]
        return min([*given, *(min(bounds) for bounds in self._bounds if bounds)], default=None)

    def write(self, header: Header, known: Sequence[Leaf]) -> list[bytes]:
        """Return a letter to each member, with the trees laid aside for it; of these leaves all should know."""
        nothing = encode(Letter(header, NO_NUMBERS, _NO_LISTS, _NO_LISTS))
        letters = []
        for home, (given, trees) in enumerate(zip(self._given, self._trees, strict=True)):
            something = given or trees or (home != header.sender and known)
            letters.append(self._letter(header, home, known) if something else nothing)
            for laid_aside in (self._trees, self._bounds, self._given):
                laid_aside[home] = []
        return letters

    def read(self, letter: Letter) -> tuple[Lists, Lists]:
        """Return the trees that a letter gives and others, in codes of one's own, each in the sender's order."""
        sender, (sizes, codes) = letter.header.sender, letter.trees
        if len(letter.leaves):
            own = self._own[sender] = grown(self._own[sender], int(letter.leaves.max()) + 1)
            own[letter.leaves] = [self._leaves.at(path).index for path in letter.paths.tuples()]
        leaves = self._leaves.leaves
        for number, least in zip(self._own[sender][letter.known].tolist(), letter.leasts, strict=True):
            self._leaves.hear(leaves[number], least)
        shown = self._own[sender][letter.shown]
        for number, outlook in zip(shown.tolist(), letter.outlooks, strict=True):
            self._leaves.see(leaves[number], outlook)
        self._shown[sender] = grown(self._shown[sender], len(leaves))
        self._shown[sender][shown] = True
        return Lists(sizes, 2 * self._own[sender][codes >> 1] + (codes & 1)).parted(letter.given)

    def _letter(self, header: Header, home: int, known: Sequence[Leaf]) -> bytes:
        leaves = self._leaves.leaves
        given = [key for *_, key in self._given[home]]
        trees = lists_of([*given, *self._trees[home]])
        numbers = np.array([leaf.index for leaf in known], np.int64)
        told = self._told[home] = grown(self._told[home], len(leaves))
        used = np.concatenate([trees.items >> 1, numbers])
        new = np.unique(used[~told[used]])
        told[new] = True
        paths = lists_of([leaves[index].path for index in new.tolist()])
        leasts = [leaf.least for leaf in known]
        shown, outlooks = self._seen(home, trees)
        return encode(Letter(header, new, paths, trees, len(given), numbers, leasts, shown, outlooks))

    def _seen(self, member: int, trees: Lists) -> tuple[Array, Array]:
        """Return the leaves of trees that a member would have to look at to split them, and what was found then."""
        if not self._leaves.looks_ahead:
            return NO_NUMBERS, NO_NUMBERS
        leaves = self._leaves.leaves
        shown = self._shown[member] = grown(self._shown[member], len(leaves))
        numbers = np.unique(trees.items[trees.items % 2 == 1] >> 1)
        seen = [index for index in numbers[~shown[numbers]].tolist() if leaves[index].outlook is not None]
        shown[seen] = True
        # The ways found to split them lead to leaves that may be unknown there.
        outlooks = [outlook[:2] for index in seen if (outlook := leaves[index].outlook) is not None]
        return np.array(seen, np.int64), np.array(outlooks)


_NO_LISTS = Lists(NO_NUMBERS, NO_NUMBERS)
