"""How the search grows with the number of features: the same five numbers cut by more and more thresholds.

The rows are generated: five numbers, and a label that follows from four of them except for some noise. Each number
is cut at a fifth of the thresholds, into parts of nearly equal size. λ is 0.01 and trees have four levels at most,
unless options say otherwise. Every case has a process of its own; seconds are those of the search.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

from benchmarks.common import guarded, header, line, number, print_table, run_alone
from dosdt.errors import InputError

TITLES = ["thresholds", "columns", "distinct rows", "status", "objective", "gap, %", "expansions", "seconds"]
TITLES += ["µs each", "seconds to best"]
NUMBERS = 5
NOISE = 0.1
SEED = 7


class Case(NamedTuple):
    """So many thresholds for all numbers together, and how to search."""

    thresholds: int
    rows: int
    depth: int
    regularization: str
    seconds: float


class Outcome(NamedTuple):
    """What a search came to; `gap` is in percent of the objective."""

    columns: int
    distinct: int
    status: str
    objective: str
    gap: float
    expansions: int
    seconds: float
    to_best: float


def generate(n_rows: int) -> tuple[Any, Any]:
    """Return numbers between 0 and 1, shape (n_rows, 5), and labels 0 and 1."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    X = rng.random((n_rows, NUMBERS))
    # No tree of four levels says this exactly, so every further threshold may help.
    y = np.where(X[:, 0] < 0.45, X[:, 1] + X[:, 2] > 1.0, X[:, 3] > 0.2 + 0.5 * X[:, 1])
    return X, (y ^ (rng.random(n_rows) < NOISE)).astype(int)


def solve_case(case: Case) -> Outcome:
    """Solve one case; called in a fresh process."""
    from dosdt.binarizer import Binarizer
    from dosdt.contract import Constraints
    from dosdt.limits import Limits
    from dosdt.problem import Problem
    from dosdt.solver import solve

    X, y = generate(case.rows)
    features = Binarizer(thresholds="quantile", max_thresholds=case.thresholds // NUMBERS).fit_transform(X)
    problem = Problem.from_arrays(features, y, case.regularization)
    answer = solve(problem, constraints=Constraints(max_depth=case.depth), limits=Limits(seconds=case.seconds))
    return Outcome(
        problem.n_columns,
        problem.n_rows,
        answer.status.value,
        str(answer.objective),
        100 * float(answer.gap),
        answer.stats["expanded"],
        answer.stats["search_seconds"],
        answer.stats["seconds_to_best"],
    )


def row(case: Case) -> str:
    """Return one row of the table."""
    outcome = run_alone(solve_case, case)
    if outcome is None:
        return line([str(case.thresholds), "-", "-", "killed", *["-"] * (len(TITLES) - 4)])
    each = 1e6 * outcome.seconds / outcome.expansions if outcome.expansions else None
    counts = [number(outcome.columns), number(outcome.distinct), outcome.status, outcome.objective]
    measures = [outcome.gap, outcome.expansions, outcome.seconds, each, outcome.to_best]
    return line([str(case.thresholds), *counts, *map(number, measures)])


def cases(options: argparse.Namespace) -> list[Case]:
    """Return what to run."""
    for thresholds in options.thresholds:
        if thresholds < NUMBERS or thresholds % NUMBERS:
            raise InputError(
                f"--thresholds must be multiples of {NUMBERS}, a fifth for each number; got {thresholds}"
            )
    shared = (options.rows, options.max_depth, options.regularization, options.time_limit)
    return [Case(thresholds, *shared) for thresholds in options.thresholds]


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Time the search by thresholds; see the top of this file.")
    parser.add_argument("--thresholds", type=int, nargs="+", default=[25, 50, 100, 200], metavar="T", help="in total")
    parser.add_argument("--rows", type=int, default=2000, metavar="N", help="default: 2000")
    parser.add_argument("--max-depth", type=int, default=4, metavar="D", help="default: 4")
    parser.add_argument("--regularization", default="0.01", metavar="λ", help="penalty per leaf; default: 0.01")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="per case; default: 60")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print the table row by row, as it is made."""
    print_table(header(TITLES, words=0), map(row, cases(parse(arguments))))
    return 0


if __name__ == "__main__":
    sys.exit(guarded("width", main, sys.argv[1:]))
