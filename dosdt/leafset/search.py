"""Best-first branch and bound over leaf sets, as in the paper, behind the contract of every search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf
from typing import Any

import msgpack

from dosdt import bounds
from dosdt.contract import Budget, Constraints, Result, Sketch, Solution, leaf_node
from dosdt.errors import InputError
from dosdt.leafset.evaluations import evaluations_log10, remaining_log10
from dosdt.leafset.leaf_limit import LeafLimit
from dosdt.leafset.leaves import LeafCache, Option, Path
from dosdt.leafset.policies import POLICIES, Standing
from dosdt.leafset.queue import Key, OpenTree, Task, TreeQueue
from dosdt.leafset.shape import sketch_of
from dosdt.problem import Problem

Fact = tuple[tuple[Path, bool], ...]
"""A tree that was generated, in terms any process understands: each leaf's path and whether it is to be split."""

_STEPS_BETWEEN_PAUSES = 512


class LeafSetSearch:
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
        self.problem = problem
        self.constraints = constraints or Constraints()
        self.switches = frozenset(switches)
        self.evaluated = 0
        self.expanded = 0
        self.duplicates = 0
        self._policy = POLICIES[policy]
        self._leaves = LeafCache(problem, self.constraints, self.switches)
        self._generated: set[Key] = set()
        self._log: list[Key] | None = [] if record_facts else None
        self._committed = 0
        self._queue = TreeQueue([])
        self._serial = 0
        self._leaf_limit = LeafLimit(problem, self.constraints, self.switches, self._leaves.root)
        self._limit = self._leaves.root.kept  # a single leaf is always a tree: only what is better is of interest
        self._best: tuple[int, Key] | None = None  # of this run: what it costs, and the tree

    # -- the contract -------------------------------------------------------------------------------------

    def root(self) -> Task:
        """Return the whole problem: the single leaf, to be split."""
        root = self._leaves.root
        return [self._open((2 * root.index + 1,), root.split, 0, 0, 1)] if root.splittable else []

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
        prunes = "hierarchical" in self.switches or "lookahead" in self.switches
        paused = False
        while queue and self.expanded < last and not (paused := pause()):
            tree = queue.pop()
            if not prunes or tree[2] < self._limit:
                self.expanded += 1
                if not self._expand(tree, pause):
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

    @property
    def limit(self) -> int:
        """Cost that a tree must stay below to be of interest."""
        return self._limit

    @property
    def open(self) -> int:
        """Number of open trees in the running task."""
        return len(self._queue)

    def remaining_log10(self) -> int:
        """Return the power of ten of the paper's coarse bound on the evaluations left in the running task."""
        most = self._leaf_limit.from_incumbent(self._limit)
        return remaining_log10(self.problem.n_columns, self._queue.sizes, most)

    def statistics(self) -> dict[str, int]:
        """Return counts of this search's own, by name."""
        return {
            "duplicates": self.duplicates,
            "leaves_cached": len(self._leaves.leaves),
            "possible_evaluations_log10": evaluations_log10(self.problem.n_columns, self._leaf_limit.a_priori),
        }

    # -- branching ----------------------------------------------------------------------------------------

    def _expand(self, tree: OpenTree, pause: Callable[[], bool]) -> bool:
        """Generate the children of a tree; return False if interrupted."""
        leaves, options, key = self._leaves.leaves, self._leaves.options, tree[4]
        unchanged = [code for code in key if not code & 1]
        choices: list[list[Option]] = [options(leaves[code >> 1]) for code in key if code & 1]
        if not all(choices):
            return True
        # The leaf with most options last: its loop is the innermost and the cheapest.
        choices.sort(key=len)
        depth_last = len(choices) - 1
        # What the leaves after the i-th add to the bound at the least: options are sorted.
        rest = [0] * len(choices)
        for i in range(depth_last, 0, -1):
            rest[i - 1] = rest[i] + choices[i][0].bound
        n_leaves = len(key) + len(choices)
        cost, weight = self._kept(key)
        most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)
        if n_leaves > most_leaves:
            return True
        prunes = "hierarchical" in self.switches or "lookahead" in self.switches
        steps = 0
        # Partial children: leaf number, bound, kept cost, kept weight, leaves to split, codes.
        stack: list[tuple[int, int, int, int, int, list[int]]] = [(0, cost, cost, weight, 0, unchanged)]
        while stack:
            i, bound, kept_cost, kept_weight, to_split, codes = stack.pop()
            ceiling = self._limit - rest[i] if prunes else inf
            steps += len(choices[i])
            if steps > _STEPS_BETWEEN_PAUSES:
                steps = 0
                if pause():
                    return False
            if i < depth_last:
                for option in choices[i]:
                    child_bound = bound + option.bound
                    if child_bound >= ceiling:
                        break
                    stack.append(
                        (
                            i + 1,
                            child_bound,
                            kept_cost + option.kept_cost,
                            kept_weight + option.kept_weight,
                            to_split + option.to_split,
                            [*codes, *option.codes],
                        )
                    )
                continue
            for option_bound, option_cost, option_weight, option_split, option_codes in choices[i]:
                child_bound = bound + option_bound
                if child_bound >= ceiling:
                    break
                child_split = to_split + option_split
                if n_leaves + child_split > most_leaves:
                    continue
                if not child_split:
                    self.evaluated += 1
                    if child_bound < self._limit:
                        self._improve(child_bound, (*codes, *option_codes))
                        ceiling = self._limit if prunes else inf
                        most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)
                    continue
                self._push(
                    [*codes, *option_codes],
                    child_bound,
                    kept_cost + option_cost,
                    kept_weight + option_weight,
                    child_split,
                )
        return True

    def _push(self, codes: list[int], bound: int, kept_cost: int, kept_weight: int, to_split: int) -> None:
        if "leaf_permutation" in self.switches:
            codes.sort()
        key = tuple(codes)
        if "tree_cache" in self.switches:
            if key in self._generated:
                self.duplicates += 1
                return
            self._generated.add(key)
            if self._log is not None:
                self._log.append(key)
        self.evaluated += 1
        self._queue.push(self._open(key, bound, kept_cost, kept_weight, to_split))

    def _open(self, key: Key, bound: int, kept_cost: int, kept_weight: int, to_split: int) -> OpenTree:
        self._serial += 1
        prefix_bound = bounds.hierarchical(kept_cost, to_split, self.problem.a)
        standing = Standing(bound, prefix_bound, kept_weight, key, self._serial)
        try:
            priority = self._policy(standing, self._leaves)
        except OverflowError:  # beyond the largest float: last
            priority = inf
        return priority, self._serial, bound, to_split, key

    def _improve(self, cost: int, key: Key) -> None:
        self._limit = min(self._limit, cost)
        if self._best is None or cost < self._best[0]:  # another thread may have put the limit back up for a moment
            self._best = cost, key
            self._leaf_limit.learn(cost, len(key))

    # -- trees in other words -----------------------------------------------------------------------------

    def _solution(self) -> Solution | None:
        return None if self._best is None else Solution(self._best[0], sketch_of(self._best[1], self._leaves))

    def _describe(self, key: Key) -> Fact:
        leaves = self._leaves.leaves
        return tuple((leaves[code >> 1].path, bool(code & 1)) for code in key)

    def _canonical(self, fact: Fact) -> Key:
        codes = [2 * self._leaves.at(tuple(path)).index + marked for path, marked in fact]
        return tuple(sorted(codes) if "leaf_permutation" in self.switches else codes)

    def _reopen(self, key: Key) -> OpenTree:
        marked = [self._leaves.leaves[code >> 1] for code in key if code & 1]
        cost, weight = self._kept(key)
        return self._open(key, cost + sum(leaf.split for leaf in marked), cost, weight, len(marked))

    def _kept(self, key: Key) -> tuple[int, int]:
        """Return cost and weight of the leaves that stay."""
        kept = [self._leaves.leaves[code >> 1] for code in key if not code & 1]
        return sum(leaf.kept for leaf in kept), sum(leaf.totals.weight for leaf in kept)


def _never() -> bool:
    return False
