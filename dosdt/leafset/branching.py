"""How one tree leads to others: what every leaf-set search does, whoever runs it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import inf

from dosdt import bounds
from dosdt.contract import Constraints, Solution
from dosdt.leafset.leaf_limit import LeafLimit
from dosdt.leafset.leaves import LeafCache, Option
from dosdt.leafset.policies import POLICIES, Standing
from dosdt.leafset.queue import Key, OpenTree, TreeQueue
from dosdt.leafset.shape import sketch_of
from dosdt.problem import Problem

_STEPS_BETWEEN_PAUSES = 512


class Branching:
    """Open trees, the trees generated so far and the best one, and how to expand a tree.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    switches : collection of str
        Which bounds and caches to use; names as in `dosdt.bounds.SWITCHES`.
    policy : str
        Which tree to expand next; a name in `dosdt.leafset.policies.POLICIES`.
    """

    def __init__(
        self, problem: Problem, constraints: Constraints | None, switches: Collection[str], policy: str
    ) -> None:
        self.problem = problem
        self.constraints = constraints or Constraints()
        self.switches = frozenset(switches)
        self.evaluated = 0
        self.expanded = 0
        self.duplicates = 0
        self.scanned = 0
        """Options looked at in expansions."""
        self._policy = POLICIES[policy]
        self._prunes = "hierarchical" in self.switches or "lookahead" in self.switches
        self._sorts = "leaf_permutation" in self.switches
        self._remembers = "tree_cache" in self.switches
        self._leaves = LeafCache(problem, self.constraints, self.switches)
        self._generated: set[Key] = set()
        self._log: list[Key] | None = None  # the same in the order of time, where somebody wants to know it
        self._queue = TreeQueue([])
        self._serial = 0
        self._leaf_limit = LeafLimit(problem, self.constraints, self.switches, self._leaves.root)
        self._limit = self._leaves.root.kept  # a single leaf is always a tree: only what is better is of interest
        self._best: tuple[int, Key] | None = None  # what it costs, and the tree

    @property
    def limit(self) -> int:
        """Cost that a tree must stay below to be of interest."""
        return self._limit

    @property
    def open(self) -> int:
        """Number of open trees."""
        return len(self._queue)

    @property
    def cached(self) -> int:
        """Number of trees and leaves that are remembered."""
        return len(self._generated) + len(self._leaves.leaves)

    def _root(self) -> OpenTree | None:
        """Return the whole problem: the single leaf, to be split; None if there is no use in splitting it."""
        root = self._leaves.root
        return self._open((2 * root.index + 1,), root.split, 0, 0, 1) if root.splittable else None

    def _expand(self, tree: OpenTree) -> Iterator[None]:
        """Generate the children of a tree; pause after every few hundred steps."""
        leaves, options, key = self._leaves.leaves, self._leaves.options, tree[4]
        unchanged = [code for code in key if not code & 1]
        marked = [leaves[code >> 1] for code in key if code & 1]
        # The leaf with most options last: its loop is the innermost and the cheapest.
        marked.sort(key=lambda leaf: len(options(leaf)))
        choices: list[list[Option]] = [options(leaf) for leaf in marked]
        if not choices[0]:
            return
        depth_last = len(choices) - 1
        # What the leaves after the i-th add to the bound at the least: options are sorted.
        rest = [0] * len(choices)
        for i in range(depth_last, 0, -1):
            rest[i - 1] = rest[i] + choices[i][0].bound
        n_leaves = len(key) + len(choices)
        cost, weight = self._kept(key)
        if self._prunes and cost + choices[0][0].bound + rest[0] >= self._limit:
            return
        most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)
        if n_leaves > most_leaves:
            return
        prunes = self._prunes
        steps = nowhere = 0
        leasts = [self._leaves.leasts(leaf) for leaf in marked]
        # Partial children: leaf number, bound, least bound of what they lead to, kept cost, kept weight, leaves to
        # split, codes.
        stack: list[tuple[int, int, int, int, int, int, list[int]]] = [(0, cost, cost, cost, weight, 0, unchanged)]
        while stack:
            i, bound, least, kept_cost, kept_weight, to_split, codes = stack.pop()
            steps += len(choices[i])
            if steps > _STEPS_BETWEEN_PAUSES:
                self._count(steps, nowhere)
                steps = nowhere = 0
                yield
            ceiling = self._limit - rest[i] if prunes else inf
            if i < depth_last:
                for option, option_least in zip(choices[i], leasts[i], strict=True):
                    child_bound = bound + option.bound
                    if child_bound >= ceiling:
                        break
                    stack.append(
                        (
                            i + 1,
                            child_bound,
                            least + option_least,
                            kept_cost + option.kept_cost,
                            kept_weight + option.kept_weight,
                            to_split + option.to_split,
                            [*codes, *option.codes],
                        )
                    )
                continue
            # Most children lead nowhere, once a good tree is known: to see it again takes less than to remember or to
            # send them.
            useless = (self._limit if prunes else self._leaves.hopeless) - least
            for (option_bound, option_cost, option_weight, option_split, option_codes), option_least in zip(
                choices[i], leasts[i], strict=True
            ):
                child_bound = bound + option_bound
                if child_bound >= ceiling:
                    break
                child_split = to_split + option_split
                if n_leaves + child_split > most_leaves:
                    continue
                if option_least >= useless and child_split:
                    nowhere += 1
                    continue
                if not child_split:
                    self.evaluated += 1
                    if child_bound < self._limit:
                        self._improve(child_bound, (*codes, *option_codes))
                        ceiling = self._limit if prunes else inf
                        useless = (self._limit if prunes else self._leaves.hopeless) - least
                        most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)
                    continue
                child = [*codes, *option_codes]
                if self._sorts:
                    child.sort()
                self._generate(
                    tuple(child), child_bound, kept_cost + option_cost, kept_weight + option_weight, child_split
                )
        self._count(steps, nowhere)

    def _count(self, steps: int, nowhere: int) -> None:
        """Count options looked at, and children that lead nowhere: they are as good as expanded."""
        self.scanned += steps
        self.evaluated += nowhere
        self.expanded += nowhere

    def _generate(self, key: Key, bound: int, kept_cost: int, kept_weight: int, to_split: int) -> None:
        """Take in a tree unless it has been generated before."""
        if self._remembers:
            if key in self._generated:
                self.duplicates += 1
                return
            self._generated.add(key)
            if self._log is not None:
                self._log.append(key)
        self._place(key, bound, kept_cost, kept_weight, to_split)

    def _place(self, key: Key, bound: int, kept_cost: int, kept_weight: int, to_split: int) -> None:
        """Open a tree."""
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

    def _solution(self) -> Solution | None:
        return None if self._best is None else Solution(self._best[0], sketch_of(self._best[1], self._leaves))

    def _kept(self, key: Key) -> tuple[int, int]:
        """Return cost and weight of the leaves that stay."""
        kept = [self._leaves.leaves[code >> 1] for code in key if not code & 1]
        return sum(leaf.kept for leaf in kept), sum(leaf.totals.weight for leaf in kept)
