"""Branch and bound over subsets of the rows, in waves, behind the contract of every search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from math import inf
from typing import NamedTuple

import msgpack
import numpy as np

from dosdt.bitvectors import RowSet
from dosdt.contract import Budget, Constraints, Result, Sketch, Solution, leaf_node
from dosdt.errors import InputError
from dosdt.problem import Problem
from dosdt.sketches import prune
from dosdt.subproblem.carried import Learnt, between, repriced
from dosdt.subproblem.facts import Fact, Facts, together
from dosdt.subproblem.graph import NOBODY
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.opening import Opener
from dosdt.subproblem.rebuild import best_tree
from dosdt.subproblem.subsets import Path, Subset
from dosdt.subproblem.terms import SWITCHES, Terms
from dosdt.subproblem.waves import Wanted, Wave, ascend, descend, dive
from dosdt.threads import one_thread

_FEW_EXPANSIONS = 100
"""Up to here, finding the libraries whose threads are to be limited takes longer than the search itself."""
_SMALL_PRODUCT = 2**18
_LARGE_PRODUCT = 2**22
"""Up to so many multiplications, libraries use one thread anyway; from so many on, threads matter from the start."""
_BATCHES_AT_ONCE = 8
_LEAST_ROOM = 1024
"""Nodes to keep, however short memory is."""


class Task(NamedTuple):
    """A subset to be solved: the path that leads to it, and the depth and leaves a tree for it may have."""

    path: Path
    depth: int | None
    leaves: int | None


class SubproblemSearch:
    """The fast search: a node is a subset of the rows, so choices left and right of a split add up.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    switches : collection of str
        Which bounds to use; names as in `SWITCHES`.
    record_facts : bool
        Whether to keep a log for `facts_since`.
    """

    def __init__(
        self,
        problem: Problem,
        constraints: Constraints | None = None,
        *,
        switches: Collection[str] = tuple(SWITCHES),
        record_facts: bool = False,
    ) -> None:
        terms = Terms(problem, constraints, switches)
        self.problem, self.constraints, self.switches = problem, terms.constraints, terms.switches
        self.expanded = 0
        self._prices, self._counter, self._subsets, self._batch = (
            terms.prices,
            terms.counter,
            terms.subsets,
            terms.batch,
        )
        self._graph = terms.graph()
        self._log: list[Fact] | None = [] if record_facts else None
        self._told = Hearsay()
        self._opener = Opener(terms, self._graph, self._told)
        self._task = self.root()
        self._root: int | None = None
        self._active = 0
        self._riding = False
        self._room: float | None = None  # how many nodes there may be, once memory was short
        self._best = prune(problem, Sketch((leaf_node(0),)), self.constraints)
        self._limit = self._best.cost
        self._limits = self._limit, self._prices.inside(self._limit)
        self._found = self._built = self._limits[1]

    # -- the contract ---------------------------------------------------------------------------------------------

    def root(self) -> Task:
        """Return the whole problem."""
        return Task((), self.constraints.max_depth, self.constraints.max_leaves)

    def run(self, task: Task, budget: Budget) -> Result[Task]:
        """Solve a subset, or go on with it: all that was proved of it before still holds."""
        if task.depth == 0 or task.leaves == 1:
            return Result()
        before, best_before = self.expanded, self._best.cost
        pause = budget.pause or _never
        last = inf if budget.expansions is None else before + budget.expansions
        with ExitStack() as threads:
            root = self._start(task)
            few = before + _few(self._counter.work)
            while not self._closed(root) and self.expanded < last and not pause():
                root = self._forget(root)
                wave = self._next_wave(root)
                if self.expanded + len(wave.wanted.node) > few:
                    few = inf
                    threads.enter_context(one_thread())
                self._riding = True
                self._ride(wave, last, pause)
                self._riding = False
                self._take_best(root)
        self._build_best(root)
        closed = self._closed(root)
        return Result(
            best=self._best if self._best.cost < best_before else None,
            survivors=[] if closed else [task],
            lower_bound=None if closed else self.lower_bound(),
            expanded=self.expanded - before,
            evaluated=self.expanded - before,
        )

    def tighten(self, task: Task | None, limit: int) -> None:  # noqa: ARG002 - only the whole problem has a limit here
        """Look only for trees cheaper than `limit` from the next step on."""
        self._limit = min(self._limit, limit)

    def reset_limit(self) -> None:
        """Look for every tree that is better than the best found, whatever limit was set before."""
        self._limit = self._best.cost

    def facts_since(self, cursor: int) -> tuple[Sequence[Fact], int]:
        """Return what was proved since `cursor`."""
        if self._log is None:
            raise InputError("this search keeps no facts; create it with record_facts=True")
        return self._log[cursor:], len(self._log)

    def absorb(self, facts: Sequence[Fact]) -> None:
        """Take in what another search has proved."""
        self.recall(together(facts))

    def recall(self, facts: Facts) -> None:
        """Take in many facts at once."""
        subsets, lowers = facts.subsets(self._subsets), facts.lower.tolist()
        self._told.add(subsets, lowers)
        for node, lower in zip(self._graph.index.find(subsets).tolist(), lowers, strict=True):
            if node != NOBODY:
                self._graph.raise_lower(node, lower)

    def spare_memory(self) -> None:
        """Forget what is cheap to prove again, and from now on hold no more than at present."""
        if self._room is None:
            self._room = max(len(self._graph), _LEAST_ROOM)

    def lower_bound(self) -> int | None:
        """Return a bound on all trees, if the whole problem is the running task; else None."""
        if self._root is None or self._task.path:
            return None
        return self._prices.outside(int(self._graph.lower[self._root]))

    def encode(self, task: Task) -> bytes:
        """Return a task as a message."""
        message: bytes = msgpack.packb(task)
        return message

    def decode(self, message: bytes) -> Task:
        """Return the task that a message describes."""
        path, depth, leaves = msgpack.unpackb(message)
        return Task(tuple(path), depth, leaves)

    def continued(self, problem: Problem, constraints: Constraints | None = None) -> SubproblemSearch:
        """Return a search of the same data with another λ or other constraints, which knows what still holds.

        A bound holds where no more is allowed than where it was proved; with another λ it is lower. A tree holds
        if it keeps to the constraints.
        """
        record = self._log is not None
        return SubproblemSearch.taught(
            problem, constraints, [self.learnt()], switches=self.switches, record_facts=record
        )

    def learnt(self) -> Learnt:
        """Return what this search leaves to others; it may be thrown away then, which sets most memory free."""
        lower = self._graph.lower[: len(self._graph)].copy()
        support = self.constraints.min_support
        return Learnt(self.problem, support, self._graph.index, lower, self._prices.penalty, self._best.sketch)

    @classmethod
    def taught(
        cls,
        problem: Problem,
        constraints: Constraints | None,
        learnt: Sequence[Learnt],
        *,
        switches: Collection[str] = tuple(SWITCHES),
        record_facts: bool = False,
    ) -> SubproblemSearch:
        """Return a search that knows what still holds of what one other has learnt, or two.

        Two that know the same subsets at a smaller and at a larger λ say more together than each alone.
        """
        search = cls(problem, constraints, switches=switches, record_facts=record_facts)
        for source in learnt:
            old = source.problem
            if not np.array_equal(problem.features, old.features) or (
                (problem.cost, problem.class_weight) != (old.cost, old.class_weight)
            ):
                raise InputError("a search can continue on the same data only: features, labels, weights and costs")
            search._offer(source.best)
        holding = [source for source in learnt if search.constraints.min_support >= source.min_support]
        for source in holding:
            search._told.add(*repriced(source, search._prices))
        if len(holding) == 2 and (chord := between(holding[0], holding[1], search._prices)) is not None:
            search._told.add(*chord)
        return search

    # -- what a runtime shows -------------------------------------------------------------------------------------

    @property
    def best(self) -> Solution:
        """The best tree found."""
        return self._best

    @property
    def evaluated(self) -> int:
        """Number of subsets expanded."""
        return self.expanded

    @property
    def limit(self) -> int:
        """Cost that a tree must stay below to be of interest."""
        return self._limit

    @property
    def open(self) -> int:
        """Number of subsets of which more must be known."""
        return self._active

    @property
    def cached(self) -> int:
        """Number of subsets of which something is known."""
        return len(self._graph)

    def found(self) -> Solution | None:
        """Return the best tree that can be put together; in the middle of a wave, one that was before."""
        if self._root is None or self._riding or self._task.path or self._built == self._found:
            return self._best
        sketch = best_tree(self._graph, self._root, self._subsets, self._counter)
        return min(prune(self.problem, sketch, self.constraints), self._best, key=lambda solution: solution.cost)

    def statistics(self) -> dict[str, int]:
        """Return counts of this search's own, by name."""
        return {"facts": self.cached}

    def remaining_log10(self) -> None:
        """No bound on the evaluations left is known for this search."""
        return

    # -- what a certificate is made of ----------------------------------------------------------------------------

    def known(self, rows: RowSet, depth: int | None, leaves: int | None) -> int:
        """Return the best lower bound on a subset that is at hand, in the prices of `Prices`; 0 if there is none."""
        subset = self._subsets.only(Subset(rows, depth, leaves))
        node = self._graph.find(subset)
        told = self._told.bounds(subset)[0] if self._told else 0
        return told if node is None else max(told, int(self._graph.lower[node]))

    def prove(self, path: Path, depth: int | None, leaves: int | None, expansions: int | None = None) -> None:
        """Solve a subset again, of which less is at hand than was once known; stop after so many expansions."""
        self._room = inf  # what is proved now must stay until all that rests on it is
        self.run(Task(path, depth, leaves), Budget(expansions))

    # -- the search -----------------------------------------------------------------------------------------------

    def _start(self, task: Task) -> int:
        """Return the task's node."""
        subset = self._subsets.only(Subset(self._subsets.rows_at(task.path), task.depth, task.leaves))
        node = self._graph.find(subset)
        if node is None:
            node = self._opener.start(subset, task.path)
            self.expanded += 1
            self._write_down([node])
        self._task, self._root = task, node
        self._take_best(node)
        return node

    def _need(self) -> int:
        """Return the cost that trees of the running task must stay below to be of interest."""
        if self._task.path:
            return self._counter.never
        limit = self._limit  # once: another thread may tighten it
        if self._limits[0] != limit:
            self._limits = limit, max(self._prices.inside(limit), 0)
        return self._limits[1]

    def _closed(self, root: int) -> bool:
        return bool(self._graph.lower[root] >= min(self._need(), self._graph.upper[root]))

    def _is_full(self) -> bool:
        return self._room is not None and len(self._graph) >= self._room

    def _forget(self, root: int) -> int:
        """Make room if there is none, and return the new number of a node."""
        if not self._is_full():
            return root
        subset, before = self._graph.index.batch([root]), len(self._graph)
        needed = np.concatenate(descend(self._graph, root, self._need(), curious=False).levels)
        if self._graph.forget(needed) < before / 10:
            self._room = int(1.25 * before) + 1  # too little to live on: some more, until the limit itself stops this
        node = self._graph.find(subset)
        assert node is not None
        self._root = node
        return node

    def _next_wave(self, root: int) -> Wave:
        """Ask for what the best tree lacks, or else for what the proof lacks."""
        if self._room is None:  # what a dive finds is the first to be forgotten, and it would dive again
            wave = dive(self._graph, root)
            if len(wave.wanted.node):
                return wave
        return descend(self._graph, root, self._need(), curious=self._room is None)

    def _ride(self, wave: Wave, last: float, pause: Callable[[], bool]) -> None:
        """Count what a wave asks for, or as much of it as the budget allows, and carry bounds up."""
        graph = self._graph
        self._active = sum(map(len, wave.levels))
        nodes = np.unique(np.concatenate(wave.levels)) if self._log is not None else None
        before = graph.lower[nodes] if nodes is not None else None
        limit, start, end = self._limit, 0, len(wave.wanted.node)

        def is_enough() -> bool:
            return pause() or self._limit != limit or self._is_full()

        while start < end:
            # Most of those asked for are nodes already, and what is counted is best counted together.
            size = min(_BATCHES_AT_ONCE * self._batch, int(min(last - self.expanded, end)))
            if size <= 0 or (start and is_enough()):
                break
            added = self._opener.open(Wanted(*(part[start : start + size] for part in wave.wanted)), is_enough)
            self.expanded += len(added)
            self._write_down(added)
            start += size
        ascend(graph, wave)
        if nodes is not None:
            self._write_down(nodes[graph.lower[nodes] > before].tolist())

    def _take_best(self, root: int) -> None:
        """Take in that a node's upper bound is that of the best tree of the whole problem, if it is."""
        upper = int(self._graph.upper[root])
        if self._task.path or upper >= self._found:
            return
        self._found = upper
        if self._prices.same:  # its cost is known, so the tree itself can wait until it is asked for
            self._limit = min(self._limit, self._prices.outside(upper))
        else:
            self._build_best(root)

    def _build_best(self, root: int) -> None:
        """Read the best tree back from the bounds."""
        if self._task.path or self._built == self._found:
            return
        sketch = best_tree(self._graph, root, self._subsets, self._counter)
        found = prune(self.problem, sketch, self.constraints)
        if self._prices.inner(found.cost, found.sketch.n_leaves) > self._found:
            raise AssertionError("the tree found costs more than was proved; please report this as a bug")
        self._built = self._found
        self._best = min(found, self._best, key=lambda solution: solution.cost)
        self._limit = min(self._limit, self._best.cost)

    def _offer(self, sketch: Sketch) -> None:
        """Take in a tree from elsewhere, if it is allowed."""
        most = self.constraints
        if (most.max_depth is not None and sketch.depth > most.max_depth) or (
            most.max_leaves is not None and sketch.n_leaves > most.max_leaves
        ):
            return
        self._best = min(prune(self.problem, sketch, most), self._best, key=lambda solution: solution.cost)
        self._limit = min(self._limit, self._best.cost)

    def _write_down(self, nodes: Sequence[int]) -> None:
        """Keep what is known of some nodes for other searches."""
        if self._log is None:
            return
        for node in nodes:
            _, depth, leaves = self._graph.subset(node)
            self._log.append(Fact(self._graph.path(node), depth, leaves, int(self._graph.lower[node])))


def _few(work: int) -> float:
    """Return how many expansions there must be for threads to matter, by the size of the largest product."""
    if work <= _SMALL_PRODUCT:
        return inf
    return _FEW_EXPANSIONS if work < _LARGE_PRODUCT else 0


def _never() -> bool:
    return False
