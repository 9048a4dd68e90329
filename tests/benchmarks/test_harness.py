"""A run has a process, a time and a memory of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import harness, methods
from benchmarks.harness import ROOT, Job, Limits, run, run_all


def test_what_was_asked_stands_beside_what_was_found(tables: Path) -> None:
    jobs = [Job(methods.dosdt, {"data": "gate", "regularization": text}) for text in ("0.01", "0.4")]
    first, second = run_all(jobs, Limits(seconds=20), at_once=2)
    assert [first["regularization"], second["regularization"]] == ["0.01", "0.4"]
    assert (first["status"], first["leaves"], first["objective"]) == ("optimal", 4, "2/25")
    assert (second["leaves"], second["objective"]) == (1, "4/5")
    assert first["memory"] > first["memory_before"] > 10**7


def test_light_jobs_share_a_process_and_none_takes_the_others_with_it(
    tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    once = harness._run_once

    def counted(group: list[Job], limits: Limits) -> list[harness.Record]:
        groups.append(len(group))
        return once(group, limits)

    monkeypatch.setattr(harness, "_run_once", counted)
    good = [Job(methods.dosdt, {"data": "gate", "regularization": text}, light=True) for text in ("0.01", "0.4")]
    assert [record["leaves"] for record in run_all(good, Limits(seconds=20))] == [4, 1]
    assert groups == [2]
    bad = Job(methods.cart, {"data": "nothing", "regularization": "0.1"}, light=True)
    first, second = run_all([good[0], bad], Limits(seconds=20))
    assert first["leaves"] == 4
    assert second["status"].startswith("failed")
    assert groups == [2, 2, 1, 1]


def test_a_failure_is_told_and_not_raised(tables: Path) -> None:
    record = run(Job(methods.cart, {"data": "nothing", "regularization": "0.1"}), Limits(seconds=20))
    assert record["status"].startswith("failed: InputError: there is no file")


def test_what_does_not_end_is_killed(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "GRACE_SECONDS", 0.0)
    record = run(Job(methods.cart, {"data": "gate", "regularization": "0.1"}), Limits(seconds=0.01))
    assert (record["status"], record["seconds"]) == ("killed", 0.01)


def test_only_proved_runs_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter([3.0, 1.0, 2.0, 5.0])
    monkeypatch.setattr(
        harness, "_run_once", lambda jobs, limits: [{"proved": jobs[0].case, "seconds": next(seconds)}]
    )
    assert run(Job(methods.cart, True), Limits(repeat=3))["seconds"] == 1.0  # type: ignore[arg-type]
    assert run(Job(methods.cart, False), Limits(repeat=3))["seconds"] == 5.0  # type: ignore[arg-type]
    assert next(seconds, None) is None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_memory_is_limited() -> None:
    program = "from benchmarks.worker import limit_memory; limit_memory(0.5); bytearray(10**9)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr
