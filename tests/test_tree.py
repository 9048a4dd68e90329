"""Trees: what they refuse to be, what they measure, and what they predict."""

from __future__ import annotations

import random
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction

import numpy as np
import pytest
from random_trees import CLASSES, COLUMNS, chain_table, long_chain, random_table, random_tree, rows_of, walk

from dosdt.errors import InputError
from dosdt.frames import ColumnTable
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree, plain

AGE = Rule("age", "at_most", 30)
NO, YES = Leaf(0, (Fraction(3), Fraction(1)), Fraction(1)), Leaf(1, (Fraction(0), Fraction(2)), Fraction(0))
STUMP = Tree((Split(AGE, 1, 2), NO, YES), ("no", "yes"), ("age", "sex"))


def table(**columns: object) -> ColumnTable:
    arrays = tuple(np.asarray(values) for values in columns.values())
    return ColumnTable(tuple(columns), arrays, len(arrays[0]))


def test_stump() -> None:
    ages = table(age=[20.0, 30.0, 30.5, np.nan], sex=[0, 1, 0, 1])
    assert STUMP.apply(ages).tolist() == [1, 1, 2, 2]
    assert STUMP.predict_index(ages).tolist() == [0, 0, 1, 1]
    assert STUMP.predict(ages).tolist() == ["no", "no", "yes", "yes"]
    assert STUMP.predict_proba(ages).tolist() == [[0.75, 0.25], [0.75, 0.25], [0.0, 1.0], [0.0, 1.0]]
    assert (STUMP.n_leaves, STUMP.depth, STUMP.cost, STUMP.used_rules) == (2, 1, 1, (AGE,))
    assert STUMP.leaves == (NO, YES)


def test_single_leaf() -> None:
    tree = Tree((NO,), (0, 1), ())
    assert (tree.n_leaves, tree.depth, tree.cost, tree.used_rules) == (1, 0, 1, ())
    assert tree.predict(table(x=[1, 2, 3])).tolist() == [0, 0, 0]
    assert tree.predict_proba(table(x=[1])).tolist() == [[0.75, 0.25]]


def test_leaf_without_weight_answers_its_label() -> None:
    tree = Tree((Leaf(1, (Fraction(0), Fraction(0)), Fraction(0)),), (0, 1), ())
    assert tree.predict_proba(table(x=[1])).tolist() == [[0.0, 1.0]]


def test_random_trees_agree_with_walking_row_by_row() -> None:
    rng = random.Random(7)
    for case in range(150):
        tree = random_tree(rng, rng.randint(0, 30), shape=rng.choice(["any", "yes", "no", "zigzag"]))
        data = random_table(rng, rng.choice([0, 1, 40]))
        ends = [walk(tree, row) for row in rows_of(data)]
        assert tree.apply(data).tolist() == ends, case
        leaves = [tree.nodes[end] for end in ends]
        assert tree.predict(data).tolist() == [tree.classes[leaf.label] for leaf in leaves]
        shares = tree.predict_proba(data)
        assert shares.shape == (data.n_rows, len(tree.classes))
        expected = [[float(w / sum(leaf.class_weights)) for w in leaf.class_weights] for leaf in leaves]
        assert shares.tolist() == expected
        assert tree.n_leaves == len(tree.leaves)
        assert tree.cost == sum(leaf.cost for leaf in tree.leaves)


def test_used_rules_are_distinct_and_in_order() -> None:
    other = Rule("sex", "is_true")
    nodes = (Split(other, 1, 2), Split(AGE, 3, 4), Split(AGE, 5, 6), NO, YES, YES, NO)
    tree = Tree(nodes, (0, 1), ("age", "sex"))
    assert tree.used_rules == (other, AGE)
    assert tree.depth == 2
    assert tree.n_leaves == 4


def test_labels_keep_their_type() -> None:
    data = random_table(random.Random(1), 20)
    kinds = [random_tree(random.Random(1), 5, classes=classes).predict(data).dtype.kind for classes in CLASSES]
    assert kinds == ["i", "b", "U", "f"]


@pytest.mark.parametrize("side", ["yes", "no"])
def test_very_deep_chain(side: str) -> None:
    tree, data = long_chain(5000, side), chain_table(5000)
    assert tree.depth == 5000
    assert tree.n_leaves == 5001
    ends = [walk(tree, row) for row in rows_of(data)]
    assert tree.apply(data).tolist() == ends
    assert len(set(ends)) > 40
    assert tree.predict_proba(data).shape == (data.n_rows, 5)
    assert tree == long_chain(5000, side)
    assert hash(tree) == hash(long_chain(5000, side))
    assert len(tree.used_rules) == 5000


