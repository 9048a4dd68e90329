"""The `dosdt` command, from its arguments to its exit code."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import dosdt
from dosdt import DOSDTClassifier, datasets, load_model
from dosdt.cli import main
from dosdt.options import in_flags
from dosdt.present import FORMATS, accuracy, percent

ROOT = Path(dosdt.__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}

# Class 1 where a <= 2 and colour is red; the two features that matter, one that does not, and weights.
ROWS = [(a, c, k) for a in (1, 2, 3, 4) for c in ("red", "blue") for k in (0, 1)]
TOY = "a,colour,noise,label\n" + "".join(f"{a},{c},{k},{int(a <= 2 and c == 'red')}\n" for a, c, k in ROWS)


class Run(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Run:
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Run(code, *self._capsys.readouterr())

    def result(self, *arguments: object) -> dict[str, Any]:
        run = self("fit", *arguments, "--json")
        assert (run.code, run.err) == (0, "")
        value = json.loads(run.out)
        assert isinstance(value, dict)
        return value

    def refusal(self, *arguments: object) -> str:
        """Return what the command says about bad input; that it says it properly is checked here."""
        run = self(*arguments)
        assert run.code == 2
        assert run.out == ""
        assert run.err.startswith("dosdt: error: ")
        assert run.err.endswith("\n")
        assert len(run.err.splitlines()) == 1
        return run.err


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(capsys)


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    path = tmp_path / "toy.csv"
    path.write_text(TOY)
    return path


@pytest.fixture
def model(shell: Shell, toy: Path) -> Path:
    path = toy.with_name("model.json")
    assert shell("fit", toy, "--model", path).code == 0
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def process(*arguments: object, program: tuple[str, ...] = ("-m", "dosdt"), **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, *program, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, encoding="utf-8", env=ENVIRONMENT, **(pipes | options))


def hard_csv(folder: Path) -> Path:
    """Write a table whose proof takes far longer than any test."""
    rng = np.random.default_rng(7)
    table = pd.DataFrame(rng.integers(0, 2, (400, 26)), columns=[f"f{j}" for j in range(25)] + ["label"])
    path = folder / "hard.csv"
    table.to_csv(path, index=False)
    return path


# Results


def test_fit_tells_people(shell: Shell, toy: Path) -> None:
    run = shell("fit", toy)
    assert run.code == 0
    assert run.err.startswith("16 rows, 16 distinct, 5 yes/no features, 2 classes, regularization 1/100\n")
    lines = dict(line.split(maxsplit=1) for line in run.out.split("\n\n")[0].splitlines())
    assert lines["status"].startswith("optimal")
    assert lines["objective"] == "0.03 = 3/100"
    assert lines["errors"] == "0 of 16 (0 %)"
    assert lines["leaves"] == "3 (depth 2)"
    assert "lower" not in lines
    assert "colour = red" in run.out
    assert "a <= 2" in run.out


def test_fit_tells_programs(shell: Shell, toy: Path) -> None:
    result = shell.result(toy, "--regularization", "0.03")
    expected = {
        "status": "optimal",
        "objective": "9/100",
        "lower_bound": "9/100",
        "objective_float": 0.09,
        "errors": 0,
        "leaves": 3,
        "depth": 2,
        "algorithm": "subproblem",
        "regularization": "3/100",
        "gap": 0.0,
        "rows": 16,
    }
    assert {key: result[key] for key in expected} == expected
    assert isinstance(result["evaluated"], int)
    assert result["seconds"] >= 0


def test_regularization_is_taken_as_it_is_typed(shell: Shell, toy: Path) -> None:
    # As a float this decimal would lose its last digits.
    result = shell.result(toy, "--regularization", "0.010000000000000000000001")
    assert Fraction(result["regularization"]) == Fraction(1, 100) + Fraction(1, 10**24)
    assert shell.result(toy, "--regularization", "1/30")["regularization"] == "1/30"


@pytest.mark.parametrize(
    "options",
    [
        ["--cold-start"],
        ["--policy", "lifo"],
        ["--without", "similarity", "--without", "cache"],
        ["--algorithm", "leafset"],
        ["--thresholds", "reference"],
        ["--max-thresholds", "3"],
        ["--memory-limit", "100G", "--time-limit", "600", "--evaluation-limit", "1000000"],
        ["--quiet"],
    ],
    ids=lambda options: " ".join(options),
)
def test_options_that_do_not_change_the_optimum(shell: Shell, toy: Path, options: list[str]) -> None:
    result = shell.result(toy, *options)
    assert (result["status"], result["objective"]) == ("optimal", "3/100")


def test_options_that_change_the_problem(shell: Shell, toy: Path) -> None:
    assert shell.result(toy, "--max-leaves", "1")["objective"] == str(Fraction(4, 16) + Fraction(1, 100))
    assert shell.result(toy, "--max-depth", "1")["depth"] <= 1
    assert shell.result(toy, "--min-support", "5")["leaves"] < 3
    assert shell.result(toy, "--regularization", "0", "--max-depth", "2")["objective"] == "0/1"
    # Numbers as names need more leaves than one threshold.
    assert shell.result(toy, "--categories", "a")["leaves"] == 4
    # The first column as the label: the others say nothing about it.
    assert shell.result(toy, "--target", "a", "--regularization", "0.2")["errors"] == 12
    balanced = shell.result(toy, "--class-weight", "balanced", "--max-leaves", "1")
    assert balanced["objective"] == "51/100"
    # One leaf that says 0 misses four 1s, at 2.5 each; one that says 1 would cost 12.
    costs = shell.result(toy, "--cost-matrix", "[[0, 1], [2.5, 0]]", "--max-leaves", "1")
    assert costs["errors"] == 10
    assert costs["objective"] == str(Fraction(10, 16) + Fraction(1, 100))


def test_weights_are_exact_and_no_feature(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "weighted.csv"
    path.write_text("w,a,b,label\n1/3,0,1,no\n1/3,0,0,yes\n1,1,1,yes\n0,1,0,no\n2,1,0,no\n")
    result = shell.result(path, "--weights", "w", "--max-leaves", "1", "--model", tmp_path / "m.json")
    assert result["errors"] == "4/3"
    assert result["training_weight"] == "11/3"
    assert load_model(tmp_path / "m.json").tree.columns == ("a", "b")


def test_a_stopped_search_leaves_valid_bounds(shell: Shell, tmp_path: Path) -> None:
    hard = hard_csv(tmp_path)
    for option, value, status in [
        ("--time-limit", "0.3", "time_limit"),
        ("--evaluation-limit", "50", "evaluation_limit"),
        ("--memory-limit", "1k", "memory_limit"),
    ]:
        result = shell.result(hard, "--regularization", "0.001", option, value)
        assert result["status"] == status
        check_bounds(result)
    run = shell("fit", hard, "--regularization", "0.001", "--evaluation-limit", "50")
    assert run.code == 0
    assert "evaluation_limit: " in run.out
    assert "lower bound " in run.out
    assert "Warning" not in run.err


def test_a_gap_that_is_enough(shell: Shell, tmp_path: Path) -> None:
    hard, model = hard_csv(tmp_path), tmp_path / "model.json"
    options = ["--regularization", "0.02", "--relative-gap", "0.4", "--model", model]
    result = shell.result(hard, *options)
    assert result["status"] == "gap_reached"
    assert 0 < result["gap"] <= 0.4
    saved = load_model(model)
    assert float(saved.gap) == result["gap"]
    run = shell("fit", hard, *options)
    shown = re.search(r"^status +gap_reached: within ([0-9.]+) % of optimal, proved$", run.out, re.MULTILINE)
    assert shown is not None
    assert 100 * saved.gap <= Fraction(shown[1]) <= 100 * saved.gap * Fraction(102, 100)
    assert f"gap_reached: within {shown[1]} % of optimal, proved; lower bound " in shell("show", model).out
    refused = shell("fit", hard, "--relative-gap", "40%")
    assert refused.code == 2
    assert refused.err == (
        "dosdt: error: --relative-gap must be a number from 0 to less than 1, such as 0.05 for 5 %, got '40%'\n"
    )


def check_bounds(result: dict[str, Any]) -> None:
    objective, bound = Fraction(result["objective"]), Fraction(result["lower_bound"])
    assert 0 < bound < objective
    assert objective == Fraction(result["errors"], 400) + Fraction(1, 1000) * result["leaves"]
    assert result["gap"] == pytest.approx(float((objective - bound) / objective))


def test_built_in_data_by_name(shell: Shell) -> None:
    result = shell.result("monk1", "--regularization", "0.02")
    assert (result["status"], result["objective"], result["leaves"]) == ("optimal", "7/50", 7)


def test_a_file_comes_before_a_data_set(shell: Shell, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toy.parent)
    toy.rename("monk1")
    assert shell.result("monk1")["rows"] == 16


def test_semicolons_tabs_and_parquet(shell: Shell, toy: Path) -> None:
    frame = pd.read_csv(toy)
    for name, separator in (("toy.csv", ";"), ("toy.tsv", "\t")):
        frame.to_csv(toy.with_name(name), sep=separator, index=False)
        assert shell.result(toy.with_name(name))["objective"] == "3/100"
    frame.to_parquet(toy.with_suffix(".parquet"))
    assert shell.result(toy.with_suffix(".parquet"))["objective"] == "3/100"


# Models


@pytest.mark.parametrize("name", ["iris", "tic-tac-toe"])
def test_predictions_are_those_of_the_classifier(shell: Shell, tmp_path: Path, name: str) -> None:
    path = tmp_path / "model.json"
    assert shell("fit", name, "--regularization", "0.05", "--max-leaves", "3", "--model", path).code == 0
    data = datasets.load(name)
    classifier = DOSDTClassifier("0.05", max_leaves=3).fit(data.X, data.y)
    run = shell("predict", path, name, "--probabilities")
    assert run.code == 0
    lines = run.out.splitlines()
    assert lines[0] == "prediction," + ",".join(f"probability {label}" for label in classifier.classes_)
    assert [line.split(",")[0] for line in lines[1:]] == classifier.predict(data.X).tolist()
    shares = np.array([line.split(",")[1:] for line in lines[1:]], dtype=float)
    np.testing.assert_allclose(shares, classifier.predict_proba(data.X))
    score = classifier.score(data.X, data.y)
    assert run.err == f"accuracy {score:.3f} on {len(data.y)} rows\n"
    assert shell("predict", path, name, "--quiet").err == ""


def test_predict_ignores_other_columns_and_their_order(shell: Shell, model: Path) -> None:
    table = model.with_name("new.csv")
    table.write_text("extra,noise,colour,a\nx,0,red,2.5\ny,1,red,1\nz,0,green,1\n")
    run = shell("predict", model, table)
    assert (run.out, run.err) == ("prediction\n0\n1\n0\n", "")


def test_predict_minds_only_what_the_tree_asks(shell: Shell, model: Path) -> None:
    table = model.with_name("new.csv")
    table.write_text("a,colour,noise,label\n1,red,??,1\n1,red,,1\n9,red,3,\n1,blue,,1\n")
    run = shell("predict", model, table)
    assert run.out == "prediction\n1\n1\n0\n0\n"
    assert run.err == "accuracy 0.667 on 3 rows\n"  # the row without a label does not count


def test_a_single_leaf_asks_nothing(shell: Shell, toy: Path) -> None:
    path = toy.with_name("leaf.json")
    assert shell("fit", toy, "--max-leaves", "1", "--model", path).code == 0
    run = shell("predict", path, toy)
    assert run.out == "prediction\n" + "0\n" * 16
    assert run.err == "accuracy 0.750 on 16 rows\n"


def test_missing_values_as_a_category(shell: Shell, tmp_path: Path) -> None:
    table, path = tmp_path / "holes.csv", tmp_path / "model.json"
    table.write_text("a,label\n" + "1,no\n2,no\n,yes\n" * 5)
    assert shell("fit", table, "--missing", "category", "--model", path).code == 0
    assert shell("predict", path, table).out == "prediction\n" + "no\nno\nyes\n" * 5


def test_categories_that_are_partly_numbers(shell: Shell, tmp_path: Path) -> None:
    table, path = tmp_path / "doors.csv", tmp_path / "model.json"
    table.write_text("doors,label\n" + "2,1\n3,2\n4,2\n5more,3+\n" * 3)
    assert "'doors'" in shell.refusal("fit", table, "--categories", "label")
    run = shell("fit", table, "--categories", "label", "--categories", "doors", "--model", path)
    assert run.code == 0
    assert "predict 3+" in run.out
    assert shell("predict", path, table).out == "prediction\n" + "1\n2\n2\n3+\n" * 3
    # Without the word, the file holds nothing but numbers, which are the same names.
    table.write_text("doors,label\n2,1\n3,2\n")
    run = shell("predict", path, table)
    assert (run.out, run.err) == ("prediction\n1\n2\n", "accuracy 1.000 on 2 rows\n")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_predictions_into_a_file(shell: Shell, model: Path, suffix: str) -> None:
    path = model.with_name(f"out{suffix}")
    run = shell("predict", model, model.with_name("toy.csv"), "--output", path, "--quiet")
    assert run == Run(0, "", "")
    read = pd.read_parquet if suffix == ".parquet" else pd.read_table if suffix == ".tsv" else pd.read_csv
    assert read(path)["prediction"].tolist() == [int(a <= 2 and c == "red") for a, c, _ in ROWS]
    assert set(files(model.parent)) == {"toy.csv", "model.json", path.name}


@pytest.mark.parametrize("form", FORMATS)
def test_show(shell: Shell, model: Path, form: str) -> None:
    run = shell("show", model, "--format", form)
    assert (run.code, run.err) == (0, "")
    signs = {
        "text": "├─ yes",
        "dot": "digraph",
        "json": '"dosdt-model"',
        "python": "def ",
        "svg": "<svg ",
        "sql": "CASE WHEN",
    }
    assert signs[form] in run.out
    if form == "text":
        assert run.out == shell("show", model).out
        assert "optimal: proved" in run.out
    if form == "json":
        assert json.loads(run.out) == json.loads(model.read_text())
    if form == "python":
        space: dict[str, Any] = {}
        exec(run.out, space)
        answers = [space["predict"]({"a": a, "colour": c, "noise": k}) for a, c, k in ROWS]
        assert answers == [int(a <= 2 and c == "red") for a, c, _ in ROWS]


def test_show_says_what_is_not_proved(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    options = ["--regularization", "0.001", "--evaluation-limit", "50", "--model", path]
    assert shell("fit", hard_csv(tmp_path), *options).code == 0
    run = shell("show", path)
    assert "evaluation_limit: " in run.out
    assert "lower bound " in run.out


# The rest of the commands


def test_datasets(shell: Shell) -> None:
    lines = shell("datasets").out.splitlines()
    listed = json.loads(shell("datasets", "--json").out)
    assert [line.split()[0] for line in lines[1:]] == [entry["name"] for entry in listed]
    assert {"name": "iris", "rows": 150, "columns": 4, "source": "scikit-learn"}.items() <= listed[6].items()


def test_demo(shell: Shell) -> None:
    run = shell("demo")
    assert (run.code, run.err) == (0, "")
    assert run.out.count("status      optimal") == 2
    assert "leaves      7 (depth 4)" in run.out
    assert "with 7 leaves: this tree 100 %, CART " in run.out
    # What it shows is what the command it names would print.
    command = next(line for line in run.out.splitlines() if line.startswith("$ dosdt fit wine"))
    tree = shell(*command.split()[2:]).out.split("\n\n")[1]
    assert tree in run.out


def test_version_and_help(shell: Shell) -> None:
    assert shell("--version") == Run(0, f"dosdt {dosdt.__version__}\n", "")
    assert shell("--version", "fit").code == 0
    for arguments in ([], ["--help"], ["-h"]):
        run = shell(*arguments)
        assert (run.code, run.err) == (0, "")
        assert all(name in run.out for name in ("fit", "predict", "show", "datasets", "demo"))
    assert "--regularization" in shell("fit", "--help").out


def test_options_in_messages_are_flags_and_quotes_stay() -> None:
    message = "column 'max_depth' is bad; pass missing=\"category\", categories=['max_depth'] or max_leaves"
    told = "column 'max_depth' is bad; pass --missing category, --categories 'max_depth' or --max-leaves"
    assert in_flags(message) == told


def test_shares_never_promise_too_much() -> None:
    assert [percent(Fraction(k, 10**4)) for k in (0, 1, 3312, 9999, 10**4)] == [
        "0 %",
        "< 0.1 %",
        "33.1 %",
        "> 99.9 %",
        "100 %",
    ]
    assert accuracy(9999, 10000) == "accuracy 0.999 on 10,000 rows"
    assert accuracy(1, 1) == "accuracy 1.000 on 1 row"


# Bad input


def lines(*rows: str) -> bytes:
    return "".join(f"{row}\n" for row in rows).encode()


BAD_TABLES: dict[str, tuple[bytes, str]] = {
    "empty file": (b"", "table.csv' is empty"),
    "blank file": (b"\n\n", "table.csv' is empty"),
    "header only": (lines("a,b,label"), "has a header but no rows"),
    "one class": (lines("a,label", "1,yes", "2,yes"), "target column 'label' has only one class, 'yes'"),
    "one row": (lines("a,label", "1,yes"), "target column 'label' has only one class"),
    "no feature column": (lines("label", "yes", "no"), "only the column 'label'"),
    "no feature that varies": (lines("a,b,label", "1,x,yes", "1,x,no"), "no feature is left"),
    "NaN": (
        lines("age,label", "1,yes", "NaN,no", "3,no"),
        "column 'age' has 1 missing value, NaN or none (row 2)",
    ),
    "missing values": (lines("age,label", "1,yes", ",no", ",no"), "column 'age' has 2 missing values"),
    "missing text": (lines("size,label", "big,yes", ",no", "small,no"), "column 'size' has 1 missing value"),
    "infinity": (lines("age,label", "1,yes", "inf,no"), "column 'age' holds infinity (row 2)"),
    "negative infinity": (lines("age,label", "1,yes", "-inf,no"), "column 'age' holds infinity (row 2)"),
    "text among numbers": (
        lines("age,label", "1,yes", "2,no", "old,no"),
        "column 'age' holds numbers except 'old'",
    ),
    "short row": (lines("a,b,label", "1,2,yes", "1,no", "2,2,no"), "has 2 fields in row 2, expected 3"),
    "long row": (lines("a,label", "1,yes", "1,2,no"), "has 3 fields in row 2, expected 2"),
    "unclosed quote": (lines("a,label", '"1,yes', "2,no"), "table.csv'"),
    "binary junk": (random.Random(3).randbytes(2000), "table.csv'"),
    "zero bytes": (bytes(500), "holds binary data"),
    "not UTF-8": (b"a,label\n1,ja\n2,n\xe9\n", "is not UTF-8 text (row 2)"),
    "duplicate names": (lines("a,a,label", "1,2,yes", "2,1,no"), "duplicate column names: 'a'"),
    "nameless column": (lines("a,,label", "1,2,yes", "2,1,no"), "no name for column 2"),
    "missing label": (lines("a,label", "1,yes", "2,no", "3,"), "target column 'label' has missing labels"),
    "labels of mixed types": (lines("a,label", "1,0", "2,1", "3,maybe"), "'0' (row 1) and 'maybe' (row 3)"),
    "truth values and numbers": (lines("a,label", "1,true", "2,7"), "target column 'label' mixes labels"),
    "continuous labels": (
        lines("a,label", "1,0.5", "2,0.7"),
        "target column 'label' holds continuous numbers",
    ),
    "too many names": (
        lines("id,label", *(f"p{k},{'yes' if k % 2 else 'no'}" for k in range(60))),
        "column 'id' has 60 distinct categories, more than --max-categories 50",
    ),
}


@pytest.mark.parametrize(("content", "fault"), BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables(shell: Shell, tmp_path: Path, content: bytes, fault: str) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(content)
    assert fault in shell.refusal("fit", table, "--model", tmp_path / "model.json")
    assert files(tmp_path) == {"table.csv": content}


BAD_OPTIONS: dict[str, str] = {
    "--regularization -0.01": "regularization must not be negative, got -0.01",
    "--regularization nan": "regularization must be a finite number, got 'nan'",
    "--regularization inf": "regularization must be a finite number, got 'inf'",
    "--regularization small": "regularization must be a finite number, got 'small'",
    "--regularization 0": "regularization 0 needs a limit: pass --max-depth or --max-leaves",
    "--target lable": "no target column 'lable'; did you mean 'label'?",
    "--weights mass": "no weights column 'mass'",
    "--weights label --target label": "'label' cannot be both",
    "--weights colour": "weights column 'colour': sample_weight in row 1 must be a finite number, got 'red'",
    "--categories color": "categories names 'color'",
    "--algorithm magic": "algorithm must be one of subproblem, leafset; got 'magic'",
    "--policy luck": "policy must be one of curiosity",
    "--without hope": "--without must be one of reduced_support",
    "--missing maybe": "missing must be one of 'error', 'category', got 'maybe'",
    "--thresholds some": "thresholds must be one of 'auto', 'all', 'quantile', 'reference', got 'some'",
    "--thresholds quantile": "--max-thresholds must be a whole number",
    "--thresholds all --max-thresholds 3": "--max-thresholds goes with --thresholds quantile",
    "--max-thresholds 0": "--max-thresholds must be a whole number, 1 or more",
    "--max-categories 0": "--max-categories must be a whole number, 1 or more",
    "--max-depth -1": "--max-depth must be a whole number, 0 or more, got -1",
    "--max-depth deep": "--max-depth",
    "--max-leaves 0": "--max-leaves must be a whole number, 1 or more, got 0",
    "--min-support -1": "--min-support must not be negative",
    "--min-support few": "--min-support must be a finite number",
    "--time-limit -1": "--time-limit must not be negative",
    "--time-limit nan": "--time-limit must be a finite number",
    "--time-limit soon": "--time-limit",
    "--memory-limit lots": "--memory-limit must be a number of bytes or a text such as '2G', got 'lots'",
    "--evaluation-limit -5": "--evaluation-limit must be a whole number",
    "--class-weight heavy": "--class-weight must be None, 'balanced' or a mapping, got 'heavy'",
    "--cost-matrix [[0,1]": "--cost-matrix must be JSON such as '[[0,1],[5,0]]', got '[[0,1]'",
    "--cost-matrix [[0,1]]": "--cost-matrix must be 2 x 2",
    "--cost-matrix [[0,-1],[1,0]]": "--cost-matrix must not be negative",
    "--cost-matrix [[0,NaN],[1,0]]": "--cost-matrix[0][1] must be a finite number",
    "--cost-matrix 5": "--cost-matrix must be a square table",
    "--colour red": "--colour",
    "--target": "--target",
    "another": "another",
}


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options(shell: Shell, toy: Path, options: str) -> None:
    before = files(toy.parent)
    message = shell.refusal("fit", toy, "--model", toy.with_name("model.json"), *options.split())
    assert BAD_OPTIONS[options] in message
    assert files(toy.parent) == before


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        (["1", "-2", "1"], "sample_weight must not be negative: row 2 has -2"),
        (["0", "0", "0"], "sample_weight is zero for every row"),
        (["1", "inf", "1"], "row 2 must be a finite number"),
        (["1", "", "1"], "row 2 must be a finite number"),
        (["1", "x", "1"], "row 2 must be a finite number, got 'x'"),
    ],
    ids=["negative", "all zero", "infinite", "missing", "text"],
)
def test_bad_weights(shell: Shell, tmp_path: Path, weights: list[str], fault: str) -> None:
    table = tmp_path / "table.csv"
    table.write_bytes(lines("a,w,label", *(f"{k},{w},{k % 2}" for k, w in enumerate(weights))))
    message = shell.refusal("fit", table, "--weights", "w")
    assert "weights column 'w'" in message
    assert fault in message


@pytest.mark.parametrize("arguments", [["fitt"], ["--loud"], ["fit"], ["show"], ["predict", "m.json"]])
def test_bad_commands(shell: Shell, arguments: list[str]) -> None:
    assert " --help'" in shell.refusal(*arguments)


def test_no_such_data(shell: Shell, tmp_path: Path) -> None:
    message = shell.refusal("fit", tmp_path / "nothing.csv")
    assert "nothing.csv' and no data set of that name" in message
    assert "monk1, monk2" in shell.refusal("fit", "monk4")
    assert "is a folder without .parquet files" in shell.refusal("fit", tmp_path)


OTHER_TABLES: dict[str, tuple[bytes, str]] = {
    "other columns": (lines("x,y", "1,2"), "the data lack columns 'a', 'colour', 'noise'"),
    "one column less": (lines("a,colour", "1,red"), "the data lack column 'noise'"),
    "text for numbers": (
        lines("a,colour,noise", "few,red,0", "many,red,0"),
        "column 'a' held numbers when fitted and holds text now",
    ),
    "number among text": (
        lines("a,colour,noise", "1,red,0", "2,red,0", "x,red,0"),
        "column 'a' holds numbers except",
    ),
    "missing number": (lines("a,colour,noise", "1,red,0", ",red,0"), "column 'a' has 1 missing value"),
    "missing text": (lines("a,colour,noise", "1,,0", "2,red,0"), "column 'colour' has 1 missing value"),
    "infinity": (lines("a,colour,noise", "1,red,0", "inf,red,0"), "column 'a' holds infinity (row 2)"),
    "no rows": (lines("a,colour,noise"), "has a header but no rows"),
}


@pytest.mark.parametrize(("content", "fault"), OTHER_TABLES.values(), ids=OTHER_TABLES)
def test_tables_that_do_not_fit_the_model(shell: Shell, model: Path, content: bytes, fault: str) -> None:
    table = model.with_name("table.csv")
    table.write_bytes(content)
    before = files(model.parent)
    assert fault in shell.refusal("predict", model, table, "--output", model.with_name("out.csv"))
    assert files(model.parent) == before


def newer(text: str) -> str:
    return json.dumps(json.loads(text) | {"schema": 1000})


BAD_MODELS = {
    "newer schema": (newer, "was written by a newer dosdt (schema 1000"),
    "truncated": (lambda text: text[: len(text) // 2], "it ends in the middle, so it was cut off"),
    "empty": (lambda text: "", "the file is empty"),
    "not a model": (lambda text: "{}", "this is not a dosdt model"),
    "not JSON": (lambda text: TOY, "it is not JSON"),
}


@pytest.mark.parametrize(("change", "fault"), BAD_MODELS.values(), ids=BAD_MODELS)
def test_bad_models(shell: Shell, model: Path, change: Any, fault: str) -> None:
    model.write_text(change(model.read_text()))
    for message in (
        shell.refusal("show", model),
        shell.refusal("predict", model, model.with_name("toy.csv")),
    ):
        assert "model.json'" in message
        assert fault in message


def test_other_refusals_of_show(shell: Shell, model: Path) -> None:
    assert "there is no model file" in shell.refusal("show", model.with_name("nothing.json"))
    assert "text, svg, dot, json, python, sql; got 'xml'" in shell.refusal("show", model, "--format", "xml")


def bad_outputs(folder: Path) -> list[tuple[Path | str, str]]:
    return [
        (folder / "nowhere" / "out", "there is no folder"),
        (folder, "it is a folder"),
        (f"{folder}/new/", "it names a folder"),
        (folder / "toy.csv" / "out", "there is no folder"),
        (folder / "toy.csv", "would overwrite the input"),
    ]


def test_unwritable_outputs(shell: Shell, model: Path) -> None:
    toy = model.with_name("toy.csv")
    before = files(model.parent)
    for path, fault in [*bad_outputs(model.parent), (model, "would overwrite the input")]:
        message = shell.refusal("predict", model, toy, "--output", path)
        assert str(path) in message
        assert fault in message
    for path, fault in bad_outputs(model.parent):
        assert fault in shell.refusal("fit", toy, "--model", path)
    assert files(model.parent) == before


def test_an_unwritable_model_is_found_before_the_search(
    shell: Shell, toy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(*arguments: object, **options: object) -> None:
        raise AssertionError("it searched")

    monkeypatch.setattr(DOSDTClassifier, "fit", search)
    assert "cannot write" in shell.refusal("fit", toy, "--model", toy.with_name("nowhere") / "model.json")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_outputs(shell: Shell, model: Path) -> None:
    model.chmod(0o400)
    assert "permission denied" in shell.refusal("fit", model.with_name("toy.csv"), "--model", model)
    model.parent.chmod(0o500)
    try:
        assert "cannot write" in shell.refusal("fit", model.with_name("toy.csv"), "--model", model.with_name("m"))
    finally:
        model.parent.chmod(0o700)


def test_bugs_are_not_hidden(shell: Shell, toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def search(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(DOSDTClassifier, "fit", search)
    with pytest.raises(ZeroDivisionError):
        shell("fit", toy)


# As a process of its own


def test_a_process_ends_with_the_right_code(toy: Path) -> None:
    with process("fit", toy, "--json") as run:
        out, err = run.communicate()
    assert (run.returncode, err) == (0, "")
    assert json.loads(out)["status"] == "optimal"
    with process("fit", toy, "--regularization=-1") as run:
        out, err = run.communicate()
    assert (run.returncode, out) == (2, "")
    assert err == "dosdt: error: --regularization must not be negative, got -1\n"


def test_help_needs_no_heavy_imports() -> None:
    script = (
        "import sys\nfrom dosdt.cli import main\nmain(['--help'])\n"
        "heavy = {'numpy', 'pandas', 'sklearn', 'pyarrow', 'ray', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(' '.join(heavy) or 0)"
    )
    with process(program=("-c", script)) as run:
        _, err = run.communicate()
    assert (run.returncode, err) == (0, "")


def test_a_closed_pipe_is_no_error(model: Path) -> None:
    # More than a pipe holds, so that the writer notices.
    table = model.with_name("long.csv")
    table.write_text("a,colour,noise\n" + "1,red,0\n" * 200_000)
    with process("predict", model, table) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "prediction\n"
        run.stdout.close()
        assert run.stderr is not None
        assert run.stderr.read() == ""
    assert run.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["datasets"], ["--help"]], ids=" ".join)
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full, process(*arguments, stdout=full) as run:
        _, err = run.communicate()
    assert run.returncode == 2
    assert err.startswith("dosdt: error: cannot write the output: ")
    assert len(err.splitlines()) == 1


# Says when Ctrl-C is looked after, so that the test need not guess.
ANNOUNCED = """
import sys
from dosdt import limits
from dosdt.cli import main

