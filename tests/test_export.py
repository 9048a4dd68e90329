"""Exports: the Python and SQL ones must predict what the tree predicts; the drawings must read well."""

from __future__ import annotations

import random
import re
import sqlite3
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_trees import CLASSES, COLUMNS, chain_table, long_chain, random_table, random_tree, rows_of

from dosdt.errors import InputError
from dosdt.export import MAX_NESTING, MAX_SQL_NESTING, to_dot, to_python, to_sql, to_text
from dosdt.frames import ColumnTable
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree

SHAPES = ["any", "yes", "no", "zigzag"]


def leaf(label: int, *weights: float) -> Leaf:
    exact = tuple(Fraction(weight) for weight in weights)
    return Leaf(label, exact, sum(exact, Fraction(0)) - exact[label])


SMALL = Tree(
    (
        Split(Rule("age", "at_most", 25.5), 1, 2),
        Split(Rule("colour", "equals", "red"), 3, 4),
        leaf(1, 118, 412),
        leaf(0, 30, 0),
        leaf(1, 2.5, 1000),
    ),
    ("stays", "leaves"),
    ("age", "colour"),
)


def run_sql(expression: str, table: ColumnTable) -> list[Any]:
    """Evaluate the expression on the table's rows in SQLite, where NaN and None are NULL."""
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in table.names)
    database = sqlite3.connect(":memory:")
    try:
        # Without types, SQLite leaves the values as they are.
        database.execute(f"CREATE TABLE data ({names})")
        places = ", ".join("?" * len(table.names))
        rows = [tuple(row.values()) for row in rows_of(table)]
        database.executemany(f"INSERT INTO data VALUES ({places})", rows)
        return [row[0] for row in database.execute(f"SELECT {expression} FROM data ORDER BY rowid")]
    finally:
        database.close()


