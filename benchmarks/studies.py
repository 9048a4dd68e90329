"""One search in several variants on the same data, side by side: what `ablation` and `policies` print.

Columns are those of the paper's tables: total time, slow-down, time to optimum, trees evaluated, trees to optimum,
memory. For the subproblem search a tree is an expanded subset.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import data, results
from benchmarks.common import number
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import seconds

TITLES = ["s", "slow-down", "s to optimum", "trees", "times as many", "trees to optimum", "MB", "status"]
"""Megabytes are those that the search added to what the process took before."""
IN_THE_PAPER = ["s", "slow-down", "s to optimum", "trees", "trees to optimum", "MB"]
PAPERS_CASE = {"data": "compas-binary", "regularization": "0.005"}


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that studies share."""
    answer = results.parser(description, data="penalties")
    answer.add_argument("--regularization", default="0.005", metavar="λ", help="for the others; default: 0.005")
    return answer


def cases(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the data sets asked for, each with λ, or the first there is."""
    names = data.available(options.data)[0]
    pairs = [data.with_penalty(text, options.regularization) for text in (names if options.data else names[:1])]
    return [{"data": name, "regularization": regularization} for name, regularization in pairs]


def study(
    report: results.Report, title: str, what: str, jobs: Mapping[str, Job], paper: Mapping[str, Sequence[str]]
) -> list[Record]:
    """Run the variants, add their table to the report, and the paper's below it if it has one of this case."""
    runs = list(run_all(jobs.values(), report.limits, at_once=report.at_once))
    report.say(f"## {title}")
    report.table([what, *TITLES], rows(dict(zip(jobs, runs, strict=True))), words=1)
    if paper and PAPERS_CASE.items() <= next(iter(jobs.values())).case.items():
        report.say("The paper's own figures for this:")
        report.table([what, *IN_THE_PAPER], [[name, *cells] for name, cells in paper.items()], words=1)
    return runs


def rows(runs: dict[str, Record]) -> list[list[str]]:
    """Return the table of one study; the first run is the one that the others are compared with."""
    complete = next(iter(runs.values()))
    optimum = next((run["objective"] for run in runs.values() if run.get("proved")), None)
    answer = []
    for name, run in runs.items():
        if "evaluated" not in run:
            answer.append([name, *["-"] * (len(TITLES) - 1), run["status"]])
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
