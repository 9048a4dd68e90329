"""From a problem to its optimal tree: puts a search, a frontier and a runtime together."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from dosdt import bounds as leafset_bounds
from dosdt.contract import Constraints, Sketch, Solution
from dosdt.errors import InputError
from dosdt.exact import relative_gap
from dosdt.leafset.policies import POLICIES
from dosdt.leafset.search import LeafSetSearch
from dosdt.limits import Limits, Status
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.scheduler.incumbent import Incumbent
from dosdt.scheduler.task_list import TaskList
from dosdt.scheduler.tree_frontier import TreeFrontier
from dosdt.subproblem.facts import facts_in
from dosdt.subproblem.search import SubproblemSearch
from dosdt.subproblem.terms import SWITCHES as SUBPROBLEM_SWITCHES
from dosdt.teamwork import Teamwork, work_together
from dosdt.workers.in_process import InProcessRuntime, Moment

SWITCHES = {"subproblem": tuple(SUBPROBLEM_SWITCHES), "leafset": leafset_bounds.SWITCHES}
"""The bounds and caches of each algorithm, by name."""
ALGORITHMS = tuple(SWITCHES)


class TracePoint(NamedTuple):
    """The state of a search at one time.

    `incumbent` and `lower_bound` are objectives, exactly; `open` is the length of the queue, and
    `remaining_log10` the power of ten of the paper's bound on the trees left to evaluate; `leaves` are those of the
    best tree, None where nobody looked; `cached` is how many subsets, or trees and leaves, are remembered; `workers`
    take part, and `lost` of them and their caches have died so far.
    """

    seconds: float
    evaluated: int
    incumbent: Fraction
    lower_bound: Fraction
    open: int
    remaining_log10: int | None
    leaves: int | None = None
    cached: int = 0
    workers: int = 1
    lost: int = 0


@dataclass(frozen=True)
class Answer:
    """The best tree found and what is proved about it.

    Attributes
    ----------
    status : Status
        ``optimal`` if the tree is proved optimal, ``gap_reached`` if it is proved to be as near to it as was asked
        for, else what stopped the search.
    objective, lower_bound : Fraction
        Of the tree, and of all trees; equal when optimal.
    sketch : Sketch
        The tree over the problem's binary features.
    trace : tuple of TracePoint
    stats : dict
        Counts and seconds, by name.
    search : SubproblemSearch or None
        What was proved on the way, if a certificate is to be written.
    """

    status: Status
    objective: Fraction
    lower_bound: Fraction
    sketch: Sketch
    trace: tuple[TracePoint, ...]
    stats: dict[str, Any]
    search: SubproblemSearch | None = None

    @property
    def gap(self) -> Fraction:
        """How much better another tree could be, relative to this one."""
        return relative_gap(self.objective, self.lower_bound)


def solve(
    problem: Problem,
    *,
    algorithm: str = "subproblem",
    constraints: Constraints | None = None,
    limits: Limits | None = None,
    policy: str = "curiosity",
    bounds: str | Collection[str] = "all",
    warm_start: bool = True,
    certify: bool = False,
    expansions: int | None = None,
    report: Callable[[TracePoint], None] | None = None,
    search: SubproblemSearch | None = None,
    team: Teamwork | None = None,
    incumbent: Solution | None = None,
) -> Answer:
    """Find the tree with the smallest ``errors/N + λ·leaves`` and prove it.

    Parameters
    ----------
    problem : Problem
    algorithm : {"subproblem", "leafset"}
        The fast search over subsets of the rows, or the paper's over sets of leaves.
    constraints : Constraints, optional
        On depth, leaves and support.
    limits : Limits, optional
        On time, memory and evaluations, and the gap at which to stop.
    policy : str
        Which tree the leaf-set search expands next; see `dosdt.leafset.policies.POLICIES`.
    bounds : "all" or collection of str
        Which bounds and caches to use; names as in `SWITCHES`.
    warm_start : bool
        Whether the leaf-set search starts from CART's tree; the other finds good trees by itself at once.
    certify : bool
        Whether to prove in a way that can be certified, and to keep the search for it.
    expansions : int, optional
        Budget of one run of the search; the answer does not depend on it.
    report : callable, optional
        Called with a `TracePoint` about ten times a second, and for every better tree.
    search : SubproblemSearch, optional
        A search of this problem to go on with, such as one that a limit has stopped, or one made by `continued`; it
        has constraints and bounds of its own.
    team : Teamwork, optional
        Several processes to solve it with, should one not be enough within a second.
    incumbent : Solution, optional
        A tree of this problem that is known already.
    """
    if search is not None and (search.problem is not problem or constraints is not None or algorithm == "leafset"):
        raise InputError("a search goes on with its own problem, constraints and algorithm; use search.continued")
    if search is not None and certify:
        raise InputError("a search that goes on rests on what is no longer at hand; certify a new one")
    constraints = constraints or Constraints()
    limits = limits or Limits()
    check_choice("algorithm", algorithm, ALGORITHMS)
    check_choice("policy", policy, POLICIES)
    if expansions is not None and expansions < 1:
        raise InputError(f"expansions must be 1 or more, got {expansions}")
    if (
        search is None
        and not problem.regularization
        and constraints.max_depth is None
        and constraints.max_leaves is None
    ):
        raise InputError("regularization 0 needs a limit: pass max_depth or max_leaves as well")

    def point(moment: Moment) -> TracePoint:
        objective, bound = problem.objective(moment.incumbent), problem.objective(moment.lower_bound)
        return TracePoint(moment.seconds, moment.evaluated, objective, bound, *moment[4:])

    start = time.perf_counter()
    used: Any  # each search goes with its own kind of tasks, and so with its own frontier
    frontier: Any
    switches = switches_of(bounds, SWITCHES[algorithm])
    if certify:
        if algorithm != "subproblem":
            raise InputError(f"only algorithm subproblem can write a certificate, not {algorithm}")
        switches -= {"similarity"}  # its bounds rest on other subsets than a subset's own parts
    if algorithm == "leafset":
        used = LeafSetSearch(problem, constraints, switches=switches, policy=policy)
        frontier = TreeFrontier(used.root(), batch=None if expansions is None else 1)
    else:
        used = search or SubproblemSearch(problem, constraints, switches=switches)
        used.reset_limit()
        frontier = TaskList(used.root(), problem.b * sum(problem.floor) + problem.a)
    best = Incumbent(used.best)
    best.offer(incumbent)
    stats: dict[str, Any] = {}
    if warm_start and algorithm == "leafset":
        from dosdt.warmstart import cart

        solution = cart(problem, constraints)
        best.offer(solution)
        stats["warm_start_objective"] = problem.objective(solution.cost)
        stats["warm_start_seconds"] = time.perf_counter() - start
    show = None if report is None else partial(_show, report, point)
    alone = limits
    if team is not None and (limits.seconds is None or limits.seconds > team.alone_seconds):
        alone = replace(limits, seconds=team.alone_seconds)
    outcome = InProcessRuntime(alone, expansions=expansions, report=show).solve(used, frontier, best)
    own = used.statistics()
    if team is not None and outcome.status is Status.TIME_LIMIT and limits.seconds != alone.seconds:
        plan = Plan(algorithm, constraints, tuple(sorted(switches)), policy, certify)
        effort = work_together(
            problem,
            plan,
            team,
            best,
            limits,
            started=start,
            bound=outcome.lower_bound,
            evaluated=used.evaluated,
            report=show,
        )
        outcome = replace(effort.outcome, trace=(*outcome.trace, *effort.outcome.trace))
        own |= effort.statistics
        own["expanded"] += used.expanded
        if certify:  # what the team knows takes the place of what one process found out in a second
            used = SubproblemSearch(problem, constraints, switches=switches)
            used.recall(facts_in(record.content for record in effort.records))
    last_change = next(moment for moment in outcome.trace if moment.incumbent == outcome.solution.cost)
    stats |= {
        "evaluated": outcome.trace[-1].evaluated,
        "expanded": used.expanded,
        "workers": 1,
        **own,
        "evaluated_to_best": last_change.evaluated,
        "seconds_to_best": last_change.seconds,
        "distinct_rows": problem.n_rows,
        "features": problem.n_columns,
        "search_seconds": outcome.trace[-1].seconds,
        "seconds": time.perf_counter() - start,
    }
    return Answer(
        status=outcome.status,
        objective=problem.objective(outcome.solution.cost),
        lower_bound=problem.objective(outcome.lower_bound),
        sketch=outcome.solution.sketch,
        trace=tuple(map(point, outcome.trace)),
        stats=stats,
        search=used if certify else None,
    )


def _show(report: Callable[[TracePoint], None], point: Callable[[Moment], TracePoint], moment: Moment) -> None:
    report(point(moment))


def switches_of(bounds: str | Collection[str], known: Sequence[str]) -> frozenset[str]:
    """Return the names of the bounds and caches to use."""
    if isinstance(bounds, str):
        if bounds == "all":
            return frozenset(known)
        bounds = [bounds]
    for name in bounds:
        check_choice("bounds", name, known)
    return frozenset(bounds)


def check_choice(option: str, value: object, choices: Collection[str]) -> None:
    """Refuse a value that is not one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{option} must be one of {', '.join(choices)}; got {value!r}")
