"""What every bound and both caches are worth, for both searches: the work with all of them, and without each.

Rows are those of the paper's tables: total time, slow-down, time to optimum, trees evaluated, trees to optimum,
memory. For the subproblem search a tree is an expanded subset. If proved objectives differ, the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from benchmarks import data, methods, results
from benchmarks.common import guarded, number
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import seconds
from dosdt.errors import InputError
from dosdt.solver import SWITCHES

PAPER = {
    "nothing": ("14.70", "-", "1.01", "232,402", "16,001", "80"),
    "node_support": ("17.11", "1.16x", "1.09", "279,763", "18,880", "80"),
    "incremental_accuracy": ("30.16", "2.05x", "1.13", "546,402", "21,686", "80"),
    "accurate_support": ("31.83", "2.17x", "1.23", "475,691", "19,676", "90"),
    "lookahead": ("31,721", "2,158x", "187", "284,651,888", "3,078,274", "10,000"),
    "equivalent_points": ("> 12,475", "> 848x", "-", "> 77,000,000", "-", "> 64,000"),
}
"""What the paper prints for COMPAS at λ = 0.005, cold start, curiosity."""
TITLES = ["without", "s", "slow-down", "s to optimum", "trees", "times as many", "trees to optimum", "MB", "status"]
"""Megabytes are those that the search added to what the process took before."""
MEASURES = ["s", "slow-down", "s to optimum", "trees", "trees to optimum", "MB"]


def rows(runs: dict[str, Record]) -> list[list[str]]:
    """Return the table of one study; the first run is the one with everything."""
    complete = next(iter(runs.values()))
    optimum = next((run["objective"] for run in runs.values() if run.get("proved")), None)
    answer = []
    for name, run in runs.items():
        if "evaluated" not in run:
            answer.append([name, *["-"] * (len(TITLES) - 2), run["status"]])
            continue
        found = run["objective"] == optimum
        answer.append(
            [
                name,
                seconds(run),
                ratio(run, complete, "seconds"),
                number(run["seconds_to_best"] if found else None),
                ("" if run["proved"] else "> ") + number(run["evaluated"]),
                ratio(run, complete, "evaluated"),
                number(run["evaluated_to_best"] if found else None),
                number(round((run["memory"] - run["memory_before"]) / 1e6, 1)),
                run["status"],
            ]
        )
    return answer


def ratio(run: Record, complete: Record, key: str) -> str:
    """Return how many times as much a run took; nothing can be said if the complete search did not end."""
    if run is complete or not complete.get("proved"):
        return "-"
    return f"{'' if run['proved'] else '≥ '}{number(run[key] / max(complete[key], 1e-9))}x"


def differing(records: Sequence[Record]) -> bool:
    """Return whether two runs proved different objectives for the same data and λ."""
    proved: dict[tuple[str, str], set[str]] = {}
    for record in records:
        if record.get("proved"):
            proved.setdefault((record["data"], record["regularization"]), set()).add(record["objective"])
    return any(len(objectives) > 1 for objectives in proved.values())


def finish(report: results.Report, records: list[Record]) -> int:
    """Say whether all agree, and write; return the exit code."""
    apart = differing(records)
    report.say("Proved objectives differ." if apart else "Proved objectives are equal.")
    return report.finish(records) or (1 if apart else 0)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__)
    parser.add_argument("data", nargs="*", metavar="NAME[=λ]", help="data sets, each with its λ if need be")
    parser.add_argument("--regularization", default="0.005", metavar="λ", help="for the others; default: 0.005")
    parser.add_argument("--algorithm", choices=list(SWITCHES), help="only this one")
    parser.add_argument("--without", action="append", metavar="BOUND", help="only this one; repeatable")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print a table for every data set and search."""
    options = parse(arguments)
    algorithms = [options.algorithm] if options.algorithm else ["leafset", "subproblem"]
    known = [name for algorithm in algorithms for name in SWITCHES[algorithm]]
    for name in options.without or ():
        if name not in known:
            raise InputError(f"--without must be one of {', '.join(known)}; got {name!r}")
    asked = data.available(options.data)[0] if options.data else data.available()[0][:1]
    report = results.Report("ablation", "What every bound and both caches are worth", options)
    records: list[Record] = []
    for text in asked:
        name, _, penalty = text.partition("=")
        regularization = penalty or options.regularization
        for algorithm in algorithms:
            left_out = [n for n in SWITCHES[algorithm] if n in (options.without or SWITCHES[algorithm])]
            case = {"data": name, "regularization": regularization, "algorithm": algorithm}
            jobs = [Job(methods.dosdt, case)]
            jobs += [Job(methods.dosdt, {**case, "without": [bound]}) for bound in left_out]
            runs = list(run_all(jobs, report.limits, at_once=options.jobs))
            records += runs
            report.say(f"## {data.title(name)}, λ = {regularization}, {algorithm} search")
            report.table(TITLES, rows(dict(zip(["nothing", *left_out], runs, strict=True))), words=1)
            if name == "compas-binary" and regularization == "0.005" and algorithm == "leafset":
                report.say("The paper's own figures for this:")
                report.table(["without", *MEASURES], [[name, *cells] for name, cells in PAPER.items()], words=1)
    return finish(report, records)


if __name__ == "__main__":
    sys.exit(guarded("ablation", main, sys.argv[1:]))
