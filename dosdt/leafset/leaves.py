"""Leaves and what splitting them can lead to: the paper's LeafCache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from operator import sub

from dosdt.bitvectors import PlaneSum, RowSet, pack
from dosdt.contract import Constraints
from dosdt.leafset.cuts import Cuts
from dosdt.problem import Problem

Path = tuple[int, ...]
"""Signed feature numbers from 1: +3 means that feature 2 is true, -3 that it is false."""


class Leaf:
    """A conjunction of clauses with the rows it captures and all that is known of them.

    `costs` has the sum of the rows' costs for every predicted class, `floor` that of their least costs. `kept` is the
    cost of the leaf if it stays one, ``b·loss + a``; `split` bounds its cost by its sums if it is to be split, and
    `least` by all that is known of the leaves it may be split into: it rises as more of them are looked at.
    """

    __slots__ = (
        "costs",
        "cuts",
        "floor",
        "halves",
        "index",
        "kept",
        "least",
        "looked_at",
        "made",
        "parents",
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
    ) -> None:
        self.index = index
        self.path = path
        self.rows = rows
        self.costs, self.floor, self.weight = sums
        self.kept, self.split, self.splittable = appraisal
        self.least = self.split
        self.looked_at = False
        self.told = self.split  # what other members of a team know of it
        self.cuts: Sequence[int] | None = None
        self.made: list[Made] = []  # of the first of these cuts
        self.halves: dict[int, tuple[Leaf, Leaf]] = {}  # by feature, where they are known
        self.prospects: list[Prospect] | None = None
        self.parents: list[Leaf] = []
        self.precise = 0  # prospects that add less than this are as precise as they get

    @property
    def label(self) -> int:
        """What it predicts if it stays a leaf."""
        return self.costs.index(min(self.costs))


# Plain tuples, as there are so many: the garbage collector looks at a plain tuple of numbers once, at a named one
# for ever.
Option = tuple[int, int, int, int, tuple[int, int]]
"""One way to split a leaf: a feature, and which of the two new leaves to split next.

What the new leaves add to a tree's lower bound by their own sums; what those that are not to be split add to its cost
and to the weight of its unchanged leaves; how many are to be split; and both as they stand in a tree's key: twice the
leaf's index, plus one if it is to be split.
"""
Prospect = tuple[int, Option]
"""What an option adds to a tree's cost at the least, by all that is known of its leaves, and the option.

That is more than the option's bound where a leaf to be split has been looked at: it adds the least of its own
prospects, and where it has none, more than any tree costs.
"""
Made = tuple[int, Leaf, Leaf, Option]
"""What makes an option a prospect, and the option: the cost of the leaves that stay, then the leaves to be split.

