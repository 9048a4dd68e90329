"""Teams of one in this process: the same answers, limits, certificates and checkpoints, without Ray."""

from __future__ import annotations

import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from constrained import constrained

import dosdt
from dosdt import DOSDTClassifier
from dosdt.checkpoint import read_checkpoint
from dosdt.contract import Constraints, Solution
from dosdt.errors import InputError
from dosdt.limits import Limits, Status
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.resuming import resume
from dosdt.solver import solve
from dosdt.team import Record
from dosdt.teamwork import Teamwork, cpus, parse_workers
from dosdt.workers.solo import Solo

ONE = Teamwork(workers=1, alone_seconds=0.0)


@pytest.fixture(autouse=True)
def a_look_after_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that limits strike at the same place on every machine."""
    monkeypatch.setattr("dosdt.workers.drive.pause_after", lambda _: 0.0)


class Kept:
    """Checkpoints in memory."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.all: list[tuple[Solution, list[Record]]] = []

    def write(self, solution: Solution, limit: int, records: list[Record]) -> None:
        assert limit == solution.cost, "no gap is allowed"
        self.all.append((solution, records))


def noise(seed: int = 0, rows: int = 400, features: int = 12, penalty: str = "0.006") -> Problem:
    rng = np.random.default_rng(seed)
    x = rng.random((rows, features)) < 0.5
    return Problem.from_arrays(x, (x[:, 0] ^ x[:, 1]) ^ (rng.random(rows) < 0.3), penalty)


@pytest.mark.parametrize("algorithm", ["subproblem", "leafset"])
def test_the_optimum(algorithm: str) -> None:
    for seed in range(60):
        given, constraints, limits = constrained(seed + 700_000, (4,) if algorithm == "leafset" else (4, 5, 6))
        if algorithm == "leafset" and given.regularization < Fraction(1, 100):
            continue
        answer = solve(given.problem, algorithm=algorithm, constraints=constraints, team=ONE)
        assert answer.status is Status.OPTIMAL
        assert answer.objective == answer.lower_bound == given.optimum(**limits)


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (Limits(seconds=0.0), Status.TIME_LIMIT),
        (Limits(evaluations=300), Status.EVALUATION_LIMIT),
        (Limits(memory=1), Status.MEMORY_LIMIT),
        (Limits(relative_gap=Fraction(1, 4)), Status.GAP_REACHED),
    ],
)
@pytest.mark.parametrize("algorithm", ["subproblem", "leafset"])
def test_limits(algorithm: str, limits: Limits, status: Status) -> None:
    problem = noise() if algorithm == "subproblem" else noise(1, 300, 10, "0.008")
    answer = solve(problem, algorithm=algorithm, limits=limits, team=ONE, warm_start=False)
    assert answer.status is status
    assert answer.lower_bound <= solve(problem).objective <= answer.objective
    assert answer.gap > 0
    if status is Status.GAP_REACHED:
        assert answer.gap <= limits.relative_gap


