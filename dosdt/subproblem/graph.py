"""The TreeCache of the subproblem search: an AND/OR graph of subsets, with bounds on what their trees cost.

A node is a subset of the rows. It keeps bounds on all its children, whether or not these are nodes themselves, and
what they say of its own cost. Nodes live in arrays, so that bounds of thousands of them move at once.

Where leaves are limited, row k of a node's bounds is for children with at most k + 1 leaves. A candidate is a feature
and a share k: of the node's leaves, the yes side may have k + 1 and the no side all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.subproblem.chains import Chains
from dosdt.subproblem.counts import Counts
from dosdt.subproblem.ghosts import Array, Ghosts, Ids
from dosdt.subproblem.index import Index
from dosdt.subproblem.subsets import UNLIMITED, Batch, Path, Subset

_ARRAYS = (
    "lowers",
    "uppers",
    "losses",
    "kids",
    "lower",
    "upper",
    "counted",
    "leaf",
    "leaves",
    "opened",
    "paths",
    "settled",
    "changed",
)
_GROWTH = 1.25
NOBODY = -1
"""Stands in `Graph.kids` for a child that is no node; -2 and below are the ghosts 0, 1, ... of others' nodes."""


class Graph:
    """Nodes by number, and by what they are.

    Attributes
    ----------
    lowers, uppers : integer arrays of shape (nodes, K, 2M)
        Bounds on the children's costs; K is 1 where leaves are not limited. Arrays have room for more nodes.
    kids : int32 array of shape (nodes, K, 2M)
        The nodes of the children, `NOBODY` where there is none; those of another member's graph are below that.
    lower, upper : integer arrays of shape (nodes,)
        Bounds on the nodes' own costs; `upper` is that of a tree.
    counted, leaf : integer arrays of shape (nodes,)
        What the nodes' best trees cost as far as counting them tells, and what they cost as leaves.
    opened : bool array of shape (nodes,)
        Whether any child has been a node.
    index : Index
        The subset of each node, and the other way round; it may hold some more that are to become nodes next.
    paths : int array of shape (nodes, longest)
        The signed feature numbers that lead to each node, and zeros.
    settled, changed : int32 arrays of shape (nodes,)
        When bounds were last brought up to date, and when they changed, by `clock`, which others set forward.
    ghosts : Ghosts, optional
        What is known of nodes in other graphs.
    leaves : int32 array of shape (nodes,)
        Most leaves of a tree for the node; 2 where that is not limited, so that there is one share.
    """

    def __init__(
        self, m: int, width: int, shares: int, integer: Any, never: int, chains: Chains | None, *, merge: bool = True
    ) -> None:
        self.m, self.shares, self.never, self.chains = m, shares, never, chains
        self.index = Index(width)
        self.merges = merge
        self._n = 0
        self.lowers, self.uppers = (np.empty((0, shares, 2 * m), integer) for _ in range(2))
        self.losses = np.empty((0, 2 * m), integer)
        self.kids = np.empty((0, shares, 2 * m), np.int32)
        self.lower, self.upper, self.counted, self.leaf = (np.empty(0, integer) for _ in range(4))
        self.opened = np.empty(0, np.bool_)
        self.leaves, self.settled, self.changed = (np.empty(0, np.int32) for _ in range(3))
        self.paths = np.empty((0, 0), np.int16 if m < 2**15 else np.int32)
        self.ghosts: Ghosts | None = None
        self.clock = 0

    def __len__(self) -> int:
        return self._n

    def subset(self, node: int) -> Subset:
        """Return the subset that a node is."""
        return self.index.batch([node]).subset(0)

    def find(self, subset: Batch) -> int | None:
        """Return the node of a subset, a batch of one, or None."""
        node = int(self.index.find(subset)[0])
        return None if node == NOBODY else node

    def add(self, counts: Counts, paths: Array) -> None:
        """Make the next subsets of the index nodes, with the bounds that counting gives; `paths` lead to them."""
        first, last = self._n, self._n + len(paths)
        self._reserve(last)
        if paths.shape[1] > self.paths.shape[1]:
            wider = np.zeros((len(self.paths), paths.shape[1]), self.paths.dtype)
            wider[:, : self.paths.shape[1]] = self.paths
            self.paths = wider
        self._n = last
        new = slice(first, last)
        subsets = self.index.batch(new)
        self.lowers[new], self.uppers[new] = _allowed(subsets, counts, self.shares)
        self.losses[new] = counts.losses
        self.kids[new] = NOBODY
        self.lower[new] = 0
        self.upper[new] = self.leaf[new] = counts.leaf
        self.leaves[new] = np.where(subsets.leaves < UNLIMITED, subsets.leaves, 2)
        self.paths[new, : paths.shape[1]], self.paths[new, paths.shape[1] :] = paths, 0
        self.opened[new] = False
        self.changed[new] = self.clock
        self.settle(np.arange(first, last))
        self.counted[new] = self.upper[new]

    def start(self, subset: Batch, counts: Counts, path: Path) -> int:
        """Add one node that is reached by a path of its own."""
        self.index.add(subset)
        self.add(counts, np.array([path], self.paths.dtype).reshape(1, len(path)))
        return self._n - 1

    def path(self, node: int) -> Path:
        """Return the signed feature numbers that lead to a node."""
        path = self.paths[node]
        return tuple(path[path != 0].tolist())

    def candidates(self, bounds: Array, leaves: Array) -> Array:
        """Return what candidates cost by the bounds of both sides.

        Parameters
        ----------
        bounds : integer array of shape (n, K, 2M)
            Rows of `lowers` or `uppers`.
        leaves : int32 array of shape (n,)

        Returns
        -------
        integer array of shape (n, K, M)
        """
        yes, no = bounds[..., : self.m], bounds[..., self.m :]
        if self.shares == 1:
            return np.asarray(yes + no)
        others = leaves[:, None] - 2 - np.arange(self.shares)
        sums = yes + np.take_along_axis(no, np.maximum(others, 0)[:, :, None], axis=1)
        # A share that leaves nothing for the other side is none.
        sums[others < 0] = 2 * self.never
        return np.asarray(sums)

    def settle(self, nodes: Ids) -> None:
        """Bring bounds up to date with those of the children that are nodes."""
        lowers, uppers, kids = self.lowers[nodes], self.uppers[nodes], self.kids[nodes]
        known = kids >= 0
        if known.any():
            kids = kids[known]
            lowers[known] = np.maximum(lowers[known], self.lower[kids])
            uppers[known] = np.minimum(uppers[known], self.upper[kids])
        if self.ghosts is not None:
            far = self.kids[nodes] < NOBODY
            ghosts = -2 - self.kids[nodes][far]
            lowers[far] = np.maximum(lowers[far], self.ghosts.lower[ghosts])
            uppers[far] = np.minimum(uppers[far], self.ghosts.upper[ghosts])
        if self.shares > 1:
            # With fewer leaves a tree costs no less, with more no more.
            lowers = np.maximum.accumulate(lowers[:, ::-1], axis=1)[:, ::-1]
            uppers = np.minimum.accumulate(uppers, axis=1)
        if self.chains is not None:
            self.chains.carry(lowers, self.losses[nodes])
        self.lowers[nodes], self.uppers[nodes] = lowers, uppers
        leaves = self.leaves[nodes]
        before = self.lower[nodes], self.upper[nodes]
        upper = np.minimum(before[1], self._least(uppers, leaves))
        lower = np.maximum(before[0], np.minimum(self._least(lowers, leaves), upper))
        self.lower[nodes], self.upper[nodes] = lower, upper
        self.settled[nodes] = self.clock
        self.changed[nodes[(lower != before[0]) | (upper != before[1])]] = self.clock

    def _least(self, bounds: Array, leaves: Array) -> Array:
        """Return what the best candidate of each node costs by the bounds of both sides."""
        costs = self.candidates(bounds, leaves).reshape(len(leaves), self.shares * self.m)
        return np.asarray(costs.min(axis=1))

    def refresh(self, nodes: Ids) -> None:
        """Bring bounds up to date where those of a child have changed since that was done last.

        A child may have been looked into on behalf of another parent. What is refuted by that already need not be
        refuted again.
        """
        kids = self.kids[nodes]
        when = np.where(kids >= 0, self.changed[np.maximum(kids, 0)], -1)
        if self.ghosts is not None and len(self.ghosts):
            far = kids < NOBODY
            when[far] = self.ghosts.heard[-2 - kids[far]]
        self.settle(nodes[when.max(axis=(1, 2), initial=-1) >= self.settled[nodes]])

    def link(self, node: Ids, share: Ids, side: Ids, kids: Sequence[int] | Ids) -> None:
        """Say which nodes are the children at these places."""
        self.kids[node, share, side] = kids
        self.opened[node] = True

    def hear(self, node: Ids, share: Ids, side: Ids, lower: Array, upper: Array) -> None:
        """Take in bounds on children that are no nodes here; call `settle` then."""
        self.lowers[node, share, side] = np.maximum(self.lowers[node, share, side], lower)
        self.uppers[node, share, side] = np.minimum(self.uppers[node, share, side], upper)

    def raise_lower(self, node: int, lower: int) -> None:
        """Take in a lower bound on a node from elsewhere."""
        if lower > self.lower[node]:
            self.lower[node], self.changed[node] = lower, self.clock

    def forget(self, needed: Ids) -> int:
        """Drop nodes that are cheap to find again and not needed now, and return how many.

        These have no children now; they never had any, or are solved; and counting says as much of their best trees.
        So their parents keep all that was proved of them, and work on what is open is never lost.
        """
        n = len(self)
        kept: npt.NDArray[np.bool_] = np.asarray((self.kids[:n] >= 0).any(axis=(1, 2)))
        kept |= self.opened[:n] & (self.lower[:n] < self.upper[:n])
        kept |= self.upper[:n] < self.counted[:n]
        kept[needed] = True
        number = np.where(kept, np.cumsum(kept) - 1, NOBODY).astype(np.int32)
        left = int(kept.sum())
        for name in _ARRAYS:
            array = getattr(self, name)
            array[:left] = array[:n][kept]
        kids = self.kids[:left]
        kids[kids >= 0] = number[kids[kids >= 0]]
        self.index.keep(kept)
        self._n = left
        return n - left

    def _reserve(self, n: int) -> None:
        if n <= len(self.lower):
            return
        room = max(n, int(len(self.lower) * _GROWTH), 64)
        for name in _ARRAYS:
            array = getattr(self, name)
            array.resize((room, *array.shape[1:]), refcheck=False)  # in place, so that nothing is held twice


def _allowed(subsets: Batch, counts: Counts, shares: int) -> tuple[Array, Array]:
    """Return bounds on children, (B, K, 2M) each, given the depth and leaves that each subset's tree may have."""
    depth, leaves = subsets.depth[:, None], subsets.leaves[:, None]
    if (depth == UNLIMITED).all() and (leaves == UNLIMITED).all():
        return counts.lowers[:, None], counts.splits[:, None]
    # How many splits on a path a child may make; once that is all counted, its cost is known.
    more = np.minimum(depth - 1, np.where(leaves < UNLIMITED, np.arange(shares), UNLIMITED))[:, :, None]
    uppers = np.where(more >= 1, counts.splits[:, None], counts.leaves[:, None])
    return np.where(more >= counts.levels, counts.lowers[:, None], uppers), uppers
