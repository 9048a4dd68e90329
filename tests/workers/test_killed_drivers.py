"""Searches that are killed and go on from their checkpoint, as processes of their own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ray_team import ENVIRONMENT, SEED, SIZES, gone, instance, wait_until

from dosdt.checkpoint import read_checkpoint
from dosdt.solver import ALGORITHMS


@pytest.fixture
def table(tmp_path: Path, algorithm: str) -> Path:
    """Write the table of the problem that `instance` solves."""
    rows, features, _, noise = SIZES[algorithm]
    rng = np.random.default_rng(SEED)
    x = rng.random((rows, features)) < 0.5
    y = ((x[:, 0] ^ x[:, 1]) | (x[:, 2] & x[:, 3])) ^ (rng.random(rows) < noise)
    path = tmp_path / "table.csv"
    pd.DataFrame({f"f{j}": x[:, j].astype(int) for j in range(features)} | {"y": y.astype(int)}).to_csv(
        path, index=False
    )
    return path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "dosdt", *map(str, arguments)]


def resumed(checkpoint: Path, *options: object) -> dict[str, Any]:
    done = subprocess.run(
        command("resume", checkpoint, "--json", *options),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    value = json.loads(done.stdout)
    assert isinstance(value, dict)
    return value


KILLED = """
import os, signal, sys
import psutil
from dosdt import classifier
from dosdt.checkpoint import CheckpointFile
from dosdt.cli import main
from dosdt.teamwork import Teamwork

write = CheckpointFile.write

def write_and_die(file, solution, limit, records):
    write(file, solution, limit, records)
    if not records:  # a team that has saved nothing yet
        return
    kinds = ("ray::Worker", "ray::Scheduler", "ray::_Shard")
    family = {child.pid for child in psutil.Process().children(recursive=True)}
    running = [process for process in psutil.process_iter(["name"]) if process.pid in family]
    print(*[process.pid for process in running if (process.info["name"] or "").startswith(kinds)], flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

CheckpointFile.write = write_and_die
classifier.Teamwork = lambda *given: Teamwork(*given, alone_seconds=0.0)
sys.exit(main())
"""
"""A fit that is killed as soon as a checkpoint is of use: from outside it might be too late on a busy machine."""


def killed(table: Path, algorithm: str, checkpoint: Path, *options: object) -> list[int]:
    """Fit until there is a checkpoint; return the process numbers of its actors, if it had any."""
    given = [
        "fit",
        table,
        "--algorithm",
        algorithm,
        "--regularization",
        SIZES[algorithm][2],
        "--cold-start",
        "--quiet",
    ]
    keeping = ["--checkpoint", checkpoint, "--checkpoint-seconds", "0.05"]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *map(str, [*given, *keeping, *options])],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    return [int(number) for number in done.stdout.split()]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_killed_search_goes_on(tmp_path: Path, table: Path, algorithm: str, workers: int) -> None:
    checkpoint = tmp_path / "checkpoint"
    actors = killed(table, algorithm, checkpoint, "--workers", workers)
    assert bool(actors) == (workers > 1)
    # Ray itself sees that the driver is gone.
    wait_until(lambda: all(map(gone, actors)), 120)
    problem, cost = instance(algorithm)
    known = read_checkpoint(checkpoint)
    assert known.records
    assert known.problem.fingerprint == problem.fingerprint
    result = resumed(checkpoint, "--workers", workers)
    assert result["status"] == "optimal"
    assert Fraction(result["objective"]) == problem.objective(cost)


@pytest.mark.parametrize("algorithm", ["subproblem"])
def test_a_killed_search_gets_its_certificate(tmp_path: Path, table: Path, algorithm: str) -> None:
    checkpoint, proof = tmp_path / "checkpoint", tmp_path / "proof"
    easier = ("--regularization", "0.0025", "--certificate", proof)
    killed(table, algorithm, checkpoint, *easier)
    assert not proof.exists()
    assert resumed(checkpoint, "--certificate", proof)["status"] == "optimal"
    done = subprocess.run(
        command("verify", proof, table), env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"verified: objective \d+/\d+ is optimal \(\d+ facts\)\n", done.stdout)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_search_that_a_limit_stopped_goes_on(tmp_path: Path, table: Path, algorithm: str) -> None:
    """A last checkpoint is written however long it would have been to the next."""
    checkpoint = tmp_path / "checkpoint"
    done = subprocess.run(
        command(
            *("fit", table, "--algorithm", algorithm, "--regularization", SIZES[algorithm][2], "--cold-start"),
            *("--checkpoint", checkpoint, "--time-limit", "1.3", "--json"),
        ),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    first = json.loads(done.stdout)
    problem, cost = instance(algorithm)
    if first["status"] == "time_limit":
        result = resumed(checkpoint)
        assert result["status"] == "optimal"
        assert Fraction(result["objective"]) == problem.objective(cost) <= Fraction(first["objective"])


@pytest.mark.parametrize("algorithm", ["subproblem"])
def test_bad_checkpoints_are_refused(tmp_path: Path, table: Path, algorithm: str) -> None:
    checkpoint = tmp_path / "checkpoint"
    killed(table, algorithm, checkpoint)
    content = checkpoint.read_bytes()
    for name, data in {
        "truncated": content[: len(content) // 2],
        "foreign": table.read_bytes(),
        "empty": b"",
        "changed": content[:-20] + b"x" * 20,
    }.items():
        bad = tmp_path / name
        bad.write_bytes(data)
        done = subprocess.run(
            command("resume", bad), env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=120
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("dosdt: error: ")
        assert len(done.stderr.splitlines()) == 1
        assert bad.read_bytes() == data
