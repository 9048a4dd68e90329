"""λ by cross-validation: the scores are those of plain fits, and the rule takes what it says."""

from __future__ import annotations

import signal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from dosdt import Binarizer, DOSDTClassifier, DOSDTClassifierCV, DOSDTPath, InputError, save_model
from dosdt.choosing import chosen, middle, middles, results
from dosdt.folds import Score
from dosdt.limits import Status

RNG = np.random.default_rng(3)
X = (RNG.random((240, 8)) < 0.5).astype(int)
Y = np.array(["no", "yes"])[((X[:, 0] & X[:, 1]) | X[:, 2]) ^ (RNG.random(240) < 0.15)]
LAMBDAS = ["0.2", 0.05, Fraction(1, 50), 0.01]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The least populated class")
@parametrize_with_checks(
    [DOSDTClassifierCV([0.2, 0.1], cv=2), DOSDTClassifierCV(min_regularization=0.2, max_depth=2, cv=2)],
)
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scores_are_those_of_plain_fits() -> None:
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    model = DOSDTClassifierCV(LAMBDAS, cv=folds, rule="best", max_depth=3).fit(X, Y)
    values = sorted((Fraction(str(value)) for value in LAMBDAS), reverse=True)
    plain = GridSearchCV(DOSDTClassifier(max_depth=3), {"regularization": values}, cv=folds).fit(X, Y)
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "split0_test_score", "split3_test_score"):
        np.testing.assert_allclose(model.cv_results_[name], plain.cv_results_[name], err_msg=name)
    assert model.cv_results_["params"] == plain.cv_results_["params"]
    assert list(model.cv_results_["param_regularization"]) == values
    assert set(plain.cv_results_) <= set(model.cv_results_)
    assert model.best_regularization_ == plain.best_params_["regularization"]
    assert model.best_score_ == pytest.approx(plain.best_score_)
    for number, (train, _) in enumerate(folds.split(X, Y)):
        leaves = [DOSDTClassifier(value, max_depth=3).fit(X[train], Y[train]).n_leaves_ for value in values]
        assert model.cv_results_[f"split{number}_leaves"].tolist() == leaves
        assert set(model.cv_results_[f"split{number}_status"]) == {"optimal"}
    whole = DOSDTClassifier(model.best_regularization_, max_depth=3).fit(X, Y)
    assert (model.objective_, model.n_leaves_, model.status_) == (whole.objective_, whole.n_leaves_, "optimal")
    assert model.predict(X).tolist() == whole.predict(X).tolist()
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_without_a_list_the_path_gives_one() -> None:
    model = DOSDTClassifierCV(min_regularization=0.01, cv=3).fit(X, Y)
    path = DOSDTPath(0.01).fit(X, Y)
    assert [point[:4] for point in model.path_.points_] == [point[:4] for point in path.points_]
    for value, point in zip(model.cv_results_["param_regularization"], path.points_, strict=True):
        assert path.point_at(value) == point
        assert DOSDTClassifier(value).fit(X, Y).n_leaves_ == point.leaves
    assert model.n_leaves_ == path.point_at(model.best_regularization_).leaves
    assert DOSDTClassifierCV(LAMBDAS, cv=3).fit(X, Y).path_ is None


def test_folds_in_parallel_say_the_same() -> None:
    one = DOSDTClassifierCV(LAMBDAS, cv=3).fit(X, Y)
    two = DOSDTClassifierCV(LAMBDAS, cv=3, n_jobs=2).fit(X, Y)
    for name in one.cv_results_:
        if not name.endswith("time"):
            assert list(one.cv_results_[name]) == list(two.cv_results_[name]), name
    assert one.best_regularization_ == two.best_regularization_


def test_one_standard_error() -> None:
    mean = np.array([0.5, 0.85, 0.88, 0.9, 0.9])
    error = np.array([0.9, 0.9, 0.9, 0.03, 0.9])
    assert chosen(mean, error, "best") == 3  # a tie goes to the larger λ
    assert chosen(mean, error, "one_se") == 2
    assert chosen(mean, np.full(5, 0.05), "one_se") == 1
    assert chosen(mean, np.zeros(5), "one_se") == 3
    assert chosen(mean, np.array([0, 0, 0, np.float64(0.4), 0]), "one_se") == 0


