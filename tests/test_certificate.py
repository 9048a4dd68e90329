"""Every answer's certificate verifies, and what it certifies is what exhaustive search finds."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from certified import Case, case
from random_problems import random_problem

import dosdt
from dosdt.checker import counting
from dosdt.checker.verify import verify_table
from dosdt.classifier import DOSDTClassifier
from dosdt.errors import InputError
from dosdt.subproblem import counts


def check(found: Case) -> None:
    """The certificate holds, says what the model says, and what it says is true."""
    verdict, model = found.verdict(), found.model
    assert verdict, (verdict, found.options)
    assert verdict.objective == model.objective_
    assert verdict.lower_bound == model.lower_bound_
    best = found.optimum()
    assert verdict.lower_bound <= best <= verdict.objective
    n = verdict.facts
    facts = f"({n} fact{'s' * (n != 1)})"
    if model.status_ == "optimal":
        assert verdict.objective == best
        assert verdict.message == f"verified: objective {best} is optimal {facts}"
    else:
        bound = model.lower_bound_
        assert verdict.message == f"verified: objective {model.objective_}, no tree is below {bound} {facts}"


@pytest.mark.parametrize("start", range(0, 10_000, 250))
def test_certificates_of_random_problems(start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 250):
        check(case(seed, tmp_path))


def test_counting_children_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is used with thousands of features certifies the same answers."""
    monkeypatch.setattr(counts, "_WIDE", 0)
    monkeypatch.setattr(counting, "_WIDE", 0)
    for seed in range(1000, 1100):
        check(case(seed, tmp_path))


@pytest.mark.parametrize("scale", [2**26, 10**40])
def test_numbers_beyond_floating_point(scale: int, tmp_path: Path) -> None:
    path = tmp_path / "certificate"
    for seed in range(30):
        given = random_problem(seed + 620_000, max_classes=4)
        rng = random.Random(seed)
        weights = [Fraction(scale + rng.randrange(scale)) for _ in given.labels]
        model = DOSDTClassifier(given.regularization, min_support=rng.choice([None, 4 * scale]))
        model.fit(given.features, given.labels, weights, certificate=path)
        check(Case(given.features, given.labels, weights, {}, model, path))


def test_columns_of_every_kind(tmp_path: Path) -> None:
    """Numbers, text, booleans, gaps, and rows that weigh nothing, from a table in a file and in memory."""
    rng = np.random.default_rng(0)
    n = 120
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n),
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(3, 1, n).round(2)),
            "colour": rng.choice(["red", "green", "blue", None], n),
            "code": rng.choice(["1", "2", "x"], n),
            "member": rng.random(n) < 0.5,
            "weight": rng.choice([0, 1, 0.5], n),
        }
    )
    frame["label"] = np.where((frame["age"] > 40) ^ frame["member"], "yes", np.where(frame["income"] > 3, "no", "?"))
    path = tmp_path / "certificate"
    X, y, weight = frame.drop(columns=["label", "weight"]), frame["label"], frame["weight"]
    binarizer = dosdt.Binarizer(thresholds="quantile", max_thresholds=4, missing="category", categories=["code"])
    model = DOSDTClassifier(0.02, binarizer=binarizer).fit(X, y, weight, certificate=path)
    assert model.n_leaves_ > 2
    for verdict in (dosdt.verify(path, X, y, weight), verify_table(path, frame), verify_table(path, frame[::-1])):
        assert verdict, verdict
        assert verdict.objective == model.objective_
    refused = {
        "an unlabelled class": frame.assign(label=frame["label"].replace("?", "perhaps")),
        "text for numbers": frame.assign(age="old"),
        "numbers for text": frame.assign(colour=1),
        "no target": frame.drop(columns="label"),
        "no weights": frame.drop(columns="weight"),
        "no column": frame.drop(columns="age"),
        "other weights": frame.assign(weight=1),
        "one row less": frame[1:],
    }
    for what, other in refused.items():
        verdict = verify_table(path, other)
        assert not verdict, what
        assert verdict.message.startswith("refused: "), what
        assert "\n" not in verdict.message


def test_missing_values_that_appear_later(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5, 3.5] * 5, "y": [0, 0, 1, 1] * 5})
    path = tmp_path / "certificate"
    DOSDTClassifier(0.1).fit(frame[["x"]], frame["y"], certificate=path)
    assert verify_table(path, frame)
    frame.loc[3, "x"] = np.nan
    assert "missing" in verify_table(path, frame).message


def test_numbers_are_compared_exactly(tmp_path: Path) -> None:
    """Beyond 2^53 neighbouring whole numbers are one and the same float."""
    values = np.array([2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3] * 5)
    labels = [0, 1, 0, 1] * 5
    path = tmp_path / "certificate"
    model = DOSDTClassifier(0.01).fit(values[:, None], labels, certificate=path)
    assert model.n_leaves_ == 4
    assert dosdt.verify(path, values[:, None], labels)


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    first = case(7, tmp_path).path.read_bytes()
    assert case(7, tmp_path).path.read_bytes() == first


def test_what_cannot_be_certified_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sklearn.preprocessing import OneHotEncoder

    monkeypatch.setattr("dosdt.classifier.solve", None)  # a search would end in a TypeError
    X, y = [[0], [1]] * 5, [0, 1] * 5
    with pytest.raises(InputError, match='a certificate needs algorithm="subproblem"'):
        DOSDTClassifier(0.1, algorithm="leafset").fit(X, y, certificate=tmp_path / "c")
    with pytest.raises(InputError, match="a certificate needs a dosdt.Binarizer"):
        DOSDTClassifier(0.1, binarizer=OneHotEncoder()).fit(X, y, certificate=tmp_path / "c")
    with pytest.raises(InputError, match="there is no folder"):
        DOSDTClassifier(0.1).fit(X, y, certificate=tmp_path / "nowhere" / "c")


def test_weights_without_a_name_need_the_python_function(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [0, 1] * 5, "y": [0, 1] * 5})
    DOSDTClassifier(0.1).fit(frame[["x"]], frame["y"], [2] * 10, certificate=tmp_path / "c")
    assert dosdt.verify(tmp_path / "c", frame[["x"]], frame["y"], [2] * 10)
    with pytest.raises(InputError, match=r"check the certificate with dosdt\.verify"):
        verify_table(tmp_path / "c", frame)
