"""A team on Ray: starts Ray or joins a cluster, and passes the driver's words on to the scheduler."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, RayActorError, RayError, RayTaskError

from dosdt.contract import Solution
from dosdt.errors import InputError
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.scheduler.actors import actor_kind
from dosdt.scheduler.books import Books
from dosdt.scheduler.scheduler import Scheduler
from dosdt.scheduler.settings import Bulletin, Known, Settings
from dosdt.team import Record
from dosdt.workers.drive import News

_OBJECT_STORE = 128 * 2**20
"""Bytes for a local Ray: messages are small, and the data are there once."""

_KNOCK_SECONDS = 10.0
_MOST_SCHEDULERS = 5
"""When so many have died, another one would, too."""
_UNAVAILABLE_SECONDS = 60.0
"""A scheduler that cannot be reached for so long is given up."""


class RayCrew:
    """A team of worker actors; see `dosdt.workers.drive.Crew`. Use it as a context manager.

    A scheduler that dies is replaced: the next one begins with the best tree that was heard of and the records that
    were fetched last, so it costs work, not the answer.

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
        self._lock = threading.Lock()
        self._closed = self._stopped = False
        self._plan, self._settings = plan, settings
        self._limit = solution.cost
        self._records: list[Record] = list(records)
        self._fetched: list[Record] | None = None
        self._last = Bulletin(False, solution, 0, 0, 0, False, False, 0, None, Books())
        try:
            self._data = ray.put(problem)
            self._start()
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
            cached=bulletin.cached,
            over_memory=bulletin.over_memory,
            saves=bulletin.saves,
            lost=bulletin.books.lost,
        )

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit` from now on."""
        self._limit = min(self._limit, limit)
        self._scheduler.tell.remote("tighten", limit)

    def stop(self, *, save: bool = False) -> None:
        """Finish soon, and save before if asked to."""
        self._stopped = True
        self._scheduler.tell.remote("save_and_stop" if save else "stop")

    def save(self) -> None:
        """Save all that is known."""
        self._scheduler.tell.remote("save")

    def records(self) -> list[Record] | None:
        """Return what was saved, if it can be had."""
        self._fetched = self._ask("records")
        return self._fetched

    def processes(self) -> dict[str, list[int]]:
        """Return the process numbers of the scheduler, the workers and the shards."""
        return self._ask("processes") or {"schedulers": [], "workers": [], "shards": []}

    def statistics(self) -> dict[str, Any]:
        """Return counts and seconds, by name, as of the last news."""
        return {**self._last.books.statistics(), "start_up_seconds": self.start_up_seconds}

    def _start(self) -> None:
        """Start a scheduler with what is known."""
        known = Known(self._last.solution, self._limit, self._last.lower_bound, self._last.books)
        kind = actor_kind(Scheduler, num_cpus=0, concurrency_groups={"driver": 2, "mail": 2, "books": 1})
        place = kind.options(scheduling_strategy=_here())
        self._scheduler = place.remote([self._data], self._plan, self._settings, known)
        self._running = self._scheduler.run.remote(self._records)

    def _bulletin(self) -> Bulletin:
        while (bulletin := self._ask("status")) is None:
            if self._stopped:
                return self._last._replace(finished=True)  # it has stopped, if not as it was meant to
        assert isinstance(bulletin, Bulletin)
        if self._fetched is not None:
            # Only now it is sure that no tree that they rest on is missing.
            self._records, self._fetched = self._fetched, None
        self._last = bulletin
        return bulletin

    def _ask(self, question: str) -> Any:
        """Return what the scheduler says; None if it has died."""
        asked, until = self._scheduler, time.monotonic() + _UNAVAILABLE_SECONDS
        while True:
            try:
                return ray.get(getattr(asked, question).remote())
            except RayActorError as error:
                if isinstance(error, ActorUnavailableError) and time.monotonic() < until:
                    time.sleep(0.1)
                    continue
                with self._lock:
                    if asked is self._scheduler and not self._stopped:
                        self._replace(error)
                return None
            except RayError as error:
                raise InputError(f"the search on Ray has failed: {_reason(error)}") from None

    def _replace(self, error: RayActorError) -> None:
        """Start another scheduler, unless that would be in vain."""
        if error.actor_init_failed:
            raise InputError(f"the scheduler on Ray could not be started ({_reason(error)})") from None
        ray.kill(self._scheduler)  # it may be that it only cannot be reached
        self._fetched = None
        books = self._last.books
        books.schedulers_lost += 1
        if books.schedulers_lost >= _MOST_SCHEDULERS:
            raise InputError(
                f"the scheduler on Ray has died {books.schedulers_lost} times; go on with 'dosdt resume' if there is "
                f"a checkpoint, else fit again ({_reason(error)})"
            ) from None
        self._start()


def _reason(error: RayError) -> str:
    """Return in one line why something has failed on Ray."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("\t")]
    if isinstance(error, RayTaskError) or getattr(error, "actor_init_failed", False):
        why = lines[-1]  # of a traceback
    else:  # the first line of an actor's death says only that it has died, and the next one why
        why = lines[min(1, len(lines) - 1)].partition(" Some common causes")[0]
    return f"{type(error).__name__}: {why[:300]}"


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
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or some versions warn about GPUs
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
