"""A subset that is being solved: bounds on its children, and what they say of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dosdt.bitvectors import RowSet
from dosdt.subproblem.counts import Counts, Rows

Array = npt.NDArray[Any]
Path = tuple[int, ...]
Key = RowSet | tuple[RowSet, int | None, int | None]


class Place(NamedTuple):
    """Which child of a subset, and, where leaves are limited, how many it may have at most, less one."""

    x: int
    share: int


class Subset(NamedTuple):
    """Some rows, and the depth and leaves that a tree for them may have.

    `rows` is for counting, `row_set` tells subsets apart, `path` leads there from the root: signed feature numbers
    from 1.
    """

    path: Path
    row_set: RowSet
    rows: Rows
    depth: int | None
    leaves: int | None

    @property
    def key(self) -> Key:
        """What facts about the subset are kept under."""
        return key_of(self.row_set, self.depth, self.leaves)


def key_of(row_set: RowSet, depth: int | None, leaves: int | None) -> Key:
    """Return the key of a subset; rows alone where nothing is limited."""
    return row_set if depth is None and leaves is None else (row_set, depth, leaves)


class Frame:
    """A subset with bounds on its children.

    `lowers` and `uppers` have shape (K, 2M): row k is for children with at most k + 1 leaves, and there is just one
    row where leaves are not limited. A candidate is a feature and a share k: its yes side may have k + 1 leaves and
    its no side the other K - k.

    `upper` is the cost of the best tree known and `best` the yes side of its root, None for a leaf; `lower` bounds
    every tree. The search wants trees that cost less than `limit`.
    """

    __slots__ = (
        "_counts",
        "_k",
        "best",
        "children",
        "limit",
        "lower",
        "lowers",
        "m",
        "opened",
        "place",
        "prepared",
        "subset",
        "upper",
        "uppers",
    )

    def __init__(self, subset: Subset, counts: Counts, k: int) -> None:
        self.subset = subset
        self.limit = counts.never
        self.place: Place | None = None
        self.children: dict[Place, Frame] = {}
        self.opened = self.prepared = False
        self._counts, self._k = counts, k
        self.m = counts.leaves.shape[1] // 2
        self.upper: int = counts.leaf[k]
        self.best: Place | None = None
        self.lower = 0
        depth, leaves = subset.depth, subset.leaves
        if depth is None and leaves is None:
            self.uppers, self.lowers = counts.splits[k, None], counts.lowers[k, None]
        else:
            uppers, lowers = [], []
            for share in range(1 if leaves is None else leaves - 1):
                # How many splits on a path a child may make; once that is all counted, its cost is known.
                more = min(([] if depth is None else [depth - 1]) + ([] if leaves is None else [share]))
                uppers.append(counts.splits[k] if more >= 1 else counts.leaves[k])
                lowers.append(counts.lowers[k] if more >= counts.levels else uppers[-1])
            self.uppers, self.lowers = np.array(uppers), np.array(lowers)
        self.improve()

    @property
    def target(self) -> int:
        """Cost below which a tree is of interest."""
        return self.upper if self.upper < self.limit else self.limit

    def candidates(self) -> Array:
        """Return a bound on every candidate, shape (K, M)."""
        bounds: Array = self.lowers[:, : self.m] + self.lowers[::-1, self.m :]
        return bounds

    def sides(self, share: int, feature: int) -> tuple[Place, Place]:
        """Return the two children of a candidate."""
        return Place(feature, share), Place(self.m + feature, len(self.lowers) - 1 - share)

    def sibling(self, place: Place) -> Place:
        """Return the other child of the candidate that a child belongs to."""
        return Place((place.x + self.m) % (2 * self.m), len(self.lowers) - 1 - place.share)

    def gap(self, place: Place) -> int:
        """Return how much is unknown of a child's cost."""
        x, share = place
        return int(self.uppers[share, x] - self.lowers[share, x])

    def would_learn(self, place: Place, lower: int, upper: int) -> bool:
        """Say whether these bounds on a child are news."""
        x, share = place
        return bool(lower > self.lowers[share, x] or upper < self.uppers[share, x])

    def room(self, place: Place) -> int:
        """Return the limit for a child: what the target leaves when its sibling costs as little as it may."""
        other = self.sibling(place)
        return self.target - int(self.lowers[other.share, other.x])

    def improve(self) -> None:
        """Look for a better tree among the children's."""
        sums = self.uppers[:, : self.m] + self.uppers[::-1, self.m :]
        position = int(sums.argmin())
        cost = int(sums.flat[position])
        if cost < self.upper:
            share, feature = divmod(position, self.m)
            self.upper, self.best = cost, Place(feature, share)

    def settle(self) -> None:
        """Bring `lower` up to what the candidates say."""
        self.lower = max(self.lower, min(self.upper, int(self.candidates().min())))

    def learn(self, place: Place, lower: int, upper: int) -> None:
        """Take in bounds on a child: with fewer leaves it costs no less, with more leaves no more."""
        x, share = place
        if len(self.lowers) == 1:
            if lower > self.lowers[0, x]:
                self.lowers[0, x] = lower
            if upper < self.uppers[0, x]:
                self.uppers[0, x] = upper
        else:
            np.maximum(self.lowers[: share + 1, x], lower, out=self.lowers[: share + 1, x])
            np.minimum(self.uppers[share:, x], upper, out=self.uppers[share:, x])

    def compare(self, place: Place, lower: int, b: int) -> None:
        """Similarity: bound the other children by one that is known well.

        Another child costs at least what this one does, less what the rows that only this one has can lose: its
        best tree would serve this one as well but for those rows.
        """
        x, share = place
        fewer = self.lowers[: share + 1]
        assert self._counts.shared is not None
        shared = self._counts.shared[self._k, x]
        distance = (shared[x] - shared).astype(fewer.dtype)
        np.maximum(fewer, lower - b * distance, out=fewer)
