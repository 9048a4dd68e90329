"""The paper's search on real data: a Markdown table, each case in a process of its own.

The data sets are the tables in the folder that the environment variable DOSDT_DATA names; without it they are
the built-in ones. The last column is the label. Every case is run twice, from a single leaf (cold) and from CART's
tree (warm). Seconds are those of the search alone; all else does not depend on the machine unless a limit strikes.
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from dosdt.errors import InputError

FOLDER = {
    "compas-binary": ("0.01", "0.005", "0.001"),
    "fico_binary": ("0.02", "0.01"),
    "car-evaluation": ("0.05", "0.02"),
    "tic-tac-toe": ("0.05", "0.03", "0.02"),
    "monk1-train": ("0.025", "0.01"),
    "monk2-train": ("0.03",),
    "monk3-train": ("0.02",),
}
BUILT_IN = {
    "monk1": ("0.02", "0.01"),
    "monk3": ("0.02", "0.01"),
    "iris": ("0.02", "0.01"),
    "wine": ("0.02", "0.01"),
    "breast-cancer": ("0.02",),
    "tic-tac-toe": ("0.05", "0.03"),
    "balance-scale": ("0.05",),
}
OTHERS = ("0.05",)
HEADER = "| data | λ | status | objective | leaves | evaluated, cold / warm | seconds, cold / warm |"
RULE = "|---|---|---|---|---:|---:|---:|"


class Case(NamedTuple):
    """One run: a data set by name, and the folder with its file unless it is built in."""

    data: str
    folder: str | None
    regularization: str
    warm_start: bool
    policy: str
    seconds: float


class Outcome(NamedTuple):
    """What a run came to, as it is printed."""

    status: str
    objective: str
    leaves: str
    evaluated: str
    seconds: str


def solve_case(case: Case) -> Outcome:
    """Solve one case; called in a fresh process, so that no case helps or slows the next."""
    from dosdt.binarizer import Binarizer
    from dosdt.limits import Limits
    from dosdt.problem import Problem
    from dosdt.solve import solve

    X, y = load(case)
    features = Binarizer(thresholds="reference").fit(X, y).transform(X)
    answer = solve(
        Problem.from_arrays(features, y, case.regularization),
        algorithm="leafset",
        policy=case.policy,
        warm_start=case.warm_start,
        limits=Limits(seconds=case.seconds),
    )
    objective = str(answer.objective)
    if answer.lower_bound < answer.objective:
        objective += f" (at least {answer.lower_bound})"
    return Outcome(
        answer.status.value,
        objective,
        str(answer.sketch.n_leaves),
        f"{answer.stats['evaluated']:,}",
        f"{answer.stats['search_seconds']:.2f}",
    )


def load(case: Case) -> tuple[Any, Any]:
    """Return features and labels."""
    if case.folder is None:
        from dosdt.datasets import load as load_built_in

        data = load_built_in(case.data)
        return data.X, data.y
    from dosdt.tables import read_table, split_target

    return split_target(read_table(Path(case.folder) / f"{case.data}.csv"))


def run_alone(case: Case) -> Outcome:
    """Solve a case in its own process; if the system ends that process, say so."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
        try:
            return process.submit(solve_case, case).result()
        except BrokenProcessPool:
            return Outcome("killed", "-", "-", "-", "-")


def row(case: Case) -> str:
    """Return one row of the table: the case from a cold and from a warm start."""
    cold, warm = (run_alone(case._replace(warm_start=warm)) for warm in (False, True))
    same = [a if a == b else f"{a} / {b}" for a, b in zip(cold[:3], warm[:3], strict=True)]
    counts = [f"{a} / {b}" for a, b in zip(cold[3:], warm[3:], strict=True)]
    return f"| {' | '.join([case.data, case.regularization, *same, *counts])} |"


def cases(options: argparse.Namespace, folder: str | None) -> list[Case]:
    """Return what to run: the data sets and penalties that were asked for, or a choice of our own."""
    usual = BUILT_IN if folder is None else FOLDER
    return [
        Case(data, folder, regularization, False, options.policy, options.time_limit)
        for data in options.data or usual
        for regularization in options.regularization or usual.get(data, OTHERS)
    ]


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Time the leaf-set search; see the top of this file.")
    parser.add_argument("data", nargs="*", help="stems of CSV files in DOSDT_DATA, or built-in names without it")
    parser.add_argument("--regularization", action="append", metavar="λ", help="penalty per leaf; repeatable")
    parser.add_argument("--policy", default="curiosity", metavar="NAME", help="default: curiosity")
    parser.add_argument("--time-limit", type=float, default=30.0, metavar="SECONDS", help="per case; default: 30")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print the table row by row, as it is made."""
    options = parse(arguments)
    try:
        for number, case in enumerate(cases(options, os.environ.get("DOSDT_DATA") or None)):
            line = row(case)
            if not number:  # what is wrong with the first case is said without a table
                print(HEADER, RULE, sep="\n")
            print(line, flush=True)
    except InputError as error:
        print(f"leafset: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
