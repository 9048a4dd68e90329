"""Checkpoints: read back as written, and anything else refused in one line."""

from __future__ import annotations

from pathlib import Path

import msgpack
import numpy as np
import pytest

from dosdt.checkpoint import Checkpoint, CheckpointFile, check_checkpoint, read_checkpoint
from dosdt.contract import Constraints, Solution
from dosdt.errors import InputError
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.solver import SWITCHES, solve
from dosdt.team import Record


def written(path: Path, weight: int = 1) -> Problem:
    """Write a checkpoint of a solved problem."""
    rng = np.random.default_rng(1)
    x, y = rng.random((60, 5)) < 0.5, rng.integers(0, 3, 60)
    problem = Problem.from_arrays(x, [f"class {k}" for k in y], "1/70", sample_weight=[weight] * 60)
    plan = Plan("subproblem", Constraints(4, None, 2), tuple(SWITCHES["subproblem"]), certify=True)
    answer = solve(problem, constraints=plan.constraints)
    cost = int(answer.objective * problem.b * problem.total_weight / problem.cost_unit)
    file = CheckpointFile(path, problem, plan, {"columns": ["a"]}, 1.0)
    file.write(Solution(cost, answer.sketch), cost - 1, [Record(7, b"\0\xff"), Record(8, b"")])
    return problem


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as refused:
        read_checkpoint(path)
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize("weight", [1, 10**40 + 1])
def test_what_is_written_is_read(tmp_path: Path, weight: int) -> None:
    problem = written(tmp_path / "c", weight)
    known: Checkpoint = read_checkpoint(tmp_path / "c")
    assert known.problem.fingerprint == problem.fingerprint
    assert (known.problem.classes, known.problem.columns) == (problem.classes, problem.columns)
    assert known.problem.regularization == problem.regularization
    assert known.plan.constraints == Constraints(4, None, 2)
    assert known.plan.certify
    assert set(known.plan.switches) == set(SWITCHES["subproblem"])
    assert known.records == [Record(7, b"\0\xff"), Record(8, b"")]
    assert known.limit == known.solution.cost - 1
    assert known.context == {"columns": ["a"]}
    assert problem.objective(known.solution.cost) == solve(problem, constraints=known.plan.constraints).objective


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    written(tmp_path / "c")
    data = (tmp_path / "c").read_bytes()
    for length in (30, len(data) // 2, len(data) - 1):
        (tmp_path / "c").write_bytes(data[:length])
        assert refusal(tmp_path / "c").endswith("was cut off; start anew")


def test_a_changed_byte(tmp_path: Path) -> None:
    written(tmp_path / "c")
    data = bytearray((tmp_path / "c").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "c").write_bytes(data)
    assert "is damaged" in refusal(tmp_path / "c")


@pytest.mark.parametrize("content", [b"", b"\x80\x04K\x01.", b"{}", b"\xc1", b"a,b\n1,2\n", b"\x91" * 3000])
def test_other_files(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c").write_bytes(content)
    assert "is not a dosdt checkpoint" in refusal(tmp_path / "c")


def test_no_file_a_folder_and_a_newer_version(tmp_path: Path) -> None:
    assert "there is no checkpoint" in refusal(tmp_path / "c")
    assert "cannot read checkpoint" in refusal(tmp_path)
    written(tmp_path / "c")
    envelope = msgpack.unpackb((tmp_path / "c").read_bytes())
    (tmp_path / "c").write_bytes(msgpack.packb(envelope | {"version": 3}))
    assert "has version 3; this dosdt reads 2" in refusal(tmp_path / "c")


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "3", True])
def test_how_often(tmp_path: Path, seconds: object) -> None:
    with pytest.raises(InputError, match="checkpoint_seconds must be a number of seconds above 0"):
        check_checkpoint(tmp_path / "c", seconds)
