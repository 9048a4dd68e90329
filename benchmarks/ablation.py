"""What every bound of the subproblem search is worth: the work with all of them, and without each in turn.

The data sets are the tables in the folder that DOSDT_DATA names, or else those that are generated or come with
scikit-learn. Work is counted in expansions, which do not depend on the machine; a ratio says how many times as many
there are without a bound, and "≥" that a limit ended the search before it was done. The seconds of the same runs come
in a second table. Every run has a process of its own. If proved objectives differ, the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from common import Table, data_folder, guarded, header, line, print_table, run_alone
from comparison import number

from dosdt.errors import InputError
from dosdt.solver import SWITCHES


class Case(NamedTuple):
    """A table, λ, and the bounds to search with."""

    table: Table
    regularization: str
    bounds: tuple[str, ...]
    seconds: float


class Outcome(NamedTuple):
    """What a run came to; one that the system ended has no counts."""

    proved: bool
    objective: Fraction | None
    expansions: int
    seconds: float


KILLED = Outcome(False, None, 0, 0.0)


class Study(NamedTuple):
    """The runs on one table: with all bounds, and without each of them, by name."""

    table: Table
    regularization: str
    complete: Outcome
    without: dict[str, Outcome]

    @property
    def agrees(self) -> bool:
        """Whether all proved objectives are the same."""
        runs = (self.complete, *self.without.values())
        return len({run.objective for run in runs if run.proved}) <= 1

    @property
    def counts(self) -> str:
        """A row of expansions: with all bounds, and how many times as many without each."""
        cells = [self.ratio(run) for run in self.without.values()]
        return line([*self._lead, self._expansions(self.complete), *cells])

    @property
    def seconds(self) -> str:
        """A row of seconds."""
        runs = (self.complete, *self.without.values())
        cells = [f"{'' if run.proved else '> '}{number(run.seconds)}" if run.seconds else "killed" for run in runs]
        return line([*self._lead, *cells])

    @property
    def _lead(self) -> list[str]:
        return [self.table.name, self.regularization]

    def ratio(self, run: Outcome) -> str:
        """Return the ratio, or only the count if there is nothing to compare it with."""
        if not (self.complete.proved and self.complete.expansions and run.expansions):
            return self._expansions(run)
        return f"{'' if run.proved else '≥ '}{run.expansions / self.complete.expansions:.2f}x"

    @staticmethod
    def _expansions(run: Outcome) -> str:
        return f"{'' if run.proved else '> '}{number(run.expansions)}" if run is not KILLED else "killed"


def solve_case(case: Case) -> Outcome:
    """Solve one case; called in a fresh process."""
    from dosdt.limits import Limits
    from dosdt.solver import solve

    answer = solve(case.table.problem(case.regularization), bounds=case.bounds, limits=Limits(seconds=case.seconds))
    proved = answer.status.value == "optimal"
    return Outcome(proved, answer.objective, answer.stats["expanded"], answer.stats["search_seconds"])


def study(table: Table, regularization: str, names: list[str], everything: tuple[str, ...], seconds: float) -> Study:
    """Run one table with all bounds and without each of those named."""

    def run(*left_out: str) -> Outcome:
        bounds = tuple(name for name in everything if name not in left_out)
        return run_alone(solve_case, Case(table, regularization, bounds, seconds)) or KILLED

    return Study(table, regularization, run(), {name: run(name) for name in names})


def tables(options: argparse.Namespace) -> list[tuple[Table, str]]:
    """Return the tables, each with its λ: those asked for as NAME or NAME=λ, or all there are."""
    folder = data_folder()
    named = [text.partition("=")[::2] for text in options.data or all_names(folder)]
    return [(Table(name, folder), penalty or options.regularization) for name, penalty in named]


def all_names(folder: str | None) -> list[str]:
    """Return the names of all tables that need no download."""
    if folder is not None:
        names = sorted(path.stem for path in Path(folder).glob("*.csv"))
        if not names:
            raise InputError(f"there is no .csv file in {folder!r}; correct DOSDT_DATA or unset it")
        return names
    from dosdt.datasets import available

    return [info.name for info in available() if info.source != "openml"]


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Count the work without each bound; see the top of this file.")
    parser.add_argument("data", nargs="*", metavar="NAME[=λ]", help="data sets, each with its λ if need be")
    parser.add_argument("--regularization", default="0.01", metavar="λ", help="for the others; default: 0.01")
    parser.add_argument("--without", action="append", metavar="BOUND", help="only this one; repeatable")
    parser.add_argument("--time-limit", type=float, default=30.0, metavar="SECONDS", help="per run; default: 30")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print the counts row by row, as they are made, then the seconds."""
    options = parse(arguments)
    everything = SWITCHES["subproblem"]
    names = options.without or list(everything)
    for name in names:
        if name not in everything:
            raise InputError(f"--without must be one of {', '.join(everything)}; got {name!r}")
    studies: list[Study] = []

    def rows() -> Iterator[str]:
        for table, regularization in tables(options):
            studies.append(study(table, regularization, names, everything, options.time_limit))
            yield studies[-1].counts

    without = [f"without {name}" for name in names]
    print_table(header(["data", "λ", "expansions", *without], words=2), rows())
    print("", header(["data", "λ", "seconds", *without], words=2), *(each.seconds for each in studies), sep="\n")
    apart = [f"{each.table.name} at {each.regularization}" for each in studies if not each.agrees]
    print(f"\n- {'proved objectives differ: ' + ', '.join(apart) if apart else 'proved objectives are equal'}")
    return 1 if apart else 0


if __name__ == "__main__":
    sys.exit(guarded("ablation", main, sys.argv[1:]))
