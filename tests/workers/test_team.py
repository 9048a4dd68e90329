"""Teams on a real Ray: the answer is that of one process, whatever is killed meanwhile."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import ray
import waiting_member
from ray_team import (
    ENVIRONMENT,
    QUICK,
    add_node,
    at_work,
    check_optimal,
    cluster,
    family,
    gone,
    instance,
    kill,
    named,
    plan_of,
    run,
    single_leaf,
    wait_until,
)

import dosdt
from dosdt import DOSDTClassifier, verify
from dosdt.errors import InputError
from dosdt.limits import Limits, Status
from dosdt.scheduler.incumbent import Incumbent
from dosdt.scheduler.settings import Settings
from dosdt.solver import ALGORITHMS, solve
from dosdt.teamwork import Teamwork
from dosdt.workers.crew import RayCrew
from dosdt.workers.drive import drive


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    with cluster(1) as started:
        yield started


@pytest.fixture
def address(two_nodes: Any) -> Iterator[str]:
    yield str(two_nodes.address)
    assert not ray.is_initialized(), "who joins a cluster leaves it again"


def hard() -> Any:
    """Return a problem whose proof takes far longer than any test."""
    rng = np.random.default_rng(7)
    return dosdt.problem.Problem.from_arrays(rng.random((400, 25)) < 0.5, rng.random(400) < 0.5, "0.001")


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


# Undisturbed


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_answer_is_that_of_one_process(address: str, algorithm: str) -> None:
    problem, cost = instance(algorithm)
    pids: list[int] = []

    def look(crew: RayCrew) -> None:
        processes = at_work(crew)
        pids.extend(processes["workers"] + processes["shards"])

    ran = run(problem, algorithm, address=address, disturb=look)
    check_optimal(ran, cost)
    assert ran.statistics["workers"] == 2
    assert ran.statistics["teams"] >= 1  # on a busy machine the work may be shared out anew
    assert ran.statistics["messages"] > 0
    assert len(set(pids)) == 3
    wait_until(lambda: all(map(gone, pids)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_solve_with_a_team(address: str, algorithm: str) -> None:
    problem, cost = instance(algorithm)
    answer = solve(problem, algorithm=algorithm, team=Teamwork(2, address, alone_seconds=0))
    assert answer.status is Status.OPTIMAL
    assert answer.objective == answer.lower_bound == problem.objective(cost)
    assert answer.stats["workers"] == 2


@pytest.mark.parametrize("victim", ["nobody", "workers", "shards"])
def test_a_certificate_of_a_team(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: str) -> None:
    """What a certificate rests on is complete, also if some of it had to be proved again."""
    killed: list[int] = []

    class Disturbed(RayCrew):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            if victim != "nobody":
                threading.Thread(target=self.disturb, daemon=True).start()

        def disturb(self) -> None:
            at_work(self)
            wait_until(lambda: self._bulletin().saves)
            killed.append(self.processes()[victim][0])
            kill(killed[0])

    monkeypatch.setattr("dosdt.workers.crew.RayCrew", Disturbed)
    monkeypatch.setattr("dosdt.scheduler.settings.Settings", partial(Settings, save_seconds=0.3))
    monkeypatch.setattr("dosdt.classifier.Teamwork", partial(Teamwork, alone_seconds=0))
    rng = np.random.default_rng(3)
    x = (rng.random((800, 16)) < 0.5).astype(int)
    y = ((x[:, 0] ^ x[:, 1]) | (x[:, 2] & x[:, 3])) ^ (rng.random(800) < 0.15)
    model = DOSDTClassifier("0.0015", n_jobs=2, ray_address=address)
    model.fit(x, y.astype(int), certificate=tmp_path / "proof")
    assert model.status_ == "optimal"
    assert model.stats_["workers"] == 2
    assert len(killed) == (victim != "nobody")
    verdict = verify(tmp_path / "proof", x, y.astype(int))
    assert verdict, str(verdict)
    assert model.stats_["certified_lower_bound"] == model.objective_


# Limits


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (Limits(seconds=0.5), Status.TIME_LIMIT),
        (Limits(evaluations=2000), Status.EVALUATION_LIMIT),
        (Limits(relative_gap=Fraction(1, 2)), Status.GAP_REACHED),
        (Limits(seconds=0.0), Status.TIME_LIMIT),
    ],
    ids=["time", "evaluations", "gap", "no time"],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_limits(address: str, algorithm: str, limits: Limits, status: Status) -> None:
    problem, cost = instance(algorithm)
    outcome = run(problem, algorithm, address=address, limits=limits).outcome
    if outcome.status is not Status.OPTIMAL:  # a fast machine
        assert outcome.status is status
    assert outcome.lower_bound <= cost <= outcome.solution.cost
    if status is Status.GAP_REACHED:
        assert outcome.lower_bound >= outcome.solution.cost / 2


def test_the_memory_limit_is_that_of_the_workers(address: str) -> None:
    outcome = run(hard(), "subproblem", address=address, settings=QUICK._replace(memory=2**20)).outcome
    assert outcome.status is Status.MEMORY_LIMIT
    assert outcome.lower_bound < outcome.solution.cost


def test_a_scheduler_that_cannot_be_started(address: str, tmp_path: Path) -> None:
    """As on a cluster where something is not installed: here, the tests' own module."""
    problem, plan = hard(), waiting_member.waiting_plan(tmp_path)
    with pytest.raises(InputError, match="could not be started .*No module named 'waiting_member'"):
        RayCrew(problem, plan, single_leaf(problem), QUICK, address=address)


