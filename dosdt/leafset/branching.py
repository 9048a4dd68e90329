"""How one tree leads to others: what every leaf-set search does, whoever runs it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf

from dosdt import bounds
from dosdt.contract import Constraints, Solution
from dosdt.leafset.leaf_limit import LeafLimit
from dosdt.leafset.leaves import Leaf, LeafCache
from dosdt.leafset.policies import POLICIES, Standing
from dosdt.leafset.queue import Key, OpenTree, TreeQueue
from dosdt.leafset.shape import sketch_of
from dosdt.problem import Problem


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
        self._policy = POLICIES[policy]
        self._prunes = "hierarchical" in self.switches or "lookahead" in self.switches
        self._sorts = "leaf_permutation" in self.switches
        self._remembers = "tree_cache" in self.switches
        self._remembers_leaves = "leaf_cache" in self.switches
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
        """Generate the children of a tree: split one of the leaves to be split in every way; pause at times.

        To split all of them at once, as the paper does, leads to the same trees in the end, but by all combinations
        of the ways to split each. One at a time, most of these never come up: what is found out about the new leaves
        rules them out. The leaf with the fewest ways goes first.
        """
        cache, key = self._leaves, tree[4]
        marked = [cache.leaves[code >> 1] for code in key if code & 1]
        cost, weight = self._kept(key)
        if not self._remembers_leaves:
            for leaf in marked:
                leaf.forget()
        while True:
            for leaf in marked:
                cache.refresh(leaf)
            while cache.finds and cache.root.best < self._limit:
                yield from self._complete([], 0, [cache.root])
            spare = self._spare(cost, marked)
            if spare <= 0:
                return
            unknown = [leaf for leaf in marked if leaf.outlook is None]
            if not unknown:
                counts = [cache.n_ways(leaf, leaf.least + spare) for leaf in marked]
                split = marked[counts.index(min(counts))]
                unknown = cache.unknown(split, split.least + spare)
                if not unknown:
                    break
            for leaf in unknown:
                yield from cache.look(leaf)
        n_leaves = len(key) + len(marked)
        most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)
        if n_leaves > most_leaves:
            return
        yield from self._complete([code for code in key if not code & 1], cost, marked)
        most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)
        marked.remove(split)
        prospects = cache.prospects(split, split.least + spare)
        limit = self._limit if self._prunes else cache.hopeless
        code = 2 * split.index + 1
        others = [other for other in key if other != code]
        others_least, others_split = cost + sum([leaf.least for leaf in marked]), len(marked)
        for option_least, (option_cost, option_weight, option_split, option_codes) in prospects:
            child_least, child_split = others_least + option_least, others_split + option_split
            if child_least >= limit:
                break
            if n_leaves + option_split > most_leaves:
                continue
            if child_split:
                child = [*others, *option_codes]
                if self._sorts:
                    child.sort()
                self._generate(tuple(child), child_least, cost + option_cost, weight + option_weight, child_split)
                continue
            self.evaluated += 1
            if child_least < self._limit:
                self._improve(child_least, (*others, *option_codes))
                limit = self._limit if self._prunes else limit
                most_leaves = self._leaf_limit.of_descendants(key, cost, self._limit)

    def _spare(self, cost: int, marked: Sequence[Leaf]) -> int:
        """Return by how much a tree's bound is below what it must stay below, by all that is known of its leaves."""
        limit = self._limit if self._prunes else self._leaves.hopeless
        return limit - cost - sum([leaf.least for leaf in marked])

    def _complete(self, unchanged: list[int], cost: int, marked: Sequence[Leaf]) -> Iterator[None]:
        """Evaluate the tree in which each leaf to be split is split in the best way found; pause at times."""
        self.evaluated += 1
        if cost + sum([leaf.best for leaf in marked]) < self._limit:
            new: list[Leaf] = []
            for leaf in marked:
                new += yield from self._leaves.best(leaf)
            self._improve(cost + sum(leaf.kept for leaf in new), (*unchanged, *(2 * leaf.index for leaf in new)))

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
        return sum(leaf.kept for leaf in kept), sum(leaf.weight for leaf in kept)
