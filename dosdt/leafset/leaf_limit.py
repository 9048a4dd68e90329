"""How many leaves a tree may still have: the paper's limits, corrected, for the search to ask."""

from __future__ import annotations

from collections.abc import Collection
from math import inf

from dosdt import bounds
from dosdt.contract import Constraints
from dosdt.leafset.leaves import Leaf
from dosdt.leafset.queue import Key
from dosdt.problem import Problem


class LeafLimit:
    """The most leaves of a tree that is of interest.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    switches : collection of str
        Which bounds to use; names as in `dosdt.bounds.SWITCHES`.
    root : Leaf
        The single leaf that holds all rows.
    """

    def __init__(self, problem: Problem, constraints: Constraints, switches: Collection[str], root: Leaf) -> None:
        self._problem = problem
        self._switches = switches
        self._root_floor = problem.b * root.floor
        self._floor_cost = self._root_floor if "equivalent_points" in switches else 0
        self._a_priori = bounds.a_priori_leaves(root.kept, self._floor_cost, problem.a)
        self._max_leaves = constraints.max_leaves
        self._zero_error: int | None = None

    @property
    def a_priori(self) -> int:
        """The most leaves of any tree, known from the start."""
        return self._at_most_rows(self._a_priori)

    def from_incumbent(self, limit: int) -> int:
        """Return the most leaves of a tree that costs less than `limit`."""
        return self._at_most_rows(bounds.incumbent_leaves(limit, self._floor_cost, self._problem.a))

    def learn(self, cost: int, n_leaves: int) -> None:
        """Take in the cost and the leaves of a better tree."""
        if "zero_error_leaves" in self._switches:
            avoidable = cost - n_leaves * self._problem.a - self._root_floor
            self._zero_error = bounds.zero_error_leaves(n_leaves, avoidable)

    def of_descendants(self, key: Key, kept_cost: int, limit: int) -> float:
        """Return the most leaves that a descendant of a tree may have if it is to cost less than `limit`."""
        a, switches = self._problem.a, self._switches
        limits: list[int | None] = [self._max_leaves, self._zero_error]
        if "a_priori_leaves" in switches:
            limits.append(self._a_priori)
        if "incumbent_leaves" in switches:
            limits.append(bounds.incumbent_leaves(limit, self._floor_cost, a))
        if "parent_leaves" in switches:
            to_split = sum(code & 1 for code in key)
            prefix_bound = bounds.hierarchical(kept_cost, to_split, a)
            limits.append(bounds.parent_leaves(len(key), prefix_bound, limit, a))
        return min((most for most in limits if most is not None), default=inf)

    def _at_most_rows(self, most: int | None) -> int:
        return self._problem.n_rows if most is None else min(most, self._problem.n_rows)