@pytest.fixture
def sent_along() -> Iterator[None]:
    """Let workers get the tests' own module from here."""
    ray.cloudpickle.register_pickle_by_value(waiting_member)
    yield
    ray.cloudpickle.unregister_pickle_by_value(waiting_member)


@pytest.mark.usefixtures("sent_along")
def test_a_limit_reaches_workers_during_a_step(address: str, tmp_path: Path) -> None:
    """Each goes on with its step until it hears of it, so one that heard of it later would prove nothing."""
    problem = hard()
    patient = QUICK._replace(patience=1000.0)
    plan = waiting_member.waiting_plan(tmp_path)
    with RayCrew(problem, plan, single_leaf(problem), patient, address=address) as crew:
        wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
        assert crew.advance(0.0).lower_bound == 0
        crew.tighten(17)
        wait_until(lambda: crew.advance(0.1).finished)
        assert crew.advance(0.0).lower_bound == 17


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_a_limit_excludes_is_not_searched(address: str, algorithm: str) -> None:
    """The proof would take far longer than any test; that nothing is cheaper than what is proved is soon shown."""
    problem = hard()
    incumbent = Incumbent(single_leaf(problem))
    with RayCrew(problem, plan_of(algorithm), incumbent.solution, QUICK, address=address) as crew:
        at_work(crew)
        proved = wait_until(lambda: crew.advance(0.1).lower_bound)
        crew.tighten(proved)
        wait_until(lambda: crew.advance(0.1).finished)
        assert crew.advance(0.0).lower_bound >= proved


# Disturbed


