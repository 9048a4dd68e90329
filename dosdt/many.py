"""One problem at many λ: each search begins with what those at the nearest λ have proved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from types import TracebackType
from typing import Any

from dosdt.contract import Constraints, Sketch
from dosdt.limits import Limits, Status, Watch
from dosdt.problem import Problem
from dosdt.solver import Answer, TracePoint, solve
from dosdt.subproblem.carried import Learnt
from dosdt.subproblem.search import SubproblemSearch
from dosdt.threads import one_thread

MOST_FACTS = 200_000
"""Bounds that are carried on; more would take more memory, as Python objects, than proving them again takes time."""


@dataclass(frozen=True)
class Solved:
    """The best tree found at one λ.

    Attributes
    ----------
    regularization, objective : Fraction
    errors : Fraction
        What the tree costs without the penalty, in the user's unit.
    sketch : Sketch
    proved : bool
        Whether no tree is better at this λ.
    """

    regularization: Fraction
    objective: Fraction
    errors: Fraction
    sketch: Sketch
    proved: bool

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return self.sketch.n_leaves


class ManySearches:
    """Searches of one problem within limits that hold for all of them together.

    To be used in a ``with`` block, within which Ctrl-C is a stop like any other.

    Parameters
    ----------
    problem : Problem
        Its λ does not matter.
    constraints, limits : optional
    report : callable, optional
        Called with a `TracePoint` about ten times a second while a search runs.
    reuse : bool
        Whether searches learn from one another; the answers are the same.

    Attributes
    ----------
    status : Status or None
        What has stopped the searches, if anything has.
    searches, evaluated : int
        How many there were, and the subsets they expanded.
    """

    def __init__(
        self,
        problem: Problem,
        constraints: Constraints | None = None,
        limits: Limits | None = None,
        report: Callable[[TracePoint], None] | None = None,
        *,
        reuse: bool = True,
    ) -> None:
        self.problem = problem
        self.constraints = constraints or Constraints()
        self.status: Status | None = None
        self.searches = self.evaluated = 0
        self._limits = limits or Limits()
        self._report = report
        self._reuse = reuse
        self._watch = Watch(self._limits)
        self._context = ExitStack()
        self._kept: dict[Fraction, Learnt] = {}
        self._narrow: Learnt | None = None

    def __enter__(self) -> ManySearches:
        # Each search would begin with all threads, and most of these are over before it finds out that they hurt.
        self._context.enter_context(one_thread())
        self._context.enter_context(self._watch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._context.__exit__(kind, error, trace)
        if self._watch.interrupted:  # also between two searches
            self.status = Status.INTERRUPTED

    @property
    def seconds(self) -> float:
        """Seconds since these searches were made."""
        return self._watch.seconds

    @property
    def unit(self) -> Fraction:
        """The λ at which a leaf costs as much as the least difference between two trees' errors can be."""
        return self.problem.cost_unit / self.problem.total_weight

    def at(self, regularization: Fraction) -> Solved | None:
        """Return the best tree at this λ; None if the searches were stopped before."""
        if self.stopped():
            return None
        problem = self.problem.with_regularization(regularization)
        below = max((value for value in self._kept if value <= regularization), default=None)
        above = min((value for value in self._kept if value > regularization), default=None)
        near = [self._kept[value] for value in (below, above) if value is not None]
        search = SubproblemSearch.taught(problem, self.constraints, near)
        solved = self._solve(search)
        if (learnt := self._learnt(search)) is not None:
            self._kept[regularization] = learnt
        return solved

    def within(self, max_leaves: int) -> Solved | None:
        """Return the tree with the fewest errors among those with so many leaves; None if stopped before.

        Subsets with fewer leaves turn up again when more are allowed, so call it with ascending numbers.
        """
        if self.stopped():
            return None
        problem = self.problem.with_regularization(0)
        constraints = replace(self.constraints, max_leaves=max_leaves)
        search = SubproblemSearch.taught(problem, constraints, [] if self._narrow is None else [self._narrow])
        solved = self._solve(search)
        self._narrow = self._learnt(search) or self._narrow
        return solved

    def forget_above(self, regularization: Fraction) -> None:
        """Drop what was learnt at larger λ than this, but for the nearest."""
        for value in sorted(value for value in self._kept if value >= regularization)[1:]:
            del self._kept[value]

    def statistics(self) -> dict[str, Any]:
        """Return counts and seconds, by name."""
        return {
            "searches": self.searches,
            "evaluated": self.evaluated,
            "seconds": self.seconds,
            "distinct_rows": self.problem.n_rows,
            "features": self.problem.n_columns,
        }

    def stopped(self) -> bool:
        """Look at the limits; say whether it is over."""
        self.status = self.status or self._watch.verdict(self.evaluated)
        return self.status is not None

    def _learnt(self, search: SubproblemSearch) -> Learnt | None:
        return search.learnt() if self._reuse and search.statistics()["facts"] <= MOST_FACTS else None

    def _solve(self, search: SubproblemSearch) -> Solved:
        left, problem = self._limits, search.problem
        if left.seconds is not None:
            left = replace(left, seconds=max(0.0, left.seconds - self._watch.seconds))
        if left.evaluations is not None:
            left = replace(left, evaluations=max(0, left.evaluations - self.evaluated))
        answer: Answer = solve(problem, search=search, limits=left, report=self._report)
        self.searches += 1
        self.evaluated += search.evaluated
        if answer.status is not Status.OPTIMAL:  # Ctrl-C may come just as all is proved
            self.status = self.status or answer.status
        penalty = problem.regularization * answer.sketch.n_leaves
        errors = (answer.objective - penalty) * problem.total_weight
        proved = answer.lower_bound == answer.objective
        return Solved(problem.regularization, answer.objective, errors, answer.sketch, proved)
