"""The paper's search on real data: a Markdown table, each case in a process of its own.

The data sets are the tables in the folder that the environment variable DOSDT_DATA names; without it they are
the built-in ones. The last column is the label. Every case is run twice, from a single leaf (cold) and from CART's
tree (warm). Seconds are those of the search alone; all else does not depend on the machine unless a limit strikes.
"""

from __future__ import annotations

import argparse
import sys
from typing import NamedTuple

from benchmarks.common import Table, data_folder, guarded, header, line, print_table, run_alone

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
TITLES = ["data", "λ", "status", "objective", "leaves", "evaluated, cold / warm", "seconds, cold / warm"]


class Case(NamedTuple):
    """One run on one table."""

    table: Table
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
    """Solve one case; called in a fresh process."""
    from dosdt.limits import Limits
    from dosdt.solver import solve

    answer = solve(
        case.table.problem(case.regularization),
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


def row(case: Case) -> str:
    """Return one row of the table: the case from a cold and from a warm start."""
    killed = Outcome("killed", "-", "-", "-", "-")
    cold, warm = (run_alone(solve_case, case._replace(warm_start=warm)) or killed for warm in (False, True))
    same = [a if a == b else f"{a} / {b}" for a, b in zip(cold[:3], warm[:3], strict=True)]
    counts = [f"{a} / {b}" for a, b in zip(cold[3:], warm[3:], strict=True)]
    return line([case.table.name, case.regularization, *same, *counts])


def cases(options: argparse.Namespace, folder: str | None) -> list[Case]:
    """Return what to run: the data sets and penalties that were asked for, or a choice of our own."""
    usual = BUILT_IN if folder is None else FOLDER
    return [
        Case(Table(data, folder), regularization, False, options.policy, options.time_limit)
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
    print_table(header(TITLES, words=4), map(row, cases(parse(arguments), data_folder())))
    return 0


if __name__ == "__main__":
    sys.exit(guarded("leafset", main, sys.argv[1:]))
