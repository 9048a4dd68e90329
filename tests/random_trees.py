"""Random trees and rows for tests, with names and categories that are hard to quote."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dosdt.frames import ColumnTable
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree

FLAG, COUNT, SIZE, COLOUR, MAYBE = (
    'flag "a"',
    "count\nof 'b'",
    "größe µ",
    'colour\\"c" & <d>',
    "it's 100 %; --",
)
COLUMNS = (FLAG, COUNT, SIZE, COLOUR, MAYBE)
COLUMN_KINDS = ("bool", "int", "float", "text", "float")
COLOURS = ("red", "it's", 'say "hi"', "back\\slash", "", "two\nlines", "naïve 樹")
CLASSES: tuple[tuple[Any, ...], ...] = (
    (0, 1),
    (False, True),
    ("no 'way'", 'yes "sir"\\', "may\nbe"),
    (-1.5, 0.0, 2.0),
)


def random_rule(rng: random.Random) -> Rule:
    column = rng.choice(COLUMNS)
    if rng.random() < 0.15:
        return Rule(column, "is_missing")
    if column in (FLAG, MAYBE):
        return Rule(column, "is_true")
    if column == COLOUR:
        return Rule(column, "equals", rng.choice(COLOURS))
    if column == COUNT:
        return Rule(column, rng.choice(["at_most", "equals"]), rng.randint(-3, 3))
    return Rule(column, "at_most", rng.uniform(-1, 1))


def random_leaf(rng: random.Random, n_classes: int) -> Leaf:
    weights = [Fraction(rng.randint(0, 400), rng.choice([1, 1, 1, 7])) for _ in range(n_classes)]
    weights[rng.randrange(n_classes)] += 1
    label = max(range(n_classes), key=weights.__getitem__)
    return Leaf(label, tuple(weights), sum(weights, Fraction(0)) - weights[label])


def random_tree(rng: random.Random, n_splits: int, *, shape: str = "any", classes: Any = None) -> Tree:
    """Return a tree; `shape` "yes" or "no" makes it a chain that goes on at that side, "zigzag" at either."""
    classes = rng.choice(CLASSES) if classes is None else classes
    nodes: list[Split | Leaf] = [random_leaf(rng, len(classes))]
    open_leaves = [0]
    for _ in range(n_splits):
        at = open_leaves.pop(rng.randrange(len(open_leaves)))
        yes, no = len(nodes), len(nodes) + 1
        nodes[at] = Split(random_rule(rng), yes, no)
        nodes += [random_leaf(rng, len(classes)) for _ in range(2)]
        open_leaves += {"any": [yes, no], "yes": [yes], "no": [no], "zigzag": [rng.choice([yes, no])]}[shape]
    return Tree(tuple(nodes), classes, COLUMNS)


def long_chain(depth: int, side: str) -> Tree:
    """Return a chain of `depth` splits on one column in which every leaf can be reached."""
    # The thresholds shrink along the yes side and grow along the no side.
    step = -1 if side == "yes" else 1
    tree = random_tree(random.Random(depth), depth, shape=side, classes=tuple(range(5)))
    nodes = list(tree.nodes)
    for turn, index in enumerate(i for i, node in enumerate(nodes) if isinstance(node, Split)):
        nodes[index] = replace(nodes[index], rule=Rule(SIZE, "at_most", step * turn))  # type: ignore[call-arg]
    return replace(tree, nodes=tuple(nodes))


def random_table(rng: random.Random, n_rows: int) -> ColumnTable:
    sizes = [rng.choice([rng.uniform(-1, 1), float("nan")]) for _ in range(n_rows)]
    arrays = (
        np.array([rng.random() < 0.5 for _ in range(n_rows)], dtype=np.bool_),
        np.array([rng.randint(-4, 4) for _ in range(n_rows)], dtype=np.int64),
        np.array(sizes, dtype=np.float64),
        np.array([rng.choice([*COLOURS, None]) for _ in range(n_rows)], dtype=object),
        np.array([rng.choice([0.0, 1.0, float("nan")]) for _ in range(n_rows)], dtype=np.float64),
    )
    return ColumnTable(COLUMNS, arrays, n_rows)


def chain_table(depth: int) -> ColumnTable:
    """Return rows that end in all sorts of leaves of `long_chain`."""
    sizes = np.concatenate([np.linspace(-depth - 1, depth + 1, 101), [np.nan]])
    table = random_table(random.Random(depth), len(sizes))
    arrays = tuple(sizes if name == SIZE else table.column(name) for name in COLUMNS)
    return ColumnTable(COLUMNS, arrays, len(sizes))


def rows_of(table: ColumnTable) -> list[dict[str, Any]]:
    """Return the table as plain Python rows."""
    columns = [array.tolist() for array in table.arrays]
    return [dict(zip(table.names, row, strict=True)) for row in zip(*columns, strict=True)]


def walk(tree: Tree, row: dict[str, Any]) -> int:
    """Return the index of the leaf of one row: the slow, obvious way, to compare with."""
    index = 0
    while isinstance(node := tree.nodes[index], Split):
        value, rule = row[node.rule.column], node.rule
        missing = value is None or value != value
        if rule.kind == "is_missing" or missing:
            answer = rule.kind == "is_missing" and missing
        elif rule.kind == "at_most":
            answer = value <= rule.value
        else:
            answer = value == (1 if rule.kind == "is_true" else rule.value)
        index = node.yes if answer else node.no
    return index
