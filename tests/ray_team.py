"""Real teams on a real Ray for tests: problems that take some seconds, a cluster of several nodes, and killing."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import psutil
from sketch_checks import cost_of

import dosdt
from dosdt.contract import Constraints, Sketch, leaf_node
from dosdt.limits import Limits
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.scheduler.incumbent import Incumbent
from dosdt.scheduler.settings import Settings
from dosdt.sketches import prune
from dosdt.solver import SWITCHES
from dosdt.team import Record
from dosdt.workers.crew import RayCrew
from dosdt.workers.drive import drive
from dosdt.workers.in_process import Outcome
from dosdt.workers.solo import Solo

ROOT = Path(dosdt.__file__).parents[1]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {
    "PYTHONPATH": str(ROOT)
}
"""Of a process that knows of no other Ray."""
SIZES = {"subproblem": (1500, 18, "0.002", 0.15), "leafset": (500, 14, "0.004", 0.2)}
"""Rows, features, regularization and noise: some seconds for a single process."""
SEED = 7
QUICK = Settings(2, save_seconds=0.5, patience=2.0, answer_within=2.0)
"""So that a test need not wait long."""


def noisy(seed: int, rows: int, features: int, penalty: str, noise: float) -> Problem:
    """Return a problem whose label follows four features, with noise."""
    rng = np.random.default_rng(seed)
    x = rng.random((rows, features)) < 0.5
    y = (x[:, 0] ^ x[:, 1]) | (x[:, 2] & x[:, 3])
    return Problem.from_arrays(x, y ^ (rng.random(rows) < noise), penalty)


@cache
def instance(algorithm: str, seed: int = SEED) -> tuple[Problem, int]:
    """Return a problem for an algorithm and what its optimal tree costs, by one process."""
    problem = noisy(seed, *SIZES[algorithm])
    incumbent = Incumbent(single_leaf(problem))
    outcome = drive(Solo(problem, plan_of(algorithm), incumbent.cost), incumbent, Limits())
    assert outcome.lower_bound == outcome.solution.cost
    return problem, outcome.solution.cost


def single_leaf(problem: Problem) -> Any:
    return prune(problem, Sketch((leaf_node(0),)), Constraints())


def plan_of(algorithm: str, certify: bool = False) -> Plan:
    switches = set(SWITCHES[algorithm]) - ({"similarity"} if certify else set())
    return Plan(algorithm, Constraints(), tuple(sorted(switches)), certify=certify)


@dataclass(frozen=True)
class Ran:
    """How a team ended, and what is left of it."""

    outcome: Outcome
    statistics: dict[str, Any]
    records: list[Record] | None


def run(
    problem: Problem,
    algorithm: str,
    *,
    address: str | None = None,
    settings: Settings = QUICK,
    limits: Limits | None = None,
    certify: bool = False,
    checkpoints: Any = None,
    records: tuple[Record, ...] | list[Record] = (),
    disturb: Callable[[RayCrew], None] | None = None,
) -> Ran:
    """Solve a problem by a team that somebody may disturb, in a thread that starts when the team does."""
    incumbent, failed = Incumbent(single_leaf(problem)), []
    with RayCrew(
        problem, plan_of(algorithm, certify), incumbent.solution, settings, address=address, records=records
    ) as crew:

        def disturbance() -> None:
            try:
                assert disturb is not None
                disturb(crew)
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=disturbance if disturb else lambda: None, daemon=True)
        thread.start()
        outcome = drive(crew, incumbent, limits or Limits(), checkpoints=checkpoints)
        thread.join(60)
        assert not failed, failed
        assert cost_of(problem, outcome.solution.sketch) == outcome.solution.cost
        return Ran(outcome, crew.statistics(), crew.records())


def check_optimal(ran: Ran, cost: int) -> None:
    assert ran.outcome.status.value == "optimal"
    assert ran.outcome.solution.cost == ran.outcome.lower_bound == cost


@contextmanager
def cluster(nodes: int = 0) -> Iterator[Any]:
    """A Ray of our own on this machine: a head with one CPU and further nodes with one each."""
    import ray
    from ray.cluster_utils import Cluster

    # Ray's workers give way to all other processes unless told not to: beside other tests they would starve.
    os.environ.setdefault("RAY_worker_niceness", "0")
    folder = tempfile.mkdtemp(prefix="dosdt.", dir="/tmp")  # short, for the sake of Ray's sockets
    head = {
        "temp_dir": folder,  # whoever asks for the Ray of this machine does not get this one
        "num_cpus": 1,
        "object_store_memory": 100_000_000,
        "include_dashboard": False,
        "_system_config": {
            "health_check_initial_delay_ms": 0,
            "health_check_period_ms": 500,
            "health_check_timeout_ms": 5000,
            "health_check_failure_threshold": 4,
        },
    }
    started = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            add_node(started)
        yield started
    finally:
        ray.shutdown()
        started.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


_STARTER = ThreadPoolExecutor(1)
"""A node ends with the thread that has started it, so one thread starts them all and stays."""


def add_node(started: Any) -> Any:
    from ray._private.node import Node

    # Its signal handlers can be set in the main thread only, and the cluster ends its nodes itself.
    with mock.patch.object(Node, "_register_shutdown_hooks"):
        return _STARTER.submit(started.add_node, num_cpus=1, object_store_memory=100_000_000).result()


def at_work(crew: RayCrew) -> dict[str, list[int]]:
    """Wait until a team has begun; return its processes."""
    wait_until(lambda: crew._bulletin().evaluated and crew._bulletin().workers)
    return crew.processes()


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to a process that may be gone already."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def wait_until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Return what a condition says as soon as that is something."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return value


def gone(pid: int) -> bool:
    """Say whether a process has ended; a zombie has."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def family(pid: int) -> list[psutil.Process]:
    """Return all processes that descend from one."""
    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def named(process: psutil.Process, name: str) -> bool:
    """Say whether a process is called so; one that has ended is not."""
    try:
        return name in process.name() or any(name in part for part in process.cmdline()[:1])
    except psutil.Error:
        return False