@pytest.mark.parametrize("whose", ["workers", "shards"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_one_is_killed(address: str, algorithm: str, whose: str) -> None:
    problem, cost = instance(algorithm)
    ran = run(problem, algorithm, address=address, disturb=lambda crew: kill(at_work(crew)[whose][-1]))
    check_optimal(ran, cost)
    if whose == "workers":
        assert ran.statistics["workers_and_shards_lost"] == 1
        assert ran.statistics["teams"] > 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_are_killed(address: str, algorithm: str) -> None:
    def disturb(crew: RayCrew) -> None:
        processes = at_work(crew)
        for pid in processes["workers"] + processes["shards"]:
            kill(pid)

    problem, cost = instance(algorithm)
    ran = run(problem, algorithm, address=address, disturb=disturb)
    check_optimal(ran, cost)
    assert ran.statistics["workers_and_shards_lost"] == 3
    assert ran.statistics["teams"] > 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_who_hangs_is_let_go(address: str, algorithm: str) -> None:
    stopped: list[int] = []

    def disturb(crew: RayCrew) -> None:
        stopped.append(at_work(crew)["workers"][-1])
        kill(stopped[0], signal.SIGSTOP)

    problem, cost = instance(algorithm)
    try:
        ran = run(problem, algorithm, address=address, disturb=disturb)
        check_optimal(ran, cost)
        assert ran.statistics["workers_and_shards_lost"] == 1
        wait_until(lambda: gone(stopped[0]))
    finally:
        kill(stopped[0])


def test_a_limit_holds_while_somebody_hangs(address: str) -> None:
    """Nobody waits for the patience with silence to run out."""
    stopped: list[int] = []

    def disturb(crew: RayCrew) -> None:
        stopped.append(at_work(crew)["workers"][-1])
        kill(stopped[0], signal.SIGSTOP)

    patient = QUICK._replace(patience=1000.0)
    try:
        ran = run(hard(), "subproblem", address=address, settings=patient, limits=Limits(seconds=2), disturb=disturb)
        assert ran.outcome.status is Status.TIME_LIMIT
    finally:
        kill(stopped[0])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_scheduler_takes_over(address: str, algorithm: str) -> None:
    """With what the driver has heard; the workers of the one that was killed end with it."""
    before: list[int] = []

    def disturb(crew: RayCrew) -> None:
        before.extend(at_work(crew)["workers"])
        kill(crew.processes()["schedulers"][0])

    problem, cost = instance(algorithm)
    ran = run(problem, algorithm, address=address, disturb=disturb)
    check_optimal(ran, cost)
    assert ran.statistics["schedulers_lost"] == 1
    assert ran.statistics["teams"] >= 2
    wait_until(lambda: all(map(gone, before)))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_scheduler_begins_with_what_was_fetched(address: str, algorithm: str) -> None:
    """It is as with a checkpoint: nothing that was saved is done again, and counts go on."""
    kept: list[int] = []

    class Kept:
        seconds = 0.1

        def write(self, solution: Any, limit: int, records: list[Any]) -> None:
            kept.append(len(records))

    def disturb(crew: RayCrew) -> None:
        wait_until(lambda: len(kept) > 1)
        evaluated = crew._bulletin().evaluated
        kill(crew.processes()["schedulers"][0])
        wait_until(lambda: crew._last.books.schedulers_lost and crew._bulletin().workers)
        assert crew._records
        assert crew._bulletin().evaluated >= evaluated

    problem, cost = instance(algorithm)
    ran = run(problem, algorithm, address=address, disturb=disturb, checkpoints=Kept())
    check_optimal(ran, cost)


def test_a_search_whose_schedulers_all_die_says_what_to_do(address: str) -> None:
    def disturb(crew: RayCrew) -> None:
        at_work(crew)
        for _ in range(100):
            for pid in crew.processes()["schedulers"]:
                kill(pid)

    with pytest.raises(InputError) as refused:
        run(hard(), "subproblem", address=address, disturb=disturb, limits=Limits(seconds=120))
    said = str(refused.value)
    assert re.match(
        r"the scheduler on Ray has died \d times; go on with 'dosdt resume' if there is a checkpoint", said
    )
    assert "ActorDiedError: The actor is dead because its worker process has died" in said
    assert "\n" not in said


def test_a_stop_is_a_stop_without_a_scheduler(address: str) -> None:
    """Whoever was told to stop is not replaced."""

    class Mortal(RayCrew):
        def stop(self, *, save: bool = False) -> None:
            kill(self.processes()["schedulers"][0])
            super().stop(save=save)

    problem = hard()
    incumbent = Incumbent(single_leaf(problem))
    with Mortal(problem, plan_of("subproblem"), incumbent.solution, QUICK, address=address) as crew:
        outcome = drive(crew, incumbent, Limits(seconds=1.0))
        assert outcome.status is Status.TIME_LIMIT
        assert outcome.lower_bound < outcome.solution.cost
        assert crew.statistics()["schedulers_lost"] == 0


def test_nodes_come_and_die() -> None:
    """One node is there, another comes and takes part, and dies with all that is on it."""
    died = threading.Event()
    with cluster() as started:

        def disturb(crew: RayCrew) -> None:
            at_work(crew)
            node = add_node(started)
            wait_until(lambda: crew._bulletin().workers == 2, 120)
            started.remove_node(node, allow_graceful=False)
            wait_until(lambda: crew._bulletin().workers == 1, 120)
            died.set()
            interrupt()

        rng = np.random.default_rng(8)
        problem = dosdt.problem.Problem.from_arrays(rng.random((300, 18)) < 0.5, rng.random(300) < 0.5, "0.002")
        any_number = QUICK._replace(workers=None)
        ran = run(problem, "subproblem", address=started.address, settings=any_number, disturb=disturb)
    assert died.is_set()
    assert ran.outcome.status is Status.INTERRUPTED
    assert ran.outcome.lower_bound < ran.outcome.solution.cost
    assert ran.statistics["workers"] == 2
    assert ran.statistics["teams"] >= 3
    assert ran.statistics["workers_and_shards_lost"] >= 1


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_node_is_killed(algorithm: str) -> None:
    problem, cost = instance(algorithm)
    with cluster() as started:
        # Whoever has joined by way of a node dies with it, so this process joins before there is another.
        ray.init(address=started.address, log_to_driver=False, logging_level="ERROR")
        node = add_node(started)

        def disturb(crew: RayCrew) -> None:
            at_work(crew)
            started.remove_node(node, allow_graceful=False)

        ran = run(problem, algorithm, disturb=disturb)
    check_optimal(ran, cost)
    assert ran.statistics["workers_and_shards_lost"] >= 1


# Beside others


def test_a_ray_that_runs_in_this_process_goes_on(address: str) -> None:
    ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    try:

        @ray.remote(num_cpus=0)
        class Tenant:
            def answer(self) -> int:
                return 42

        tenant = Tenant.remote()  # type: ignore[attr-defined]
        problem, cost = instance("subproblem")
        pids: list[int] = []
        check_optimal(run(problem, "subproblem", disturb=lambda crew: pids.extend(at_work(crew)["workers"])), cost)
        assert ray.is_initialized()
        assert ray.get(tenant.answer.remote()) == 42
        wait_until(lambda: all(map(gone, pids)))
        left = wait_until(lambda: len(living := [a for a in actors() if a["State"] == "ALIVE"]) == 1 and living)
        assert left[0]["ActorClassName"].endswith("Tenant")
    finally:
        ray.shutdown()


def actors() -> list[dict[str, Any]]:
    from ray._private.state import actors as known

    return list(known().values())


def test_what_one_process_solves_needs_no_ray(tmp_path: Path) -> None:
    script = """
import sys
from dosdt import DOSDTClassifier, datasets
data = datasets.load("monk1")
model = DOSDTClassifier("0.02", n_jobs=2).fit(data.X, data.y, checkpoint=sys.argv[1])
assert model.status_ == "optimal"
sys.exit("Ray was imported" if "ray" in sys.modules else 0)
"""
    command = [sys.executable, "-c", script, str(tmp_path / "checkpoint")]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("awaited", ["_raylet.so", "gcs_server", "raylet/raylet", "ray::Scheduler", "ray::Worker"])
def test_ctrl_c_leaves_an_answer_and_nothing_else(two_nodes: Any, tmp_path: Path, awaited: str) -> None:
    """As a terminal does it: all processes of the group get the signal. Another Ray on the machine goes on.

    It comes when the process has loaded Ray's library, or another process is there, up to the team's workers.
    """

    def is_there(pid: int) -> bool:
        if awaited == "_raylet.so":
            return awaited in Path(f"/proc/{pid}/maps").read_text()
        # What Ray calls a worker's process changes with every letter it gets, but for the beginning.
        return any(named(child, awaited) for child in family(pid))

    rng = np.random.default_rng(7)
    columns = [f"f{j}" for j in range(25)] + ["label"]
    pd.DataFrame(rng.integers(0, 2, (400, 26)), columns=columns).to_csv(tmp_path / "hard.csv", index=False)
    command = [sys.executable, "-m", "dosdt", "fit", "hard.csv", "--regularization=0.001", "--workers=2", "--json"]
    with subprocess.Popen(
        command,
        env=ENVIRONMENT,
        cwd=tmp_path,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            wait_until(lambda: is_there(process.pid), 120)
            children = family(process.pid)
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=120)
            children += [child for child in family(process.pid) if child not in children]
        finally:
            process.kill()
    assert (process.returncode, err) == (0, "")
    result = json.loads(out)
    assert result["status"] == "interrupted"
    assert 0 < Fraction(result["lower_bound"]) < Fraction(result["objective"])
    wait_until(lambda: all(gone(child.pid) for child in children))
    ray.init(address=two_nodes.address, log_to_driver=False, logging_level="ERROR")
    try:
        assert ray.cluster_resources()["CPU"] == 2
    finally:
        ray.shutdown()


def test_no_such_cluster() -> None:
    with pytest.raises(InputError, match="cannot join the Ray cluster at '127.0.0.1:1'"):
        solve(hard(), team=Teamwork(2, "127.0.0.1:1", alone_seconds=0))
