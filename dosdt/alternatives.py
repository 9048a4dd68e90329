"""All trees that are as good as the best, or nearly so: how many, which features they use, and each of them.

What a tree is here
-------------------
- A binary tree over the yes/no features, within the limits on depth, leaves and support. Which side is drawn first
  does not matter.
- Every split separates training rows: some go to either side.
- A leaf predicts the class that costs least there, the first of them if several do. So the splits are the tree.
- No split is *useless*, that is, has two leaves that lose as much as one in their place would: they predict the same,
  or might as well. With ``useless_splits=True`` trees with such splits count, too.
- Features are different even if they give the same answers on all training rows, or the opposite ones: a tree that
  asks one of them and a tree that asks the other are two, for they may differ on new rows.

A set of alternatives is all such trees whose objective is at most that of the optimum plus something. Whatever is
said of it is said of the whole set, however large: counts are exact, by dynamic programming over subsets of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dosdt.contract import Constraints, Sketch
from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.limits import Limits, Watch, check_whole
from dosdt.problem import Column, Problem
from dosdt.rashomon.counting import Counting
from dosdt.rashomon.listing import Listing
from dosdt.rashomon.rounds import Progress, Rounds, Stopped
from dosdt.rashomon.space import Space
from dosdt.rules import Rule
from dosdt.sketches import captured, tree_of
from dosdt.solver import solve
from dosdt.tree import Split, Tree

DEFAULT_WITHIN = "5%"


class Alternative(NamedTuple):
    """A tree and its objective."""

    tree: Tree
    objective: Fraction


class Use(NamedTuple):
    """How many trees of a set ask a feature, or anything about a column, and which share of all that is."""

    name: str
    trees: int
    share: Fraction


@dataclass(frozen=True, eq=False)
class Alternatives:
    """All trees with an objective of at most `bound`; ``alternatives[k]`` is the k-th best, without the others.

    They are in order of objective, then of leaves. `len` works up to `sys.maxsize`; `count` is exact beyond.

    Attributes
    ----------
    count : int
        How many trees there are.
    optimum, bound : Fraction
        The smallest objective of all trees, and the largest in this set.
    n_optimal : int
        How many trees have the smallest.
    by_leaves : dict of int to int
        How many trees have so many leaves.
    status : str
        ``complete``, or what stopped the count: ``time_limit``, ``memory_limit`` or ``interrupted``. Then `bound` is
        smaller than `asked`; all said holds for that bound, and `count` is a lower bound for what was asked.
    asked : Fraction or None
        The bound that was asked for; None if that was a number of trees.
    subsets : int
        How many subsets of the rows the trees are made of.
    """

    problem: Problem
    rules: tuple[Rule, ...]
    original: tuple[str, ...]
    optimum: Fraction
    bound: Fraction
    asked: Fraction | None
    status: str
    subsets: int
    _counting: Counting

    @property
    def complete(self) -> bool:
        """Whether all that was asked for was counted."""
        return self.status == "complete"

    @property
    def count(self) -> int:
        """How many trees there are."""
        return self._counting.total

    @cached_property
    def n_optimal(self) -> int:
        """How many trees have the smallest objective."""
        table = self._counting.tables[0]
        return int(sum(table.counts[table.keys // self._counting.P == table.keys[0] // self._counting.P, 0]))

    @cached_property
    def by_leaves(self) -> dict[int, int]:
        """How many trees have so many leaves."""
        table, numbers = self._counting.tables[0], dict[int, int]()
        for key, count in zip(table.keys.tolist(), table.counts[:, 0].tolist(), strict=True):
            numbers[key % self._counting.P] = numbers.get(key % self._counting.P, 0) + count
        return dict(sorted(numbers.items()))

    @cached_property
    def features(self) -> tuple[Use, ...]:
        """For every yes/no feature, how many trees ask it."""
        places = {name: j for j, column in enumerate(self.problem.columns) for name in _names(column)}
        names = [str(rule) for rule in self.rules]
        without = {j: self._copies - (np.arange(len(self._copies)) == j) for j in places.values()}
        used = self._uses(list(without.values()))
        trees = dict(zip(without, used, strict=True))
        return tuple(self._use(name, trees[places[name]] if name in places else 0) for name in names)

    @cached_property
    def columns(self) -> tuple[Use, ...]:
        """For every column of the data, how many trees ask anything about it."""
        by_name = {str(rule): rule.column for rule in self.rules}
        asked = [[by_name[name] for name in _names(column)] for column in self.problem.columns]
        without = [np.array([len(own) - own.count(name) for own in asked], object) for name in self.original]
        return tuple(self._use(*pair) for pair in zip(self.original, self._uses(without), strict=True))

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Alternative]:
        number = 0
        while number < self.count:
            yield self[number]
            number += 1

    def __getitem__(self, number: int) -> Alternative:
        place = number + self.count if number < 0 else number
        if not 0 <= place < self.count:
            raise IndexError(f"there are {self.count} trees, numbered from 0; got {number}")
        listed = self._listing.tree(place)
        return Alternative(self._tree(listed.sketch, listed.copies), self._objective(listed.key // self._counting.P))

    def __repr__(self) -> str:
        more = "" if self.complete else f", {self.status}"
        return f"<{self.count} trees with objective {self.optimum} to {self.bound}{more}>"

    @property
    def _copies(self) -> Any:
        return self._counting.copies[:, 0]

    @cached_property
    def _listing(self) -> Listing:
        return Listing(self._counting)

    def _uses(self, without: list[Any]) -> list[int]:
        """Return how many trees there are that could not be made with fewer copies of columns."""
        if not without:
            return []
        counts = self._counting.avoiding(np.stack(without, axis=1), lambda _: None)
        return [self.count - count for count in counts]

    def _use(self, name: str, trees: int) -> Use:
        return Use(name, trees, Fraction(trees, self.count))

    def _objective(self, cost: int) -> Fraction:
        return self.problem.objective(cost + self.problem.b * sum(self.problem.floor))

    def _tree(self, sketch: Sketch, copies: Sequence[int]) -> Tree:
        """Return a tree over the original columns, with the copies of columns that it asks."""
        problem, by_name = self.problem, {str(rule): rule for rule in self.rules}
        asked = {column.source: by_name[column.name] for column in problem.columns}
        rules = [asked.get(source, self.rules[0]) for source in range(max(asked) + 1)]
        costs = np.array(problem.cost, dtype=object)
        nodes = [
            # The first of the cheapest labels, as everywhere.
            node if node.feature >= 0 else node._replace(label=int(costs[:, mask].sum(axis=1).argmin()))
            for node, mask in zip(sketch.nodes, captured(problem, sketch), strict=True)
        ]
        tree = tree_of(problem, Sketch(tuple(nodes)), rules, self.original)
        changed = list(tree.nodes)
        for place, (node, copy) in enumerate(zip(sketch.nodes, copies, strict=True)):
            if copy:
                column = problem.columns[node.feature]
                opposite = copy > len(column.aliases)
                sides = (node.no, node.yes) if opposite else (node.yes, node.no)
                changed[place] = Split(by_name[_names(column)[copy]], *sides)
        return replace(tree, nodes=tuple(changed))


def find_alternatives(
    problem: Problem,
    *,
    within: Any = None,
    best: int | None = None,
    constraints: Constraints | None = None,
    useless_splits: bool = False,
    limits: Limits | None = None,
    rules: Sequence[Rule] | None = None,
    columns: Sequence[str] | None = None,
    objective: Fraction | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Alternatives:
    """Count all trees near the optimum; the top of this module says what a tree is.

    Parameters
    ----------
    problem : Problem
    within : number or str, optional
        How much larger than the optimum an objective may be: 0.01, or ``"5%"`` of the optimum. By default 5 %.
    best : int, optional
        Instead: the best so many trees, and all others that are as good as the last of them.
    constraints : Constraints, optional
        On depth, leaves and support.
    useless_splits : bool
        Whether trees count that have a split into two leaves which saves nothing.
    limits : Limits, optional
        On time and memory. Trees are counted up to the optimum first, then up to a larger objective and a larger one;
        a limit leaves the last that was finished.
    rules, columns : sequences, optional
        The question of every feature that the problem was made from, and all columns that they may ask about.
    objective : Fraction, optional
        Of a tree that is known, the smaller the better; by default the optimum is sought first.
    report : callable, optional
        Called with a `Progress` now and then.
    """
    if within is not None and best is not None:
        raise InputError("pass within or best, not both")
    check_whole("best", best, least=1)
    extra = parse_within(DEFAULT_WITHIN if within is None else within)
    constraints, limits = constraints or Constraints(), limits or Limits()
    if not problem.regularization and constraints.max_depth is None and constraints.max_leaves is None:
        raise InputError("regularization 0 needs a limit: pass max_depth or max_leaves as well")
    if rules is None:
        rules = [Rule(name, "is_true") for column in problem.columns for name in _names(column)]
    _refuse_ambiguous(rules)
    if columns is None:
        columns = list(dict.fromkeys(rule.column for rule in rules))
    copies = [len(_names(column)) for column in problem.columns]
    with Watch(limits) as watch:
        count = Rounds(Space(problem, constraints, useless_splits), copies, watch, report)
        try:
            found = None if objective is None else count.up_to(count.cost(objective))
            if found is None or not found.counting.total:  # nothing is known, or it does not keep to the limits
                left = None if limits.seconds is None else max(0.0, limits.seconds - watch.seconds)
                answer = solve(problem, constraints=constraints, limits=replace(limits, seconds=left))
                found = count.up_to(count.cost(answer.objective))
            found = count.cheapest(found)
        except Stopped as stop:
            raise InputError(
                f"{stop.status.value} came before the optimal trees were counted; raise it, or raise regularization"
            ) from None
        optimum, status, asked = problem.objective(found.cost), "complete", None
        bound = optimum
        if best is None:
            asked = optimum + (extra.value * optimum if extra.relative else extra.value)
            steps = count.steps_to(found.cost, count.cost(asked))
        else:
            steps = count.steps_from(found.cost)
        try:
            for cost in steps:
                if best is not None and found.counting.total >= best:
                    break
                found = count.up_to(cost)
                bound = problem.objective(cost)
            bound = bound if asked is None else asked
        except Stopped as stop:
            status = stop.status.value
        if best is not None:
            found = count.best(found, best)
            bound = problem.objective(found.cost)
    return Alternatives(
        problem, tuple(rules), tuple(columns), optimum, bound, asked, status, found.subsets, found.counting
    )


class Within(NamedTuple):
    """How much larger than the optimum an objective may be, or by which share of it."""

    value: Fraction
    relative: bool


def parse_within(given: Any) -> Within:
    """Return what 0.01 or "5%" means, exactly."""
    text = given.strip() if isinstance(given, str) else ""
    relative = text.endswith("%")
    try:
        value = exact(text[:-1], "within") / 100 if relative else exact(given, "within")
    except InputError:
        value = Fraction(-1)
    if value < 0:
        raise InputError(f"within must be a number such as 0.01, or a share of the optimum such as 5%; got {given!r}")
    return Within(value, relative)


def _names(column: Column) -> tuple[str, ...]:
    """Return the features that a column of the problem stands for, itself first."""
    return (column.name, *column.aliases, *column.complements)


def _refuse_ambiguous(rules: Sequence[Rule]) -> None:
    seen = set[str]()
    for rule in rules:
        if str(rule) in seen:
            raise InputError(
                f"two features are both called {str(rule)!r}; rename a column, so that trees can be told apart"
            )
        seen.add(str(rule))
