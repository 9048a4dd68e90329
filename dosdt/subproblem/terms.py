"""What every search of one problem counts and compares with, whether alone or in a team."""

from __future__ import annotations

from collections.abc import Collection

from dosdt.bounds import a_priori_leaves
from dosdt.contract import Constraints
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.subproblem.chains import Chains
from dosdt.subproblem.counts import Counter, counter_for
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.subsets import Subset, Subsets

SWITCHES: dict[str, str] = {
    "reduced_support": "a side of a split whose rows lose too little cannot pay for its leaf",
    "grandchildren": "a child's bound comes from its own children's losses, not from counting three leaves",
    "similarity": "a subset costs at least what a similar one does, less what the difference can lose",
    "cache": "what was proved of a subset is not proved again",
}

_GRANDCHILDREN_AT_ONCE = 2**17
_WORK_AT_ONCE = 2**27
"""Multiplications in a batch: a tenth of a second or so, since limits are looked at between batches."""


class Terms:
    """A problem and constraints, with the tools to count and compare under them.

    Attributes
    ----------
    constraints : Constraints
        Without those that no tree of interest can break.
    prices : Prices
    counter : Counter
    subsets : Subsets
    batch : int
        How many subsets to count at once.
    """

    def __init__(self, problem: Problem, constraints: Constraints | None, switches: Collection[str]) -> None:
        self.problem = problem
        self.constraints = _binding(problem, constraints or Constraints())
        self.switches = frozenset(switches)
        self.prices = Prices(problem)
        self.counter: Counter = counter_for(problem, self.prices.penalty, self.constraints.min_support, self.switches)
        self.subsets = Subsets(problem)
        self.batch = max(
            1, min(_GRANDCHILDREN_AT_ONCE // self.counter.cells, _WORK_AT_ONCE // (self.counter.work + 1))
        )
        self._chains: Chains | None = None
        if "similarity" in self.switches:
            support = self.constraints.min_support > 0
            self._chains = Chains(problem.features, self.counter.never, min_support=support)

    @property
    def everything(self) -> Subset:
        """The whole problem."""
        return Subset(self.subsets.rows_at(()), self.constraints.max_depth, self.constraints.max_leaves)

    def graph(self) -> Graph:
        """Return a graph without nodes."""
        shares = 1 if self.constraints.max_leaves is None else max(1, self.constraints.max_leaves - 1)
        counter, merge = self.counter, "cache" in self.switches
        return Graph(
            self.problem.n_columns,
            self.subsets.width,
            shares,
            counter.integer,
            counter.never,
            self._chains,
            merge=merge,
        )


def _binding(problem: Problem, constraints: Constraints) -> Constraints:
    """Return the constraints without those that no tree of interest can break."""
    depth, leaves = constraints.max_depth, constraints.max_leaves
    costs = [sum(cost) for cost in problem.cost]
    most = a_priori_leaves(problem.b * min(costs) + problem.a, problem.b * sum(problem.floor), problem.a)
    most = problem.n_rows if most is None else min(most, problem.n_rows)
    return Constraints(
        None if depth is not None and depth >= problem.n_columns else depth,
        None if leaves is not None and leaves >= most else leaves,
        constraints.min_support,
    )
