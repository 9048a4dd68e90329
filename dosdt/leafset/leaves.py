"""Leaves and what splitting them can lead to: the paper's LeafCache."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from dosdt import bounds
from dosdt.bitvectors import PlaneSum, RowSet, pack
from dosdt.contract import Constraints
from dosdt.problem import Problem

Path = tuple[int, ...]
"""Signed feature numbers from 1: +3 means that feature 2 is true, -3 that it is false."""


class Totals(NamedTuple):
    """Sums over the rows that a leaf captures, in the problem's integers."""

    cost: tuple[int, ...]  # one per predicted class
    floor: int
    ceiling: int
    weight: int


class Leaf:
    """A conjunction of clauses with the rows it captures and all that is known of them.

    `kept` is its cost if it stays a leaf, ``b·loss + a``; `split` bounds its cost if it will be split.
    """

    __slots__ = (
        "depth",
        "index",
        "kept",
        "label",
        "leasts",
        "loss",
        "options",
        "path",
        "rows",
        "split",
        "splittable",
        "totals",
    )

    def __init__(self, index: int, path: Path, rows: RowSet, totals: Totals) -> None:
        self.index = index
        self.path = path
        self.depth = len(path)
        self.rows = rows
        self.totals = totals
        self.loss = min(totals.cost)
        self.label = totals.cost.index(self.loss)
        self.kept = 0
        self.split = 0
        self.splittable = False
        self.options: list[Option] | None = None
        self.leasts: tuple[int, list[int]] = (-1, [])


