"""Depth-first branch and bound over subsets of the rows, behind the contract of every search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

import msgpack
import numpy as np
from threadpoolctl import ThreadpoolController

from dosdt.bitvectors import RowSet, pack
from dosdt.bounds import a_priori_leaves
from dosdt.contract import Budget, Constraints, Result, Sketch, SketchNode, Solution, leaf_node, split_node
from dosdt.errors import InputError
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.sketches import prune
from dosdt.subproblem.counts import Counter, counter_for
from dosdt.subproblem.facts import Facts, Known
from dosdt.subproblem.frame import Frame, Path, Place, Subset, key_of

SWITCHES: dict[str, str] = {
    "reduced_support": "a side of a split whose rows lose too little cannot pay for its leaf",
    "grandchildren": "a child's bound comes from its own children's losses, not from counting three leaves",
    "similarity": "a subset costs at least what a similar one does, less what the difference can lose",
    "cache": "what was proved of a subset is not proved again",
}

_GRANDCHILDREN_AT_ONCE = 2**18
_FEW_EXPANSIONS = 100
"""Up to here, finding the libraries whose threads are to be limited takes longer than the search itself."""


class Task(NamedTuple):
    """A subset to be solved: the path that leads to it, and the depth and leaves a tree for it may have."""

    path: Path
    depth: int | None
    leaves: int | None


class Fact(NamedTuple):
    """What is proved of a subset, in terms any process understands."""

    path: Path
    depth: int | None
    leaves: int | None
    known: Known


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
        self.problem = problem
        self.constraints = _binding(problem, constraints or Constraints())
        self.switches = frozenset(switches)
        self.expanded = 0
        self._prices = Prices(problem)
        self._counter: Counter = counter_for(
            problem, self._prices.penalty, self.constraints.min_support, self.switches
        )
        self._columns = [pack(problem.features[:, j]) for j in range(problem.n_columns)]
        self._everything = pack(np.ones(problem.n_rows, np.bool_))
        self._facts = Facts(use="cache" in self.switches, log=record_facts)
        # With a minimum support the tree of one subset need not be allowed for another.
        self._similarity = (
            "similarity" in self.switches and not self.constraints.min_support and self._counter.compares
        )
        self._batch = max(1, _GRANDCHILDREN_AT_ONCE // self._counter.cells)
        self._stack: list[Frame] = []
        self._task: Task | None = None
        self._best = prune(problem, Sketch((leaf_node(0),)), self.constraints)
        self._limit = self._best.cost
        self._limits = self._limit, self._prices.inside(self._limit)
        self._pause: Callable[[], bool] = _never

    # -- the contract ---------------------------------------------------------------------------------------------

    def root(self) -> Task:
        """Return the whole problem."""
        return Task((), self.constraints.max_depth, self.constraints.max_leaves)

    def single_leaf(self) -> Solution:
        """Return the tree that every search starts from."""
        return prune(self.problem, Sketch((leaf_node(0),)), self.constraints)

    def run(self, task: Task, budget: Budget) -> Result[Task]:
        """Solve a subset, or go on with it; a task that was left in the middle goes on where it was."""
        if task.depth == 0 or task.leaves == 1:
            return Result()
        before, best_before = self.expanded, self._best.cost
        self._pause = budget.pause or _never
        last = inf if budget.expansions is None else before + budget.expansions
        with ExitStack() as threads:
            if task != self._task or not self._stack:
                self._start(task)
            few: float = before + _FEW_EXPANSIONS
            while self._stack and self.expanded < last and not self._pause():
                self._advance()
                if self.expanded > few:
                    few = inf
                    threads.enter_context(_one_thread())
            self._settle()
            if self._stack:
                self._rise()
        whole = bool(self._stack) and not task.path
        return Result(
            best=self._best if self._best.cost < best_before else None,
            survivors=[task] if self._stack else [],
            lower_bound=self._prices.outside(self._stack[0].lower) if whole else None,
            expanded=self.expanded - before,
            evaluated=self.expanded - before,
        )

    def tighten(self, task: Task | None, limit: int) -> None:  # noqa: ARG002 - only the whole problem has a limit here
        """Look only for trees cheaper than `limit` from the next step on."""
        self._limit = min(self._limit, limit)

    def facts_since(self, cursor: int) -> tuple[Sequence[Fact], int]:
        """Return what was proved since `cursor`."""
        if self._facts.log is None:
            raise InputError("this search keeps no facts; create it with record_facts=True")
        news = self._facts.log[cursor:]
        return [Fact(path, depth, leaves, known) for path, depth, leaves, known in news], len(self._facts.log)

    def absorb(self, facts: Sequence[Fact]) -> None:
        """Take in what another search has proved.

        Only lower bounds count: the tree behind an upper bound rests on other facts, which may never come.
        """
        for path, depth, leaves, known in facts:
            bound = Known(known.lower, self._counter.never, None)
            self._facts.absorb(key_of(self._row_set_at(path), depth, leaves), bound)

    def lower_bound(self) -> int | None:
        """Return a bound on all trees of the running task; None if there is no such task."""
        if not self._stack:
            return None
        self._settle()
        return self._prices.outside(self._stack[0].lower)

    def encode(self, task: Task) -> bytes:
        """Return a task as a message."""
        message: bytes = msgpack.packb(task)
        return message

    def decode(self, message: bytes) -> Task:
        """Return the task that a message describes."""
        path, depth, leaves = msgpack.unpackb(message)
        return Task(tuple(path), depth, leaves)

    # -- what a runtime shows -------------------------------------------------------------------------------------

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
        """Number of subsets between the root and where the search is."""
        return len(self._stack)

    def statistics(self) -> dict[str, int]:
        """Return counts of this search's own, by name."""
        return {"facts": len(self._facts)}

    def remaining_log10(self) -> None:
        """No bound on the evaluations left is known for this search."""
        return

    # -- the search -----------------------------------------------------------------------------------------------

    def _start(self, task: Task) -> None:
        rows = self._counter.everything()
        for literal in task.path:
            rows = self._counter.child(rows, literal - 1 if literal > 0 else len(self._columns) - literal - 1)
        subset = Subset(task.path, self._row_set_at(task.path), rows, task.depth, task.leaves)
        self._task = task
        if (known := self._facts.get(subset.key)) is None:
            self.expanded += 1  # to expand it again costs nothing new
        frame = Frame(subset, self._counter.count([rows]), 0)
        frame.settle()
        if known is not None:
            frame.lower = max(frame.lower, known.lower)
        self._stack = [frame]
        self._rise()
        self._open_children([frame])

    def _advance(self) -> None:
        """Do one step: go down to a child, or finish the subset at hand and go up."""
        stack = self._stack
        if not stack[0].subset.path:
            stack[0].limit = self._inner_limit()
        frame = stack[-1]
        child = self._next_child(frame)
        self._rise()
        if child is not None:
            stack.append(child)
            return
        frame.settle()
        known = self._facts.record(frame)
        stack.pop()
        if not stack:
            return
        parent, place = stack[-1], frame.place
        assert place is not None
        parent.children.pop(place)
        parent.learn(place, known.lower, known.upper)
        if self._similarity:
            parent.compare(place, known.lower, self._prices.b)
        parent.improve()

    def _inner_limit(self) -> int:
        """Return the limit in the search's own prices; it changes rarely and is asked for often."""
        limit = self._limit  # once: another thread may tighten it
        if self._limits[0] != limit:
            self._limits = limit, self._prices.inside(limit)
        return self._limits[1]

    def _next_child(self, frame: Frame) -> Frame | None:
        """Return the child to solve next, or None if nothing below the target is left."""
        if not frame.prepared:
            frame.prepared = True
            self._prepare(frame)
        while True:
            bounds = frame.candidates()
            position = int(bounds.argmin())
            if bounds.flat[position] >= frame.target:
                return None
            place = max(frame.sides(*divmod(position, frame.m)), key=frame.gap)
            subset_key = self._key(frame, place)
            known = self._facts.get(subset_key)
            if known is not None and frame.would_learn(place, known.lower, known.upper):
                frame.learn(place, known.lower, known.upper)
                frame.improve()
                continue
            child = frame.children.get(place)
            if child is None:
                self._open([(frame, place)])
                frame.improve()
                continue
            child.limit = frame.room(place)
            if not child.opened:
                self._open_children([child])
            return child

    def _prepare(self, frame: Frame) -> None:
        """Open the grandchildren that may be needed, in few and large batches: counting many at once is cheaper."""
        target, bounds = frame.target, frame.candidates()
        wanted = []
        for place, child in frame.children.items():
            yes = place if place.x < frame.m else frame.sibling(place)
            if bounds[yes.share, yes.x] < target and frame.gap(place) > 0 and not child.opened:
                child.limit = frame.room(place)
                if child.lower < child.target:
                    wanted.append(child)
        if len(wanted) < 2:
            return
        self._open_children(wanted)
        for child in wanted:
            assert child.place is not None
            known = self._facts.record(child)
            frame.learn(child.place, known.lower, known.upper)
        frame.improve()

    def _open_children(self, frames: Iterable[Frame]) -> None:
        """Open all children that a tree below the target could need; a pause may leave some for later."""
        todo: dict[Any, tuple[Frame, Place]] = {}
        for frame in frames:
            frame.opened = True
            for share, feature in np.argwhere(frame.candidates() < frame.target).tolist():
                for place in frame.sides(share, feature):
                    if frame.gap(place) > 0:
                        key = self._key(frame, place)
                        known = self._facts.get(key)
                        if known is None:
                            todo.setdefault(key, (frame, place))
                        else:
                            frame.learn(place, known.lower, known.upper)
        places = list(todo.values())
        for start in range(0, len(places), self._batch):
            if start and self._pause():
                break
            self._open(places[start : start + self._batch])
        for frame in frames:
            frame.improve()
            frame.settle()

    def _open(self, places: Sequence[tuple[Frame, Place]]) -> None:
        subsets = [self._subset(frame.subset, frame.m, place) for frame, place in places]
        counts = self._counter.count([subset.rows for subset in subsets])
        self.expanded += len(subsets)
        for k, (subset, (frame, place)) in enumerate(zip(subsets, places, strict=True)):
            child = Frame(subset, counts, k)
            child.place = place
            child.settle()
            frame.children[place] = child
            known = self._facts.record(child)
            frame.learn(place, known.lower, known.upper)

    def _rise(self) -> None:
        """Carry a better tree up to the root at once, so that every limit on the way falls with it."""
        stack, risen = self._stack, False
        for level in range(len(stack) - 1, 0, -1):
            child, parent = stack[level], stack[level - 1]
            place = child.place
            assert place is not None
            if child.upper >= parent.uppers[place.share, place.x]:
                break
            before = parent.upper
            parent.learn(place, 0, child.upper)
            parent.improve()
            if parent.upper == before:
                break
            risen = True
        if risen:
            for parent, child in pairwise(stack):
                assert child.place is not None
                child.limit = min(child.limit, parent.room(child.place))
        root = stack[0]
        if not root.subset.path and root.upper < self._inner_limit():
            for frame in reversed(stack):
                self._facts.record(frame)
            found = prune(self.problem, self._sketch(root.subset), self.constraints)
            if self._prices.inner(found.cost, found.sketch.n_leaves) > root.upper:
                raise AssertionError("the tree found costs more than was proved; please report this as a bug")
            self._best = min(found, self._best, key=lambda solution: solution.cost)
            self._limit = min(self._limit, self._best.cost)

    def _settle(self) -> None:
        """Bring all bounds on the way to the root up to date, and keep what they say."""
        for level in range(len(self._stack) - 1, -1, -1):
            frame = self._stack[level]
            frame.settle()
            known = self._facts.record(frame)
            if level:
                assert frame.place is not None
                self._stack[level - 1].learn(frame.place, known.lower, known.upper)
                self._stack[level - 1].improve()

    # -- subsets --------------------------------------------------------------------------------------------------

    def _row_set(self, row_set: RowSet, m: int, x: int) -> RowSet:
        inside = row_set & self._columns[x % m]
        return inside if x < m else row_set ^ inside

    def _row_set_at(self, path: Path) -> RowSet:
        m, row_set = len(self._columns), self._everything
        for literal in path:
            row_set = self._row_set(row_set, m, literal - 1 if literal > 0 else m - literal - 1)
        return row_set

    def _key(self, frame: Frame, place: Place) -> Any:
        subset = frame.subset
        row_set = self._row_set(subset.row_set, frame.m, place.x)
        if subset.depth is None and subset.leaves is None:
            return row_set
        return key_of(row_set, *_allowance(subset, place))

    def _subset(self, subset: Subset, m: int, place: Place) -> Subset:
        literal = place.x + 1 if place.x < m else m - place.x - 1
        return Subset(
            (*subset.path, literal),
            self._row_set(subset.row_set, m, place.x),
            self._counter.child(subset.rows, place.x),
            *_allowance(subset, place),
        )

    def _best_split(self, subset: Subset) -> tuple[Subset, Place | None]:
        """Return the root of the best tree known for a subset, and the subset with the leaves it was found for.

        A tree with fewer leaves than allowed may be the best, and is known under its own number of leaves.
        """
        if subset.leaves is None:
            allowances = [subset]
        else:
            allowances = [subset._replace(leaves=leaves) for leaves in range(subset.leaves, 1, -1)]
        found = []
        for allowed in allowances:
            known = self._facts.tree(allowed.key)
            if known is not None and known.upper < self._counter.never:  # its tree was found here
                found.append((known.upper, known.best, allowed))
            elif allowed is allowances[0]:
                frame = Frame(allowed, self._counter.count([allowed.rows]), 0)
                found.append((frame.upper, frame.best, allowed))
        _, best, chosen = min(found, key=lambda item: item[0])
        return chosen, best

    def _sketch(self, root: Subset) -> Sketch:
        """Return the best tree known for a subset."""
        m = len(self._columns)
        nodes: list[SketchNode] = [leaf_node(0)]
        stack = [(0, root)]
        while stack:
            number, subset = stack.pop()
            if subset.depth == 0 or subset.leaves == 1:
                continue
            subset, best = self._best_split(subset)
            if best is None:
                continue
            no = Place(m + best.x, (1 if subset.leaves is None else subset.leaves - 1) - 1 - best.share)
            nodes[number] = split_node(best.x, len(nodes), len(nodes) + 1)
            stack += [(len(nodes), self._subset(subset, m, best)), (len(nodes) + 1, self._subset(subset, m, no))]
            nodes += [leaf_node(0), leaf_node(0)]
        return Sketch(tuple(nodes))


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


def _allowance(subset: Subset, place: Place) -> tuple[int | None, int | None]:
    """Return the depth and leaves that a child's tree may have."""
    depth, leaves = subset.depth, subset.leaves
    return None if depth is None else depth - 1, None if leaves is None else place.share + 1


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread() -> AbstractContextManager[None]:
    """Keep matrix products to one thread: they are small, and threads that wait for each other cost far more."""
    context: AbstractContextManager[None] = _libraries().limit(limits=1, user_api="blas")
    return context


def _never() -> bool:
    return False