def run_python(source: str, table: ColumnTable, name: str = "predict") -> list[Any]:
    scope: dict[str, Any] = {}
    exec(compile(source, "exported", "exec"), scope)
    return [scope[name](row) for row in rows_of(table)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("classes", CLASSES, ids=["int", "bool", "text", "float"])
def test_python_and_sql_predict_what_the_tree_predicts(shape: str, classes: tuple[Any, ...]) -> None:
    rng = random.Random(f"{shape} {classes}")
    for n_splits in [
        0,
        1,
        2,
        3,
        5,
        8,
        MAX_SQL_NESTING,
        MAX_SQL_NESTING + 1,
        MAX_NESTING,
        MAX_NESTING + 1,
        60,
    ]:
        tree = random_tree(rng, n_splits, shape=shape, classes=classes)
        table = random_table(rng, 60)
        expected = tree.predict(table).tolist()
        source = to_python(tree)
        answers = run_python(source, table)
        assert answers == expected
        assert {type(answer) for answer in answers} == {type(classes[0])}
        assert run_sql(to_sql(tree), table) == expected
        assert run_sql(to_sql(tree, column_alias=None), table) == expected
        assert "dosdt" not in source
        assert "import" not in source


def test_both_forms_are_exercised() -> None:
    rng = random.Random(1)
    flat = random_tree(rng, MAX_NESTING + 1, shape="no")
    nested = random_tree(rng, MAX_NESTING, shape="no")
    assert "else:" in to_python(nested)
    assert "else:" not in to_python(flat)
    assert to_sql(flat).count("CASE") == 1
    assert to_sql(random_tree(rng, MAX_SQL_NESTING, shape="no")).count("CASE WHEN") == MAX_SQL_NESTING


@pytest.mark.parametrize("side", ["yes", "no", "zigzag"])
def test_flat_forms_of_a_chain_test_one_condition_a_leaf(side: str) -> None:
    tree = long_chain(200, side)
    assert " AND " not in to_sql(tree)
    assert to_python(tree).count("value :=") == 200


@pytest.mark.parametrize("side", ["yes", "no", "zigzag"])
def test_very_deep_trees(side: str) -> None:
    tree, table = long_chain(5000, side), chain_table(5000)
    expected = tree.predict(table).tolist()
    if side != "zigzag":
        assert len(set(expected)) == 5
    source, sql = to_python(tree), to_sql(tree)
    assert run_python(source, table) == expected
    assert run_sql(sql, table) == expected
    text, dot = to_text(tree), to_dot(tree)
    assert len(re.findall("predict", text)) == 5001
    assert len(re.findall("->", dot)) == 10_000
    assert len(text) < 2_000_000


def test_flat_forms_grow_slowly_on_bushy_deep_trees() -> None:
    tree = random_tree(random.Random(2), 3000)
    assert tree.depth > MAX_NESTING
    assert to_sql(tree).count(" AND ") < 3001 * np.log2(3001)
    table = random_table(random.Random(3), 50)
    assert run_sql(to_sql(tree), table) == tree.predict(table).tolist()
    assert run_python(to_python(tree), table) == tree.predict(table).tolist()


def test_text() -> None:
    assert to_text(SMALL) == (
        "age <= 25.5\n"
        "├─ yes: colour = red\n"
        "│  ├─ yes: predict stays   (30 of 30, 100 %)\n"
        "│  └─ no: predict leaves   (1000 of 1002.5, >99 %)\n"
        "└─ no: predict leaves   (412 of 530, 78 %)\n"
    )


def test_text_with_objective() -> None:
    last = to_text(SMALL, regularization=Fraction(1, 200)).splitlines()[-1]
    assert last == "objective 0.09212 = loss 120.5/1562.5 + 3 leaves × 0.005"
    one = Tree((leaf(0, 3, 1),), (0, 1), ())
    assert to_text(one, regularization=Fraction(1, 3)) == (
        "predict 0   (3 of 4, 75 %)\n\nobjective 0.583333 = loss 1/4 + 1 leaf × 0.333333\n"
    )


def test_text_of_odd_weights() -> None:
    def drawn(node: Leaf) -> str:
        return to_text(Tree((node,), ("a", "b"), ())).strip()

    assert drawn(leaf(0, 1, 999)) == "predict a   (1 of 1000, <1 %)"
    assert drawn(leaf(0, 0, 5)) == "predict a   (0 of 5, 0 %)"
    assert drawn(leaf(0, 0, 0)) == "predict a   (0 of 0, 100 %)"
    huge = Leaf(0, (Fraction(10**400, 3), Fraction(0)), Fraction(0))
    assert drawn(huge) == "predict a   (3.33333e+399 of 3.33333e+399, 100 %)"


def test_text_goes_on_below_when_deep() -> None:
    lines = to_text(random_tree(random.Random(4), 2 * MAX_NESTING + 5, shape="no")).splitlines()
    assert lines[2 * MAX_NESTING].endswith("└─ no: see (1) below")
    assert lines[2 * MAX_NESTING + 1 : 2 * MAX_NESTING + 3] == ["", "(1)"]
    assert sum(line.endswith("see (2) below") for line in lines) == 1


def test_text_has_one_line_per_node() -> None:
    rng = random.Random(6)
    for _ in range(30):
        tree = random_tree(rng, rng.randint(0, 12))
        assert len(to_text(tree).splitlines()) == len(tree.nodes)


def test_dot_escapes() -> None:
    rule = Rule('a "b"\\c\nd\te &amp; f', "equals", 'x"')
    tree = Tree((Split(rule, 1, 2), leaf(0, 1, 0), leaf(1, 0, 1)), ("\\N", "é"), (rule.column,))
    dot = to_dot(tree)
    assert 'n0 [label="a \\"b\\"\\\\c\\nd\\\\te &amp;amp; f = x\\""];' in dot
    assert 'n1 [label="\\\\N\\n1 of 1, 100 %"' in dot
    assert 'n2 [label="é\\n1 of 1, 100 %"' in dot
    assert 'n0 -> n1 [label="yes"];' in dot
    assert 'n0 -> n2 [label="no"];' in dot


def test_dot_is_well_formed() -> None:
    # Every line is one statement whose quoted strings close: what a broken escape would spoil.
    value = r'(?:"(?:[^"\\\n]|\\.)*"|\w+)'
    attributes = rf"\[\w+={value}(?:, \w+={value})*\]"
    statement = re.compile(rf"  (?:n\d+(?: -> n\d+)?|node|edge) {attributes};")
    rng = random.Random(8)
    for _ in range(30):
        lines = to_dot(random_tree(rng, rng.randint(0, 10))).splitlines()
        assert lines[0] == "digraph tree {"
        assert lines[-1] == "}"
        assert all(statement.fullmatch(line) for line in lines[1:-1])


def test_python_source() -> None:
    assert to_python(SMALL, name="churn").splitlines()[2:] == [
        "    if (value := row.get('age')) is not None and value <= 25.5:",
        "        if row.get('colour') == 'red':",
        "            return 'stays'  # 30 of 30, 100 %",
        "        else:",
        "            return 'leaves'  # 1000 of 1002.5, >99 %",
        "    else:",
        "        return 'leaves'  # 412 of 530, 78 %",
    ]
    assert run_python(to_python(SMALL, name="churn"), random_table(random.Random(1), 3), "churn") == ["leaves"] * 3


def test_python_takes_absent_columns_as_missing() -> None:
    tree = Tree((Split(Rule("a", "is_missing"), 1, 2), leaf(0, 1, 0), leaf(1, 0, 1)), ("gone", "there"), ("a",))
    scope: dict[str, Any] = {}
    exec(to_python(tree), scope)
    rows: list[dict[str, Any]] = [{}, {"a": None}, {"a": float("nan")}, {"a": np.nan}, {"a": 0}, {"a": ""}]
    assert [scope["predict"](row) for row in rows] == ["gone"] * 4 + ["there"] * 2


@pytest.mark.parametrize("name", ["", "class", "a b", "1st", "f():\n    pass\ndef g"])
def test_python_refuses_bad_names(name: str) -> None:
    with pytest.raises(InputError, match="function name"):
        to_python(SMALL, name=name)


def test_sql_source() -> None:
    assert to_sql(SMALL).splitlines() == [
        'CASE WHEN "age" <= 25.5 THEN',
        "    CASE WHEN \"colour\" = 'red' THEN",
        "        'stays'",
        "    ELSE",
        "        'leaves'",
        "    END",
        "ELSE",
        "    'leaves'",
        'END AS "prediction"',
    ]
    assert to_sql(SMALL, column_alias='my "x"').endswith('END AS "my ""x"""')
    assert not to_sql(SMALL, column_alias=None).endswith('"')


def test_sql_alias_is_the_name_of_the_result() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (age, colour)")
    cursor = database.execute(f"SELECT {to_sql(SMALL, column_alias='say ' + chr(34))} FROM data")
    assert cursor.description[0][0] == 'say "'
    database.close()


@pytest.mark.parametrize("bad", ["zero\0byte", "\ud800"])
def test_sql_refuses_what_it_cannot_say(bad: str) -> None:
    with pytest.raises(InputError, match="SQL cannot express"):
        to_sql(replace(SMALL, classes=("a", bad)))


def test_numpy_scalars() -> None:
    rule = Rule("x", "at_most", np.float64(0.5))
    nodes = (Split(rule, 1, 2), leaf(0, 1, 0), leaf(1, 0, 1))
    tree = Tree(nodes, (np.int64(3), np.int64(4)), ("x",))
    assert "np." not in to_python(tree) + to_sql(tree) + to_text(tree) + to_dot(tree)
    words = Tree(nodes, (np.str_("a"), np.str_("b")), ("x",))
    assert "np." not in to_python(words) + to_sql(words) + to_text(words) + to_dot(words)


def test_columns_nobody_asks_about_do_not_appear() -> None:
    tree = Tree((leaf(0, 1, 0),), (0, 1), COLUMNS)
    assert to_sql(tree) == '0 AS "prediction"'
    assert run_python(to_python(tree), random_table(random.Random(1), 3)) == [0, 0, 0]
