"""Why one row gets its label, and what would change it, held against trying everything."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from random_trees import COLOUR, COLOURS, COLUMN_KINDS, COLUMNS, COUNT, FLAG, MAYBE, SIZE, random_tree, walk

from dosdt import Binarizer, DOSDTClassifier, InputError, save_model
from dosdt.cli import main
from dosdt.explain import explain
from dosdt.frames import ColumnTable
from dosdt.regions import Region, region
from dosdt.rules import Rule
from dosdt.tree import Leaf, Tree


def domain(tree: Tree, gaps: bool) -> dict[str, list[Any]]:
    """Return, for every column, values of all kinds that the tree could tell apart."""
    cuts = sorted(rule.value for rule in tree.used_rules if rule.column == SIZE and rule.kind == "at_most")
    ends = [-9.0, *cuts, 9.0]
    sizes = [*cuts, *((low + high) / 2 for low, high in pairwise(ends))]
    values: dict[str, list[Any]] = {
        FLAG: [False, True],
        COUNT: list(range(-5, 6)),
        SIZE: sizes,
        COLOUR: [*COLOURS, "never seen"],
        MAYBE: [0.0, 1.0],
    }
    used = {rule.column for rule in tree.used_rules}
    # What no rule asks about need not be varied.
    return {
        name: [*several, None] if gaps and name in used else several if name in used else several[:1]
        for name, several in values.items()
    }


def table_of(row: dict[str, Any]) -> ColumnTable:
    arrays = []
    for name, value in row.items():
        if name == COLOUR:
            arrays.append(np.array([value], dtype=object))
        elif value is None:
            arrays.append(np.array([np.nan]))
        else:
            arrays.append(np.array([value]))
    return ColumnTable(tuple(row), tuple(arrays), 1)


@pytest.mark.parametrize("seed", range(150))
def test_no_fewer_changes_would_do_and_these_do(seed: int) -> None:
    rng = random.Random(seed)
    tree, gaps = random_tree(rng, rng.choice([1, 3, 5, 7])), seed % 3 > 0
    values = domain(tree, gaps)
    row = {name: rng.choice(values[name]) for name in COLUMNS}
    found = explain(tree, table_of(row), kinds=dict(zip(COLUMNS, COLUMN_KINDS, strict=True)), gaps=gaps)

    own = tree.nodes[walk(tree, row)]
    assert isinstance(own, Leaf)
    assert (found.leaf, found.label) == (walk(tree, row), tree.classes[own.label])
    assert sum(found.shares.values()) == 1
    assert all(row[condition.column] in condition for condition in found.conditions)

    fewest: dict[int, int] = {}
    for several in product(*values.values()):
        other = dict(zip(values, several, strict=True))
        end = walk(tree, other)
        leaf = tree.nodes[end]
        assert isinstance(leaf, Leaf)
        if leaf.label != own.label:
            changed = sum(other[name] is not row[name] and other[name] != row[name] for name in row)
            fewest[end] = min(fewest.get(end, len(row)), changed)
    assert {other.leaf: len(other.changes) for other in found.counterfactuals} == fewest
    assert [len(other.changes) for other in found.counterfactuals] == sorted(fewest.values())

    for other in found.counterfactuals:
        allowed = [[value for value in values[change.to.column] if value in change.to] for change in other.changes]
        assert all(allowed)
        for chosen in random.Random(seed).choices(list(product(*allowed)), k=20):
            names = [change.to.column for change in other.changes]
            assert walk(tree, row | dict(zip(names, chosen, strict=True))) == other.leaf
        for change in other.changes:
            assert change.value is row[change.to.column] or change.value == row[change.to.column]
            assert change.value not in change.to
    order = [(len(other.changes), other.distance) for other in found.counterfactuals]
    assert order == sorted(order)
    assert "\n" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def asked(*answers: tuple[str, Any, bool], **options: Any) -> Region | None:
    rules = [(Rule("age", kind, value), wanted) for kind, value, wanted in answers]  # type: ignore[arg-type]
    return region("age", rules, missing=options.pop("missing", False), flag=options.pop("flag", False), **options)


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([("at_most", 25, False), ("at_most", 40, True)], "age > 25 and age <= 40"),
        ([("at_most", 25, False), ("at_most", 30, False)], "age > 30"),
        ([("at_most", 25, True), ("at_most", 30, True), ("equals", 28, False)], "age <= 25"),
        ([("equals", "red", True), ("equals", "blue", False)], "age = red"),
        ([("equals", "red", False)], "age is not red"),
        ([("equals", "red", False), ("equals", "blue", False)], "age is neither red nor blue"),
        ([("is_missing", None, False)], "age is not missing"),
        ([("at_most", 25, False), ("at_most", 25, True)], None),
        ([("equals", "red", True), ("equals", "blue", True)], None),
        ([("is_missing", None, True)], None),
    ],
)
def test_words(answers: list[Any], words: str | None) -> None:
    found = asked(*answers)
    assert (found and str(found)) == words


def test_words_of_flags_and_gaps() -> None:
    assert str(asked(("is_true", None, True), flag=True)) == "age is true"
    assert str(asked(("is_true", None, False), flag=True)) == "age is false"
    assert str(asked(("is_true", None, False), ("is_missing", None, True), missing=True)) == "age is missing"
    assert asked(("is_true", None, True), missing=True) is None
    assert asked(("is_missing", None, False), missing=True) is None


def test_whole_numbers_have_neighbours() -> None:
    assert asked(("at_most", 2, False), ("at_most", 3, True), ("equals", 3, False), whole=True) is None
    assert asked(("at_most", 2, False), ("at_most", 3, True), ("equals", 3, False)) is not None
    four = asked(("at_most", 2, False), ("at_most", 4, True), ("equals", 3, False), whole=True)
    assert four is not None
    assert four.nearest(0) == 4
    assert four.distance(0) == 1
    assert four.distance(8) == Fraction(1, 2)


def test_distances_are_relative_and_exact() -> None:
    above = asked(("at_most", 25, False))
    assert above is not None
    assert above.distance(20) == Fraction(5, 25)
    assert above.distance(25) == 0  # as near as can be
    assert above.distance(26) == 0
    assert above.distance(-25) == 1
    assert above.distance(None) == 1


FRAME = pd.DataFrame(
    product([20, 22, 24, 30, 35, 40], ["red", "blue", "green"], [0, 1]), columns=["age", "colour", "tie"]
)
LABELS = ((FRAME.age > 25) & (FRAME.colour != "red")).map({True: "yes", False: "no"})


@pytest.fixture(scope="module")
def model() -> DOSDTClassifier:
    return DOSDTClassifier("0.01").fit(FRAME, LABELS)


def test_a_case_in_every_form(model: DOSDTClassifier) -> None:
    case = {"age": 31, "colour": "blue", "tie": 0}
    frame = pd.DataFrame([case])
    first = model.explain(case)
    assert first.label == "yes"
    assert set(first.rule.split(" and ")) == {"age > 27", "colour is not red"}
    assert [str(other) for other in first.counterfactuals] == [
        "age <= 27 instead of 31",
        "colour = red instead of blue",
    ]
    same = [frame, frame.iloc[0], model.to_model().explain(case), model.to_model().explain(frame)]
    for form in same[:2]:
        assert model.explain(form) == first
    assert same[2] == same[3] == first
    plain = DOSDTClassifier("0.01").fit(FRAME[["age", "tie"]].to_numpy(), LABELS)
    for form in ([31, 0], (31, 0), np.array([31, 0]), np.array([[31, 0]])):
        assert plain.explain(form).label == "yes"
    assert plain.tree_.explain(plain.binarizer_.check_columns([[31, 0]])).label == "yes"


def test_more_than_one_row_is_refused(model: DOSDTClassifier) -> None:
    with pytest.raises(InputError, match="one row is explained at a time, got 2"):
        model.explain(FRAME[:2])
    with pytest.raises(InputError, match="missing 'tie'"):
        model.explain({"age": 3, "colour": "red"})


def test_missing_values() -> None:
    frame = pd.DataFrame({"income": [1.0, 2.0, None, 8.0, 9.0, None] * 5})
    labels = ["low", "low", "none", "high", "high", "none"] * 5
    fitted = DOSDTClassifier("0.01", binarizer=Binarizer(missing="category")).fit(frame, labels)
    found = fitted.explain({"income": None})
    assert (found.label, found.rule) == ("none", "income is missing")
    assert {str(other) for other in found.counterfactuals} == {
        "income <= 5 instead of missing",
        "income > 5 instead of missing",
    }
    found = fitted.explain({"income": 2})
    assert {str(other) for other in found.counterfactuals} == {
        "income > 5 instead of 2",
        "income is missing instead of 2",
    }


def test_a_single_leaf_has_no_other_answer() -> None:
    fitted = DOSDTClassifier("0.4").fit(FRAME, LABELS)
    found = fitted.explain(FRAME[:1])
    assert (found.rule, found.counterfactuals) == ("always", ())
    assert "the same whatever changes" in str(found)


def test_a_transformer_that_is_not_ours() -> None:
    from sklearn.preprocessing import OneHotEncoder

    fitted = DOSDTClassifier("0.01", binarizer=OneHotEncoder(sparse_output=False)).fit(
        FRAME[["colour"]], FRAME.colour == "red"
    )
    assert fitted.explain(FRAME[["colour"]][:1]).rule == "colour_red is true"


class TestCommand:
    """``dosdt explain``."""

    @pytest.fixture
    def files(self, model: DOSDTClassifier, tmp_path: Path) -> tuple[str, str]:
        saved, data = tmp_path / "model.json", tmp_path / "rows.csv"
        save_model(model.to_model(), saved)
        FRAME.to_csv(data, index=False)
        return str(saved), str(data)

    def test_text_and_json(
        self, model: DOSDTClassifier, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        for row in (1, 5, len(FRAME)):
            expected = model.explain(FRAME[row - 1 : row])
            assert main(["explain", *files, "--row", str(row)]) == 0
            assert capsys.readouterr().out == str(expected)
            assert main(["explain", *files, "--row", str(row), "--json"]) == 0
            assert json.loads(capsys.readouterr().out) == expected.to_dict()

    @pytest.mark.parametrize("row", [0, 37, -1])
    def test_rows_that_are_not_there(
        self, files: tuple[str, str], row: int, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["explain", *files, "--row", str(row)]) == 2
        assert f"--row must be from 1 to 36, the number of rows, got {row}" in capsys.readouterr().err
