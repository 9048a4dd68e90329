"""The paper's errors: for each, a small data set on which the method as printed certifies a worse tree.

`published.py` is the method, with each rule as printed or corrected; what is optimal is dosdt's answer. The last line
of the first table is the paper's own tic-tac-toe data at λ = 0.05. If a corrected search is ever wrong, or one of the
examples is not one, the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

from benchmarks import results
from benchmarks.common import guarded
from benchmarks.published import RULES, Certified, Published, Rows, cart_start


class Example(NamedTuple):
    """An error, a data set, and what each side says of it."""

    error: str
    rows: str
    regularization: Fraction
    certified: Certified
    corrected: Certified
    optimum: Certified

    @property
    def holds(self) -> bool:
        """Whether the printed rule is wrong here and the corrected one right."""
        return self.certified.objective > self.corrected.objective == self.optimum.objective


SMALL: dict[str, tuple[Rows, str]] = {
    "a_priori": ([((0,), 0), ((1,), 1)], "0.3"),
    "parent": ([((0, 0), 1), ((0, 1), 0), ((1, 1), 0)], "0.2"),
    "warm_start": ([((1, 0), 0), ((1, 0), 1), ((0, 1), 1)], "0.03"),
}
"""For each rule, rows and λ."""
MEANING = {
    "a_priori": "a priori limit on leaves, floor(1/2λ)",
    "parent": "parent-specific limit on leaves, H + floor((R_c - b)/λ)",
    "warm_start": "CART's tree in place of a better single leaf",
}
PRINTED_PENALTY: tuple[Rows, str] = ([((0, 0), 0)] * 3 + [((1, 0), 1)] * 3 + [((1, 1), 0)], "0.2")


def optimal(rows: Rows, regularization: Fraction) -> Certified:
    """Return the true optimum."""
    from dosdt.problem import Problem
    from dosdt.solver import solve

    problem = Problem.from_arrays([given for given, _ in rows], [label for _, label in rows], regularization)
    answer = solve(problem)
    return Certified(answer.objective, answer.sketch.n_leaves)


def small(rule: str) -> Example:
    """Return the example of one rule."""
    rows, text = SMALL[rule]
    regularization = Fraction(text)
    start = cart_start(rows, regularization) if rule == "warm_start" else None
    printed = Published(rows, regularization, frozenset([rule]), start).solve()
    corrected = Published(rows, regularization, frozenset(), start).solve()
    return Example(MEANING[rule], shown(rows), regularization, printed, corrected, optimal(rows, regularization))


def penalty_of_binoct() -> Example:
    """Return what regularised BinOCT finds when λ is added to counts of errors, as printed, and not λ·N."""
    import numpy as np

    from benchmarks import fits
    from benchmarks.baselines import binoct
    from benchmarks.data import Data

    rows, text = PRINTED_PENALTY
    regularization = Fraction(text)
    features = np.array([given for given, _ in rows], bool)
    data = Data(features, np.array([label for _, label in rows]), ("x0", "x1"), ("0", "1"))

    def certified(penalty: Fraction) -> Certified:
        nodes = binoct.solve(data, 2, penalty, 60.0, threads=1).nodes
        assert nodes is not None
        leaves = fits.count_leaves(nodes)
        return Certified(Fraction(fits.errors(nodes, data), len(rows)) + regularization * leaves, leaves)

    words = "regularised BinOCT adds λ per leaf to a count of errors"
    printed, corrected = certified(regularization / len(rows)), certified(regularization)
    return Example(words, shown(rows), regularization, printed, corrected, optimal(rows, regularization))


def tic_tac_toe() -> Example:
    """Return the paper's own data at λ = 0.05, where a single leaf is best.

    The published program takes CART's two leaves for the incumbent. It never looks at the single leaf again, and no
    tree that splits at all is better than CART's; so that is what it certifies.
    """
    import numpy as np

    from benchmarks.data import load_table
    from dosdt.problem import Problem
    from dosdt.solver import solve

    regularization = Fraction("0.05")
    data = load_table("tic-tac-toe", None)
    kept = [j for j, name in enumerate(data.names) if not name.endswith("= b")]  # the authors leave out blanks
    features, labels = data.features[:, kept], data.labels
    rows = list(zip(features.astype(int).tolist(), labels.tolist(), strict=True))

    def side(mask: np.ndarray) -> tuple[Fraction, int]:
        """Return the least cost of the rows on one side, as a share of all rows, and its leaves."""
        own = regularization * len(labels) / int(mask.sum())
        answer = solve(Problem.from_arrays(features[mask], labels[mask], own))
        return answer.objective * int(mask.sum()) / len(labels), answer.sketch.n_leaves

    splits = []
    for column in features.T:
        (yes, yes_leaves), (no, no_leaves) = side(column), side(~column)
        splits.append(Certified(yes + no, yes_leaves + no_leaves))
    start = cart_start(rows, regularization)
    optimum = optimal(rows, regularization)
    single = Certified(Fraction(min(np.bincount(labels).tolist()), len(labels)) + regularization, 1)
    words = "the same, on tic-tac-toe"
    return Example(words, f"{len(rows)} rows", regularization, min(start, *splits), min(single, *splits), optimum)


def shown(rows: Rows) -> str:
    """Return rows as people write them, equal ones once."""
    counts = Counter(f"{''.join(map(str, given))}→{label}" for given, label in rows)
    return ", ".join(f"{count}×{row}" if count > 1 else row for row, count in counts.items())


def random_rows(rng: random.Random) -> Rows:
    """Return a few rows in which labels and features differ."""
    while True:
        width = rng.randint(2, 3)
        columns = [[rng.randint(0, 1) for _ in range(rng.randint(4, 12))]]
        columns += [[rng.randint(0, 1) for _ in columns[0]] for _ in range(width)]
        if all(len(set(column)) == 2 for column in columns):
            labels, *features = columns
            return list(zip(zip(*features, strict=True), labels, strict=True))


def how_often(count: int) -> dict[str, list[int]]:
    """Return on how many of so many random small data sets each version of the method is wrong.

    The first number is with the lower bound of the printed limit, λ·H; the second with what equal rows cost, too.
    """
    rng = random.Random(0)
    versions = {"corrected": (), **{rule: (rule,) for rule in RULES}, "all as printed": RULES}
    wrong = {name: [0, 0] for name in versions}
    for _ in range(count):
        rows = random_rows(rng)
        regularization = Fraction(rng.randint(3, 25), 100)
        truth, start = optimal(rows, regularization), cart_start(rows, regularization)
        for name, printed in versions.items():
            for points in (False, True):
                found = Published(rows, regularization, frozenset(printed), start, points).solve()
                wrong[name][points] += found.objective != truth.objective
    return wrong


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__)
    parser.add_argument("--random", type=int, default=290, metavar="N", help="random data sets; default: 290")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print the examples, and how often each error matters."""
    options = parse(arguments)
    report = results.Report("mistakes", "The paper's errors", options)
    examples = [*map(small, RULES), tic_tac_toe(), penalty_of_binoct()]
    titles = ["as printed", "rows", "λ", "certified", "leaves", "optimum", "leaves"]
    rows = [
        [
            example.error,
            example.rows,
            str(float(example.regularization)),
            f"{float(example.certified.objective):.4f}",
            str(example.certified.leaves),
            f"{float(example.optimum.objective):.4f}",
            str(example.optimum.leaves),
        ]
        for example in examples
    ]
    report.table(titles, rows, words=2)
    wrong = how_often(options.random)
    report.table(
        [
            "rules as printed",
            f"worse tree, of {options.random} random data sets: b = λ·H",
            "b with equivalent points",
        ],
        [[name, *map(str, counts)] for name, counts in wrong.items()],
        words=1,
    )
    right = all(example.holds for example in examples) and not any(wrong["corrected"])
    report.say("" if right else "An example does not hold, or the corrected search was wrong.")
    records = [
        {
            "error": example.error,
            "rows": example.rows,
            "regularization": str(example.regularization),
            "certified": str(example.certified.objective),
            "optimum": str(example.optimum.objective),
        }
        for example in examples
    ]
    return report.finish(records, wrong=wrong) or (0 if right else 1)


if __name__ == "__main__":
    sys.exit(guarded("mistakes", main, sys.argv[1:]))
