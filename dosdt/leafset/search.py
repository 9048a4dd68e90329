"""Best-first branch and bound over leaf sets, as in the paper, behind the contract of every search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import Any, NamedTuple

import msgpack

from dosdt import bounds
from dosdt.contract import Budget, Constraints, Result, Sketch, Solution, leaf_node
from dosdt.errors import InputError
from dosdt.leafset.evaluations import evaluations_log10, remaining_log10
from dosdt.leafset.leaves import LeafCache, Option, Path
from dosdt.leafset.policies import POLICIES, Standing
from dosdt.leafset.shape import sketch_of
from dosdt.problem import Problem

Key = tuple[int, ...]
"""A tree: its leaves' codes in canonical order (see `Option.codes`)."""
Fact = tuple[tuple[Path, bool], ...]
"""A tree that was generated, in terms any process understands: each leaf's path and whether it is to be split."""

_STEPS_BETWEEN_PAUSES = 512


class OpenTree(NamedTuple):
    """A tree in the queue; `kept_cost` and `kept_weight` sum over its unchanged leaves."""

    priority: float
    serial: int
    lower_bound: int
    kept_cost: int
    kept_weight: int
    key: Key


Task = list[OpenTree]
"""A batch of open trees, in heap order."""


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
    on_improvement : callable, optional
        Called with the cost of each better tree as soon as it is found.
    """

    def __init__(
        self,
        problem: Problem,
        constraints: Constraints | None = None,
        *,
        switches: Collection[str] = bounds.SWITCHES,
        policy: str = "curiosity",
        record_facts: bool = False,
        on_improvement: Callable[[int], None] | None = None,
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
        self._queue: Task = []
        self._current: OpenTree | None = None
        self._serial = 0
        self._on_improvement = on_improvement
        root = self._leaves.root
        self._floor_cost = problem.b * root.totals.floor if "equivalent_points" in self.switches else 0
        self._root_floor = problem.b * root.totals.floor
        self._a_priori = bounds.a_priori_leaves(root.kept, self._floor_cost, problem.a)
        self._limit = root.kept  # a single leaf is always a tree, so only what is better is of interest
        self._best: Key | None = None
        self._best_cost: float = inf
        self._zero_error_leaves: int | None = None

    # -- the contract -------------------------------------------------------------------------------------

    def root(self) -> Task:
        """Return the whole problem: the single leaf, to be split."""
        root = self._leaves.root
        return [self._open((2 * root.index + 1,), root.split, 0, 0, 1)] if root.splittable else []

    def single_leaf(self) -> Solution:
        """Return the tree that every search starts from."""
        root = self._leaves.root
        return Solution(root.kept, Sketch((leaf_node(root.label),)))

    def run(self, task: Task, budget: Budget) -> Result[Task]:
        """Expand trees, best first, until none is left or the budget is spent."""
        queue = self._queue = task
        heapify(queue)
        self._best, self._best_cost = None, inf
        expanded, evaluated = self.expanded, self.evaluated
        last = inf if budget.expansions is None else expanded + budget.expansions
        pause = budget.pause or _never
        prunes = "hierarchical" in self.switches or "lookahead" in self.switches
        while queue and self.expanded < last and not pause():
            tree = heappop(queue)
            if prunes and tree.lower_bound >= self._limit:
                continue
            self.expanded += 1
            self._current = tree
            if not self._expand(tree, pause):
                heappush(queue, tree)  # interrupted: what it has generated is known, the rest is still to do
                break
        self._current = None
        self._committed = len(self._log) if self._log is not None else 0
        survivors = [tree for tree in queue if not prunes or tree.lower_bound < self._limit]
        self._queue = []
        return Result(
            best=self._solution(),
            survivors=[survivors] if survivors else [],
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

    def lower_bound(self) -> int | None:
        """Return the smallest bound of an open tree in the running task, or None if there is none."""
        bound = min((tree.lower_bound for tree in self._queue), default=None)
        current = self._current.lower_bound if self._current is not None else None
        return min((value for value in (bound, current) if value is not None), default=None)

    def encode(self, task: Task) -> bytes:
        """Return a batch as a message: every leaf travels as its path."""
        message: bytes = msgpack.packb([self._describe(tree.key) for tree in task])
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
        most = bounds.incumbent_leaves(self._limit, self._floor_cost, self.problem.a)
        most = self.problem.n_rows if most is None else min(most, self.problem.n_rows)
        sizes = (len(tree.key) - sum(code & 1 for code in tree.key) for tree in self._queue)
        return remaining_log10(self.problem.n_columns, sizes, most)

    def statistics(self) -> dict[str, int]:
        """Return counts of this search's own, by name."""
        most = self.problem.n_rows if self._a_priori is None else min(self._a_priori, self.problem.n_rows)
        return {
            "duplicates": self.duplicates,
            "leaves_cached": len(self._leaves.leaves),
            "possible_evaluations_log10": evaluations_log10(self.problem.n_columns, most),
        }

    # -- branching ----------------------------------------------------------------------------------------

    def _expand(self, tree: OpenTree, pause: Callable[[], bool]) -> bool:
        """Generate the children of a tree; return False if interrupted."""
        leaves, options = self._leaves.leaves, self._leaves.options
        unchanged = [code for code in tree.key if not code & 1]
        choices: list[list[Option]] = [options(leaves[code >> 1]) for code in tree.key if code & 1]
        if not all(choices):
            return True
        # The leaf with most options last: its loop is the innermost and the cheapest.
        choices.sort(key=len)
        depth_last = len(choices) - 1
        # What the leaves after the i-th add to the bound at the least: options are sorted.
        rest = [0] * len(choices)
        for i in range(depth_last, 0, -1):
            rest[i - 1] = rest[i] + choices[i][0].bound
        n_leaves = len(tree.key) + len(choices)
        most_leaves = self._most_leaves(tree)
        if n_leaves > most_leaves:
            return True
        prunes = "hierarchical" in self.switches or "lookahead" in self.switches
        steps = 0
        # Partial children: leaf number, bound, kept cost, kept weight, leaves to split, codes.
        kept_bound = tree.kept_cost
        stack: list[tuple[int, int, int, int, int, list[int]]] = [
            (0, kept_bound, tree.kept_cost, tree.kept_weight, 0, unchanged)
        ]
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
                        most_leaves = self._most_leaves(tree)
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
        heappush(self._queue, self._open(key, bound, kept_cost, kept_weight, to_split))

    def _open(self, key: Key, bound: int, kept_cost: int, kept_weight: int, to_split: int) -> OpenTree:
        self._serial += 1
        prefix_bound = bounds.hierarchical(kept_cost, to_split, self.problem.a)
        standing = Standing(bound, prefix_bound, kept_weight, key, self._serial)
        try:
            priority = self._policy(standing, self._leaves)
        except OverflowError:  # beyond the largest float: last
            priority = inf
        return OpenTree(priority, self._serial, bound, kept_cost, kept_weight, key)

    def _improve(self, cost: int, key: Key) -> None:
        self._limit = min(self._limit, cost)
        if cost >= self._best_cost:  # another thread may have put the limit back up for a moment
            return
        self._best, self._best_cost = key, cost
        if "zero_error_leaves" in self.switches:
            avoidable = cost - len(key) * self.problem.a - self._root_floor
            self._zero_error_leaves = bounds.zero_error_leaves(len(key), avoidable)
        if self._on_improvement is not None:
            self._on_improvement(cost)

    def _most_leaves(self, tree: OpenTree) -> float:
        """Return the most leaves that a descendant of the tree may have."""
        a, switches = self.problem.a, self.switches
        limits: list[int | None] = [self.constraints.max_leaves]
        if "a_priori_leaves" in switches:
            limits.append(self._a_priori)
        if "incumbent_leaves" in switches:
            limits.append(bounds.incumbent_leaves(self._limit, self._floor_cost, a))
        if "parent_leaves" in switches:
            to_split = sum(code & 1 for code in tree.key)
            prefix_bound = bounds.hierarchical(tree.kept_cost, to_split, a)
            limits.append(bounds.parent_leaves(len(tree.key), prefix_bound, self._limit, a))
        limits.append(self._zero_error_leaves)
        return min((limit for limit in limits if limit is not None), default=inf)

    # -- trees in other words -----------------------------------------------------------------------------

    def _solution(self) -> Solution | None:
        if self._best is None:
            return None
        return Solution(self._limit_of(self._best), sketch_of(self._best, self._leaves))

    def _limit_of(self, key: Key) -> int:
        return sum(self._leaves.leaves[code >> 1].kept for code in key)

    def _describe(self, key: Key) -> Fact:
        leaves = self._leaves.leaves
        return tuple((leaves[code >> 1].path, bool(code & 1)) for code in key)

    def _canonical(self, fact: Fact) -> Key:
        codes = [2 * self._leaves.at(tuple(path)).index + marked for path, marked in fact]
        return tuple(sorted(codes) if "leaf_permutation" in self.switches else codes)

    def _reopen(self, key: Key) -> OpenTree:
        leaves = self._leaves.leaves
        kept = [leaves[code >> 1] for code in key if not code & 1]
        marked = [leaves[code >> 1] for code in key if code & 1]
        kept_cost = sum(leaf.kept for leaf in kept)
        bound = kept_cost + sum(leaf.split for leaf in marked)
        return self._open(key, bound, kept_cost, sum(leaf.totals.weight for leaf in kept), len(marked))


def _never() -> bool:
    return False