def test_standard_errors_are_those_of_the_mean() -> None:
    folds = [[Score(score, 2, Status.OPTIMAL, 1.0, 0.5)] for score in (0.7, 0.8, 0.9, 0.8)]
    table = results([Fraction(1, 10)], folds)
    assert table["mean_test_score"] == pytest.approx([0.8])
    assert table["std_error"] == pytest.approx([np.std([0.7, 0.8, 0.9, 0.8], ddof=1) / 2])
    assert results([Fraction(1, 10)], folds[:1])["std_error"].tolist() == [0]
    with pytest.raises(InputError, match="no finite number"):
        results([Fraction(1)], [[Score(float("nan"), 1, Status.OPTIMAL, 0.0, 0.0)]])


def test_rules_choose_as_they_say() -> None:
    best = DOSDTClassifierCV(LAMBDAS, cv=5, rule="best").fit(X, Y)
    simple = DOSDTClassifierCV(LAMBDAS, cv=5).fit(X, Y)
    mean, error = best.cv_results_["mean_test_score"], best.cv_results_["std_error"]
    assert best.best_index_ == mean.argmax()
    assert mean[simple.best_index_] >= mean.max() - error[mean.argmax()]
    assert all(mean[: simple.best_index_] < mean.max() - error[mean.argmax()])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("1/100", "1/10", "0.03"),
        ("0", "1/10", "0.05"),
        ("1/10", None, "0.2"),
        ("0", None, "0.5"),
        ("0.0123", "0.0124", "0.01235"),
        ("1/3", "334/1000", "0.3337"),
    ],
)
def test_a_middle_has_few_digits(low: str, high: str | None, expected: str) -> None:
    assert middle(Fraction(low), None if high is None else Fraction(high)) == Fraction(expected)


def test_a_middle_lies_inside_however_narrow() -> None:
    low = Fraction(10**30 + 1, 3 * 10**31)
    for gap in (Fraction(1, 10**15), Fraction(1, 10**40)):
        assert low < middle(low, low + gap) < low + gap
    for scale in (Fraction(1, 10**400), Fraction(10**400)):
        assert scale < middle(scale, 2 * scale) < 2 * scale
    assert middles([]) == []


# -- scikit-learn's manner ------------------------------------------------------------------------------


def test_parameters_stay_as_they_are() -> None:
    model = DOSDTClassifierCV(LAMBDAS, cv=3, binarizer=Binarizer(missing="category"), rule="best")
    assert is_classifier(model)
    assert model.set_params(binarizer__max_categories=9).get_params()["binarizer__max_categories"] == 9
    assert clone(model).get_params()["regularizations"] == LAMBDAS
    assert model.fit(X, Y) is model
    assert model.regularizations is LAMBDAS
    with pytest.raises(NotFittedError):
        DOSDTClassifierCV().predict(X)
    with pytest.raises(NotFittedError):
        _ = DOSDTClassifierCV().to_model()


def test_splitters_scores_and_groups() -> None:
    groups = np.arange(240) % 6
    model = DOSDTClassifierCV(LAMBDAS, cv=GroupKFold(3), scoring="f1_macro").fit(X, Y, groups=groups)
    assert model.n_splits_ == 3
    plain = GridSearchCV(DOSDTClassifier(), {"regularization": [0.05]}, cv=GroupKFold(3), scoring="f1_macro")
    plain.fit(X, Y, groups=groups)
    assert model.cv_results_["mean_test_score"][1] == pytest.approx(plain.best_score_)
    once = DOSDTClassifierCV(LAMBDAS, cv=ShuffleSplit(1, random_state=0)).fit(X, Y)
    assert once.best_index_ == once.cv_results_["mean_test_score"].argmax()
    pairs = [(np.arange(0, 200), np.arange(200, 240)), (np.arange(40, 240), np.arange(40))]
    assert DOSDTClassifierCV(LAMBDAS, cv=pairs).fit(X, Y).n_splits_ == 2


