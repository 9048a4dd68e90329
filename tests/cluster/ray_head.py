"""A real Ray head node for a test: with a token, on 127.0.0.1 and free ports only, and gone at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dosdt

ROOT = Path(dosdt.__file__).parents[1]


@dataclass(frozen=True)
class Head:
    """Where the node is, and the environments of a program that knows its token and of one that does not."""

    address: str
    dashboard: str
    environment: dict[str, str]
    stranger: dict[str, str]
    process: subprocess.Popen[bytes]


@contextmanager
def ray_head() -> Iterator[Head]:
    folder = Path(tempfile.mkdtemp(prefix="dosdt.", dir="/tmp"))  # short, for the sake of Ray's sockets
    (folder / "home").mkdir()  # Ray looks for a token there, too
    token = folder / "token"
    token.touch(mode=0o600)
    token.write_text(secrets.token_hex(32))
    stranger = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {
        "HOME": str(folder / "home"),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # see cluster/loopback.py
        "RAY_USAGE_STATS_ENABLED": "0",
    }
    environment = stranger | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    port, client, dashboard, agent = free_ports(4)
    command = [
        sys.executable,
        ROOT / "cluster" / "loopback.py",
        "start",
        "--head",
        "--block",
        "--disable-usage-stats",
    ]
    options = {
        "node-ip-address": "127.0.0.1",
        "port": port,
        "ray-client-server-port": client,
        "temp-dir": folder / "ray",
        "include-dashboard": "true",
        "dashboard-host": "127.0.0.1",
        "dashboard-port": dashboard,
        "dashboard-agent-listen-port": agent,
        "num-cpus": 1,
        "object-store-memory": 10**8,
    }
    log = folder / "log"
    with open(log, "wb") as stream:
        process = subprocess.Popen(
            [*map(str, command), *(f"--{name}={value}" for name, value in options.items())],
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait(process, log)
        yield Head(f"127.0.0.1:{port}", f"http://127.0.0.1:{dashboard}", environment, stranger, process)
    finally:
        process.terminate()  # with --block the node's processes end with it
        try:
            process.wait(20)
        finally:
            process.kill()
            shutil.rmtree(folder, ignore_errors=True)


def free_ports(n: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [taken.getsockname()[1] for taken in sockets]
    for taken in sockets:
        taken.close()
    return ports


def _wait(process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while "Ray runtime started" not in log.read_text():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)