@pytest.mark.parametrize("algorithm", ["subproblem", "leafset"])
def test_every_checkpoint_leads_to_the_optimum(algorithm: str) -> None:
    problem = noise(1) if algorithm == "subproblem" else noise(1, 200, 8, "0.016")
    kept = Kept()
    first = solve(problem, algorithm=algorithm, team=Teamwork(1, None, kept, alone_seconds=0.0), warm_start=False)
    assert first.status is Status.OPTIMAL
    assert kept.all
    for solution, records in kept.all[:: max(1, len(kept.all) // 3)]:
        again = solve(
            problem,
            algorithm=algorithm,
            team=Teamwork(1, None, None, records, alone_seconds=0.0),
            incumbent=solution,
            warm_start=False,
        )
        assert (again.status, again.objective) == (Status.OPTIMAL, first.objective)


def test_what_was_kept_under_a_larger_gap_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves out trees that are better by less: whoever went on from it would call another tree optimal."""
    monkeypatch.setattr("dosdt.classifier.Teamwork", lambda *given: Teamwork(*given, alone_seconds=0.0))
    rng = np.random.default_rng(5)
    x = rng.random((150, 9)) < 0.5
    y = (x[:, 0] ^ x[:, 1]) ^ (rng.random(150) < 0.3)
    options = {"algorithm": "leafset", "warm_start": False, "relative_gap": "0.3", "evaluation_limit": 20}
    path = tmp_path / "checkpoint"
    with pytest.warns(match="evaluation_limit"):
        DOSDTClassifier("0.004", **options).fit(x.astype(int), y, checkpoint=path)
    known = read_checkpoint(path)
    assert known.records
    assert known.limit == Limits(relative_gap=options["relative_gap"]).wanted(known.solution.cost)
    used: list[int] = []

    class Spied(Teamwork):
        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            used.append(len(self.records))

    monkeypatch.setattr("dosdt.resuming.Teamwork", Spied)
    resume(path, relative_gap="0.3", evaluation_limit=1)
    resume(path, relative_gap="0.2", evaluation_limit=1)
    assert used[0] > 0 == used[1]


def test_certificates_of_a_team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Teamwork, "alone_seconds", 0.0)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.random((150, 7)) < 0.5
        y = rng.integers(0, 2 + seed % 2, 150)
        depth = [None, 3][seed % 2]
        model = DOSDTClassifier("0.015", max_depth=depth)
        monkeypatch.setattr("dosdt.classifier.parse_workers", lambda *_: (True, 1))
        monkeypatch.setattr("dosdt.classifier.Teamwork", lambda *given: Teamwork(*given, alone_seconds=0.0))
        model.fit(x.astype(int), y, certificate=tmp_path / "proof")
        assert model.stats_["steps"] > 0, "one process has not done it alone"
        verdict = dosdt.verify(tmp_path / "proof", x.astype(int), y)
        assert verdict, str(verdict)


def test_a_search_is_resumed_without_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dosdt.classifier.Teamwork", lambda *given: Teamwork(*given, alone_seconds=0.0))
    rng = np.random.default_rng(3)
    x = rng.random((500, 13)) < 0.5
    y = (x[:, 0] ^ x[:, 1]) ^ (rng.random(500) < 0.3)
    path = tmp_path / "c"
    names = np.array(["no", "yes"])[y.astype(int)]
    with pytest.warns(match="evaluation_limit"):
        DOSDTClassifier("0.004", evaluation_limit=3000).fit(x.astype(int), names, checkpoint=path)
    assert read_checkpoint(path).records
    resumed, target = resume(path)
    plain = DOSDTClassifier("0.004").fit(x.astype(int), names)
    assert (resumed.status_, resumed.objective_) == ("optimal", plain.objective_)
    assert resumed.predict(x.astype(int)).shape == (500,)
    assert target is None
    model = resumed.to_model()
    assert model.objective == plain.objective_


@pytest.mark.parametrize("depth", [None, 6])
def test_a_resumed_search_writes_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int | None
) -> None:
    """Of weighted rows whose mistakes differ in cost, none of which is at hand any more."""
    monkeypatch.setattr("dosdt.classifier.Teamwork", lambda *given: Teamwork(*given, alone_seconds=0.0))
    rng = np.random.default_rng(3)
    x = (rng.random((500, 13)) < 0.5).astype(int)
    y = (x[:, 0] ^ x[:, 1]) ^ (rng.random(500) < 0.3)
    weight = rng.integers(1, 4, 500) / 10
    path, first, proof = tmp_path / "c", tmp_path / "first", tmp_path / "proof"
    model = DOSDTClassifier("0.004", max_depth=depth, evaluation_limit=300, cost_matrix=[[0, 1], [1.5, 0]])
    with pytest.warns(match="evaluation_limit"):
        model.fit(x, y, weight, certificate=first, checkpoint=path)
    assert read_checkpoint(path).records
    resumed, _ = resume(path, certificate=proof)
    assert resumed.status_ == "optimal"
    assert resumed.stats_["certified_lower_bound"] == resumed.objective_ > model.lower_bound_
    for file, bound in ((first, model.stats_["certified_lower_bound"]), (proof, resumed.objective_)):
        verdict = dosdt.verify(file, x, y, weight)
        assert verdict, str(verdict)
        assert verdict.lower_bound == bound
    assert not dosdt.verify(proof, x, ~y, weight)


def test_a_search_without_certificate_gets_none_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dosdt.classifier.Teamwork", lambda *given: Teamwork(*given, alone_seconds=0.0))
    rng = np.random.default_rng(3)
    x, path = (rng.random((500, 14)) < 0.5).astype(int), tmp_path / "c"
    with pytest.warns(match="evaluation_limit"):
        DOSDTClassifier("0.003", evaluation_limit=1000).fit(x, rng.random(500) < 0.3, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="of a search without certificate.*fit again with --certificate"):
        resume(path, certificate=tmp_path / "proof")
    assert path.read_bytes() == before
    assert not (tmp_path / "proof").exists()


def test_how_many_workers() -> None:
    assert parse_workers(None, None) == (False, None)
    assert parse_workers(1, None) == (False, 1)
    assert parse_workers(3, None) == (True, 3)
    assert parse_workers(-1, None) == (True, cpus())
    assert parse_workers(None, "auto") == (True, None)
    assert parse_workers(-1, "auto") == (True, None)
    assert parse_workers(1, "auto") == (True, 1)
    for n_jobs, address in ((0, None), (1.5, None), (True, None), (None, 7), (2, "")):
        with pytest.raises(InputError):
            parse_workers(n_jobs, address)


def test_constraints_are_kept() -> None:
    answer = solve(noise(2), constraints=Constraints(max_depth=2), team=ONE)
    assert answer.sketch.depth <= 2
    assert answer.objective == solve(noise(2), constraints=Constraints(max_depth=2)).objective


def test_ctrl_c_leaves_an_answer_even_if_ray_does_not_survive_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        raise InputError("cannot start Ray: its processes are gone")

    monkeypatch.setattr("dosdt.workers.crew.RayCrew", broken)
    problem = noise(3, 400, 20, "0.001")
    answer = solve(problem, team=Teamwork(2, alone_seconds=0.1))
    assert answer.status is Status.INTERRUPTED
    assert 0 < answer.lower_bound < answer.objective


def test_ctrl_c_is_told_of_while_ray_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ending(Solo):
        def __init__(self, problem: Problem, plan: Plan, solution: Solution, *_: Any, **__: Any) -> None:
            super().__init__(problem, plan, solution.cost)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("dosdt.workers.crew.RayCrew", Ending)
    before = signal.getsignal(signal.SIGINT)
    answer = solve(noise(), team=Teamwork(2, alone_seconds=0.0))
    assert answer.status is Status.INTERRUPTED
    assert answer.lower_bound == answer.objective
    assert signal.getsignal(signal.SIGINT) is before