def test_weights_count_in_fits_and_scores() -> None:
    weights = np.where(np.arange(240) % 3 == 0, 4, 1)
    pairs = [(np.arange(0, 180), np.arange(180, 240))]
    model = DOSDTClassifierCV([0.05], cv=pairs).fit(X, Y, sample_weight=weights)
    plain = DOSDTClassifier(0.05).fit(X[:180], Y[:180], weights[:180])
    expected = accuracy_score(Y[180:], plain.predict(X[180:]), sample_weight=weights[180:])
    assert model.cv_results_["mean_test_score"] == pytest.approx([expected])
    assert model.objective_ == DOSDTClassifier(0.05).fit(X, Y, weights).objective_

    def own(estimator: Any, rows: Any, labels: Any) -> float:
        return float(estimator.score(rows, labels))

    model = DOSDTClassifierCV([0.05], cv=pairs, scoring=own).fit(X, Y, sample_weight=weights)
    assert model.cv_results_["mean_test_score"] == pytest.approx([plain.score(X[180:], Y[180:])])


def test_frames_with_names_and_text(tmp_path: Any) -> None:
    frame = pd.DataFrame(
        {"size": np.arange(240) % 17, "colour": np.array(["red", "blue", "grey"])[X[:, 0] + X[:, 1]]}
    )
    labels = pd.Series(Y, name="bought")
    model = DOSDTClassifierCV([0.1, 0.02], cv=3).fit(frame, labels)
    assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert model.classes_.tolist() == ["no", "yes"]
    save_model(model.to_model("bought"), tmp_path / "tree.json")
    assert 0.5 < model.score(frame, labels) <= 1


# -- stops ----------------------------------------------------------------------------------------------


def test_a_stop_leaves_the_best_trees_known() -> None:
    with pytest.warns(ConvergenceWarning, match="8 of 8 fits in folds were stopped by evaluation_limit"):
        model = DOSDTClassifierCV(LAMBDAS, cv=2, evaluation_limit=0).fit(X, Y)
    assert set(model.cv_results_["split0_status"]) == {"evaluation_limit"}
    assert set(model.cv_results_["mean_leaves"]) == {1.0}
    assert model.predict(X).shape == (240,)


def test_ctrl_c_ends_it() -> None:
    calls = []

    def score(estimator: Any, rows: Any, labels: Any) -> float:
        calls.append(1)
        signal.raise_signal(signal.SIGINT)
        return 0.5

    with pytest.raises(KeyboardInterrupt):
        DOSDTClassifierCV([0.1], cv=4, scoring=score).fit(X, Y)
    assert len(calls) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# -- bad input ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regularizations": []}, "regularizations must hold at least one number"),
        ({"regularizations": "0.1"}, "regularizations must be a list of numbers, got '0.1'"),
        ({"regularizations": 0.1}, "regularizations must be a list of numbers, got 0.1"),
        ({"regularizations": [0.1, "x"]}, "regularization must be a finite number, got 'x'"),
        ({"regularizations": [0.1, 0]}, "regularization 0 needs a limit"),
        ({"min_regularization": -1}, "min_regularization must not be negative"),
        ({"rule": "first"}, "rule must be one of one_se, best; got 'first'"),
        ({"cv": 1}, "cv: "),
        ({"cv": "many"}, "cv: "),
        ({"cv": []}, "cv gives no folds"),
        ({"max_depth": 1.5}, "max_depth must be a whole number"),
        ({"time_limit": -1}, "time_limit must not be negative"),
        (
            {"regularizations": [0.1], "cv": 2, "scoring": make_scorer(lambda true, guess: float("nan"))},
            "scoring gave",
        ),
        ({"regularizations": [0.1], "cv": 2, "scoring": "precision"}, "scoring does not work in fold 1"),
        (
            {"regularizations": [0.1], "cv": [([0, 0, 0], [1])]},
            "the training rows of fold 1: the target has only one",
        ),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DOSDTClassifierCV(**options).fit(X, Y)


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    DOSDTClassifierCV([0.1], cv=2).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    DOSDTClassifierCV([0.1], cv=2, verbose=True).fit(X, Y)
    out, err = capsys.readouterr()
    assert out == ""
    assert "2 of 2" in err
