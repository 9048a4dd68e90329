"""Solving by a team: how large, where, and what outlives it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from dosdt.errors import InputError
from dosdt.limits import Limits, Watch
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
    interrupted = False
    with ExitStack() as stack:
        crew: Crew
        if team.uses_ray:
            from dosdt.scheduler.settings import Settings
            from dosdt.workers.crew import RayCrew

            settings = Settings(team.workers or (None if team.address else cpus()), limits.memory)
            # Whatever stops the search while Ray starts, there is an answer.
            with Watch(replace(limits, memory=2**62)) as watch:
                spent = time.perf_counter() - started
                crew = stack.enter_context(
                    RayCrew(
                        problem,
                        plan,
                        incumbent.solution,
                        settings,
                        address=team.address,
                        records=team.records,
                        in_a_hurry=lambda: (
                            watch.interrupted
                            or (limits.seconds is not None and watch.seconds + spent >= limits.seconds)
                        ),
                    )
                )
            interrupted = watch.interrupted
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
            interrupted=interrupted,
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