In place of a leaf that stays there is one that adds nothing.
"""


class LeafCache:
    """Computes every leaf once, however it is reached, and the options to split it.

    Clauses in canonical order are one leaf, as in the paper; without a depth limit, so are different clauses
    that capture the same rows, since everything below them is the same.
    """

    def __init__(self, problem: Problem, constraints: Constraints, switches: frozenset[str]) -> None:
        self._problem = problem
        self._constraints = constraints
        self._switches = switches
        self._columns = [pack(problem.features[:, j]) for j in range(problem.n_columns)]
        self._cost_planes = [PlaneSum(cost) for cost in problem.cost]
        self._floor_planes = PlaneSum(problem.floor)
        self._weight_planes = PlaneSum(problem.weight)
        self._by_rows = constraints.max_depth is None
        self._looks_ahead = {"leaf_cache", "lookahead"} <= switches
        self._class_weights: dict[int, tuple[int, ...]] = {}
        self._index: dict[object, int] = {}
        self.leaves: list[Leaf] = []
        self.computed = 0
        """How many leaves were made."""
        self.counted = 0
        """Of how many leaves the ways to split them were counted."""
        self.batches = 0
        """How often this was done."""
        self.made = 0
        """How many options were made."""
        self.heard = 0
        """How many things others said of leaves."""
        self.ordered = 0
        """How many prospects were put in order."""
        self.raised: list[Leaf] | None = None
        """Leaves of which more is known than before, in the order of time, where somebody wants to know it."""
        self.looked: list[Leaf] | None = None
        """Leaves whose ways to be split were counted here, in the order of time, where somebody wants to know it."""
        self._cuts = Cuts(problem, constraints, switches)
        self._ways = self._cuts.ways
        self.hopeless = self._cuts.hopeless
        """More than any tree's bound."""
        self._nothing = Leaf(-1, (), RowSet(0), ((0,), 0, 0), (0, 0, False))
        everything = pack(problem.features[:, 0]) | pack(~problem.features[:, 0])
        self.root = self._leaf((), everything, None)

    def at(self, path: Path) -> Leaf:
        """Return the leaf that a path leads to."""
        rows = self.root.rows
        for literal in path:
            column = self._columns[abs(literal) - 1]
            rows = rows & column if literal > 0 else rows & ~column
        return self._leaf(path, rows, None)

    def prospects(self, leaf: Leaf, ceiling: int) -> list[Prospect]:
        """Return the ways to split a leaf, each with the least that it adds to a tree's cost, smallest first.

        All that add less than `ceiling` are there; their leaves are made now, if they are not known yet.
        """
        cuts, ways = leaf.cuts, self._ways
        if cuts is None:
            cuts = self._count_cuts([leaf])[0]
            if "leaf_cache" not in self._switches:
                return [(cut // ways, self._make(leaf, cut)[3]) for cut in cuts if cut // ways < ceiling]
        made = leaf.made
        known = len(made)
        while len(made) < len(cuts) and cuts[len(made)] // ways < ceiling:
            made.append(self._make(leaf, cuts[len(made)]))
        prospects = leaf.prospects
        if prospects is None or len(made) > known:
            self.made += len(made) - known
            if not self._looks_ahead:
                prospects = leaf.prospects = [(option[0], option) for _, _, _, option in made]
                return prospects
            prospects = leaf.prospects = sorted([(kept + yes.least + no.least, way) for kept, yes, no, way in made])
            self.ordered += len(made)
            not_made = cuts[len(made)] // ways if len(made) < len(cuts) else self.hopeless
            self._raise(leaf, min(prospects[0][0], not_made) if prospects else not_made)
        return prospects

    def unknown(self, leaf: Leaf, ceiling: int) -> list[Leaf]:
        """Return the leaves to look at before this one is split for less than `ceiling`.

        That is the leaf itself, and then those of the new leaves that are to be split next. Whoever splits it so will
        need that anyway. To know it before pays where several leaves of a tree are to be split.
        """
        if not self._looks_ahead:
            return []
        if leaf.cuts is None:
            return [leaf]
        prospects = self.prospects(leaf, ceiling)
        if ceiling <= leaf.precise:
            return []
        numbers = [code >> 1 for least, option in prospects if least < ceiling for code in option[4] if code & 1]
        unknown = [child for number in dict.fromkeys(numbers) if not (child := self.leaves[number]).looked_at]
        if not unknown:
            leaf.precise = ceiling
        return unknown

    def look(self, leaves: Sequence[Leaf]) -> Iterator[None]:
        """Find out what splitting leaves costs at the least, by the sums of the new leaves; none of them is made.

        Pauses at times.
        """
        for first in range(0, len(leaves), self._cuts.at_once):
            some = leaves[first : first + self._cuts.at_once]
            for leaf, cuts in zip(some, self._count_cuts(some), strict=True):
                self._raise(leaf, self.least_of(cuts))
            yield

    def hear(self, leaf: Leaf, least: int) -> None:
        """Take in what another process has found that a leaf to be split costs at the least."""
        self.heard += 1
        leaf.looked_at = True
        leaf.told = max(leaf.told, least)
        self._raise(leaf, least)

    def take_cuts(self, leaf: Leaf, cuts: Sequence[int]) -> None:
        """Take in the ways to split a leaf that another process has counted."""
        if leaf.cuts is None:
            leaf.cuts = cuts
            self.hear(leaf, self.least_of(cuts))

    def least_of(self, cuts: Sequence[int]) -> int:
        """Return what a leaf that can be split in these ways costs at the least if it is."""
        return cuts[0] // self._ways if cuts else self.hopeless

    def _raise(self, leaf: Leaf, least: int) -> None:
        if least > leaf.least:
            leaf.least = least
            for parent in leaf.parents:
                parent.prospects = None  # they can be told more precisely now
            if self.raised is not None:
                self.raised.append(leaf)

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

    def _count_cuts(self, leaves: Sequence[Leaf]) -> list[Sequence[int]]:
        """Return all ways to split leaves, smallest bound first (see `Cuts`); no leaf is made for it."""
        self.counted += len(leaves)
        self.batches += 1
        every = self._cuts.count([(leaf.rows, len(leaf.path)) for leaf in leaves])
        if "leaf_cache" in self._switches:
            for leaf, cuts in zip(leaves, every, strict=True):
                leaf.cuts, leaf.looked_at = cuts, True
            if self.looked is not None:
                self.looked += leaves
        return every

    def _make(self, leaf: Leaf, cut: int) -> Made:
        bound, way = divmod(cut, self._ways)
        yes, no = leaf.halves.get(way >> 2) or self._halve(leaf, way >> 2)
        yes_code, no_code = 2 * yes.index, 2 * no.index
        way &= 3
        if way == 0:
            kept = yes.kept + no.kept
            option = bound, kept, yes.weight + no.weight, 0, (yes_code, no_code)
            return kept, self._nothing, self._nothing, option
        if way == 1:
            return yes.kept, self._nothing, no, (bound, yes.kept, yes.weight, 1, (yes_code, no_code + 1))
        if way == 2:
            return no.kept, yes, self._nothing, (bound, no.kept, no.weight, 1, (yes_code + 1, no_code))
        return 0, yes, no, (bound, 0, 0, 2, (yes_code + 1, no_code + 1))

    def _halve(self, leaf: Leaf, feature: int) -> tuple[Leaf, Leaf]:
        rows = leaf.rows & self._columns[feature]
        yes = self._leaf((*leaf.path, feature + 1), rows, None)
        no = self._leaf((*leaf.path, -feature - 1), leaf.rows ^ rows, (leaf, yes))
        if "leaf_cache" in self._switches:
            leaf.halves[feature] = yes, no
            for child in (yes, no):
                if child.splittable:
                    child.parents.append(leaf)
        return yes, no

    def _leaf(self, path: Path, rows: RowSet, parts: tuple[Leaf, Leaf] | None) -> Leaf:
        """Return the leaf, computing its sums if they are not known; those of two leaves may lead to them."""
        # With a depth limit the number of clauses matters, so leaves with equal rows may differ.
        identity = rows if self._by_rows else self._identity(path, rows)
        index = self._index.get(identity)
        if index is not None:
            if "leaf_cache" in self._switches:
                return self.leaves[index]
            path = self.leaves[index].path
        self.computed += 1
        sums = self._sums(rows) if parts is None else _difference(*parts)
        b, (costs, floor, weight) = self._problem.b, sums
        appraisal = self._cuts.appraise(b * min(costs), b * floor, weight, len(path))
        if index is not None:
            return Leaf(index, path, rows, sums, appraisal)
        leaf = Leaf(len(self.leaves), path, rows, sums, appraisal)
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
