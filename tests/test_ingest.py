"""Tables read in pieces give the same problem as tables in memory."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dosdt import Binarizer, InputError, Problem, datasets, ingest_pieces, ingest_rules
from dosdt.ingest import Ingested, ingest
from dosdt.inputs import training_data
from dosdt.training import checked_labels, rows_that_count, spread, taken


def in_memory(
    path: Path, binarizer: Binarizer, weights: str | None = None, target: str = "label", **options: Any
) -> Problem:
    """Do what `fit` does before it searches."""
    data = training_data(str(path), target=target, weights=weights)
    y = checked_labels(data.X, data.y)
    rows = rows_that_count(data.X, data.weights)
    features = binarizer.fit_transform(taken(rows, data.X), taken(rows, y), taken(rows, data.weights))
    names = [str(rule) for rule in binarizer.rules_]
    features = spread(features, rows, len(y))
    return Problem.from_arrays(features, y, "0.01", sample_weight=data.weights, names=names, **options)


def check_same(
    path: Path, *, weights: str | None = None, problem: dict[str, Any] | None = None, **options: Any
) -> Ingested:
    """Check that both ways lead to the same, and return what came in pieces."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = Binarizer(**options)
        found = ingest(str(path), "label", "0.01", weights=weights, binarizer=given, **(problem or {}))
    assert not hasattr(given, "rules_")
    binarizer = Binarizer(**options)
    expected = in_memory(path, binarizer, weights, **(problem or {}))
    for name in ("rules_", "columns_", "column_types_", "column_kinds_", "n_features_in_"):
        assert getattr(found.binarizer, name) == getattr(binarizer, name), name
    assert found.problem.fingerprint == expected.fingerprint
    assert found.problem.columns == expected.columns
    assert found.problem.classes == expected.classes
    assert list(map(type, found.problem.classes)) == list(map(type, expected.classes))
    assert found.problem.n_samples == expected.n_samples
    assert (found.problem.weight_unit, found.problem.cost_unit) == (expected.weight_unit, expected.cost_unit)
    assert found.problem.objective(12345) == expected.objective(12345)
    assert found.notes == ()
    return found