class Watch(limits.Watch):
    def __enter__(self):
        super().__enter__()
        print("searching", file=sys.stderr, flush=True)
        return self

import dosdt.workers.in_process as runtime
runtime.Watch = Watch
sys.exit(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C differently")
def test_ctrl_c_leaves_an_answer(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    arguments = ["fit", hard_csv(tmp_path), "--regularization", "0.001", "--json", "--model", model]
    with process(*arguments, program=("-c", ANNOUNCED)) as run:
        assert run.stderr is not None
        assert run.stderr.readline() == "searching\n"
        run.send_signal(signal.SIGINT)
        out, err = run.communicate()
    assert (run.returncode, err) == (0, "")
    result = json.loads(out)
    assert result["status"] == "interrupted"
    check_bounds(result)
    saved = load_model(model)
    assert (saved.status, saved.objective) == ("interrupted", Fraction(result["objective"]))


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
@pytest.mark.parametrize("options", [[], ["--quiet"], ["--json"]], ids=["plain", "quiet", "json"])
def test_progress_on_a_terminal(tmp_path: Path, options: list[str]) -> None:
    ours, theirs = os.openpty()
    arguments = ["fit", hard_csv(tmp_path), "--regularization", "0.001", "--time-limit", "0.5", *options]
    with process(*arguments, stderr=theirs) as run:
        os.close(theirs)
        seen = b""
        while block := read_terminal(ours):
            seen += block
        assert run.stdout is not None
        out = run.stdout.read()
    os.close(ours)
    assert run.returncode == 0
    assert "time_limit" in out
    if options:
        assert seen == b""
    else:
        assert b"400 rows, 400 distinct, 25 yes/no features" in seen
        assert b"gap" in seen


def read_terminal(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other side is closed
        return b""


def test_plain_lines_in_a_pipe(tmp_path: Path) -> None:
    with process("fit", hard_csv(tmp_path), "--regularization", "0.001", "--time-limit", "0.5") as run:
        out, err = run.communicate()
    assert run.returncode == 0
    assert "time_limit" in out
    lines = err.splitlines()
    assert lines[0] == "400 rows, 400 distinct, 25 yes/no features, 2 classes, regularization 1/1000"
    assert lines[2].split() == ["time", "expanded", "open", "cached", "incumbent", "leaves", "bound", "gap"]
    assert all(len(line.rstrip("%").split()) in (8, 9) for line in lines[3:])
    assert not set(err) & set("\x1b\r\b\0")
