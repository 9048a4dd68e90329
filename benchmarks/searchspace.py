"""Sizes of search spaces: trees beside rule lists (the paper's first table), and what symmetry saves, computed.

Nothing is measured here. Trees are counted by a recursion, by the paper's own sum and, where there are few enough,
one by one; all must agree, or the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache
from math import comb, perm

from benchmarks import results
from benchmarks.common import guarded
from dosdt.leafset.evaluations import saved_by_symmetry, trees_of_depth, trees_up_to_depth

PAPER = {
    (10, 1): ("5.500e1", "1.000e1"),
    (10, 2): ("3.025e3", "1.000e3"),
    (10, 3): ("1.604e5", "5.329e6"),
    (10, 4): ("8.345e6", "5.609e13"),
    (10, 5): ("4.257e8", "Inf"),
    (20, 1): ("2.100e2", "2.000e1"),
    (20, 2): ("4.410e4", "8.000e3"),
    (20, 3): ("9.173e6", "9.411e8"),
    (20, 4): ("1.898e9", "8.358e18"),
    (20, 5): ("3.911e11", "Inf"),
}
"""What is printed in the paper, by features and depth: rule lists, trees."""
PAPER_SAVED = {(10, 5): "35463", (20, 10): "7.36891e11"}
"""What symmetry saves according to the paper, by features and most leaves."""
Leaves = frozenset[frozenset[int]]


def rule_lists(n_features: int, most_rules: int) -> int:
    """Return the number of lists of 1 to so many rules of one or two features: Σ P(D, k), D = p + C(p, 2)."""
    rules = n_features + comb(n_features, 2)
    return sum(perm(rules, k) for k in range(1, most_rules + 1))


def trees_by_the_papers_sum(n_features: int, depth: int) -> int:
    """Return N_d as printed: the sum over how many nodes of each level are split."""

    @cache
    def below(level: int, nodes: int) -> int:
        """Return the ways to go on from so many leaves at a level."""
        if level == depth:
            return 1
        return sum(
            comb(nodes, split) * (n_features - level) ** split * below(level + 1, 2 * split)
            for split in range(1, nodes + 1)
        )

    return below(0, 1)


def enumerate_trees(features: frozenset[int], path: frozenset[int] = frozenset()) -> Iterator[tuple[Leaves, int]]:
    """Yield every tree as its leaves, each with the number of orders in which its splits can be made."""
    for leaves, _, orders in _grow(features, path):
        yield leaves, orders


def _grow(features: frozenset[int], path: frozenset[int]) -> Iterator[tuple[Leaves, int, int]]:
    # A leaf is its literals, feature j as j + 1 or -(j + 1); then the number of splits, and of their orders.
    yield frozenset([path]), 0, 1
    for feature in sorted(features):
        rest = features - {feature}
        sides = [list(_grow(rest, path | {literal})) for literal in (feature + 1, -feature - 1)]
        for yes, yes_splits, yes_orders in sides[0]:
            for no, no_splits, no_orders in sides[1]:
                mixed = comb(yes_splits + no_splits, yes_splits) * yes_orders * no_orders
                yield yes | no, yes_splits + no_splits + 1, mixed


def symmetry(n_features: int) -> tuple[int, int, int]:
    """Return the ways to grow trees split by split, the trees, and the sets of leaves, over so many features."""
    ways = trees = 0
    sets = set()
    for leaves, orders in enumerate_trees(frozenset(range(n_features))):
        ways += orders
        trees += 1
        sets.add(leaves)
    return ways, trees, len(sets)


def short(count: int) -> str:
    """Return a number as the paper prints it, whatever its size."""
    digits = str(count)
    if len(digits) <= 4:
        return digits
    rounded = (count * 10 ** max(0, 4 - len(digits)) + 5 * 10 ** (len(digits) - 5)) // 10 ** (len(digits) - 4)
    return f"{str(rounded)[0]}.{str(rounded)[1:4]}e{len(digits) - 1 + (len(str(rounded)) > 4)}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = results.parser(__doc__)
    parser.add_argument("--features", type=int, nargs="+", default=[10, 20], metavar="P")
    parser.add_argument("--depth", type=int, default=5, metavar="D", help="largest depth; default: 5")
    parser.add_argument("--enumerate", type=int, default=4, metavar="P", help="count all trees of up to P features")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print three tables."""
    options = parse(arguments)
    report = results.Report("searchspace", "Search spaces of rule lists and trees", options)
    records, rows, agree = [], [], True
    for features in options.features:
        for depth in range(1, options.depth + 1):
            lists, trees = rule_lists(features, depth), trees_up_to_depth(features, depth) - 1
            agree &= trees_of_depth(features, depth) == trees_by_the_papers_sum(features, depth)
            printed = PAPER.get((features, depth), ("-", "-"))
            rows.append([str(features), str(depth), short(lists), printed[0], short(trees), printed[1]])
            records.append({"features": features, "depth": depth, "rule_lists": str(lists), "trees": str(trees)})
    titles = ["features", "depth", "rule lists", "in the paper", "trees", "in the paper"]
    report.table(titles, rows, words=0)
    report.say(
        "Rule lists have as many rules as trees have levels; the paper's formula stops one rule earlier than its "
        'table does. Where the table says "Inf", the number is finite and stands here.'
    )
    rows = []
    for features in range(1, options.enumerate + 1):
        ways, trees, sets = symmetry(features)
        agree &= trees == trees_up_to_depth(features, features)
        formula = saved_by_symmetry(features, features)
        numbers = [f"{count:,}" for count in (features, ways, trees, sets, trees - sets, formula)]
        rows.append([*numbers, f"{ways / sets:.1f}x"])
        records.append({"features": features, "ways": str(ways), "trees": str(trees), "leaf_sets": str(sets)})
    titles = ["features", "ways to grow a tree, split by split", "trees", "sets of leaves", "trees less sets"]
    report.table([*titles, "Σ P(M, k) - C(M, k)", "ways over sets"], rows, words=0)
    report.say(
        "A search that knows a tree by the set of its leaves meets each set once, whatever the way to it. The "
        "paper's sum, here over k up to the number of features, counts only trees that ask the same on a level."
    )
    rows = [
        [
            str(features),
            str(leaves),
            f"{saved_by_symmetry(features, leaves):,}",
            PAPER_SAVED.get((features, leaves), "-"),
        ]
        for features in options.features
        for leaves in (5, 10)
    ]
    titles = ["features", "most leaves", "saved by symmetry, the paper's Σ P(M, k) - C(M, k)", "in the paper"]
    report.table(titles, rows, words=0)
    report.say("" if agree else "The counts do not agree.")
    return report.finish(records) or (0 if agree else 1)


if __name__ == "__main__":
    sys.exit(guarded("searchspace", main, sys.argv[1:]))
