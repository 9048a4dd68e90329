"""The client of Ray's Jobs API: sends a job, follows its log, takes its files; every failure is one line."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import typer

from dosdt.errors import InputError
from dosdt.submit import entrypoint, tell
from dosdt.submit_job import RESULT, Receiver

_PATIENCE = 10  # seconds to reach the head node, and attempts to follow a log again
_ENDED = ("SUCCEEDED", "FAILED", "STOPPED")
_REFUSAL = "dosdt: error: "
# Ray puts these before the address it is given, which would send the data elsewhere than the user said.
_OVERRIDES = ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")


def connect(address: str) -> Any:
    """Return a client of the Jobs API at ``http://HOST:PORT``."""
    host, port = _host(address)
    try:
        from ray.job_submission import JobSubmissionClient
    except ImportError as error:
        raise InputError(f"submitting needs Ray's Jobs API ({error}); run pip install 'dosdt[cluster]'") from None
    for name in ("dashboard.modules.dashboard_sdk", "dashboard.modules.job.sdk", "_private.runtime_env.packaging"):
        logging.getLogger(f"ray.{name}").setLevel(logging.ERROR)
    try:
        socket.create_connection((host, port), timeout=_PATIENCE).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot reach {address!r}: {reason}; is the cluster up, and is there a tunnel to its dashboard?"
        ) from None
    with _failures(address), _without_overrides():
        return JobSubmissionClient(address.rstrip("/"))


def run(client: Any, command: Sequence[str], names: Collection[str], folder: str, *, quiet: bool) -> dict[str, bytes]:
    """Run a command of dosdt as a job and return what it printed, and its files called `names`.

    `folder` is sent along and is where the command runs.
    """
    marker = f"dosdt-{secrets.token_hex(16)}"
    address = client.get_address()
    with _failures(address):
        line = entrypoint(marker, names, command)
        environment = {"working_dir": folder} if os.listdir(folder) else {}
        job = _send(client, entrypoint=line, runtime_env=environment, metadata={"dosdt": "submit"})
    log = _Log(Receiver(marker), quiet)
    if not quiet:
        tell(f"dosdt: submitted {job} to {address}")
    try:
        with _failures(address):
            info = _follow(client, job, log)
    except KeyboardInterrupt:
        _stop(client, job)
        raise typer.Exit(130) from None
    if _status(info) != "SUCCEEDED":
        raise InputError(_reason(info, job, log))
    missing = {RESULT, *names} - log.receiver.files.keys()
    if missing:
        raise InputError(f"{job} ended, but its log lacks the {' and the '.join(sorted(missing))}; submit it again")
    return log.receiver.files


def _send(client: Any, **job: Any) -> str:
    """Submit a job; a cluster that has just started may take some seconds until it can have one."""
    for attempt in range(3 * _PATIENCE):
        try:
            return str(client.submit_job(**job))
        except RuntimeError as error:
            if "No available agent" not in str(error) or attempt == 3 * _PATIENCE - 1:
                raise
            time.sleep(1)
    raise AssertionError("there is a last attempt")


class _Log:
    """Shows a log as it comes, however often it is read from the beginning."""

    def __init__(self, receiver: Receiver, quiet: bool) -> None:
        self.receiver = receiver
        self.refusal = ""
        self.seen = 0
        self._quiet = quiet

    def take(self, piece: str) -> None:
        self.seen += len(piece)
        self._show(self.receiver.take(piece))

    def close(self) -> None:
        self._show(self.receiver.close())

    def _show(self, lines: list[str]) -> None:
        for line in lines:
            if line.startswith(_REFUSAL):
                self.refusal = line.removeprefix(_REFUSAL)  # said once, at the end
            elif line.strip() and not self._quiet:
                tell(line)


def _follow(client: Any, job: str, log: _Log) -> Any:
    """Show the log until the job has ended, also over a connection that breaks; return what Ray says of it."""
    broken = 0
    while True:
        before = log.seen
        try:
            asyncio.run(_tail(client, job, log))
            cut = False
        except InputError:
            raise
        except Exception as error:
            if broken >= _PATIENCE or not _foreign(error):
                raise
            cut = True
        info = client.get_job_info(job)
        if not cut and _status(info) in _ENDED:
            log.close()
            return info
        broken = 0 if log.seen > before else broken + 1
        time.sleep(1)


async def _tail(client: Any, job: str, log: _Log) -> None:
    skip = log.seen  # a log always comes from its beginning
    async for piece in client.tail_job_logs(job):
        if skip < len(piece):
            log.take(piece[skip:])
        skip = max(0, skip - len(piece))


def _stop(client: Any, job: str) -> None:
    tell(f"dosdt: stopping {job} ...")
    try:
        client.stop_job(job)
        for _ in range(_PATIENCE):
            if _status(client.get_job_info(job)) in _ENDED:
                break
            time.sleep(1)
        tell(f"dosdt: stopped {job}; there is no result")
    except Exception as error:  # whatever it is: people must know that the job may go on
        tell(f"dosdt: could not stop {job}, which may still run: {_one_line(error)}")


def _status(info: Any) -> str:
    return str(getattr(info.status, "value", info.status))


def _reason(info: Any, job: str, log: _Log) -> str:
    """Return why a job gave no result."""
    if _status(info) == "STOPPED":
        return f"{job} was stopped on the cluster; there is no result"
    if log.refusal:
        return log.refusal
    message = _one_line(info.message or "no reason given")
    if info.driver_exit_code is not None:
        message = f"exit code {info.driver_exit_code}"
        if info.driver_exit_code in (-9, 137):
            message += ", killed, perhaps for want of memory"
    return f"{job} failed on the cluster: {message}; its log says more, and dosdt must be installed there"


def _host(address: str) -> tuple[str, int]:
    """Return host and port of an address; only http and https, since Ray takes other schemes for modules."""
    try:
        parts = urlsplit(address)
        if parts.scheme in ("http", "https") and parts.hostname:
            return parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        pass
    raise InputError(f"--address must be the head node's dashboard, such as http://127.0.0.1:8265; got {address!r}")


@contextmanager
def _without_overrides() -> Iterator[None]:
    kept = {name: os.environ.pop(name) for name in _OVERRIDES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)


@contextmanager
def _failures(address: str) -> Iterator[None]:
    """Turn what Ray and its connections raise into one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if type(error).__name__ == "AuthenticationError" or getattr(error, "status", None) in (401, 403):
            raise InputError(
                f"{address} refuses the token; set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN_PATH to the file that "
                "holds the cluster's"
            ) from None
        if _foreign(error):
            raise InputError(f"{address} does not answer as a Ray cluster: {_one_line(error)}") from None
        raise


def _foreign(error: Exception) -> bool:
    """Return whether Ray, a connection or the other side is to blame, rather than a bug here."""
    return isinstance(error, OSError | RuntimeError | ValueError) or type(error).__module__.startswith("aiohttp")


def _one_line(error: object) -> str:
    with suppress(Exception):
        return " ".join(str(error).split())[:300]
    return type(error).__name__
