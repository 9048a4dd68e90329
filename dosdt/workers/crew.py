"""A team on Ray: starts Ray or joins a cluster, and passes the driver's words on to the scheduler."""

from __future__ import annotations

import logging
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import RayError

from dosdt.contract import Solution
from dosdt.errors import InputError
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.scheduler.scheduler import Bulletin, Scheduler, Settings, actor_kind
from dosdt.team import Record
from dosdt.workers.drive import News

_OBJECT_STORE = 128 * 2**20
"""Bytes for a local Ray: messages are small, and the data are there once."""

_KNOCK_SECONDS = 10.0


class RayCrew:
    """A team of worker actors; see `dosdt.workers.drive.Crew`. Use it as a context manager.

    Parameters
    ----------
    problem : Problem
    plan : Plan
    solution : Solution
        The best tree known.
    settings : Settings
    address : str, optional
        Of a Ray cluster, ``"auto"`` for the one on this machine; None starts a Ray of its own.
    records : sequence of Record
        What an earlier run has saved.
    in_a_hurry : callable, optional
        Says whether not to wait any longer until there are workers.
    """

    def __init__(
        self,
        problem: Problem,
        plan: Plan,
        solution: Solution,
        settings: Settings,
        *,
        address: str | None = None,
        records: Sequence[Record] = (),
        in_a_hurry: Callable[[], bool] = lambda: False,
    ) -> None:
        start = time.perf_counter()
        self._owns_ray = _connect(address, settings.workers)
        self._quiet = ExitStack()
        if self._owns_ray:
            self._quiet.enter_context(_quiet())
        self._scheduler: Any = None
        self._closed = False
        try:
            kind = actor_kind(Scheduler, num_cpus=0, concurrency_groups={"driver": 2, "mail": 2, "books": 1})
            data = ray.put(problem)
            self._scheduler = kind.options(scheduling_strategy=_here()).remote([data], plan, solution, settings)
            self._running = self._scheduler.run.remote(list(records))
            while not ((bulletin := self._bulletin()).ready or bulletin.failure or in_a_hurry()):
                time.sleep(0.02)
        except BaseException:
            self.close()
            raise
        self.start_up_seconds = time.perf_counter() - start

    def __enter__(self) -> RayCrew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all actors, and Ray if it was started here."""
        if self._closed:
            return
        self._closed = True
        if self._owns_ray:
            ray.shutdown()
            self._quiet.close()
        elif self._scheduler is not None:
            with suppress(RayError):  # if it is gone, its workers are, too
                ray.get(self._scheduler.dismiss.remote(), timeout=10)
            ray.kill(self._scheduler)

    def advance(self, seconds: float) -> News:
        """Wait for about so long, or until the team has finished."""
        ray.wait([self._running], timeout=seconds)
        bulletin = self._bulletin()
        if bulletin.failure is not None:
            raise InputError(f"the search on Ray has failed: {bulletin.failure}")
        return News(
            finished=bulletin.finished,
            best=bulletin.solution,
            lower_bound=bulletin.lower_bound,
            evaluated=bulletin.evaluated,
            open=bulletin.open,
            workers=bulletin.workers,
            facts=bulletin.statistics.get("facts", 0),
            over_memory=bulletin.over_memory,
            saves=bulletin.saves,
        )

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit` from now on."""
        self._scheduler.tell.remote("tighten", limit)

    def stop(self, *, save: bool = False) -> None:
        """Finish soon, and save before if asked to."""
        self._scheduler.tell.remote("save_and_stop" if save else "stop")

    def save(self) -> None:
        """Save all that is known."""
        self._scheduler.tell.remote("save")

    def records(self) -> list[Record] | None:
        """Return what was saved, if it can be had."""
        records: list[Record] | None = self._ask(self._scheduler.records.remote())
        return records

    def processes(self) -> dict[str, list[int]]:
        """Return the process numbers of workers and shards."""
        processes: dict[str, list[int]] = self._ask(self._scheduler.processes.remote())
        return processes

    def statistics(self) -> dict[str, Any]:
        """Return counts and seconds, by name."""
        bulletin = self._bulletin()
        return {
            "expanded": bulletin.expanded,
            **bulletin.statistics,
            "start_up_seconds": self.start_up_seconds,
        }

    def _bulletin(self) -> Bulletin:
        bulletin = self._ask(self._scheduler.status.remote())
        assert isinstance(bulletin, Bulletin)
        return bulletin

    def _ask(self, reference: Any) -> Any:
        try:
            return ray.get(reference)
        except RayError as error:
            raise InputError(
                "the scheduler on Ray has died; go on with 'dosdt resume' if there is a checkpoint, else fit again "
                f"({type(error).__name__})"
            ) from None


def _connect(address: str | None, workers: int | None) -> bool:
    """See that this process is connected to Ray; return whether Ray was started for it."""
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {
        "log_to_driver": False,
        "logging_level": logging.ERROR,
        "namespace": f"dosdt-{uuid.uuid4().hex}",
    }
    try:
        if address is not None:
            _knock(address)
            ray.init(address=address, **quiet)
            return True
        # Ray's workers give way to all other processes unless told not to, and it tells its makers of each use.
        os.environ.setdefault("RAY_worker_niceness", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local",
            num_cpus=workers,
            include_dashboard=False,
            object_store_memory=_OBJECT_STORE,
            **quiet,
        )
    except (ConnectionError, RayError, ValueError, RuntimeError, OSError) as error:
        line = " ".join(str(error).split())[:200]
        where = "start Ray" if address is None else f"join the Ray cluster at {address!r}"
        raise InputError(f"cannot {where}: {line}") from None
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Ray from telling of every death on stdout, where the answer is to be; it has no option for that."""
    from ray._private import worker

    module: Any = worker
    said = getattr(module, "print_to_stdstream", None)
    if said is None:
        yield
        return
    module.print_to_stdstream = lambda *_, **__: None
    try:
        yield
    finally:
        module.print_to_stdstream = said


def _knock(address: str) -> None:
    """Refuse an address where nobody listens: Ray would try again for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


def _here() -> Any:
    """Return how to say that an actor is to be where the driver is: then no other node takes both with it."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
