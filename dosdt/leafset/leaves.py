"""Leaves and what splitting them can lead to: the paper's LeafCache."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property
from operator import sub

import numpy as np

from dosdt.bitvectors import PlaneSum, RowSet, pack
from dosdt.contract import Constraints
from dosdt.leafset.outlook import Lookout, Outlook
from dosdt.problem import Problem

Path = tuple[int, ...]
"""Signed feature numbers from 1: +3 means that feature 2 is true, -3 that it is false."""


class Leaf:
    """A conjunction of clauses with the rows it captures and all that is known of them.

    `costs` has the sum of the rows' costs for every predicted class, `floor` that of their least costs. `kept` is the
    cost of the leaf if it stays one, ``b·loss + a``; `split` bounds its cost by its sums if it is to be split, and
    `least` by all that is known of the leaves it may be split into: it rises as these are looked at.

    `is_known` says whether somebody has looked at the leaf. `outlook` is what was found then and of other leaves
    since; `cuts` are the ways to split it that this leaves, smallest bound first (see `Lookout`). None where
    these are not known here. `best` is what the best way found to split it costs, once or more often, and `by` the
    feature that this begins with.
    """

    __slots__ = (
        "best",
        "by",
        "costs",
        "cuts",
        "floor",
        "halves",
        "index",
        "is_known",
        "is_stale",
        "kept",
        "least",
        "n_useful",
        "outlook",
        "path",
        "precise",
        "prospects",
        "rows",
        "split",
        "splittable",
        "told",
        "weight",
    )

    def __init__(
        self,
        index: int,
        path: Path,
        rows: RowSet,
        sums: tuple[tuple[int, ...], int, int],
        appraisal: tuple[int, int, bool],
        hopeless: int,
    ) -> None:
        self.index = index
        self.path = path
        self.rows = rows
        self.costs, self.floor, self.weight = sums
        self.kept, self.split, self.splittable = appraisal
        self.least = self.split
        self.best = hopeless
        self.told = self.split  # what other members of a team know of it
        self.is_known = False
        self.halves: dict[int, tuple[Leaf, Leaf]] = {}  # by feature, where they are known
        self.forget()

    @property
    def label(self) -> int:
        """What it predicts if it stays a leaf."""
        return self.costs.index(min(self.costs))

    def forget(self) -> None:
        """Forget what was found when the leaf was looked at."""
        self.outlook: Outlook | None = None
        self.cuts: Sequence[int] | None = None
        self.n_useful = 0
        self.precise = 0  # cuts that cost less than this are as precise as they get
        self.prospects: list[Prospect] = []  # of the first of these cuts
        self.by = 0
        self.is_stale = False  # the outlook says more than these do
        self.halves.clear()


# Plain tuples, as there are so many: the garbage collector looks at a plain tuple of numbers once, at a named one
# for ever.
Option = tuple[int, int, int, tuple[int, int]]
"""One way to split a leaf: a feature, and which of the two new leaves to split next.

What the new leaves that are not to be split add to a tree's cost and to the weight of its unchanged leaves; how many
are to be split; and both as they stand in a tree's key: twice the leaf's index, plus one if it is to be split.
"""
Prospect = tuple[int, Option]
"""What an option adds to a tree's cost at the least, by all that is known of its leaves, and the option."""