def test_large_input() -> None:
    tree = random_tree(random.Random(3), 9)
    rng = np.random.default_rng(3)
    n = 200_000
    columns = {name: rng.random(n) < 0.5 if name == COLUMNS[0] else rng.random(n) * 2 - 1 for name in COLUMNS}
    small = table(**{name: values[:500] for name, values in columns.items()})
    assert (tree.predict(table(**columns))[:500] == tree.predict(small)).all()


def test_column_order_and_further_columns_do_not_matter() -> None:
    data = table(extra=["a", "b"], sex=[1, 1], age=[10, 40])
    assert STUMP.predict(data).tolist() == ["no", "yes"]


def test_missing_column() -> None:
    with pytest.raises(InputError, match="no column 'age'"):
        STUMP.predict(table(sex=[1, 0]))


def test_text_where_numbers_belong() -> None:
    with pytest.raises(InputError, match="column 'age' holds text, but 'age <= 30' needs numbers"):
        STUMP.predict(table(age=np.array(["old", None], dtype=object)))
    assert STUMP.predict(table(age=np.array([None, None], dtype=object))).tolist() == ["yes", "yes"]


def test_immutable() -> None:
    with pytest.raises(FrozenInstanceError):
        STUMP.nodes = ()  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        NO.label = 1  # type: ignore[misc]


def test_plain() -> None:
    assert [type(plain(value)) for value in (np.int64(1), np.float64(1), np.bool_(1), np.str_("a"), 1)] == [
        int,
        float,
        bool,
        str,
        int,
    ]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((), "at least one node"),
        ((NO, YES), "node 1 of the tree has no parent"),
        ((Split(AGE, 1, 3), NO, YES), "node 0 of the tree has child 3; it must be a later node"),
        ((Split(AGE, 0, 1), NO), "node 0 of the tree has child 0"),
        ((Split(AGE, 1, -1), NO, YES), "node 0 of the tree has child -1"),
        ((Split(AGE, 1, 2), Split(AGE, 2, 3), NO, YES), "node 2 of the tree has two parents"),
        ((Split(AGE, 1, 1), NO), "node 1 of the tree has two parents"),
        ((Split(AGE, 2, 3), Split(AGE, 2, 3), NO, YES), "node 2 of the tree has two parents"),
        ((Split(AGE, True, 2), NO, YES), "node 0 of the tree has child True"),
        ((Split(AGE, 1, 2), NO, "leaf"), "node 2 of the tree must be a Split or a Leaf, got str"),
        ((replace(NO, label=2),), "node 0 of the tree has label 2; it must be an index below 2"),
        ((replace(NO, label=-1),), "label -1"),
        ((replace(NO, label=1.0),), "label 1.0"),
        ((replace(NO, class_weights=(Fraction(1),)),), "has 1 class weights for 2 classes"),
        ((replace(NO, class_weights=(Fraction(1), Fraction(-1))),), "not non-negative fractions"),
        ((replace(NO, class_weights=(1.0, 2.0)),), "not non-negative fractions"),
        ((replace(NO, cost=0.5),), "cost 0.5; it must be a fraction"),
        ((Split(Rule("size", "is_true"), 1, 2), NO, YES), "column 'size', which is not a column"),
        ((Split(Rule("age", "at_most", "30"), 1, 2), NO, YES), "kind 'at_most' with value '30'"),
        ((Split(Rule("age", "at_most", float("nan")), 1, 2), NO, YES), "kind 'at_most' with value nan"),
        ((Split(Rule("age", "equals"), 1, 2), NO, YES), "kind 'equals' with value None"),
        ((Split(Rule("age", "is_true", 1), 1, 2), NO, YES), "kind 'is_true' with value 1"),
        ((Split(Rule("age", "above", 1), 1, 2), NO, YES), "unknown kind 'above'"),  # type: ignore[arg-type]
    ],
)
def test_refused_nodes(nodes: tuple[Split | Leaf, ...], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        replace(STUMP, nodes=nodes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("classes", [(), (0, 0), (0, "a"), (0, True), (0.0, float("nan")), (None, 1), ([], 1)])
def test_refused_classes(classes: tuple[object, ...]) -> None:
    with pytest.raises(InputError, match="classes must be"):
        replace(STUMP, classes=classes)


def test_refused_columns() -> None:
    with pytest.raises(InputError, match="column name 'age' occurs more than once"):
        replace(STUMP, columns=("age", "sex", "age"))
    with pytest.raises(InputError, match="column names must be text"):
        replace(STUMP, columns=("age", 3))
