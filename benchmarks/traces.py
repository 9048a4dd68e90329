"""How searches converge: best objective and lower bound over time (the paper's traces).

The paper's search by curiosity and by lower bound, from a cold start; and regularised BinOCT, whose trees have the
depth that the optimal tree needs, so that it can find it. HiGHS has one thread, as the searches do.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from benchmarks import data, methods, results
from benchmarks.common import guarded, number
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import seconds

PENALTIES = {
    "compas-binary": "0.005",
    "fico_binary": "0.01",
    "tic-tac-toe": "0.02",
    "car-evaluation": "0.02",
    "monk1-train": "0.025",
    "monk2-train": "0.03",
    "monk3-train": "0.02",
}
OTHERS = "0.02"
SHOWN = {
    "curiosity": ("#111111", "o", "dosdt, leaf sets by curiosity"),
    "lower_bound": ("#2f6fb0", "s", "dosdt, leaf sets by lower bound"),
    "subproblem": ("#a8a8a8", "D", "dosdt, subproblems"),
    "regularised BinOCT": ("#e08214", "^", "regularised BinOCT"),
}
EARLIEST = 1e-4  # seconds; where a logarithmic axis begins


def jobs(name: str, regularization: str, depth: int) -> dict[str, Job]:
    """Return what to run on one data set."""
    case = {"data": name, "regularization": regularization}
    answer = {
        policy: Job(methods.dosdt, {**case, "algorithm": "leafset", "policy": policy})
        for policy in ("curiosity", "lower_bound")
    }
    return answer | {"regularised BinOCT": Job(methods.binoct, {**case, "max_depth": depth})}


def draw(axes: Any, name: str, regularization: str, runs: dict[str, Record]) -> None:
    """Draw the traces of one data set: objectives as lines, bounds as dashes, a star where the optimum is found."""
    optimum = runs["subproblem"]["trace"][-1][1]
    for key, run in runs.items():
        color, marker, label = SHOWN[key]
        trace = run.get("trace", ())
        if not trace:
            continue
        times = [max(point[0], EARLIEST) for point in trace]
        best = [point[1] for point in trace]
        changes = [k for k in range(len(best)) if not k or best[k] != best[k - 1]]
        axes.step(
            times, best, where="post", color=color, label=label, linewidth=1.4, marker=marker, ms=4, markevery=changes
        )
        axes.step(times, [point[2] for point in trace], where="post", color=color, linestyle="--", linewidth=1)
        if abs(run["trace"][-1][1] - optimum) < 1e-9:
            found = max(run["seconds_to_best"], EARLIEST)
            axes.plot(found, optimum, marker="*", color=color, markersize=11, markeredgecolor="white")
    axes.set(xscale="log", title=f"{data.title(name)}, λ = {regularization}", xlabel="seconds", ylabel="objective")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__)
    parser.add_argument("data", nargs="*", metavar="NAME[=λ]", help="data sets, each with its λ if need be")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print, draw."""
    from benchmarks.drawing import legend_above, panels

    options = parse(arguments)
    names, missing = data.available(options.data)
    report = results.Report("traces", "Convergence of incumbent and bound", options)
    report.say(missing)
    records: list[Record] = []
    rows = []
    figure, axes = panels(len(names), height=2.8)
    for one, text in zip(axes, names, strict=True):
        name, _, given = text.partition("=")
        regularization = given or PENALTIES.get(name, OTHERS)
        own = next(run_all([Job(methods.dosdt, {"data": name, "regularization": regularization})], report.limits))
        todo = jobs(name, regularization, max(own.get("depth", 2), 1))
        found = run_all(todo.values(), report.limits, at_once=options.jobs)
        runs = {"subproblem": own} | dict(zip(todo, found, strict=True))
        records += runs.values()
        if "trace" in own:
            draw(one, name, regularization, runs)
        rows += [row(name, regularization, SHOWN[key][2], run) for key, run in runs.items()]
    titles = ["data", "λ", "search", "status", "objective", "lower bound", "s", "s to best", "depth", "leaves"]
    report.table(titles, rows, words=4)
    report.say("Lines are objectives, dashes are lower bounds, a star is where the optimum was found.")
    legend_above(figure, axes)
    report.figure(figure)
    return report.finish(records)


def row(name: str, regularization: str, label: str, run: Record) -> list[str]:
    """Return one row of the table."""
    last = run["trace"][-1] if run.get("trace") else (None, None, None)
    values = ["-" if value is None else f"{value:.5f}" for value in last[1:]]
    measures = [seconds(run), number(run.get("seconds_to_best")), number(run.get("depth")), number(run.get("leaves"))]
    return [data.title(name), regularization, label, run["status"], *values, *measures]


if __name__ == "__main__":
    sys.exit(guarded("traces", main, sys.argv[1:]))
