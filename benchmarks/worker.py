"""The other side of `harness.run`: reads requests, does the work, prints the answers as a line of JSON."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import resource

ADDRESS_SPACE = 1.5
"""Address space over memory: libraries reserve more than they use."""


def peak_memory() -> int:
    """Return the largest resident memory of this process so far, in bytes; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage says includes the parent's memory, on Linux
        lines = status.read_text(encoding="ascii", errors="replace").splitlines()
        peak = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
        if peak:
            return 1024 * peak[0]
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def limit_memory(gigabytes: float) -> None:
    """Refuse this process more address space: what has no limit of its own must not take the machine down."""
    if sys.platform != "win32":
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 1e9), hard))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Do the work."""
    module, _, name = request["work"].partition(":")
    work = getattr(importlib.import_module(module), name)
    limit_memory(ADDRESS_SPACE * request["case"]["gigabytes"] + 2)
    try:
        found: dict[str, Any] = work(request["case"])
    except MemoryError:
        found = {"status": "memory_limit"}
    return {**found, "memory": peak_memory()}


def main() -> None:
    """Print one line of JSON; an error is told in it too."""
    try:
        result: dict[str, Any] = {"answers": [answer(request) for request in json.load(sys.stdin)]}
    except Exception as error:
        result = {"error": " ".join(f"{type(error).__name__}: {error}".split())}
    # Solvers print lines of their own, so this is the last and not the only one.
    print("\n" + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
