"""Best-first branch and bound over leaf sets, as in the paper, behind the contract of every search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from math import inf
from typing import Any

import msgpack

from dosdt import bounds
from dosdt.contract import Budget, Constraints, Result, Sketch, Solution, leaf_node
from dosdt.errors import InputError
from dosdt.leafset.branching import Branching
from dosdt.leafset.collector import uncollected
from dosdt.leafset.evaluations import evaluations_log10, remaining_log10
from dosdt.leafset.leaves import Path
from dosdt.leafset.queue import Key, OpenTree, Task, TreeQueue
from dosdt.problem import Problem
from dosdt.threads import one_thread

_FEW_LOOKS = 200
"""With fewer, to find the libraries that start threads would take longer than is lost by threads."""

Fact = tuple[tuple[Path, bool], ...]
"""A tree that was generated, in terms any process understands: each leaf's path and whether it is to be split."""


class LeafSetSearch(Branching):
    """The paper's search.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    switches : collection of str
        Which bounds and caches to use; names as in `dosdt.bounds.SWITCHES`.
    policy : str
        Which tree to expand next; a name in `dosdt.leafset.policies.POLICIES`.
    record_facts : bool
        Whether to keep a log of generated trees for `facts_since`.
    """

    def __init__(
        self,
        problem: Problem,
        constraints: Constraints | None = None,
        *,
        switches: Collection[str] = bounds.SWITCHES,
        policy: str = "curiosity",
        record_facts: bool = False,
    ) -> None:
        super().__init__(problem, constraints, switches, policy)
        self._log = [] if record_facts else None
        self._committed = 0

    # -- the contract -------------------------------------------------------------------------------------

    def root(self) -> Task:
        """Return the whole problem: the single leaf, to be split."""
        root = self._root()
        return [] if root is None else [root]

    @property
    def best(self) -> Solution:
        """The tree that the search starts from: a single leaf. Better ones are in the results of its runs."""
        root = self._leaves.root
        return Solution(root.kept, Sketch((leaf_node(root.label),)))

    def run(self, task: Task, budget: Budget) -> Result[Task]:
        """Expand trees, best first, until none is left or the budget is spent."""
        queue = self._queue = TreeQueue(task)
        self._best = None
        expanded, evaluated = self.expanded, self.evaluated
        last = inf if budget.expansions is None else expanded + budget.expansions
        pause = budget.pause or _never
        prunes = self._prunes
        paused = False
        with uncollected(), ExitStack() as threads:
            few: float = self._leaves.looked_at + _FEW_LOOKS
            while queue and self.expanded < last and not (paused := pause()):
                if self._leaves.looked_at > few:
                    few = inf
                    threads.enter_context(one_thread())
                tree = queue.pop()
                if not prunes or tree[2] < self._limit:
                    self.expanded += 1
                    if _interrupted(self._expand(tree), pause):
                        queue.put_back(tree)  # what it has generated is known, the rest is still to do
                        paused = True
                        break
                queue.close(tree)
        self._committed = len(self._log) if self._log is not None else 0
        survivors, lower_bound = queue.trees, queue.lower_bound()
        if prunes and lower_bound is not None and lower_bound >= self._limit:
            survivors = []
        elif prunes and not paused:  # who says stop is in a hurry, and what is left is pruned when its turn comes
            survivors = [tree for tree in survivors if tree[2] < self._limit]
        self._queue = TreeQueue([])
        return Result(
            best=self._solution(),
            survivors=[survivors] if survivors else [],
            lower_bound=lower_bound if survivors else None,
            expanded=self.expanded - expanded,
            evaluated=self.evaluated - evaluated,
        )

    def tighten(self, task: Task | None, limit: int) -> None:  # noqa: ARG002 - one limit serves every tree
        """Prune trees that cost `limit` or more, from the next step on."""
        self._limit = min(self._limit, limit)

    def facts_since(self, cursor: int) -> tuple[Sequence[Fact], int]:
        """Return the trees that finished runs generated since `cursor`.

        Only finished runs count: a tree that was generated in a run whose survivors were lost must be
        generated again.
        """
        if self._log is None:
            raise InputError("this search keeps no facts; create it with record_facts=True")
        return [self._describe(key) for key in self._log[cursor : self._committed]], self._committed

    def absorb(self, facts: Sequence[Fact]) -> None:
        """Remember that somebody else has generated these trees."""
        for fact in facts:
            self._generated.add(self._canonical(fact))

    def spare_memory(self) -> None:
        """Nothing can be spared: without its caches this search would do the same work many times over."""

    def lower_bound(self) -> int | None:
        """Return the smallest bound of an open tree in the running task, or None if there is none."""
        return self._queue.lower_bound()

    def encode(self, task: Task) -> bytes:
        """Return a batch as a message: every leaf travels as its path."""
        message: bytes = msgpack.packb([self._describe(key) for *_, key in task])
        return message

    def decode(self, message: bytes) -> Task:
        """Return the batch that a message describes; all figures are computed afresh."""
        trees: list[Any] = msgpack.unpackb(message)
        return [self._reopen(self._canonical(tree)) for tree in trees]

    # -- what a runtime shows -----------------------------------------------------------------------------

    def found(self) -> Solution | None:
        """Return the best tree that the running task has found, if any."""
        return self._solution()

    def remaining_log10(self) -> int:
        """Return the power of ten of the paper's coarse bound on the evaluations left in the running task."""
        most = self._leaf_limit.from_incumbent(self._limit)
        return remaining_log10(self.problem.n_columns, self._queue.sizes, most)

    def statistics(self) -> dict[str, int]:
        """Return counts of this search's own, by name."""
        return {
            "duplicates": self.duplicates,
            "leaves_cached": len(self._leaves.leaves),
            "leaves_looked_at": self._leaves.looked_at,
            "possible_evaluations_log10": evaluations_log10(self.problem.n_columns, self._leaf_limit.a_priori),
        }

    # -- trees in other words -----------------------------------------------------------------------------

    def _describe(self, key: Key) -> Fact:
        leaves = self._leaves.leaves
        return tuple((leaves[code >> 1].path, bool(code & 1)) for code in key)

    def _canonical(self, fact: Fact) -> Key:
        codes = [2 * self._leaves.at(tuple(path)).index + marked for path, marked in fact]
        return tuple(sorted(codes) if self._sorts else codes)

    def _reopen(self, key: Key) -> OpenTree:
        marked = [self._leaves.leaves[code >> 1] for code in key if code & 1]
        cost, weight = self._kept(key)
        return self._open(key, cost + sum(leaf.split for leaf in marked), cost, weight, len(marked))


def _interrupted(expansion: Iterator[None], pause: Callable[[], bool]) -> bool:
    for _ in expansion:  # noqa: SIM110 - a plain loop is faster
        if pause():
            return True
    return False


def _never() -> bool:
    return False
