"""Seeded runs of teams on a real Ray, of which parts are killed at random; every one must prove the right objective.

    python tests/soak.py --runs 200 --seed 1

Runs take turns between the two searches. A killer sends SIGKILL to workers, to shards of the TreeCache and now and
then to the scheduler or a whole node, at moments that the seed decides. Prints a line for each run, and the count at
the end.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import Any

import ray
import ray_team

from dosdt.problem import Problem
from dosdt.solver import solve
from dosdt.workers.crew import RayCrew

SIZES = {"subproblem": (1000, 16, "0.0025", 0.15), "leafset": (500, 14, "0.005", 0.2)}
ALGORITHMS = tuple(SIZES)
INSTANCES = 5


@cache
def instance(algorithm: str, seed: int) -> tuple[Problem, int]:
    """Return a problem that takes a team a second or more, and what its optimal tree costs, by one process."""
    problem = ray_team.noisy(seed, *SIZES[algorithm])
    answer = solve(problem)
    assert answer.status.value == "optimal"
    return problem, int(answer.objective * problem.b * problem.total_weight / problem.cost_unit)


class Killer:
    """Kills what it is told to by a seed, while a team works."""

    def __init__(self, seed: int, cluster: Any, nodes: list[Any]) -> None:
        self._random, self._cluster, self._nodes = random.Random(seed), cluster, nodes
        self._home = ""
        self.kills: list[str] = []

    def __call__(self, crew: RayCrew) -> None:
        ray_team.at_work(crew)
        self._home = ray.get_runtime_context().get_node_id()
        for _ in range(self._random.randint(1, 3)):
            time.sleep(self._random.uniform(0.0, 1.0))
            with suppress(Exception):  # the team may have finished, and its scheduler be gone
                self._kill_one(crew)

    def _kill_one(self, crew: RayCrew) -> None:
        kind = self._random.choices(["worker", "shard", "node", "scheduler"], [6, 3, 1, 1])[0]
        # Whoever kills the node that the driver is on needs a checkpoint.
        others = [node for node in self._nodes if node.node_id != self._home]
        if kind == "node" and others:
            self.kills.append(kind)
            self._nodes.remove(others[0])
            self._cluster.remove_node(others[0], allow_graceful=False)
            self._nodes.append(ray_team.add_node(self._cluster))
            return
        kind = "worker" if kind == "node" else kind
        if pids := crew.processes()[f"{kind}s"]:
            self.kills.append(kind)
            ray_team.kill(self._random.choice(pids))


def soak(runs: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Return what was killed how often, and what went wrong."""
    kills: Counter[str] = Counter()
    failures: list[str] = []
    with ray_team.cluster(1) as cluster:
        nodes = [node for node in cluster.list_all_nodes() if not node.is_head()]
        for number in range(runs):
            algorithm = ALGORITHMS[number % 2]
            problem, cost = instance(algorithm, (seed + number) % INSTANCES)
            killer = Killer(seed + number, cluster, nodes)
            start = time.monotonic()
            said = "right"
            try:
                ran = ray_team.run(problem, algorithm, address=cluster.address, disturb=killer)
                ray_team.check_optimal(ran, cost)
            except Exception as error:
                said = f"FAILED: {type(error).__name__} {error}"
                failures.append(f"seed {seed + number}: {said}")
            kills.update(killer.kills)
            what = ", ".join(killer.kills) or "nobody"
            print(f"{seed + number} {algorithm}: killed {what}; {said}, {time.monotonic() - start:.1f} s", flush=True)
    return kills, failures


def main(argv: Sequence[str] | None = None) -> int:
    """Run and count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    kills, failures = soak(options.runs, options.seed)
    counts = ", ".join(f"{count} {kind}s" for kind, count in sorted(kills.items())) or "nobody"
    print(f"{options.runs} runs, killed {counts}, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
