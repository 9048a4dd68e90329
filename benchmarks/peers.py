"""dosdt beside GOSDT and STreeD: a Markdown table, each run in a process of its own.

The tables are CSV files in the folder that the environment variable DOSDT_DATA names: separated by semicolons,
features 0 or 1, the label last. The peers are optional and need environments of their own (GOSDT needs
scikit-learn < 1.6), so each is run with an interpreter that an option or a variable names:

    python -m venv gosdt-env && gosdt-env/bin/pip install gosdt 'scikit-learn<1.6'
    python -m venv streed-env && streed-env/bin/pip install pystreed
    DOSDT_DATA=folder python -m benchmarks.peers \\
        --gosdt-python gosdt-env/bin/python --streed-python streed-env/bin/python

Seconds are those of `fit` alone, from a table of booleans to a tree. Objectives are computed here, exactly, from
each tree's predictions and leaves. A ratio says how many times faster dosdt is than the faster of the peers that
finished; where none did, it is at least what the limit shows.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.common import guarded, machine
from benchmarks.comparison import Row, header, line, sentences, summary
from benchmarks.peer_runs import Case, Run, Solver, add_interpreter, find, run
from dosdt.errors import InputError
from dosdt.files import write_atomically

GRID = {
    "compas-binary": ("0.05", "0.02", "0.01", "0.005", "0.0025", "0.001"),
    "fico_binary": ("0.05", "0.02", "0.01", "0.005", "0.0025"),
    "tic-tac-toe": ("0.05", "0.03", "0.02", "0.01", "0.005"),
    "car-evaluation": ("0.05", "0.02", "0.01", "0.005"),
    "monk1-train": ("0.05", "0.025", "0.01", "0.005"),
    "monk2-train": ("0.05", "0.02", "0.01", "0.005"),
    "monk3-train": ("0.05", "0.02", "0.01", "0.005"),
    "balance-scale": ("0.05", "0.02", "0.01", "0.005"),
}
OTHERS = ("0.05", "0.02", "0.01", "0.005")
PEERS = ("GOSDT", "STreeD")


def fastest(solver: Solver, case: Case, options: argparse.Namespace) -> Run:
    """Return the fastest of several runs; one that was cut short or failed is not repeated."""
    best = run(solver, case, options.time_limit, options.memory_limit)
    for _ in range(options.repeat - 1):
        if not best.proved:
            break
        again = run(solver, case, options.time_limit, options.memory_limit)
        best = min(best, again, key=lambda r: (not r.proved, r.seconds))
    return best


def cases(options: argparse.Namespace) -> list[Case]:
    """Return what to run, or say which table is missing."""
    folder = os.environ.get("DOSDT_DATA")
    if not folder:
        raise InputError("DOSDT_DATA is not set; set it to the folder with the binarised tables")
    answer = []
    for data in options.data or GRID:
        path = Path(folder) / f"{data}.csv"
        if not path.is_file():
            raise InputError(f"there is no file {str(path)!r}; correct DOSDT_DATA or name other data")
        answer += [Case(data, path, text) for text in options.regularization or GRID.get(data, OTHERS)]
    return answer


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Compare dosdt with its peers; see the top of this file.")
    parser.add_argument("data", nargs="*", help="stems of CSV files in DOSDT_DATA; default: those of the grid")
    parser.add_argument("--regularization", action="append", metavar="λ", help="penalty per leaf; repeatable")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="per run; default: 60")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each, the fastest counts")
    parser.add_argument("--memory-limit", type=float, default=10.0, metavar="GB", help="per run; default: 10")
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="MINUTES", help="start no case then")
    for peer in PEERS:
        add_interpreter(parser, peer, peer.lower())
    parser.add_argument("--output", metavar="FILE", help="write the Markdown there as well")
    parser.add_argument("--json", metavar="FILE", help="write all numbers there")
    return parser.parse_args(arguments)


def compare(options: argparse.Namespace) -> None:
    """Print the table row by row, as it is made, then the summary."""
    todo = cases(options)
    found = {"dosdt": find("dosdt", sys.executable, "")}
    found |= {p: find(p, getattr(options, f"{p.lower()}_python"), f"--{p.lower()}-python") for p in PEERS}
    solvers = [solver for solver in found.values() if isinstance(solver, Solver)]
    if isinstance(found["dosdt"], str):
        raise InputError(f"dosdt: {found['dosdt']}")
    text: list[str] = []

    def say(part: str) -> None:
        text.append(part)
        print(part, flush=True)

    known = [f"{name} {s.version if isinstance(s, Solver) else s}" for name, s in found.items()]
    where = machine()
    limits = f"limits {options.time_limit:g} s and {options.memory_limit:g} GB, best of {options.repeat}"
    say(f"{'; '.join(known)}. {where}; {limits}.\n")
    say(header([solver.name for solver in solvers]))
    rows = []
    end = time.monotonic() + 60 * options.stop_after
    for case in todo:
        if time.monotonic() >= end:
            break
        rows.append(Row(case, {solver.name: fastest(solver, case, options) for solver in solvers}))
        say(line(rows[-1]))
    result = summary(rows, [solver.name for solver in solvers])
    left = f"\n- stopped after {options.stop_after:g} minutes: {len(todo) - len(rows)} cases are not in this table"
    say("\n" + sentences(result) + left * (len(rows) < len(todo)))
    if options.output:
        write_atomically(options.output, "\n".join(text) + "\n")
    if options.json:
        records = [
            {"data": case.data, "regularization": case.regularization, "solver": name, **asdict(run)}
            for case, runs in rows
            for name, run in runs.items()
        ]
        document = {"solvers": known, "machine": where, "time_limit": options.time_limit, "runs": records}
        write_atomically(options.json, json.dumps(document | {"summary": result}, default=str, indent=1))


def main(arguments: list[str]) -> int:
    """Compare; say how it went."""
    compare(parse(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(guarded("peers", main, sys.argv[1:]))
