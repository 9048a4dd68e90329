"""Data sets: their sizes and classes, their rules checked again another way, and every way to get one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from http.client import IncompleteRead
from types import SimpleNamespace
from urllib.error import HTTPError, URLError

import pandas as pd
import pytest
import sklearn.datasets

from dosdt.datasets import DatasetInfo, available, load
from dosdt.errors import InputError

OFFLINE = {
    "tic-tac-toe": (958, 9, {"yes": 626, "no": 332}),
    "monk1": (432, 6, {0: 216, 1: 216}),
    "monk2": (432, 6, {0: 290, 1: 142}),
    "monk3": (432, 6, {0: 204, 1: 228}),
    "balance-scale": (625, 4, {"L": 288, "B": 49, "R": 288}),
    "breast-cancer": (569, 30, {"benign": 357, "malignant": 212}),
    "iris": (150, 4, {"setosa": 50, "versicolor": 50, "virginica": 50}),
    "wine": (178, 13, {"class_0": 59, "class_1": 71, "class_2": 48}),
}
FILES = {"compas": "compas-binary.csv", "fico": "fico_binary.csv", "car": "car-evaluation.csv"}


@pytest.fixture(autouse=True)
def _no_folder_no_network(monkeypatch):
    monkeypatch.delenv("DOSDT_DATA", raising=False)

    def fetch(**_options):
        raise AssertionError("a test reached for the network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DOSDT_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", OFFLINE)
def test_sizes_classes_and_listing_agree(name):
    rows, columns, classes = OFFLINE[name]
    data = load(name)
    assert data.X.shape == (rows, columns)
    assert len(data.y) == rows
    assert dict(Counter(data.y)) == classes
    assert data.X.index.equals(data.y.index)
    assert not data.X.duplicated().any() or name in {"iris"}
    assert data.y.name
    assert data.y.name not in data.X.columns
    info = next(info for info in available() if info.name == name)
    assert (info.rows, info.columns) == (rows, columns)
    assert (info.source, info.description) == (data.source, data.description)
    assert "\n" not in data.description


@pytest.mark.parametrize("name", ["tic-tac-toe", "monk2", "balance-scale"])
def test_generated_data_are_the_same_every_time(name):
    first, second = load(name), load(name)
    pd.testing.assert_frame_equal(first.X, second.X)
    pd.testing.assert_series_equal(first.y, second.y)
    assert first.source == "generated"


def test_generation_does_not_depend_on_hash_order():
    program = "from dosdt.datasets import load; d = load('tic-tac-toe'); print(d.X.to_csv(), d.y.to_csv())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_tic_tac_toe_boards_are_finished_games():
    data = load("tic-tac-toe")
    assert list(data.X.columns)[:3] == ["top-left", "top-middle", "top-right"]

    def lines(board, player):
        grid = [board[0:3], board[3:6], board[6:9]]
        columns = [[row[i] for row in grid] for i in range(3)]
        diagonals = [[grid[i][i] for i in range(3)], [grid[i][2 - i] for i in range(3)]]
        return [line for line in [*grid, *columns, *diagonals] if list(line) == [player] * 3]

    outcomes = Counter()
    for board, label in zip(data.X.itertuples(index=False, name=None), data.y, strict=True):
        assert set(board) <= {"x", "o", "b"}
        x_lines, o_lines = lines(board, "x"), lines(board, "o")
        extra = board.count("x") - board.count("o")
        # Only one side has a line, and the side that moved last is the one that has it.
        assert not (x_lines and o_lines)
        if x_lines:
            assert extra == 1
        elif o_lines:
            assert extra == 0
        else:
            assert extra == 1
            assert "b" not in board
        assert label == ("yes" if x_lines else "no")
        outcomes["x" if x_lines else "o" if o_lines else "draw"] += 1
    assert outcomes == {"x": 626, "o": 316, "draw": 16}


def test_monk_rules_by_attribute_numbers():
    codes = {
        "head_shape": ["round", "square", "octagon"],
        "body_shape": ["round", "square", "octagon"],
        "is_smiling": ["yes", "no"],
        "holding": ["sword", "balloon", "flag"],
        "jacket_color": ["red", "yellow", "green", "blue"],
        "has_tie": ["yes", "no"],
    }
    rules = {
        "monk1": lambda a: a[1] == a[2] or a[5] == 1,
        "monk2": lambda a: [a[i] for i in range(1, 7)].count(1) == 2,
        "monk3": lambda a: (a[5] == 3 and a[4] == 1) or (a[5] != 4 and a[2] != 3),
    }
    for name, rule in rules.items():
        data = load(name)
        assert list(data.X.columns) == list(codes)
        for row, label in zip(data.X.to_dict("records"), data.y, strict=True):
            a = {i: codes[column].index(row[column]) + 1 for i, column in enumerate(codes, start=1)}
            assert label == int(rule(a))


def test_balance_scale_follows_the_torque_and_stays_numeric():
    data = load("balance-scale")
    assert all(dtype.kind == "i" for dtype in data.X.dtypes)
    torque = data.X["left-weight"] * data.X["left-distance"] - data.X["right-weight"] * data.X["right-distance"]
    assert (data.y == torque.map(lambda t: "L" if t > 0 else "R" if t < 0 else "B")).all()


@pytest.mark.parametrize("name", FILES)
def test_named_files_come_from_the_folder(folder, name):
    (folder / FILES[name]).write_text("a;b;label\n1;0;1\n0;1;0\n1;1;1\n")
    data = load(name)
    assert data.source == "DOSDT_DATA"
    assert list(data.X.columns) == ["a", "b"]
    assert data.X.to_numpy().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert data.y.name == "label"
    assert data.y.tolist() == [1, 0, 1]
    info = next(info for info in available() if info.name == name)
    assert (info.rows, info.columns, info.source) == (None, None, "DOSDT_DATA")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named_and_nothing_is_downloaded(folder, name):
    with pytest.raises(InputError) as caught:
        load(name)
    assert FILES[name] in str(caught.value)
    assert str(folder) in str(caught.value)


def test_other_files_in_the_folder_load_by_stem(folder):
    (folder / "monk1-train.csv").write_text("a1_1;class_1\n1;1\n0;0\n")
    (folder / "coloured.tsv").write_text("colour\tsize\tok\nred\t1.5\tyes\nblue\t2\tno\n")
    (folder / "README.md").write_text("not a table")
    (folder / "iris.csv").write_text("a;b\n1;2\n3;4\n")
    names = [info.name for info in available()]
    assert len(names) == len(set(names))
    assert {"monk1-train", "coloured"} <= set(names)
    assert "README" not in names
    assert load("monk1-train").y.tolist() == [1, 0]
    coloured = load("coloured")
    assert coloured.X["colour"].tolist() == ["red", "blue"]
    assert coloured.X["size"].tolist() == [1.5, 2.0]
    assert coloured.y.name == "ok"
    assert len(load("iris").X) == 150  # a built-in name always means the built-in data


def test_one_stem_with_two_files_means_the_csv(folder):
    (folder / "twice.tsv").write_text("a\tlabel\n1\t1\n")
    (folder / "twice.csv").write_text("b,label\n1,1\n0,0\n")
    assert list(load("twice").X.columns) == ["b"]


def test_names_cannot_leave_the_folder(folder):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "secret.csv").write_text("a;b\n1;2\n3;4\n")
    for name in ("inner/secret", "../secret", "inner", str(inner / "secret")):
        with pytest.raises(InputError, match="unknown data set"):
            load(name)


def test_a_folder_that_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("DOSDT_DATA", str(tmp_path / "absent"))
    for name in ("compas", "my-table"):
        with pytest.raises(InputError, match=r"DOSDT_DATA is .*absent.* not a folder"):
            load(name)
    assert len(load("iris").X) == 150
    assert {info.name for info in available()} == {*OFFLINE, *FILES}


def test_an_empty_variable_means_no_folder(monkeypatch):
    monkeypatch.setenv("DOSDT_DATA", "")
    assert next(info for info in available() if info.name == "car").source == "openml"


def test_listing_neither_loads_nor_downloads():
    infos = available()  # the fixture makes fetch_openml fail
    assert [info.name for info in infos] == [*OFFLINE, *FILES]
    assert all(isinstance(info, DatasetInfo) and info.description for info in infos)
    assert {info.source for info in infos} == {"generated", "scikit-learn", "openml"}
    program = (
        "import sys; from dosdt.datasets import available; available();"
        "print([m for m in ('pandas', 'sklearn', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "error",
    [
        URLError("Name or service not known"),
        HTTPError("https://www.openml.org", 503, "Service Unavailable", None, None),
        TimeoutError(),
        ConnectionResetError("reset\nby peer"),
        IncompleteRead(b""),
        ValueError("md5 checksum does not match"),
    ],
)
def test_offline_is_one_line_that_says_what_to_do(monkeypatch, name, error):
    def fetch(**_options):
        raise error

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    with pytest.raises(InputError) as caught:
        load(name)
    message = str(caught.value)
    assert "\n" not in message
    for part in (repr(name), "network", "DOSDT_DATA", FILES[name]):
        assert part in message


def test_openml_categories_become_numbers_or_text(monkeypatch):
    asked = {}

    def fetch(**options):
        asked.update(options)
        X = pd.DataFrame(
            {
                "doors": pd.Categorical(["2", "5more", "3"]),
                "sex": pd.Categorical(["0", "1", "1"]),
                "age": [20.5, 30.0, 41.0],
            }
        )
        return SimpleNamespace(data=X, target=pd.Series(pd.Categorical(["1", "0", "1"]), name="recid"))

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    data = load("compas")
    assert asked["data_id"] == 42193
    assert data.source == "openml"
    assert data.X["doors"].tolist() == ["2", "5more", "3"]
    assert data.X["sex"].tolist() == [0, 1, 1]
    assert data.X["age"].tolist() == [20.5, 30.0, 41.0]
    assert (data.y.name, data.y.tolist()) == ("recid", [1, 0, 1])
    assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in data.X.dtypes)


@pytest.mark.parametrize(
    ("name", "near"),
    [("irs", "iris"), ("tic_tac_toe", "tic-tac-toe"), ("MONK1", "monk1"), ("compass", "compas")],
)
def test_unknown_names_get_close_matches_and_the_list(name, near):
    with pytest.raises(InputError) as caught:
        load(name)
    message = str(caught.value)
    assert f"did you mean {near}" in message
    assert "\n" not in message
    for known in (*OFFLINE, *FILES):
        assert known in message


def test_a_name_like_nothing_gets_the_list(folder):
    (folder / "my-table.csv").write_text("a;b\n1;2\n3;4\n")
    with pytest.raises(InputError) as caught:
        load("zzzzzz")
    assert "did you mean" not in str(caught.value)
    assert "my-table" in str(caught.value)