class Option(NamedTuple):
    """One way to split a leaf: a feature, and which of the two new leaves to split next.

    `codes` are the new leaves as they stand in a tree's key: twice the leaf's index, plus one if it is to be
    split. `bound` is what the two add to the tree's lower bound, `kept_cost` and `kept_weight` what the
    unchanged ones of them add.
    """

    bound: int
    kept_cost: int
    kept_weight: int
    to_split: int
    codes: tuple[int, int]


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
        self._ceiling_planes = PlaneSum(problem.ceiling)
        self._weight_planes = PlaneSum(problem.weight)
        self._class_weights: dict[int, tuple[int, ...]] = {}
        self._index: dict[object, int] = {}
        self.leaves: list[Leaf] = []
        self.computed = 0
        """How often a leaf's sums were computed."""
        self._stored = 0  # how many leaves have options
        self.hopeless = problem.b * sum(problem.ceiling) + 4 * problem.a * (problem.n_rows + 1)
        """More than any tree's bound."""
        everything = pack(problem.features[:, 0]) | pack(~problem.features[:, 0])
        self.root = self._leaf((), everything, self._totals(everything))

    def at(self, path: Path) -> Leaf:
        """Return the leaf that a path leads to."""
        rows = self.root.rows
        for literal in path:
            column = self._columns[abs(literal) - 1]
            rows = rows & column if literal > 0 else rows & ~column
        return self._leaf(path, rows, None)

    def options(self, leaf: Leaf) -> list[Option]:
        """Return the ways to split a leaf, smallest bound first."""
        if leaf.options is not None:
            return leaf.options
        options = self._compute_options(leaf)
        if "leaf_cache" in self._switches:
            leaf.options = options
            self._stored += 1
        return options

    def leasts(self, leaf: Leaf) -> list[int]:
        """Return what each option adds to a tree's bound at the least, by what is known of splitting its leaves.

        That is more than the option's bound where a leaf to be split has options of its own already, and no tree's
        bound is as much where it has none.
        """
        stamp, leasts = leaf.leasts
        if stamp != self._stored:
            leasts = [option.kept_cost + self._least(option) for option in self.options(leaf)]
            leaf.leasts = self._stored, leasts
        return leasts

    def _least(self, option: Option) -> int:
        least = 0
        for code in option.codes:
            if code & 1:
                leaf = self.leaves[code >> 1]
                known = leaf.options
                least += leaf.split if known is None else known[0].bound if known else self.hopeless
        return least

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

    def _compute_options(self, leaf: Leaf) -> list[Option]:
        options: list[Option] = []
        if not leaf.splittable:
            return options
        a, b = self._problem.a, self._problem.b
        least = self._constraints.min_support
        check_support = "accurate_support" in self._switches
        check_gain = "incremental_accuracy" in self._switches
        for feature, column in enumerate(self._columns):
            yes_rows = leaf.rows & column
            if not yes_rows or yes_rows == leaf.rows:
                continue
            yes = self._leaf((*leaf.path, feature + 1), yes_rows, None)
            no = self._leaf((*leaf.path, -feature - 1), leaf.rows ^ yes_rows, leaf.totals, yes.totals)
            if least and (yes.totals.weight < least or no.totals.weight < least):
                continue
            if check_support and not (self._pays(yes) and self._pays(no)):
                continue
            stop_here = not check_gain or bounds.incremental_accuracy(b * leaf.loss, b * yes.loss, b * no.loss, a)
            for split_yes in (False, True) if yes.splittable else (False,):
                for split_no in (False, True) if no.splittable else (False,):
                    if split_yes or split_no or stop_here:
                        options.append(_option(yes, split_yes, no, split_no))
        options.sort()
        return options

    def _pays(self, leaf: Leaf) -> bool:
        b, totals = self._problem.b, leaf.totals
        return bounds.accurate_support(b * totals.ceiling, b * leaf.loss, self._problem.a)

    def _leaf(self, path: Path, rows: RowSet, totals: Totals | None, less: Totals | None = None) -> Leaf:
        """Return the leaf, computing its sums unless they are given: as `totals`, or `totals` less `less`."""
        index = self._index.setdefault(self._identity(path, rows), len(self.leaves))
        if index < len(self.leaves) and "leaf_cache" in self._switches:
            return self.leaves[index]
        self.computed += 1
        if totals is None:
            totals = self._totals(rows)
        elif less is not None:
            totals = Totals(
                tuple(map(int.__sub__, totals.cost, less.cost)),
                totals.floor - less.floor,
                totals.ceiling - less.ceiling,
                totals.weight - less.weight,
            )
        if index < len(self.leaves):
            path = self.leaves[index].path
        leaf = Leaf(index, path, rows, totals)
        self._appraise(leaf)
        if index == len(self.leaves):
            self.leaves.append(leaf)
        return leaf

    def _identity(self, path: Path, rows: RowSet) -> Path | RowSet:
        # With a depth limit the number of clauses matters, so leaves with equal rows may differ.
        return tuple(sorted(path, key=abs)) if self._constraints.max_depth is not None else rows

    def _totals(self, rows: RowSet) -> Totals:
        costs = tuple([planes.over(rows) for planes in self._cost_planes])
        floor = self._floor_planes.over(rows)
        # With two classes a row's costs are its floor and its ceiling.
        ceiling = sum(costs) - floor if len(costs) == 2 else self._ceiling_planes.over(rows)
        return Totals(costs, floor, ceiling, self._weight_planes.over(rows))

    def _appraise(self, leaf: Leaf) -> None:
        a, b, switches = self._problem.a, self._problem.b, self._switches
        floor = b * leaf.totals.floor if "equivalent_points" in switches else 0
        leaf.kept = b * leaf.loss + a
        leaf.split = bounds.equivalent_points(bounds.hierarchical(0, 1, a), floor)
        if "lookahead" in switches:
            leaf.split = bounds.lookahead(leaf.split, 1, a)
        too_deep = self._constraints.max_depth is not None and leaf.depth >= self._constraints.max_depth
        pays = "node_support" not in switches or bounds.node_support(b * leaf.loss, floor, a)
        leaf.splittable = pays and not too_deep and leaf.totals.weight >= 2 * self._constraints.min_support


def _option(yes: Leaf, split_yes: bool, no: Leaf, split_no: bool) -> Option:
    return Option(
        bound=(yes.split if split_yes else yes.kept) + (no.split if split_no else no.kept),
        kept_cost=(0 if split_yes else yes.kept) + (0 if split_no else no.kept),
        kept_weight=(0 if split_yes else yes.totals.weight) + (0 if split_no else no.totals.weight),
        to_split=split_yes + split_no,
        codes=(2 * yes.index + split_yes, 2 * no.index + split_no),
    )
