"""What every search keeps, so that it runs in one process or on many without knowing which.

A search works on *tasks*. It runs one until it is done or the budget is spent and hands back what is left as new
tasks, the *survivors*. Meanwhile anyone may tighten the limit, and what one search has proved another can absorb.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

TaskT = TypeVar("TaskT")
FactT = TypeVar("FactT")


class SketchNode(NamedTuple):
    """A node of a tree over binary features: a split if `feature` >= 0, else a leaf with a class number."""

    feature: int
    yes: int
    no: int
    label: int


class Sketch(NamedTuple):
    """A tree as a search knows it: nodes in a flat tuple, root first, children after their parents."""

    nodes: tuple[SketchNode, ...]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return (len(self.nodes) + 1) // 2

    @property
    def depth(self) -> int:
        """Most splits on a path from the root to a leaf."""
        depths = [0] * len(self.nodes)
        for place, node in enumerate(self.nodes):
            if node.feature >= 0:
                depths[node.yes] = depths[node.no] = depths[place] + 1
        return max(depths)


def split_node(feature: int, yes: int, no: int) -> SketchNode:
    """Return a node that sends rows with the feature to `yes` and the others to `no`."""
    return SketchNode(feature, yes, no, -1)


def leaf_node(label: int) -> SketchNode:
    """Return a leaf that predicts a class."""
    return SketchNode(-1, -1, -1, label)


class Solution(NamedTuple):
    """A tree and its cost ``b·errors + a·leaves``."""

    cost: int
    sketch: Sketch


@dataclass(frozen=True)
class Constraints:
    """What a tree must keep to; None means no limit.

    Attributes
    ----------
    max_depth : int, optional
        Most questions on a path; a single leaf has depth 0.
    max_leaves : int, optional
    min_support : int
        Least weight of a leaf, in the problem's integer unit.
    """

    max_depth: int | None = None
    max_leaves: int | None = None
    min_support: int = 0


@dataclass(frozen=True)
class Budget:
    """How much work one call of `run` may do.

    `expansions` is checked between expansions, so every run makes progress. `pause` is asked after every few
    hundred steps, also within an expansion; when it says yes the search stops at once and loses nothing.
    """

    expansions: int | None = None
    pause: Callable[[], bool] | None = None


@dataclass(frozen=True)
class Result(Generic[TaskT]):
    """What a run of a task has come to.

    Attributes
    ----------
    best : Solution or None
        The best tree found that is better than the limit, if any.
    survivors : sequence of tasks
        What is left to do; empty when the task is done.
    lower_bound : int or None
        A bound on every tree that the survivors can still lead to, if the run has proved one.
    expanded, evaluated : int
        Work done in this run.
    """

    best: Solution | None = None
    survivors: Sequence[TaskT] = field(default=())
    lower_bound: int | None = None
    expanded: int = 0
    evaluated: int = 0


class Frontier(Protocol[TaskT]):
    """What is left to do, and in which order."""

    def __len__(self) -> int: ...

    def next_task(self) -> TaskT | None:
        """Return what to work on next, or None if there is nothing."""
        ...

    def absorb(self, result: Result[TaskT]) -> None:
        """Take back what a run has left."""
        ...

    def lower_bound(self) -> int | None:
        """Return a bound on every tree still to be found here, or None if nothing is left."""
        ...


class Search(Protocol[TaskT, FactT]):
    """The contract between a search and whatever runs it."""

    def root(self) -> TaskT:
        """Return the task that is the whole problem."""
        ...

    def run(self, task: TaskT, budget: Budget) -> Result[TaskT]:
        """Work on a task until it is done or the budget is spent."""
        ...

    def tighten(self, task: TaskT | None, limit: int) -> None:
        """Prune what costs `limit` or more from now on; may be called from another thread at any time."""
        ...

    def facts_since(self, cursor: int) -> tuple[Sequence[FactT], int]:
        """Return what finished runs have proved since `cursor`, and the new cursor."""
        ...

    def absorb(self, facts: Sequence[FactT]) -> None:
        """Take in what another search has proved; call it between runs."""
        ...

    def spare_memory(self) -> None:
        """Make do with less from now on, if that is possible; called while a task runs."""
        ...

    def lower_bound(self) -> int | None:
        """Return a bound on every tree that the running task can still find; None if there is none."""
        ...

    def encode(self, task: TaskT) -> bytes:
        """Return the task as a message that any search of the same problem understands."""
        ...

    def decode(self, message: bytes) -> TaskT:
        """Return the task that a message describes."""
        ...
