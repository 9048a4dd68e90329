"""How time grows with rows and with features: COMPAS, as in the paper.

Rows: all rows repeated. Features: those of the optimal tree, then the others one by one, so that the optimum is
always the same. Time is split into reducing the rows to distinct ones, the way to the optimum, and the proof.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from benchmarks import data, methods, results
from benchmarks.common import guarded, number
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import seconds

ALGORITHMS = ("leafset", "subproblem")
LOOKS = {"leafset": ("#111111", "o"), "subproblem": ("#e08214", "^")}
TITLES = [
    "search",
    "rows",
    "features",
    "status",
    "reduce, s",
    "search, s",
    "to optimum, s",
    "share",
    "trees",
    "to optimum",
]


def row(run: Record) -> list[str]:
    """Return one row of a table."""
    cells = [run["algorithm"], number(run.get("rows")), str(run["n_features"]), run["status"]]
    if "evaluated" not in run:
        return [*cells, *["-"] * 6]
    share = f"{100 * run['seconds_to_best'] / run['seconds']:.0f} %"
    return [
        *cells,
        number(run["reduce_seconds"]),
        seconds(run),
        number(run["seconds_to_best"]),
        share,
        number(run["evaluated"]),
        number(run["evaluated_to_best"]),
    ]


def draw(by_rows: list[Record], by_features: list[Record]) -> Any:
    """Draw seconds against rows and features; dashes are the time to the optimum."""
    from benchmarks.drawing import legend_above, panels

    figure, axes = panels(2, height=3.2)
    for one, records, key, label in (
        (axes[0], by_rows, "rows", "rows"),
        (axes[1], by_features, "n_features", "features"),
    ):
        for algorithm in ALGORITHMS:
            color, marker = LOOKS[algorithm]
            runs = [run for run in records if run["algorithm"] == algorithm and "evaluated" in run]
            across = [run[key] for run in runs]
            total = [run["reduce_seconds"] + run["seconds"] for run in runs]
            best = [run["reduce_seconds"] + run["seconds_to_best"] for run in runs]
            one.plot(across, total, color=color, marker=marker, label=f"{algorithm}, proof")
            one.plot(
                across, best, color=color, marker=marker, mfc="white", linestyle="--", label=f"{algorithm}, optimum"
            )
        one.set(xlabel=label, ylabel="seconds", yscale="log")
    axes[0].set_xscale("log")
    legend_above(figure, axes[:1])
    return figure


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__)
    parser.add_argument("data", nargs="?", help="stem of a CSV file in DOSDT_DATA; default: the first there is")
    parser.add_argument("--regularization", default="0.005", metavar="λ", help="default: 0.005")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 2, 5, 10, 20, 50, 100], metavar="N")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print, draw."""
    options = parse(arguments)
    name = data.available([options.data] if options.data else None)[0][0]
    report = results.Report("scalability", f"Scalability in rows and features, {data.title(name)}", options)
    case = {"data": name, "regularization": options.regularization}
    whole = next(run_all([Job(methods.dosdt, case)], report.limits))
    if "nodes" not in whole:
        return report.finish([whole])
    width = data.load(case)[0].features.shape[1]
    used = sorted({node[0] for node in whole["nodes"] if node[0] >= 0})
    order = used + [column for column in range(width) if column not in used]
    jobs = [
        Job(methods.dosdt, {**case, "algorithm": algorithm, "copies": copies, "n_features": width})
        for algorithm in ALGORITHMS
        for copies in options.copies
    ]
    by_rows = list(run_all(jobs, report.limits, at_once=options.jobs))
    jobs = [
        Job(methods.dosdt, {**case, "algorithm": algorithm, "columns": order[:count], "n_features": count})
        for algorithm in ALGORITHMS
        for count in range(max(len(used), 1), width + 1)
    ]
    by_features = list(run_all(jobs, report.limits, at_once=options.jobs))
    for records in (by_rows, by_features):
        report.table(TITLES, map(row, records), words=1)
    objectives = {run["objective"] for run in (*by_rows, *by_features) if run.get("proved")}
    same = objectives == {whole["objective"]}
    report.say("All proved objectives are equal, as they must be." if same else "Proved objectives differ.")
    report.figure(draw(by_rows, by_features))
    return report.finish([whole, *by_rows, *by_features]) or (0 if same else 1)


if __name__ == "__main__":
    sys.exit(guarded("scalability", main, sys.argv[1:]))