def everything(n: int, seed: int) -> pd.DataFrame:
    """Return a table with columns of all kinds, many rows of which are equal."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "flag": rng.integers(0, 2, n),
            "truth": rng.integers(0, 2, n).astype(bool),
            "whole": rng.integers(-3, 4, n),
            "real": rng.choice([0.1, 0.25, 2.5, -7.125], n),
            "gaps": rng.choice([1.0, 2.0, np.nan], n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "spelled": rng.choice(["1", "2.5", "30"], n),
            "holes": rng.choice(np.array(["yes", "no", None], object), n),
            "kind": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "constant": 7,
            "nothing": pd.Series([None] * n, dtype="float64"),
        }
    )
    frame["label"] = rng.choice(["ham", "spam", "eggs"], n)
    return frame


def write(frame: pd.DataFrame, folder: Path, parts: int = 3) -> Path:
    """Write a frame as a folder of files with several row groups each."""
    folder.mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), parts)):
        frame.iloc[rows].to_parquet(folder / f"{number}.parquet", row_group_size=max(1, len(rows) // 3))
    return folder


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_pieces, "_PIECE", 1)


@pytest.mark.parametrize("seed", range(4))
def test_all_kinds_of_columns(tmp_path: Path, seed: int) -> None:
    path = write(everything(300, seed), tmp_path / "table")
    assert len(ingest_pieces.source(str(path)).pieces) >= 9
    check_same(path, missing="category")
    check_same(path, missing="category", thresholds="all", categories=["whole", "spelled", "flag"])
    check_same(path, missing="category", thresholds="quantile", max_thresholds=2)
    check_same(path, missing="category", problem={"class_weight": "balanced"})
    costs = [[0, 1, "0.5"], [2, 0, 1], [1, 1, 0]]
    check_same(path, missing="category", problem={"cost_matrix": costs})


WEIGHTS = {
    "whole": [0, 2, 4, 6],
    "floats": [0.1, 0.2, 0.7, 0.0],
    "decimals": [Decimal("0.10"), Decimal("0.25"), Decimal("3.00"), Decimal("0.00")],
    "text": ["1/3", "0.25", "2", "0"],
    "large": [2**62, 2**61, 2**60 + 1, 3],
    "narrow": np.array([0.1, 0.3, 1.5, 0], np.float32),
}


@pytest.mark.parametrize("kind", WEIGHTS)
def test_weights_are_exact(tmp_path: Path, kind: str) -> None:
    frame = everything(200, 5)
    frame["w"] = pd.Series(np.random.default_rng(6).choice(np.array(WEIGHTS[kind], dtype=object), 200))
    if kind == "narrow":
        frame["w"] = frame["w"].astype(np.float32)
    elif kind in ("whole", "floats", "large"):
        frame["w"] = frame["w"].infer_objects()
    path = write(frame[["w", *(name for name in frame.columns if name != "w")]], tmp_path / "table")
    for options in ({}, {"thresholds": "quantile", "max_thresholds": 1}):
        check_same(path, weights="w", missing="category", **options)
        check_same(path, weights="w", missing="category", problem={"class_weight": "balanced"}, **options)


def test_common_factors_of_sums_do_not_matter(tmp_path: Path) -> None:
    rows = pd.DataFrame({"a": [0, 1] * 6, "b": [1, 1, 0, 0] * 3, "label": [0, 1] * 6})
    check_same(write(pd.concat([rows] * 4), tmp_path / "table"))
    rows["w"] = [6, 6, 10, 10] * 3
    check_same(write(rows[["w", "a", "b", "label"]], tmp_path / "weighted"), weights="w")


def test_rows_without_weight_have_no_say_but_a_class(tmp_path: Path) -> None:
    frame = pd.DataFrame({"w": [1, 2, 0, 1], "a": [1, 2, 99, 3], "label": ["x", "y", "z", "x"]})
    found = check_same(write(frame, tmp_path / "table"), weights="w")
    assert found.problem.classes == ("x", "y", "z")
    assert found.problem.n_samples == 3
    assert [str(rule) for rule in found.binarizer.rules_] == ["a <= 1", "a <= 2"]


def test_files_with_other_types_and_an_index(tmp_path: Path) -> None:
    folder = tmp_path / "table"
    folder.mkdir()
    frame = pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", None], "label": [True, False, True]}, index=[5, 7, 9])
    frame.to_parquet(folder / "1.parquet")
    pd.DataFrame({"a": [0.5, np.nan], "b": ["z", "x"], "label": [True, False]}, index=[1, 2]).to_parquet(
        folder / "2.parquet"
    )
    found = check_same(folder, missing="category")
    assert found.binarizer.columns_ == ("a", "b")


def test_a_data_set_in_one_file(tmp_path: Path) -> None:
    data = datasets.load("wine")
    path = tmp_path / "wine.parquet"
    pd.concat([data.X, data.y.rename("label")], axis=1).to_parquet(path, row_group_size=20)
    check_same(path, thresholds="quantile", max_thresholds=5)
    check_same(path, thresholds="all")


def test_too_many_thresholds_are_chosen_from_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"x": rng.normal(size=2000), "c": rng.choice(["u", "v", "w"], 2000), "k": rng.integers(0, 2, 2000)}
    )
    frame["label"] = ((frame["x"] > 0.5) ^ (frame["c"] == "u")).astype(int)
    path = write(frame, tmp_path / "table")
    monkeypatch.setattr(ingest_rules, "SAMPLE", 400)
    for most in (10**6, 100):  # known and unknown distinct values
        monkeypatch.setattr("dosdt.ingest.MOST_DISTINCT", most)
        monkeypatch.setattr("dosdt.ingest_rules.MOST_DISTINCT", most)
        for options in ({}, {"thresholds": "reference"}):
            with pytest.warns(UserWarning, match=r"thresholds of 'x' were chosen from a sample of 40\d of 2000 rows"):
                found = ingest(str(path), "label", "0.01", binarizer=Binarizer(**options))
            assert len(found.notes) == 1
            assert {rule.column for rule in found.binarizer.rules_} == {"x", "c", "k"}
            # With these rules all is exact: the same as answering them in memory.
            answers = found.binarizer.transform(frame[["x", "c", "k"]])
            direct = Problem.from_arrays(answers, frame["label"], "0.01")
            assert found.problem.fingerprint == direct.fingerprint
    with pytest.warns(UserWarning, match="sample"):
        found = ingest(str(path), None, "0.01", binarizer=Binarizer(thresholds="quantile", max_thresholds=3))
    assert [rule.kind for rule in found.binarizer.rules_].count("at_most") == 3
    with pytest.raises(InputError, match='too many for thresholds="all"; pass thresholds="quantile"'):
        ingest(str(path), None, "0.01", binarizer=Binarizer(thresholds="all"))


def test_what_cannot_be_used_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(everything(60, 1), tmp_path / "table")

    def refused(message: str, target: str | None = "label", source: Path = path, **options: Any) -> None:
        with pytest.raises(InputError, match=message) as error:
            ingest(str(source), target, options.pop("regularization", "0.01"), **options)
        assert "(row" not in str(error.value)
        assert len(str(error.value).splitlines()) == 1

    refused(r"column 'gaps' has \d+ missing values, NaN or none; pass missing=\"category\"")
    refused("there is no target column 'lable'; did you mean 'label'", target="lable")
    refused("there is no weights column 'w'", weights="w")
    refused("cannot be both the target and the weights", weights="label")
    refused("categories names 'nope'", binarizer=Binarizer(categories=["nope"]))
    refused("more than max_categories=2", binarizer=Binarizer(missing="category", max_categories=2))
    refused("thresholds must be one of", binarizer=Binarizer(thresholds="none"))
    refused("regularization must not be negative", regularization=-1)
    refused("weights column 'colour': sample_weight must be a finite number", weights="colour")
    refused("target column 'holes' has \\d+ missing labels", target="holes")
    refused("target column 'constant' has only one class", target="constant")
    refused("there is no file", source=tmp_path / "nothing")
    refused("is no Parquet file, nor a folder", source=tmp_path)

    def table(**columns: Any) -> Path:
        file = tmp_path / "one.parquet"
        pq.write_table(pa.table(columns), file)
        return file

    labels = [0, 1, 0]
    refused("column 'a' holds infinity; put a number", source=table(a=[1.0, np.inf, 2.0], label=labels))
    refused("column 'a': values of type list", source=table(a=[[1], [2], [3]], label=labels))
    dates = pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"])
    refused("column 'a' holds values of type", source=table(a=dates, label=labels))
    refused("column 'a' holds numbers except 'x'", source=table(a=["1", "2", "x"], label=labels))
    monkeypatch.setattr("dosdt.ingest.MOST_DISTINCT", 2)
    monkeypatch.setattr("dosdt.ingest_rules.MOST_DISTINCT", 2)
    refused("column 'a' has more than 2 distinct categories", source=table(a=["u", "v", "w"], label=labels))
    refused(
        "has more than 2 distinct values; round them",
        source=table(a=[0, 1, 1], w=[1, 2, 3], label=labels),
        weights="w",
    )


RAY = """
import sys
import ray
from dosdt import Binarizer, InputError
from dosdt.ingest import ingest

ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=10**8)
options = dict(weights="w", binarizer=Binarizer(missing="category"), larger_than=0)
print(ingest(sys.argv[1], "label", "0.01", **options).problem.fingerprint)
try:
    ingest(sys.argv[2], "label", "0.01", larger_than=0)
except InputError as error:
    print(error)
"""


def test_with_ray_data(tmp_path: Path) -> None:
    frame = everything(120, 3)
    frame.insert(0, "w", np.random.default_rng(3).choice([0.1, 0.2, 0.5], 120))
    path = write(frame, tmp_path / "table", parts=2)
    expected = in_memory(path, Binarizer(missing="category"), "w").fingerprint
    odd = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"a": [[1], [2]], "label": [0, 1]}), odd)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")} | {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_TMPDIR": "/tmp",
        "HOME": str(tmp_path),  # where Ray keeps the token of a local cluster
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # 127.0.0.1 only
    }
    command = [sys.executable, "-c", RAY, str(path), str(odd)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == expected
    assert second.startswith("column 'a': values of type list<")
