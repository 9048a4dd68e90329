"""Runs one case in a process of its own, within limits of time and memory, and returns what came of it.

A case is a dictionary that JSON can hold, and so is the answer: what was asked stands beside what was found in the
results. Imports nothing large, so that a waiting parent takes no memory from what it measures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
GRACE_SECONDS = 120.0
"""What a case may take beyond its limit, for imports, data, and a last step, before it is killed."""
MOST_TOGETHER = 20
"""Light jobs in one process."""
PACKAGES = ("dosdt", "numpy", "scikit-learn", "highspy", "matplotlib")

Case = dict[str, Any]
Record = dict[str, Any]
Work = Callable[[Case], Record]


class Limits(NamedTuple):
    """What one run may use, and how often it is repeated; the fastest run counts."""

    seconds: float = 60.0
    gigabytes: float = 8.0
    repeat: int = 1


class Job(NamedTuple):
    """A function of another module than the one that is run, and a case for it.

    Light jobs take less than starting a process does; those that follow one another share one. What they say of
    memory is that of all of them.
    """

    work: Work
    case: Case
    light: bool = False


def run(job: Job, limits: Limits) -> Record:
    """Return the case and what came of it; `status` says how it ended, also where it was killed or failed."""
    best: Record | None = None
    for _ in range(limits.repeat):
        (record,) = _run_once([job], limits)
        if best is None or (record.get("proved"), -record["seconds"]) > (best.get("proved"), -best["seconds"]):
            best = record
        if not record.get("proved"):  # it took as long as it may; another run would, too
            break
    assert best is not None
    return best


def run_all(jobs: Iterable[Job], limits: Limits, *, at_once: int = 1) -> Iterator[Record]:
    """Yield what comes of the jobs, in their order; `at_once` of them run at a time."""
    with ThreadPoolExecutor(max_workers=at_once) as pool:
        for records in pool.map(lambda group: _run_group(group, limits), _groups(jobs)):
            yield from records


def _groups(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    for light, following in groupby(jobs, key=lambda job: job.light):
        several = list(following)
        size = MOST_TOGETHER if light else 1
        yield from (several[k : k + size] for k in range(0, len(several), size))


def _run_group(group: list[Job], limits: Limits) -> list[Record]:
    if len(group) > 1:
        records = _run_once(group, limits)
        if not any(record["status"] == "killed" or record["status"].startswith("failed") for record in records):
            return records
    return [run(job, limits) for job in group]  # one that fails must not take the others with it


def _run_once(group: list[Job], limits: Limits) -> list[Record]:
    requests = [
        {
            "work": f"{job.work.__module__}:{job.work.__qualname__}",
            "case": {"seconds": limits.seconds, "gigabytes": limits.gigabytes, **job.case},
        }
        for job in group
    ]
    start = time.monotonic()
    command = [sys.executable, "-m", "benchmarks.worker"]
    allowed = len(group) * limits.seconds + GRACE_SECONDS
    try:
        answer = call(command, json.dumps(requests), allowed, {"PYTHONPATH": str(ROOT)})
    except subprocess.TimeoutExpired:
        answer = {"answers": [{"status": "killed", "seconds": limits.seconds}] * len(group)}
    if "error" in answer:
        answer = {"answers": [{"status": f"failed: {answer['error']}"}] * len(group)}
    taken = (time.monotonic() - start) / len(group)
    return [{**job.case, "seconds": taken, **own} for job, own in zip(group, answer["answers"], strict=True)]


def call(command: list[str], request: str, seconds: float, environment: dict[str, str]) -> dict[str, Any]:
    """Return the last line that a process prints, which is JSON; it sees its own packages only."""
    # Libraries choose their number of threads themselves.
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS") and k != "PYTHONPATH"}
    done = subprocess.run(
        command,
        env=inherited | environment | {"PYTHONUTF8": "1"},
        input=request,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        reason = done.stderr.strip().splitlines()[-1:] or [""]
        return {"error": f"the process ended with code {done.returncode} {reason[0]}".strip()}
    return answer


def versions() -> dict[str, str]:
    """Return the versions of what takes part."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
