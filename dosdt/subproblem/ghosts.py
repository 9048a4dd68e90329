"""Nodes of other members as a member knows them: bounds, as of what was heard last."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Ids = npt.NDArray[np.intp]

_ARRAYS = ("lower", "upper", "member", "node", "heard")


class Ghosts:
    """Ghosts by number, and by member and node.

    Attributes
    ----------
    lower, upper : integer arrays of shape (ghosts,)
        Bounds on the nodes' costs. Arrays have room for more.
    member, node : int32 arrays of shape (ghosts,)
        Whose node it is, and its number there.
    heard : int32 array of shape (ghosts,)
        When the bounds were last changed, by the clock of the graph.
    """

    def __init__(self, members: int, integer: Any, never: int) -> None:
        self._n = 0
        self._never = never
        self.lower, self.upper = (np.empty(0, integer) for _ in range(2))
        self.member, self.node, self.heard = (np.empty(0, np.int32) for _ in range(3))
        self._numbers = [np.empty(0, np.int32) for _ in range(members)]  # by node, -1 where there is no ghost

    def __len__(self) -> int:
        return self._n

    def of(self, member: int, nodes: Ids) -> Ids:
        """Return the ghosts of a member's nodes, new ones where there are none."""
        if not len(nodes):
            return nodes
        numbers = self._numbers[member]
        most = int(nodes.max()) + 1
        if most > len(numbers):
            grown = np.full(max(most, 2 * len(numbers)), -1, np.int32)
            grown[: len(numbers)] = numbers
            numbers = self._numbers[member] = grown
        new = np.unique(nodes[numbers[nodes] < 0])
        if len(new):
            first, last = self._n, self._n + len(new)
            if last > len(self.lower):
                for name in _ARRAYS:
                    getattr(self, name).resize(max(last, 2 * self._n, 64), refcheck=False)
            numbers[new] = np.arange(first, last)
            added = slice(first, last)
            self.lower[added], self.upper[added] = 0, self._never
            self.member[added], self.node[added], self.heard[added] = member, new, 0
            self._n = last
        return numbers[nodes].astype(np.intp)

    def hear(self, ghosts: Ids, lower: Array, upper: Array, now: int) -> None:
        """Take in what the nodes' home says of them."""
        better = (lower > self.lower[ghosts]) | (upper < self.upper[ghosts])
        ghosts = ghosts[better]
        self.lower[ghosts], self.upper[ghosts] = lower[better], upper[better]
        self.heard[ghosts] = now


class Subscribers:
    """Who has ghosts of which nodes here, and what they were told last."""

    def __init__(self, members: int, integer: Any) -> None:
        self._nodes: list[Ids] = [np.empty(0, np.intp) for _ in range(members)]
        self._lower: list[Array] = [np.empty(0, integer) for _ in range(members)]
        self._upper: list[Array] = [np.empty(0, integer) for _ in range(members)]
        self._added: list[list[Ids]] = [[] for _ in range(members)]
        self._known = [np.zeros(0, np.bool_) for _ in range(members)]  # by node

    def add(self, member: int, nodes: Ids) -> None:
        """Say that a member has ghosts of some nodes."""
        if not len(nodes):
            return
        most = int(nodes.max()) + 1
        if most > len(self._known[member]):
            self._known[member] = np.append(self._known[member], np.zeros(most, np.bool_))
        known = self._known[member]
        new = nodes[~known[nodes]]
        known[new] = True
        self._added[member].append(new)

    def news(self, member: int, lower: Array, upper: Array) -> tuple[Ids, Array, Array]:
        """Return the nodes whose bounds are other than a member was told last, and the bounds."""
        if self._added[member]:
            added = np.concatenate(self._added[member])
            self._added[member] = []
            nothing = np.zeros(len(added), self._lower[member].dtype)
            self._nodes[member] = np.append(self._nodes[member], added)
            self._lower[member] = np.append(self._lower[member], nothing)
            self._upper[member] = np.append(self._upper[member], nothing)
        nodes, old_lower, old_upper = self._nodes[member], self._lower[member], self._upper[member]
        lower, upper = lower[nodes], upper[nodes]
        changed = (lower != old_lower) | (upper != old_upper)
        # What is settled does not change any more.
        left = lower < upper
        self._nodes[member], self._lower[member], self._upper[member] = nodes[left], lower[left], upper[left]
        return nodes[changed], lower[changed], upper[changed]
