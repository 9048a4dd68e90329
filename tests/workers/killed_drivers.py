"""Searches that are killed and go on from their checkpoint, as processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
from ray_team import ENVIRONMENT, SIZES, family, gone, instance, kill, named, wait_until

from dosdt.checkpoint import read_checkpoint
from dosdt.solver import ALGORITHMS


@pytest.fixture
def table(tmp_path: Path, algorithm: str) -> Path:
    """Write the table of the problem that `instance` solves."""
    rows, features, _, noise = SIZES[algorithm]
    rng = np.random.default_rng(5)
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


@contextmanager
def fitting(table: Path, algorithm: str, checkpoint: Path, *options: object) -> Iterator[subprocess.Popen[str]]:
    """Fit until there is a checkpoint; whatever is left of it afterwards is killed."""
    given = ["--algorithm", algorithm, "--regularization", SIZES[algorithm][2], "--cold-start"]
    keeping = ["--checkpoint", checkpoint, "--checkpoint-seconds", "0.3", "--json"]
    with subprocess.Popen(
        command("fit", table, *given, *keeping, *options),
        env=ENVIRONMENT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        children: list[Any] = []
        try:
            wait_until(lambda: checkpoint.exists() or process.poll() is not None, 120)
            children = family(process.pid)
            yield process
        finally:
            children += family(process.pid)
            process.kill()
            for child in children:
                with suppress(psutil.NoSuchProcess):  # which it also says if the number is another process's by now
                    child.kill()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_killed_search_goes_on(tmp_path: Path, table: Path, algorithm: str) -> None:
    checkpoint = tmp_path / "checkpoint"
    with fitting(table, algorithm, checkpoint) as process:
        assert process.poll() is None, "it has finished before it could be killed"
        process.kill()
    problem, cost = instance(algorithm)
    known = read_checkpoint(checkpoint)
    assert known.records
    assert known.problem.fingerprint == problem.fingerprint
    result = resumed(checkpoint)
    assert result["status"] == "optimal"
    assert Fraction(result["objective"]) == problem.objective(cost)


@pytest.mark.parametrize(("algorithm", "victim"), [("subproblem", "driver"), ("leafset", "ray::Scheduler")])
def test_a_killed_team_goes_on(tmp_path: Path, table: Path, algorithm: str, victim: str) -> None:
    checkpoint = tmp_path / "checkpoint"
    with fitting(table, algorithm, checkpoint, "--workers", 2) as process:
        assert process.poll() is None, "it has finished before it could be killed"
        children = family(process.pid)
        actors = [child for child in children if named(child, "ray::Worker") or named(child, "ray::Scheduler")]
        assert len(actors) == 3
        if victim == "driver":
            process.kill()
        else:
            schedulers = [child for child in children if named(child, victim)]
            assert len(schedulers) == 1
            kill(schedulers[0].pid)
            out, err = process.communicate(timeout=120)
            assert (process.returncode, out) == (2, "")
            assert err.startswith("dosdt: error: the scheduler on Ray has died; go on with 'dosdt resume'")
            assert len(err.splitlines()) == 1
        # Ray itself sees that the driver is gone; its agents may take a minute.
        wait_until(lambda: all(gone(child.pid) for child in actors), 120)
    problem, cost = instance(algorithm)
    result = resumed(checkpoint, *(["--workers", 2] if victim == "driver" else []))
    assert result["status"] == "optimal"
    assert Fraction(result["objective"]) == problem.objective(cost)


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
    with fitting(table, algorithm, checkpoint) as process:
        process.kill()
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
