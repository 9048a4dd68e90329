"""Solving by a team: how large, where, and what outlives it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from dosdt.errors import InputError
from dosdt.limits import Limits, Status, Watch
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.scheduler.incumbent import Incumbent
from dosdt.team import Record
from dosdt.workers.drive import Checkpoints, Crew, drive
from dosdt.workers.in_process import Moment, Outcome

ALONE_SECONDS = 1.0
"""What one process solves within this is not worth starting Ray for, which takes longer."""


@dataclass(frozen=True)
class Teamwork:
    """A team to solve a problem with.

    Attributes
    ----------
    workers : int, optional
        How many; None is one for each CPU there is.
    address : str, optional
        Of a Ray cluster: ``"auto"``, ``"host:port"`` or ``"ray://host:port"``; None is this machine.
    checkpoints : Checkpoints, optional
        Where to keep what is known from time to time.
    records : sequence of Record
        What an earlier run has kept.
    alone_seconds : float
        How long one process tries before a team is formed.
    """

    workers: int | None = None
    address: str | None = None
    checkpoints: Checkpoints | None = None
    records: Sequence[Record] = field(default=())
    alone_seconds: float = ALONE_SECONDS

    @property
    def uses_ray(self) -> bool:
        """Whether Ray is needed at all."""
        return self.address is not None or self.workers != 1


@dataclass(frozen=True)
class Effort:
    """How a team ended: the outcome, counts and seconds by name, and the facts for a certificate."""

    outcome: Outcome
    statistics: dict[str, Any]
    records: list[Record]


def work_together(
    problem: Problem,
    plan: Plan,
    team: Teamwork,
    incumbent: Incumbent,
    limits: Limits,
    *,
    started: float,
    bound: int,
    evaluated: int = 0,
    report: Callable[[Moment], None] | None = None,
) -> Effort:
    """Solve a problem by a team, after `evaluated` evaluations that showed that `bound` holds for all trees.

    `started` is when the time limit began to run, by `time.perf_counter`.
    """
    # From here on there is an answer, whatever stops the search: also while Ray starts or ends.
    with Watch(replace(limits, seconds=None, memory=2**62)) as watch:
        try:
            effort = _work(problem, plan, team, incumbent, limits, watch, started, bound, evaluated, report)
        except InputError:
            if not watch.interrupted:
                raise
            # Ctrl-C reaches all processes of a terminal, and some of Ray's may not survive it.
            leaves = incumbent.solution.sketch.n_leaves
            moment = Moment(time.perf_counter() - started, evaluated, incumbent.cost, bound, 0, None, leaves)
            effort = Effort(Outcome(Status.INTERRUPTED, incumbent.solution, bound, (moment,)), {"expanded": 0}, [])
    if watch.interrupted:
        effort = replace(effort, outcome=replace(effort.outcome, status=Status.INTERRUPTED))
    return effort


def _work(
    problem: Problem,
    plan: Plan,
    team: Teamwork,
    incumbent: Incumbent,
    limits: Limits,
    watch: Watch,
    started: float,
    bound: int,
    evaluated: int,
    report: Callable[[Moment], None] | None,
) -> Effort:
    with ExitStack() as stack:
        crew: Crew
        if team.uses_ray:
            from dosdt.scheduler.settings import Settings
            from dosdt.workers.crew import RayCrew

            def in_a_hurry() -> bool:
                late = limits.seconds is not None and time.perf_counter() - started >= limits.seconds
                return watch.interrupted or late

            settings = Settings(team.workers or (None if team.address else cpus()), limits.memory)
            crew = stack.enter_context(
                RayCrew(
                    problem,
                    plan,
                    incumbent.solution,
                    settings,
                    address=team.address,
                    records=team.records,
                    in_a_hurry=in_a_hurry,
                )
            )
        else:
            from dosdt.workers.solo import Solo

            crew = Solo(problem, plan, incumbent.cost, team.records, limits.memory)
        ready = time.perf_counter()
        outcome = drive(
            crew,
            incumbent,
            limits,
            report=report,
            checkpoints=team.checkpoints,
            started=started,
            bound=bound,
            evaluated=evaluated,
            interrupted=watch.interrupted,
        )
        seconds = time.perf_counter() - ready
        records = crew.records() or [] if plan.certify else []
        return Effort(outcome, {**crew.statistics(), "team_seconds": seconds}, records)


def parse_workers(n_jobs: object, ray_address: object) -> tuple[bool, int | None]:
    """Return whether a team is wanted, and of how many workers; None is one for each CPU."""
    if ray_address is not None and (not isinstance(ray_address, str) or not ray_address):
        raise InputError(f"ray_address must be text such as 'auto' or '10.0.0.1:6379', got {ray_address!r}")
    if n_jobs is None:
        return ray_address is not None, None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InputError(f"n_jobs must be a number of workers, or -1 for one on each CPU; got {n_jobs!r}")
    if n_jobs < 0:
        return True, None if ray_address is not None else max(1, cpus() + 1 + n_jobs)
    return n_jobs > 1 or ray_address is not None, n_jobs


def cpus() -> int:
    """Return how many CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
