"""Training accuracy against number of leaves: dosdt, CART and BinOCT on the seven data sets (the paper's figure 1).

dosdt and CART are run for a row of λ, CART with the authors' settings for each; BinOCT for a row of depths. What the
best complete tree of a depth can do is known exactly from dosdt with that depth and no penalty, so BinOCT's distance
from its own optimum is there, too.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from typing import Any

from benchmarks import data, methods, results
from benchmarks.common import guarded, number
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import percent, seconds

GRID = ("0.1", "0.05", "0.03", "0.02", "0.015", "0.01", "0.0075", "0.005", "0.0025")
DEPTHS = (2, 3, 4)


def jobs(names: list[str], options: argparse.Namespace) -> list[Job]:
    """Return what to run."""
    answer = []
    for name in names:
        for regularization in options.regularization:
            case = {"data": name, "regularization": regularization}
            answer += [Job(methods.dosdt, case, light=True), Job(methods.cart, case, light=True)]
        for depth in options.depths:
            answer.append(Job(methods.dosdt, {"data": name, "max_depth": depth, "regularization": "0"}, light=True))
        answer += [Job(methods.binoct, {"data": name, "max_depth": depth}) for depth in options.depths]
    return answer


def by_leaves(records: list[Record]) -> list[list[str]]:
    """Return a row for every λ: dosdt beside CART."""
    rows = []
    pairs = [record for record in records if record.get("regularization", "0") != "0"]
    for own, greedy in zip(pairs[::2], pairs[1::2], strict=True):
        rows.append(
            [
                data.title(own["data"]),
                own["regularization"],
                number(own.get("leaves")),
                percent(own.get("accuracy")),
                seconds(own),
                "yes" if own.get("proved") else "no",
                number(greedy.get("leaves")),
                percent(greedy.get("accuracy")),
                gain(own, greedy),
            ]
        )
    return rows


def gain(own: Record, greedy: Record) -> str:
    """Return by how much our objective is better."""
    if "objective" not in own or "objective" not in greedy:
        return "-"
    return f"{float(Fraction(greedy['objective']) - Fraction(own['objective'])):.4f}"


def by_depth(records: list[Record]) -> list[list[str]]:
    """Return a row for every depth: BinOCT beside the best tree of that depth."""
    rows = []
    bounded = [record for record in records if "max_depth" in record]
    exact = [record for record in bounded if "regularization" in record]
    programs = [record for record in bounded if "regularization" not in record]
    for program, own in zip(programs, exact, strict=True):
        rows.append(
            [
                data.title(program["data"]),
                str(program["max_depth"]),
                percent(program.get("accuracy")),
                number(program.get("useless_splits")),
                seconds(program),
                "yes" if program.get("proved") else "no",
                percent(own.get("accuracy")),
                number(own.get("leaves")),
                seconds(own),
            ]
        )
    return rows


def draw(names: list[str], records: list[Record]) -> Any:
    """Draw accuracy against leaves, one panel a data set."""
    from benchmarks.drawing import legend_above, panels, plot

    figure, axes = panels(len(names))
    for one, name in zip(axes, names, strict=True):
        for method, label in (("dosdt, subproblem", "dosdt"), ("CART", "CART"), ("BinOCT", "BinOCT")):
            points = sorted(
                (record["leaves"], 100 * record["accuracy"])
                for record in records
                if record["data"] == name and record.get("method") == method and record.get("regularization") != "0"
                if "leaves" in record
            )
            plot(one, label, points)
            if label == "dosdt" and points:  # as in the paper: what no rival should pass
                one.axhline(points[-1][1], color="#a8a8a8", linewidth=0.8, zorder=0)
        one.set(title=data.title(name), xlabel="leaves", ylabel="training accuracy, %")
        one.xaxis.get_major_locator().set_params(integer=True)
    legend_above(figure, axes)
    return figure


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__, data="names")
    parser.add_argument("--regularization", nargs="+", default=list(GRID), metavar="λ")
    parser.add_argument("--depths", type=int, nargs="*", default=list(DEPTHS), metavar="K", help="of BinOCT")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print, draw."""
    options = parse(arguments)
    names, missing = data.available(options.data)
    report = results.Report("accuracy", "Training accuracy by number of leaves", options)
    report.say(missing)
    records = list(run_all(jobs(names, options), report.limits, at_once=options.jobs))
    titles = ["data", "λ", "leaves", "accuracy, %", "s", "proved", "CART: leaves", "accuracy, %", "objective less"]
    report.table(titles, by_leaves(records), words=2)
    if options.depths:
        titles = ["data", "depth", "BinOCT: accuracy, %", "useless splits", "s", "proved"]
        report.table([*titles, "best of this depth, %", "leaves", "s"], by_depth(records), words=1)
    report.figure(draw(names, records))
    return report.finish(records)


if __name__ == "__main__":
    sys.exit(guarded("accuracy", main, sys.argv[1:]))
