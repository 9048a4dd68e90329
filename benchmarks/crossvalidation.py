"""Ten-fold cross-validation on the seven data sets: training and test accuracy by number of leaves.

The paper draws every fold; here every fold is in the numbers, and the figure has a point for every λ or depth: mean
leaves and mean accuracy over the folds.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from statistics import mean, stdev
from typing import Any

from benchmarks import data, methods, results
from benchmarks.accuracy import DEPTHS
from benchmarks.common import guarded
from benchmarks.harness import Job, Record, run_all
from benchmarks.results import percent
from dosdt.errors import InputError

GRID = ("0.05", "0.03", "0.02", "0.01", "0.005")
MOST_TOGETHER = 4  # data sets in one figure
METHODS = {"dosdt": "dosdt, subproblem", "CART": "CART", "BinOCT": "BinOCT"}


def jobs(name: str, options: argparse.Namespace) -> list[Job]:
    """Return what to run on one data set."""
    folds = [{"data": name, "fold": [fold, options.folds]} for fold in range(options.folds)]
    answer = []
    for fold in folds:
        for regularization in options.regularization:
            case = {**fold, "regularization": regularization}
            answer += [Job(methods.dosdt, case, light=True), Job(methods.cart, case, light=True)]
    for fold in folds[: options.binoct_folds]:
        answer += [Job(methods.binoct, {**fold, "max_depth": depth}) for depth in options.depths]
    return answer


def by_setting(records: list[Record], method: str, key: str) -> list[tuple[float, float]]:
    """Return leaves and accuracy for every λ or depth of a method: means over its folds."""
    groups: dict[Any, list[Record]] = defaultdict(list)
    for record in records:
        if record.get("method") == METHODS[method] and key in record:
            groups[record.get("regularization") or record["max_depth"]].append(record)
    return sorted((mean(run["leaves"] for run in runs), mean(run[key] for run in runs)) for runs in groups.values())


def rows(name: str, records: list[Record]) -> list[list[str]]:
    """Return a row for every λ or depth: means over the folds."""
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        method = next((short for short, long in METHODS.items() if record.get("method") == long), "-")
        setting = record.get("regularization")
        groups[method, f"λ {setting}" if setting else f"depth {record['max_depth']}"].append(record)
    answer = []
    for (method, setting), runs in sorted(groups.items(), key=lambda item: (item[0][1], item[0][0])):
        good = [run for run in runs if "test_accuracy" in run]
        if not good:
            answer.append([data.title(name), setting, method, "0", *["-"] * 5])
            continue
        tests = [run["test_accuracy"] for run in good]
        spread = percent(stdev(tests)) if len(tests) > 1 else "-"
        answer.append(
            [
                data.title(name),
                setting,
                method,
                str(len(good)),
                str(sum(run["proved"] for run in good)),
                f"{mean(run['leaves'] for run in good):.1f}",
                percent(mean(run["accuracy"] for run in good)),
                percent(mean(tests)),
                spread,
            ]
        )
    return answer


def draw_one(axes: list[Any], name: str, records: list[Record]) -> None:
    """Draw training accuracy on the left, test accuracy on the right."""
    from benchmarks.drawing import plot

    for one, key, words in zip(axes, ("accuracy", "test_accuracy"), ("training", "test"), strict=True):
        for method in METHODS:
            points = [(leaves, 100 * share) for leaves, share in by_setting(records, method, key)]
            plot(one, method, points)
        one.set(title=f"{data.title(name)}, {words}", xlabel="leaves", ylabel="accuracy, %")
        one.xaxis.get_major_locator().set_params(integer=True)
    low = min(one.get_ylim()[0] for one in axes)
    high = max(one.get_ylim()[1] for one in axes)
    for one in axes:
        one.set_ylim(low, high)


def draw(found: dict[str, list[Record]]) -> Any:
    """Draw several data sets below one another."""
    from benchmarks.drawing import legend_above, panels

    figure, axes = panels(2 * len(found), height=2.4)
    for place, (name, records) in enumerate(found.items()):
        draw_one(axes[2 * place : 2 * place + 2], name, records)
    legend_above(figure, axes)
    return figure


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__, seconds=20.0, data="names")
    parser.add_argument("--regularization", nargs="+", default=list(GRID), metavar="λ")
    parser.add_argument("--depths", type=int, nargs="*", default=list(DEPTHS), metavar="K", help="of BinOCT")
    parser.add_argument("--folds", type=int, default=10, metavar="N", help="default: 10")
    parser.add_argument("--binoct-folds", type=int, default=10, metavar="N", help="only the first N for BinOCT")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run, print, draw."""
    options = parse(arguments)
    if options.folds < 2:
        raise InputError(f"--folds must be 2 or more, got {options.folds}")
    names, missing = data.available(options.data)
    report = results.Report("crossvalidation", f"Cross-validation with {options.folds} folds", options)
    report.say(missing)
    if options.depths and options.binoct_folds < options.folds:
        report.say(f"BinOCT is run on the first {options.binoct_folds} folds only.")
    found = {name: list(run_all(jobs(name, options), report.limits, at_once=options.jobs)) for name in names}
    titles = ["data", "setting", "method", "folds", "proved", "leaves", "training, %", "test, %", "± over folds"]
    report.table(titles, [row for name, records in found.items() for row in rows(name, records)], words=3)
    for first in range(0, len(names), MOST_TOGETHER):
        shown = {name: found[name] for name in names[first : first + MOST_TOGETHER]}
        report.figure(draw(shown), str(1 + first // MOST_TOGETHER), f"Cross-validation: {', '.join(shown)}")
    return report.finish([record for records in found.values() for record in records])


if __name__ == "__main__":
    sys.exit(guarded("crossvalidation", main, sys.argv[1:]))
