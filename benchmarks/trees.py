"""The optimal trees as pictures, each beside CART's and BinOCT's (the paper's figures of trees).

COMPAS at λ = 0.005; tic-tac-toe with eight leaves; MONK 1; and COMPAS at λ = 0.007 beside regularised BinOCT.
CART gets as many leaves as our tree has, BinOCT the depth of a complete tree with at least as many.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

from benchmarks import data, methods, results
from benchmarks.common import guarded, number
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import percent, seconds

PAPER = {
    ("compas", "dosdt"): "66.90",
    ("compas", "CART"): "66.135",
    ("tic-tac-toe", "dosdt"): "82.881",
    ("tic-tac-toe", "BinOCT"): "76.722",
    ("tic-tac-toe", "CART"): "76.513",
    ("monk1", "dosdt"): "100",
    ("monk1", "BinOCT"): "91.129",
    ("monk1", "CART"): "91.935",
    ("regularised", "dosdt"): "66.223",
    ("regularised", "regularised BinOCT"): "66.223",
}
"""Accuracies printed in the paper, in per cent, by picture and method."""


class Picture(NamedTuple):
    """What to draw: a data set, λ, and limits on our tree; `penalised` gives BinOCT the same λ."""

    name: str
    sets: tuple[str, ...]
    regularization: str
    max_leaves: int | None = None
    penalised: bool = False


PICTURES = (
    Picture("compas", ("compas-binary",), "0.005"),
    Picture("tic-tac-toe", ("tic-tac-toe",), "0.0001", max_leaves=8),
    Picture("monk1", ("monk1-train", "monk1"), "0.01"),
    Picture("regularised", ("compas-binary",), "0.007", penalised=True),
)


def chosen(options: argparse.Namespace) -> list[tuple[Picture, str]]:
    """Return the pictures to draw, each with the data set it is of."""
    if options.data:
        pairs = [data.with_penalty(text, "0.01") for text in data.available(options.data)[0]]
        return [(Picture(name, (name,), penalty), name) for name, penalty in pairs]
    there = data.available()[0]
    return [(picture, name) for picture in PICTURES for name in picture.sets if name in there]


def fits(picture: Picture, name: str, report: results.Report, at_once: int) -> list[Record]:
    """Return our tree and its rivals."""
    case = {"data": name, "regularization": picture.regularization}
    own = next(run_all([Job(methods.dosdt, {**case, "max_leaves": picture.max_leaves})], report.limits))
    if "nodes" not in own:
        return [own]
    leaves = own["leaves"]
    if picture.penalised:
        program = {**case, "max_depth": max(own["depth"], 1)}
    else:
        program = {"data": name, "max_depth": max((leaves - 1).bit_length(), 1)}
    jobs = [Job(methods.binoct, program), Job(methods.cart, {**case, "max_leaves": max(leaves, 2)})]
    return [own, *run_all(jobs, report.limits, at_once=at_once)]


def label_of(run: Record) -> str:
    """Return a method's name for a picture."""
    return "dosdt" if run.get("method", "").startswith("dosdt") else run.get("method", "-")


def draw(name: str, runs: list[Record]) -> Any:
    """Draw the trees one below the other: complete trees are wide."""
    import matplotlib.pyplot as plt

    from benchmarks.drawing import draw_tree

    whole = data.load({"data": name})[0]
    shown = [run for run in runs if "nodes" in run]
    heights = [0.55 + 0.62 * run["depth"] for run in shown]
    width = max(1.12 * max(run["leaves"] for run in shown) + 0.6, 5.0)
    figure, axes = plt.subplots(
        len(shown),
        1,
        figsize=(width, sum(heights) + 0.4 * len(shown)),
        layout="constrained",
        gridspec_kw={"height_ratios": heights},
        squeeze=False,
    )
    for one, run in zip(axes[:, 0], shown, strict=True):
        words = f"{label_of(run)}: {percent(run['accuracy'])} % with {run['leaves']} leaves"
        words += {"optimal": ", proved", "greedy": ""}.get(run["status"], ", not proved in time")
        draw_tree(one, run["nodes"], whole.names, whole.classes, words)
    return figure


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    return results.parser(__doc__, data="penalties").parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Fit, draw, print."""
    options = parse(arguments)
    report = results.Report("trees", "Optimal trees and their rivals", options)
    records: list[Record] = []
    rows = []
    for picture, name in chosen(options):
        runs = fits(picture, name, report, options.jobs)
        records += runs
        for run in runs:
            method = label_of(run)
            rows.append(
                [
                    picture.name,
                    picture.regularization,
                    method,
                    run["status"],
                    percent(run.get("accuracy"), 3),  # as the paper prints it
                    PAPER.get((picture.name, method), "-"),
                    number(run.get("leaves")),
                    number(run.get("useless_splits")),
                    seconds(run),
                ]
            )
        if "nodes" in runs[0]:
            report.figure(draw(name, runs), picture.name, f"Trees for {data.title(name)}")
    titles = ["picture", "λ", "method", "status", "accuracy, %", "in the paper", "leaves", "useless splits", "s"]
    report.table(titles, rows, words=4)
    return report.finish(records)


if __name__ == "__main__":
    sys.exit(guarded("trees", main, sys.argv[1:]))