class LeafCache:
    """Computes every leaf once, however it is reached, and the options to split it.

    Clauses in canonical order are one leaf, as in the paper; without a depth limit, so are different clauses
    that capture the same rows, since everything below them is the same.
    """

    def __init__(self, problem: Problem, constraints: Constraints, switches: frozenset[str]) -> None:
        self._problem = problem
        self._constraints = constraints
        self._columns = [pack(problem.features[:, j]) for j in range(problem.n_columns)]
        self._rows_of = {j + 1: column for j, column in enumerate(self._columns)}  # for each literal, where it holds
        self._rows_of |= {-j - 1: pack(~problem.features[:, j]) for j in range(problem.n_columns)}
        self._cost_planes = [PlaneSum(cost) for cost in problem.cost]
        self._floor_planes = PlaneSum(problem.floor)
        self._weight_planes = PlaneSum(problem.weight)
        self._by_rows = constraints.max_depth is None
        self._remembers = "leaf_cache" in switches
        self._gains = "incremental_accuracy" in switches
        self._class_weights: dict[int, tuple[int, ...]] = {}
        self._index: dict[object, int] = {}
        self.leaves: list[Leaf] = []
        self.computed = 0
        """How many leaves were made."""
        self.looked_at = 0
        """How many leaves were looked at here."""
        self.heard = 0
        """How many things others said of leaves."""
        self.looked: list[Leaf] | None = None
        """Leaves that were looked at here, in the order of time, where somebody wants to know it."""
        self.raised: list[Leaf] | None = None
        """Leaves of which more is known than before, in the order of time, where somebody wants to know it."""
        self._lookout = Lookout(problem, constraints, switches)
        self._ways = self._lookout.ways
        self.finds = self._lookout.finds
        """Whether to find ways to split leaves more than once; with a limit on leaves it would matter how often."""
        self.hopeless = self._lookout.hopeless
        """More than any tree's bound."""
        self.root = self._leaf((), self._rows_of[1] | self._rows_of[-1], None)

    @property
    def products(self) -> int:
        """How many multiplications it took to look at leaves."""
        return self._lookout.products

    @property
    def looks_ahead(self) -> bool:
        """Whether to look at a leaf tells more of it than its own sums do, and is remembered."""
        return self._lookout.looks_ahead

    def at(self, path: Path) -> Leaf:
        """Return the leaf that a path leads to."""
        return self._leaf(path, self._rows(path), None)

    def look(self, leaf: Leaf) -> Iterator[None]:
        """Look at a leaf: find out what splitting it may come to; none of the new leaves is made. Pauses at times."""
        outlook = yield from self._lookout.look(leaf.rows, len(leaf.path))
        self.looked_at += 1
        leaf.outlook, leaf.is_known, leaf.is_stale = outlook, True, True
        if self.looks_ahead:
            self._recall(leaf)
            if self.looked is not None:
                self.looked.append(leaf)
        self._learn(leaf)

    def see(self, leaf: Leaf, outlook: Outlook) -> None:
        """Take in what another process knows at the least since it has looked at a leaf."""
        self.heard += 1
        if leaf.outlook is not None:
            return
        found = np.full((1, *outlook.shape[1:]), self.hopeless)
        # A copy, as it is raised by what is found out of others; what is known of these is told where it is needed.
        leaf.outlook = np.concatenate([outlook, found]).astype(self._lookout.integer)
        leaf.is_known, leaf.is_stale = True, True
        self._learn(leaf)

    def hear(self, leaf: Leaf, least: int) -> None:
        """Take in what a leaf costs at the least if it is split, from another process that has looked at it."""
        self.heard += 1
        leaf.is_known = True
        leaf.told = max(leaf.told, least)
        self._raise(leaf, least)

    def refresh(self, leaf: Leaf) -> None:
        """Bring what is said of a leaf in line with its outlook."""
        if leaf.is_stale:
            self._put_in_order(leaf)

    def unknown(self, leaf: Leaf, ceiling: int) -> list[Leaf]:
        """Return the leaves to look at before this one, which was looked at, is split for less than `ceiling`.

        These are those of the new leaves that are to be split next. Whoever splits it so will need that anyway, and
        to know it before spares trees, most of all where several leaves of a tree are to be split.
        """
        outlook = leaf.outlook
        if not self.looks_ahead or ceiling <= leaf.precise:
            return []
        assert outlook is not None
        unknown = []
        most = min(ceiling, self._ceiling(leaf))
        for side, feature in np.argwhere(self._lookout.useful(outlook, most)).tolist():
            halves = leaf.halves.get(feature) or self._halve(leaf, feature)
            child = halves[side]
            if child.is_known:
                self._tell(leaf, side, feature, child)
            # Where both are to be split, one may be enough to see that it does not pay. It is always the one where
            # the feature is true, so that different trees come upon the same leaves: that has saved half the looks.
            elif not (side and halves[0] in unknown and outlook[1, 1, feature] + outlook[0, 0, feature] >= most):
                unknown.append(child)
        self.refresh(leaf)
        if not unknown:
            leaf.precise = ceiling
        return unknown

    def prospects(self, leaf: Leaf, ceiling: int) -> Sequence[Prospect]:
        """Return the ways to split a leaf that was looked at, each with the least that it adds to a tree's cost.

        The smallest come first. All that add less than `ceiling` are there; their leaves are made now, if they are
        not known yet.
        """
        cuts, prospects = leaf.cuts, leaf.prospects
        assert cuts is not None, "look at a leaf before splitting it"
        count = min(self.n_ways(leaf, ceiling), leaf.n_useful)
        if len(prospects) < count:
            prospects += [self._prospect(leaf, cut) for cut in cuts[len(prospects) : count]]
        return prospects

    def n_ways(self, leaf: Leaf, ceiling: int) -> int:
        """Return how many ways to split a leaf that was looked at add less than `ceiling`, of use or not."""
        assert leaf.cuts is not None
        return bisect_left(leaf.cuts, ceiling * self._ways)

    def best(self, leaf: Leaf) -> Generator[None, None, list[Leaf]]:
        """Return the leaves that the best way found to split a leaf leads to; pause at times.

        Some of them were never looked at: what splitting them once costs was found when others were. They are looked
        at now, and split once. If that shows a better way, it is there when this is asked for again.
        """
        kept: list[Leaf] = []
        to_split = [leaf]
        while to_split:
            leaf = to_split.pop()
            is_new = leaf.outlook is None
            if is_new:
                yield from self.look(leaf)
            outlook = leaf.outlook
            assert outlook is not None
            feature = int(outlook[0].sum(0).argmin()) if is_new else leaf.by
            for side, new in enumerate(leaf.halves.get(feature) or self._halve(leaf, feature)):
                stays = is_new or outlook[0, side, feature] <= outlook[2, side, feature]
                (kept if stays else to_split).append(new)
        return kept

    def _ceiling(self, leaf: Leaf) -> int:
        """Return what splitting a leaf must cost less than to be of use."""
        return min(leaf.kept, self.hopeless) if self._gains else self.hopeless

    def _recall(self, leaf: Leaf) -> None:
        """Take in what is known already of the leaves that a leaf may be split into."""
        assert leaf.outlook is not None
        for side, feature in np.argwhere(self._lookout.useful(leaf.outlook, self._ceiling(leaf))).tolist():
            literal = -feature - 1 if side else feature + 1
            child = self._made((*leaf.path, literal), leaf.rows & self._rows_of[literal])
            if child is not None:
                self._tell(leaf, side, feature, child)

    def _put_in_order(self, leaf: Leaf) -> None:
        assert leaf.outlook is not None
        leaf.is_stale = False
        leaf.prospects = []
        cuts = leaf.cuts = self._lookout.cuts(leaf.outlook)
        leaf.n_useful = bisect_left(cuts, self._ceiling(leaf) * self._ways)
        if self.looks_ahead:
            self._raise(leaf, cuts[0] // self._ways if leaf.n_useful else self.hopeless)

    def _raise(self, leaf: Leaf, least: int) -> None:
        """Take in that a leaf costs so much at the least if it is split."""
        if least <= leaf.least:
            return
        leaf.least = least
        if self.raised is not None:
            self.raised.append(leaf)
        self._spread(leaf)

    def _learn(self, leaf: Leaf) -> None:
        """Take in what a leaf's outlook says of it."""
        assert leaf.outlook is not None
        least, leaf.best, leaf.by = self._lookout.summary(leaf.outlook, self._ceiling(leaf))
        if not self.looks_ahead:
            return
        if least > leaf.least:
            self._raise(leaf, least)
        elif leaf.best < leaf.kept:
            self._spread(leaf)

    def _spread(self, leaf: Leaf) -> None:
        """Let what is known of a leaf count for those that may be split into it, and so on up to the root."""
        news = [leaf]
        while news:
            leaf = news.pop()
            for place, literal in enumerate(leaf.path):
                others = leaf.path[:place] + leaf.path[place + 1 :]
                parent = self._made(others, self._rows(others))
                if parent is None or parent.outlook is None:
                    continue
                if self._tell(parent, int(literal < 0), abs(literal) - 1, leaf):
                    news.append(parent)

    def _tell(self, leaf: Leaf, side: int, feature: int, child: Leaf) -> bool:
        """Take in what a leaf costs that this one may be split into; return whether that is a better way to split."""
        outlook = leaf.outlook
        assert outlook is not None
        if outlook[1, side, feature] < child.least:
            outlook[1, side, feature] = child.least
            leaf.is_stale = True
        # What costs more than the leaf itself is of no use.
        if child.best < child.kept and self.finds and child.best < outlook[2, side, feature]:
            outlook[2, side, feature] = child.best
            best = child.best + int(min(outlook[0, 1 - side, feature], outlook[2, 1 - side, feature]))
            if best < leaf.best:
                leaf.best, leaf.by = best, feature
                return best < leaf.kept
        return False

    def _made(self, path: Path, rows: RowSet) -> Leaf | None:
        """Return the leaf that a path leads to, if it has been made."""
        index = self._index.get(self._identity(path, rows))
        return None if index is None else self.leaves[index]

    def _rows(self, path: Path) -> RowSet:
        rows = self.root.rows
        for literal in path:
            rows = rows & self._rows_of[literal]
        return rows

    def class_weights(self, leaf: Leaf) -> tuple[int, ...]:
        """Return the training weight of every class in a leaf."""
        known = self._class_weights.get(leaf.index)
        if known is None:
            known = tuple(planes.over(leaf.rows) for planes in self._class_planes)
            self._class_weights[leaf.index] = known
        return known

    def number(self, leaf: Leaf) -> int:
        """Return a number of 64 bits that is the same for a leaf in all processes, however they came by it."""
        # Hashes of integers and of tuples of them are no secret, unlike those of texts.
        return hash(self._identity(leaf.path, leaf.rows)) & 0xFFFFFFFFFFFFFFFF

    def separate(self, leaves: list[Leaf], asked: frozenset[int]) -> tuple[int, list[Leaf], list[Leaf]]:
        """Return a feature that cuts none of the leaves, and the leaves on its two sides."""
        by_clause = self._constraints.max_depth is not None
        for feature, column in enumerate(self._columns):
            if feature in asked:
                continue
            yes: list[Leaf] = []
            no: list[Leaf] = []
            for leaf in leaves:
                if by_clause:
                    side = yes if feature + 1 in leaf.path else no if -feature - 1 in leaf.path else None
                else:
                    inside = leaf.rows & column
                    side = yes if inside == leaf.rows else no if not inside else None
                if side is None:
                    break
                side.append(leaf)
            else:
                if yes and no:
                    return feature, yes, no
        raise AssertionError("these leaves are not the leaves of a tree")

    @cached_property
    def _class_planes(self) -> list[PlaneSum]:
        return [PlaneSum(weights) for weights in self._problem.class_weight]

    def _prospect(self, leaf: Leaf, cut: int) -> Prospect:
        bound, way = divmod(cut, self._ways)
        yes, no = leaf.halves.get(way >> 2) or self._halve(leaf, way >> 2)
        yes_code, no_code = 2 * yes.index, 2 * no.index
        way &= 3
        if way == 0:
            return bound, (yes.kept + no.kept, yes.weight + no.weight, 0, (yes_code, no_code))
        if way == 1:
            return bound, (yes.kept, yes.weight, 1, (yes_code, no_code + 1))
        if way == 2:
            return bound, (no.kept, no.weight, 1, (yes_code + 1, no_code))
        return bound, (0, 0, 2, (yes_code + 1, no_code + 1))

    def _halve(self, leaf: Leaf, feature: int) -> tuple[Leaf, Leaf]:
        rows = leaf.rows & self._columns[feature]
        yes = self._leaf((*leaf.path, feature + 1), rows, None)
        no = self._leaf((*leaf.path, -feature - 1), leaf.rows ^ rows, (leaf, yes))
        if self._remembers:
            leaf.halves[feature] = yes, no
            if self.looks_ahead and leaf.outlook is not None:
                for side, child in enumerate((yes, no)):
                    least = int(leaf.outlook[1, side, feature])
                    child.told = max(child.told, least)  # who knows the outlook knows this
                    self._raise(child, least)
        return yes, no

    def _leaf(self, path: Path, rows: RowSet, parts: tuple[Leaf, Leaf] | None) -> Leaf:
        """Return the leaf, computing its sums if they are not known; those of two leaves may lead to them."""
        # With a depth limit the number of clauses matters, so leaves with equal rows may differ.
        identity = self._identity(path, rows)
        index = self._index.get(identity)
        if index is not None:
            if self._remembers:
                return self.leaves[index]
            path = self.leaves[index].path
        self.computed += 1
        sums = self._sums(rows) if parts is None else _difference(*parts)
        b, (costs, floor, weight) = self._problem.b, sums
        appraisal = self._lookout.appraise(b * min(costs), b * floor, weight, len(path))
        if index is not None:
            return Leaf(index, path, rows, sums, appraisal, self.hopeless)
        leaf = Leaf(len(self.leaves), path, rows, sums, appraisal, self.hopeless)
        self._index[identity] = leaf.index
        self.leaves.append(leaf)
        return leaf

    def _identity(self, path: Path, rows: RowSet) -> Path | RowSet:
        return rows if self._by_rows else tuple(sorted(path, key=abs))

    def _sums(self, rows: RowSet) -> tuple[tuple[int, ...], int, int]:
        costs = tuple([planes.over(rows) for planes in self._cost_planes])
        return costs, self._floor_planes.over(rows), self._weight_planes.over(rows)


def _difference(whole: Leaf, part: Leaf) -> tuple[tuple[int, ...], int, int]:
    return tuple(map(sub, whole.costs, part.costs)), whole.floor - part.floor, whole.weight - part.weight
