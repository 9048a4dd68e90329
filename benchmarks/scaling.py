"""How a search scales: measured with workers on Ray, and projected to a thousand by replaying a recorded run.

    DOSDT_DATA=folder python benchmarks/scaling.py --data fico_binary --regularization 0.0002 --workers 2
    DOSDT_DATA=folder python benchmarks/scaling.py --data fico_binary --project --plot scaling.svg

Measured: one process, then workers on Ray, by turns, `--repeat` times; seconds from when the workers are ready to the
proof. Start-up stands beside them. *Work inflation* is the expansions of all workers over those of one process.

Projected: real members go through their steps within one process, so that inflation is exact; what each member does
in a step is recorded. With more workers than were run, the largest recorded team's work is shared out among more. A
step takes as long as its busiest member and its messages: `--latency` seconds for each round of them, `--letter` for
each that a member sends and receives, and their bytes at `--bandwidth`. The way of sharing out is checked where both
are known: what the team of half the size predicts stands beside what real members took.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from common import Table, data_folder, guarded, header, line, machine

from dosdt.contract import Constraints, Sketch, leaf_node
from dosdt.limits import Limits
from dosdt.plan import Plan
from dosdt.problem import Problem
from dosdt.scheduler.incumbent import Incumbent
from dosdt.sketches import prune
from dosdt.solver import SWITCHES, solve
from dosdt.team import posts
from dosdt.threads import one_thread
from dosdt.workers.carrier import SMALL, Square
from dosdt.workers.drive import drive
from dosdt.workers.lockstep import Step
from dosdt.workers.lockstep import run as run_team

GENERATED = "noise"
"""Names such as noise-2000x25 stand for generated data: so many rows and features, labels mostly noise."""


@dataclass(frozen=True)
class Measured:
    """One run to the proof; `teams` is above 1 if workers were slow or died, and the work was shared out anew."""

    workers: int
    teams: int
    seconds: float
    start_up: float
    expanded: int
    busy: float
    idle: float
    steps: int
    messages: int
    megabytes: float
    objective: str


@dataclass(frozen=True)
class Projected:
    """What a team of so many would take: real members where `recorded`, else work shared out further.

    `working` is the busiest members' seconds, `foretold` what half as many real members foretell of them.
    """

    workers: int
    recorded: bool
    inflation: float
    working: float
    waiting: float
    foretold: float | None
    messages: int

    @property
    def seconds(self) -> float:
        """From the moment workers are ready to the proof."""
        return self.working + self.waiting


@dataclass(frozen=True)
class Transport:
    """What messages cost: seconds for a round, seconds for each message of a member, bytes a second."""

    latency: float
    letter: float
    bandwidth: float

    def waiting(self, steps: Sequence[Step], workers: int) -> float:
        """Return the seconds that all wait for messages."""
        if workers == 1:
            return 0.0
        rounds = 1 if workers <= SMALL else 2
        written = sum(max(step.written) * len(step.written) / workers for step in steps)
        each = rounds * self.latency + letters_of(workers) * self.letter
        return len(steps) * each + rounds * written / self.bandwidth


def letters_of(workers: int) -> int:
    """Return how many messages a member sends in a step."""
    return workers - 1 if workers <= SMALL else 2 * (Square(workers).columns - 1)


def problem_of(name: str, regularization: str) -> Problem:
    """Return a data set by name, or generated data."""
    if name.startswith(GENERATED):
        rows, features = map(int, name.removeprefix(GENERATED).strip("-").split("x"))
        rng = np.random.default_rng(rows * features)
        x = rng.random((rows, features)) < 0.5
        y = ((x[:, 0] ^ x[:, 1]) | (x[:, 2] & x[:, 3])) ^ (rng.random(rows) < 0.3)
        return Problem.from_arrays(x, y, regularization)
    problem: Problem = Table(name, data_folder()).problem(regularization)
    return problem


def alone(problem: Problem, algorithm: str) -> Measured:
    """Solve in one process."""
    start = time.perf_counter()
    answer = solve(problem, algorithm=algorithm, warm_start=False)
    seconds = time.perf_counter() - start
    expanded = answer.stats["evaluated"]
    return Measured(1, 1, seconds, 0.0, expanded, seconds, 0.0, 0, 0, 0.0, str(answer.objective))


def on_ray(problem: Problem, algorithm: str, workers: int) -> Measured:
    """Solve with workers on Ray."""
    from dosdt.scheduler.settings import Settings
    from dosdt.workers.crew import RayCrew

    plan = plan_of(algorithm)
    single = prune(problem, Sketch((leaf_node(0),)), Constraints())
    with RayCrew(problem, plan, single, Settings(workers)) as crew:
        start = time.perf_counter()
        outcome = drive(crew, Incumbent(single), Limits())
        seconds = time.perf_counter() - start
        stats = crew.statistics()
    return Measured(
        workers,
        stats["teams"],
        seconds,
        stats["start_up_seconds"],
        outcome.trace[-1].evaluated,
        stats["busy_seconds"],
        sum(stats["idle_seconds"]),
        stats["steps"],
        stats["messages"],
        stats["bytes_sent"] / 1e6,
        str(problem.objective(outcome.solution.cost)),
    )


def plan_of(algorithm: str) -> Plan:
    """Return a plan without constraints, with all bounds."""
    return Plan(algorithm, Constraints(), tuple(SWITCHES[algorithm]))


def record(problem: Problem, algorithm: str, workers: int) -> tuple[list[Step], int]:
    """Run a team within this process; return its steps and how much it evaluated."""
    limit = prune(problem, Sketch((leaf_node(0),)), Constraints()).cost
    members = [plan_of(algorithm).member(problem, post, limit) for post in posts([1.0] * workers)]
    with one_thread():
        steps = run_team(members)
    return steps, sum(member.evaluated for member in members)


def shared_out(steps: Sequence[Step], workers: int, overhead: float) -> float:
    """Return the seconds of the busiest members if a recorded team's work were shared out among `workers`.

    A member's share of a step has a part that does not shrink, `overhead`, as it is there however little there is to
    do; the rest is shared out unevenly by chance: the busiest of k has about sqrt(2 log k) standard deviations more
    than the others, with as many parts of the work as expansions.
    """
    working = 0.0
    for step in steps:
        busiest, factor = max(step.seconds), workers / len(step.seconds)
        if factor > 1:
            parts = max(sum(step.expanded) / workers, 1.0)
            uneven = 1 + math.sqrt(2 * math.log(workers) / parts)
            busiest = min(busiest, overhead + max(busiest - overhead, 0.0) / factor * uneven)
        working += busiest
    return working


def project(problem: Problem, algorithm: str, most_recorded: int, transport: Transport) -> list[Projected]:
    """Return what teams of 1 to 1,024 would take."""
    projected: list[Projected] = []
    base, overhead = 0, 0.0
    steps: list[Step] = []
    for power in range(11):
        workers = 2**power
        working = foretold = shared_out(steps, workers, overhead) if steps else None
        if workers <= most_recorded:
            steps, evaluated = record(problem, algorithm, workers)
            base = base or evaluated
            empty = [max(step.seconds) for step in steps if not any(step.expanded)]
            overhead = float(np.median(empty)) if empty else 0.0
            working = shared_out(steps, workers, overhead)
        assert working is not None, "at least one team is recorded"
        projected.append(
            Projected(
                workers,
                workers <= most_recorded,
                evaluated / base,
                working,
                transport.waiting(steps, workers),
                foretold if workers <= most_recorded else None,
                len(steps) * workers * letters_of(workers),
            )
        )
    return projected


def plot(projected: Sequence[Projected], measured: Sequence[Measured], path: str, title: str) -> None:
    """Draw speed-up against workers."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    one = projected[0].seconds
    workers = [point.workers for point in projected]
    axes.plot(workers, workers, color="0.7", linestyle=":", label="ideal")
    axes.plot(workers, [one / point.seconds for point in projected], color="black", label="projected")
    real = [point for point in projected if point.recorded]
    axes.plot(
        [point.workers for point in real],
        [one / point.seconds for point in real],
        color="black",
        marker="o",
        linestyle="",
        label="of these, real members in one process",
    )
    base = [run.seconds for run in measured if run.workers == 1]
    for k, real_run in enumerate(run for run in measured if run.workers > 1):
        label = "measured on Ray" if k == 0 else None
        axes.plot(
            real_run.workers, float(np.mean(base)) / real_run.seconds, marker="s", color="0.45", label=label, ls=""
        )
    axes.set(xscale="log", yscale="log", xlabel="workers", ylabel="times as fast as one", title=title)
    axes.set_xticks(workers, [str(count) for count in workers])
    axes.set_yticks(workers, [f"{count:,}" for count in workers])
    axes.set_ylim(0.7, 2 * max(one / point.seconds for point in projected))
    axes.minorticks_off()
    axes.legend(frameon=False)
    figure.savefig(path)
    plt.close(figure)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, project, print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="noise-2000x25")
    parser.add_argument("--regularization", default="0.004")
    parser.add_argument("--algorithm", choices=["subproblem", "leafset"], default="subproblem")
    parser.add_argument("--workers", type=int, nargs="*", default=[])
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--project", action="store_true")
    parser.add_argument("--most-recorded", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.001, help="seconds that a round of messages takes")
    parser.add_argument("--letter", type=float, default=0.0005, help="seconds that a message costs a member")
    parser.add_argument("--bandwidth", type=float, default=2e8, help="bytes a second that a member sends")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(argv)
    problem = problem_of(options.data, options.regularization)
    print(f"{machine()}\n\n{options.algorithm}, {options.data}, λ {options.regularization}\n")
    measured: list[Measured] = []
    for _ in range(options.repeat if options.workers else 0):
        measured.append(alone(problem, options.algorithm))
        measured += [on_ray(problem, options.algorithm, workers) for workers in options.workers]
    if len({run.objective for run in measured}) > 1:
        raise SystemExit("the objectives differ")
    if measured:
        print("\n".join([header(_HEAD, words=0), *(line(_row(run, measured)) for run in measured)]) + "\n")
    projected: list[Projected] = []
    if options.project:
        transport = Transport(options.latency, options.letter, options.bandwidth)
        projected = project(problem, options.algorithm, options.most_recorded, transport)
        one = projected[0].seconds
        rows = [
            [
                f"{point.workers:,}",
                "members" if point.recorded else "projected",
                f"{point.inflation:.3f}",
                f"{point.working:.2f}",
                "" if point.foretold is None else f"{point.foretold:.2f}",
                f"{point.waiting:.2f}",
                f"{one / point.seconds:.2f}",
            ]
            for point in projected
        ]
        head = ["workers", "by", "work inflation", "working, s", "foretold, s", "messages, s", "times as fast"]
        print("\n".join([header(head, words=2), *map(line, rows)]) + "\n")
    if options.plot:
        plot(projected, measured, options.plot, f"{options.data}, λ {options.regularization}")
    if options.json:
        results: Any = {"measured": list(map(asdict, measured)), "projected": list(map(asdict, projected))}
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0


_HEAD = [
    "workers",
    "seconds",
    "times as fast",
    "start-up, s",
    "evaluated",
    "work inflation",
    "busy, s",
    "idle, s",
    "steps",
    "messages",
    "MB sent",
]


def _row(run: Measured, measured: Sequence[Measured]) -> list[str]:
    """Return a row; what one process took is that of the run before."""
    before = [other for other in measured[: measured.index(run) + 1] if other.workers == 1][-1]
    return [
        str(run.workers),
        f"{run.seconds:.1f}",
        f"{before.seconds / run.seconds:.2f}",
        f"{run.start_up:.1f}",
        f"{run.expanded:,}",
        f"{run.expanded / before.expanded:.3f}",
        f"{run.busy:.1f}",
        f"{run.idle:.1f}",
        f"{run.steps:,}",
        f"{run.messages:,}",
        f"{run.megabytes:.1f}",
    ]


if __name__ == "__main__":
    raise SystemExit(guarded("scaling.py", main, sys.argv[1:]))
