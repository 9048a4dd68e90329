"""Model files: what goes in comes out, and anything else is refused in one line."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_trees import COLUMN_KINDS, long_chain, random_tree

from dosdt.errors import InputError
from dosdt.model_file import Model, load_model, model_from_dict, model_to_dict, save_model
from dosdt.rules import Rule
from dosdt.search_record import MOST_STEPS, SearchRecord, Step, steps
from dosdt.tree import Leaf, Split, Tree

RECORD = SearchRecord(
    rows=6907,
    distinct_rows=123,
    features=12,
    evaluated=0,
    workers=2,
    seconds=0.125,
    weighted=False,
    costs=True,
    trace=(Step(0.01, Fraction(1, 2), Fraction(1, 200)), Step(0.1, Fraction(98347, 276280), Fraction(1, 3))),
)


def model_of(tree: Tree, **changes: Any) -> Model:
    fields: dict[str, Any] = {
        "tree": tree,
        "target": 'the "class"\n',
        "kinds": COLUMN_KINDS,
        "missing": "category",
        "regularization": Fraction(1, 200),
        "objective": Fraction(98347, 276280),
        "lower_bound": Fraction(1, 3),
        "status": "time_limit",
        "training_weight": Fraction(6907),
        "algorithm": "leafset",
        "search": RECORD,
    }
    return Model(**(fields | changes))


MODEL = model_of(random_tree(random.Random(5), 6, classes=("a", "b")))


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as error:
        load_model(path)
    message = str(error.value)
    assert "\n" not in message
    assert len(message) < 400
    assert path.name in message
    return message


def test_round_trip_of_random_trees(tmp_path: Path) -> None:
    rng = random.Random(11)
    for _ in range(40):
        model = model_of(random_tree(rng, rng.randint(0, 20)))
        save_model(model, tmp_path / "model.json")
        loaded = load_model(tmp_path / "model.json")
        assert loaded == model
        assert [type(label) for label in loaded.tree.classes] == [type(label) for label in model.tree.classes]
        assert model_from_dict(model_to_dict(model)) == model
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]


def test_round_trip_of_a_very_deep_tree(tmp_path: Path) -> None:
    model = model_of(long_chain(5000, "zigzag"))
    save_model(model, tmp_path / "deep.json")
    assert load_model(tmp_path / "deep.json") == model


@pytest.mark.parametrize("classes", [(False, True), (0, 10**30), (0.1, 1.0), ("1", "\ud800"), ("", " ")])
def test_labels_keep_their_type(tmp_path: Path, classes: tuple[Any, ...]) -> None:
    save_model(model_of(replace(MODEL.tree, classes=classes), target=None), tmp_path / "m")
    loaded = load_model(str(tmp_path / "m"))
    assert loaded.target is None
    assert loaded.tree.classes == classes
    assert [type(label) for label in loaded.tree.classes] == [type(label) for label in classes]


def test_numpy_scalars_are_saved_as_plain_values(tmp_path: Path) -> None:
    leaf = Leaf(0, (Fraction(1), Fraction(2)), Fraction(2))
    split = Split(Rule("x", "at_most", np.float64(0.5)), 1, 2)
    tree = Tree((split, leaf, leaf), (np.int64(3), np.int64(4)), ("x",))
    save_model(model_of(tree, kinds=("float",)), tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.tree == tree
    assert type(loaded.tree.classes[0]) is int


def test_the_file_is_readable_json_with_a_schema(tmp_path: Path) -> None:
    save_model(MODEL, tmp_path / "m")
    data = json.loads((tmp_path / "m").read_text(encoding="utf-8"))
    assert data["schema"] == 2
    assert data["format"] == "dosdt-model"
    assert data["objective"] == "98347/276280"
    assert len(data["nodes"]) == len(MODEL.tree.nodes)


def test_unwritable(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        save_model(MODEL, tmp_path / "nowhere" / "m.json")
    with pytest.raises(InputError, match="cannot write"):
        save_model(replace(MODEL, training_weight=Fraction(10**5000)), tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_unreadable(tmp_path: Path) -> None:
    assert "there is no model file" in refusal(tmp_path / "absent.json")
    assert "cannot read model file" in refusal(tmp_path)
    with pytest.raises(InputError, match="cannot read model file"):
        load_model("zero\0byte")


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    save_model(MODEL, path)
    whole = path.read_bytes().rstrip()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        message = refusal(path)
        assert "cut off" in message or (length == 0 and "empty" in message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b"x,y\n1,2\n", "it is not JSON"),
        (b"\x80\x04\x95pickle", "it is not JSON"),
        (bytes(range(256)), "it is not JSON"),
        (b"[1, 2]", "not a dosdt model"),
        (b"{}", "not a dosdt model"),
        (b"null", "not a dosdt model"),
        (b'{"format": "other"}', "not a dosdt model"),
        (b'{"format": ["dosdt-model"]}', "not a dosdt model"),
        (b'{"format": "dosdt-model"}', "field 'schema' is missing"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b"[" * 200_000 + b"]" * 200_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "a number too long to read"),
        (b'{"a": NaN}', "it holds NaN"),
        (b'{"a": -Infinity}', "it holds -Infinity"),
        (b'{"a": 1e999}', "it holds the number '1e999', which is too large"),
        (b'{"format": "dosdt-model", "schema": 7}', r"newer dosdt \(schema 7, this one reads up to 2\)"),
        (b'{"format": "dosdt-model", "schema": ' + b"9" * 4000 + b"}", "newer dosdt"),
    ],
)
def test_refused_content(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_model(path)
    refusal(path)


def edit(path: list[str | int], value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


FIELDS = [key for key in model_to_dict(MODEL) if key != "format"]
LEAF = next(i for i, node in enumerate(MODEL.tree.nodes) if isinstance(node, Leaf))


@pytest.mark.parametrize("field", FIELDS)
def test_every_field_is_needed_and_typed(field: str) -> None:
    data = model_to_dict(MODEL)
    del data[field]
    with pytest.raises(InputError, match=f"field '{field}' is missing"):
        model_from_dict(data)
    for value in (True, 1.5, {"a": 1}, [None], [[]]):
        with pytest.raises(InputError, match=f"field '{field}"):
            model_from_dict(model_to_dict(MODEL) | {field: value})


@pytest.mark.parametrize("key", ["label", "class_weights", "cost", "rule", "yes", "no"])
def test_every_node_field_is_needed_and_typed(key: str) -> None:
    index = 0 if key in ("rule", "yes", "no") else LEAF
    for value in (None, True, 1.5, "x", {}, [None], 10**9, -1):
        data = model_to_dict(MODEL)
        data["nodes"][index][key] = value
        with pytest.raises(InputError, match=rf"nodes\[{index}\]|node {index}|class weights"):
            model_from_dict(data)
    data = model_to_dict(MODEL)
    del data["nodes"][index][key]
    with pytest.raises(InputError, match=rf"field 'nodes\[{index}\]\.\w+' is missing"):
        model_from_dict(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["schema"], 3, "newer dosdt"),
        (["schema"], 1, r"older dosdt \(schema 1, not 2\); fit it again"),
        (["search"], [], "field 'search' must be an object, got a list"),
        (["search", "rows"], 0, "field 'search.rows' must be 1 or more, got 0"),
        (["search", "features"], 1.5, "field 'search.features' must be a whole number"),
        (["search", "weighted"], 1, "field 'search.weighted' must be true or false"),
        (["search", "seconds"], -1, "field 'search.seconds' must be a number of seconds"),
        (["search", "trace", 1], [0.1, "1/2"], r"field 'search.trace\[1\]' must be a list of seconds, "),
        (["search", "trace", 0, 0], True, r"field 'search.trace\[0\]' must be a number of seconds"),
        (["search", "trace", 0, 2], "0.5", r"field 'search.trace\[0\]' must be a fraction"),
        (["objective"], "1/0", "field 'objective' must be a fraction"),
        (["objective"], "0.5", "field 'objective' must be a fraction"),
        (["objective"], "1e999999999/1", "field 'objective' must be a fraction"),
        (["objective"], "1/" + "9" * 10_000, "field 'objective' must be a fraction"),
        (["objective"], "１/２", "field 'objective' must be a fraction"),
        (["objective"], "1/3\n", "field 'objective' must be a fraction"),
        (["lower_bound"], "1/2", "field 'lower_bound' must be at most the objective"),
        (["regularization"], "-1/2", "field 'regularization' must be at least 0"),
        (["training_weight"], "0/1", "field 'training_weight' must be positive"),
        (["missing"], "maybe", "field 'missing' must be one of error, category, got 'maybe'"),
        (["kinds"], ["int"], "field 'kinds' must be a list of 5"),
        (["kinds", 0], "date", "field 'kinds' must be one of bool, int, float, text"),
        (["classes", 1], None, r"field 'classes\[1\]' must be text, a number or a boolean"),
        (["classes", 1], 3, "classes must be all text"),
        (["columns", 1], 3, r"field 'columns\[1\]' must be text"),
        (["columns", 1], "größe µ", "column name 'größe µ' occurs more than once"),
        (["nodes"], [], "at least one node"),
        (["nodes", 0], [], r"field 'nodes\[0\]' must be an object, got a list"),
        (["nodes", 0, "rule", "kind"], "above", r"field 'nodes\[0\].rule.kind' must be one of is_true, "),
        (["nodes", 0, "rule", "kind"], [], r"field 'nodes\[0\].rule.kind' must be text"),
        (["nodes", 0, "rule", "value"], [], r"field 'nodes\[0\].rule.value' must be text"),
        (["nodes", 0, "rule", "column"], "weight", "column 'weight', which is not a column"),
        (["nodes", 0, "yes"], 0, "node 0 of the tree has child 0"),
        (["nodes", LEAF, "label"], 2, f"node {LEAF} of the tree has label 2"),
        (["nodes", LEAF, "class_weights"], ["1/1"], "has 1 class weights for 2 classes"),
        (["nodes", LEAF, "class_weights", 1], "-1/1", "not non-negative"),
        (["nodes", LEAF, "cost"], 3, r"field 'nodes\[\d+\].cost' must be a fraction such as"),
    ],
)
def test_refused_values(tmp_path: Path, path: list[str | int], value: Any, message: str) -> None:
    data = model_to_dict(MODEL)
    edit(path, value)(data)
    with pytest.raises(InputError, match=message):
        model_from_dict(data)
    (tmp_path / "m.json").write_text(json.dumps(data), encoding="utf-8")
    refusal(tmp_path / "m.json")


def test_thresholds_on_text_are_refused() -> None:
    leaf = Leaf(0, (Fraction(1), Fraction(0)), Fraction(0))
    tree = Tree((Split(Rule("x", "at_most", 1), 1, 2), leaf, leaf), (0, 1), ("x",))
    with pytest.raises(InputError, match="field 'kinds' must be int or float for column 'x'"):
        model_of(tree, kinds=("text",))


def test_unknown_fields_are_ignored() -> None:
    assert model_from_dict(model_to_dict(MODEL) | {"note": "kept by hand"}) == MODEL


def test_a_model_need_not_say_how_it_was_found() -> None:
    model = replace(MODEL, search=None)
    assert model_from_dict(model_to_dict(model)) == model
    data = model_to_dict(model)
    del data["search"]
    with pytest.raises(InputError, match="field 'search' is missing"):
        model_from_dict(data)


def test_a_trace_keeps_what_changed() -> None:
    half, third, quarter = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    points = [Step(0.1, half, quarter), Step(0.2, half, quarter), Step(0.3, half, third), Step(0.4, half, third)]
    assert steps(points) == (points[0], points[2], points[3])
    assert steps([]) == ()
    many = [Step(float(k), half, Fraction(k, 10**4)) for k in range(3000)]
    kept = steps(many)
    assert len(kept) == MOST_STEPS
    assert (kept[0], kept[-1]) == (many[0], many[-1])
    assert list(kept) == sorted(kept)
