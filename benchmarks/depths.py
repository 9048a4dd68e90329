"""Trees of a fixed depth with the fewest errors: dosdt, STreeD and DL8.5 beside BinOCT, which is made for that.

No penalty, only a limit on depth. BinOCT's trees are complete; the others' may be smaller. As in `peers.py`, STreeD
and DL8.5 are optional and run with interpreters of their own. If proved errors differ, the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import data, methods, results
from benchmarks.common import data_folder, guarded, number
from benchmarks.harness import Job, Record, run_all
from benchmarks.peer_runs import Case, Solver, add_interpreter, find, run
from dosdt.errors import InputError

PEERS = {"STreeD": "streed", "DL8.5": "dl85"}
DEPTHS = (2, 3, 4)


def solvers(options: argparse.Namespace, report: results.Report) -> list[Solver]:
    """Return the solvers that work here, and say which do not."""
    found: dict[str, Solver | str] = {"dosdt": find("dosdt", sys.executable, "")}
    found |= {name: find(name, getattr(options, f"{o}_python"), f"--{o}-python") for name, o in PEERS.items()}
    report.say("; ".join(f"{name} {s.version if isinstance(s, Solver) else s}" for name, s in found.items()) + ".")
    return [solver for solver in found.values() if isinstance(solver, Solver)]


def record(solver: Solver, case: Case, report: results.Report) -> Record:
    """Return what a solver did, in the words of the other experiments."""
    done = asdict(run(solver, case, report.limits.seconds, report.limits.gigabytes))
    errors = done.pop("objective")  # without a penalty, the share of errors
    return {"method": solver.name, "data": case.data, "max_depth": case.max_depth, "share": errors, **done}


def cell(record: Record, key: str) -> str:
    """Return errors in per cent, or seconds; "≤" and ">" where a limit struck."""
    value = record.get(key)
    if value is None:
        return record["status"] if key == "share" else "-"
    if key == "share":
        return f"{'' if record['proved'] else '≤ '}{100 * float(value):.2f}"
    return f"{'' if record['proved'] else '> '}{number(value)}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__, data="names")
    parser.add_argument("--depths", type=int, nargs="+", default=list(DEPTHS), metavar="K")
    for name, option in PEERS.items():
        add_interpreter(parser, name, option)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print a table."""
    options = parse(arguments)
    folder = data_folder()
    if folder is None:
        raise InputError("DOSDT_DATA is not set; set it to the folder with the binarised tables")
    names = data.available(options.data)[0]
    report = results.Report("depths", "Trees of a fixed depth with the fewest errors", options)
    others = solvers(options, report)
    records: list[Record] = []
    rows, apart = [], []
    for name in names:
        for depth in options.depths:
            case = Case(name, Path(folder) / f"{name}.csv", "0", depth)
            found: list[dict[str, Any]] = [record(solver, case, report) for solver in others]
            job = Job(methods.binoct, {"data": name, "max_depth": depth})
            program = next(run_all([job], report.limits))
            if "errors" in program:
                program["share"] = program["errors"] / program["rows"]
            found.append({**program, "method": "BinOCT"})
            proved = {round(float(one["share"]), 9) for one in found if one.get("proved")}
            apart += [f"{name} at depth {depth}"] if len(proved) > 1 else []
            rows.append(
                [data.title(name), str(depth), *(cell(one, key) for key in ("share", "seconds") for one in found)]
            )
            records += [{**one, "share": str(one.get("share"))} for one in found]
    methods_here = [*(solver.name for solver in others), "BinOCT"]
    titles = [*(f"{name}, errors %" for name in methods_here), *(f"{name}, s" for name in methods_here)]
    report.table(["data", "depth", *titles], rows, words=1)
    report.say(f"Proved errors differ: {', '.join(apart)}." if apart else "Proved errors are equal.")
    return report.finish(records) or (1 if apart else 0)


if __name__ == "__main__":
    sys.exit(guarded("depths", main, sys.argv[1:]))
