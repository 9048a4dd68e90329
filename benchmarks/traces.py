"""How searches converge: best objective and lower bound over time (the paper's traces).

The paper's search by curiosity and by lower bound, from a cold start; and regularised BinOCT, whose trees have the
depth that the optimal tree needs, so that it can find it. HiGHS has one thread, as the searches do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

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
MOST_TOGETHER = 4  # data sets in one figure
EARLIEST = 1e-4  # seconds; where a logarithmic axis begins


class Study(NamedTuple):
    """The runs on one data set, by the keys of `SHOWN`."""

    name: str
    regularization: str
    runs: dict[str, Record]


def jobs(name: str, regularization: str, depth: int) -> dict[str, Job]:
    """Return what to run on one data set."""
    case = {"data": name, "regularization": regularization}
    answer = {
        policy: Job(methods.dosdt, {**case, "algorithm": "leafset", "policy": policy})
        for policy in ("curiosity", "lower_bound")
    }
    return answer | {"regularised BinOCT": Job(methods.binoct, {**case, "max_depth": depth})}


def draw(studies: list[Study]) -> Any:
    """Draw the traces, one panel a data set."""
    from benchmarks.drawing import legend_above, panels

    figure, axes = panels(len(studies), height=2.8)
    for one, study in zip(axes, studies, strict=True):
        if study.runs["subproblem"].get("trace"):
            draw_one(one, study)
    legend_above(figure, axes)
    return figure


def draw_one(axes: Any, study: Study) -> None:
    """Draw objectives as lines, bounds as dashes, and a star where the optimum is found."""
    own = study.runs["subproblem"]
    for key, run in study.runs.items():
        color, marker, label = SHOWN[key]
        trace = changes(run.get("trace", ()))
        if not trace:
            continue
        times = [max(point[0], EARLIEST) for point in trace]
        best = [point[1] for point in trace]
        better = [k for k in range(len(best)) if not k or best[k] != best[k - 1]]
        axes.step(
            times, best, where="post", color=color, label=label, linewidth=1.4, marker=marker, ms=4, markevery=better
        )
        axes.step(times, [point[2] for point in trace], where="post", color=color, linestyle="--", linewidth=1)
        if run.get("objective") == own["objective"]:  # exactly: both are judged by their trees
            found = max(run["seconds_to_best"], EARLIEST)
            axes.plot(found, best[-1], marker="*", color=color, markersize=11, markeredgecolor="white")
    axes.set(
        xscale="log",
        title=f"{data.title(study.name)}, λ = {study.regularization}",
        xlabel="seconds",
        ylabel="objective",
    )
    axes.minorticks_off()


def changes(trace: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    """Return the points at which something changed, and the last."""
    kept = [point for k, point in enumerate(trace) if not k or point[1:] != trace[k - 1][1:]]
    return [*kept, trace[-1]] if kept and kept[-1] is not trace[-1] else kept


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    return results.parser(__doc__, data="penalties").parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print, draw."""
    options = parse(arguments)
    names, missing = data.available(options.data)
    report = results.Report("traces", "Convergence of incumbent and bound", options)
    report.say(missing)
    found: list[Study] = []
    for text in names:
        name, regularization = data.with_penalty(text, PENALTIES.get(text, OTHERS))
        own = next(run_all([Job(methods.dosdt, {"data": name, "regularization": regularization})], report.limits))
        todo = jobs(name, regularization, max(own.get("depth", 2), 1))
        others = run_all(todo.values(), report.limits, at_once=options.jobs)
        found.append(Study(name, regularization, {"subproblem": own} | dict(zip(todo, others, strict=True))))
    titles = ["data", "λ", "search", "status", "objective", "lower bound", "s", "s to best", "depth", "leaves"]
    report.table(titles, [row(study, key) for study in found for key in study.runs], words=4)
    report.say("Lines are objectives, dashes are lower bounds, a star is where the optimum was found.")
    for first in range(0, len(found), MOST_TOGETHER):
        report.figure(draw(found[first : first + MOST_TOGETHER]), str(1 + first // MOST_TOGETHER))
    return report.finish([run for study in found for run in study.runs.values()])


def row(study: Study, key: str) -> list[str]:
    """Return one row of the table."""
    run = study.runs[key]
    # The tree's own objective: a program that is cut short may pay for leaves that its tree does not have.
    best = float(Fraction(run["objective"])) if "objective" in run else None
    bound = run["trace"][-1][2] if run.get("trace") else None
    values = ["-" if value is None else f"{value:.5f}" for value in (best, bound)]
    measures = [seconds(run), number(run.get("seconds_to_best")), number(run.get("depth")), number(run.get("leaves"))]
    return [data.title(study.name), study.regularization, SHOWN[key][2], run["status"], *values, *measures]


if __name__ == "__main__":
    sys.exit(guarded("traces", main, sys.argv[1:]))
