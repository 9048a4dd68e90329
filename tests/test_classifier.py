"""The classifier follows scikit-learn's conventions, and what it finds is optimal."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import exhaustive
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, MinMaxScaler, OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from dosdt import Binarizer, DOSDTClassifier, InputError, load_model, save_model
from dosdt.frames import column_table
from dosdt.solver import ALGORITHMS
from dosdt.tree import Split

FRAME = pd.DataFrame(
    {
        "age": [22, 25, 31, 31, 38, 41, 45, 52, 58, 60, 63, 70],
        "colour": ["red", "blue", "red", "green", "blue", "red", "green", "red", "blue", "green", "red", "blue"],
        "member": [True, False, True, False, True, True, False, False, True, False, True, False],
        "height": [1.5, 1.7, 1.62, 1.8, 1.75, 1.55, 1.9, 1.66, 1.71, 1.58, 1.83, 1.6],
    }
)
LABELS = np.array([0, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0])


def binary(seed: int, n: int = 60, p: int = 4, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return 0/1 features and labels that follow them with noise."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n, p)) < 0.5).astype(int)
    y = (X[:, 0] + (X[:, 1] & X[:, 2]) + (rng.random(n) < 0.2)) % n_classes
    return X, y


def refused(model: DOSDTClassifier, X: Any = FRAME, y: Any = LABELS, **options: Any) -> str:
    with pytest.raises(InputError) as error:
        model.fit(X, y, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


# -- scikit-learn -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        DOSDTClassifier(),
        DOSDTClassifier(regularization=0.05, max_depth=2, binarizer=Binarizer(missing="category")),
        DOSDTClassifier(regularization=0.05, algorithm="leafset", evaluation_limit=1000),
    ]
)
def test_scikit_learn_conventions(estimator: Any, check: Any) -> None:
    check(estimator)


def test_parameters() -> None:
    model = DOSDTClassifier("1/50", max_depth=3, binarizer=Binarizer(missing="category"))
    assert is_classifier(model)
    assert model.get_params()["regularization"] == "1/50"
    assert model.get_params()["binarizer__missing"] == "category"
    model.set_params(regularization=0.1, binarizer__thresholds="reference", max_leaves=4)
    assert (model.regularization, model.binarizer.thresholds, model.max_leaves) == (0.1, "reference", 4)
    copy = clone(model)
    assert copy is not model
    assert copy.binarizer is not model.binarizer
    assert {name: str(value) for name, value in copy.get_params().items()} == {
        name: str(value) for name, value in model.get_params().items()
    }
    with pytest.raises(ValueError, match="Invalid parameter 'lambda'"):
        model.set_params(**{"lambda": 1})


def test_fit_changes_no_parameter() -> None:
    model = DOSDTClassifier(0.05, binarizer=Binarizer(), class_weight={0: 2}, cost_matrix=[[0, 1], [2, 0]])
    before = repr(model.get_params())
    model.fit(FRAME, LABELS)
    assert repr(model.get_params()) == before
    assert not hasattr(model.binarizer, "rules_")


def test_fitted_attributes() -> None:
    model = DOSDTClassifier(0.05).fit(FRAME, LABELS)
    assert model.status_ == "optimal"
    assert isinstance(model.objective_, Fraction)
    assert isinstance(model.lower_bound_, Fraction)
    assert model.objective_ == model.lower_bound_
    assert model.gap_ == Fraction(0)
    assert model.objective_ == model.tree_.cost / 12 + Fraction(model.n_leaves_, 20)
    assert model.n_leaves_ == model.tree_.n_leaves
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    assert model.stats_["evaluated"] >= 0
    assert model.trace_[-1].lower_bound == model.trace_[-1].incumbent == model.objective_
    assert model.problem_.total_weight == 12
    errors = (model.predict(FRAME) != LABELS).sum()
    assert model.tree_.cost == errors
    assert model.score(FRAME, LABELS) == pytest.approx(1 - errors / 12)


def test_fitting_again_forgets() -> None:
    model = DOSDTClassifier(0.05).fit(FRAME, LABELS)
    model.fit(FRAME[["age", "height"]].to_numpy(), np.where(LABELS, "yes", "no"))
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.classes_.tolist() == ["no", "yes"]


def test_not_fitted() -> None:
    for method in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(DOSDTClassifier(), method)(FRAME)
    with pytest.raises(NotFittedError):
        DOSDTClassifier().to_model()


def test_pipeline_and_grid_search() -> None:
    X, y = binary(0)
    pipeline = make_pipeline(MinMaxScaler(), DOSDTClassifier())
    search = GridSearchCV(pipeline, {"dosdtclassifier__regularization": [0.02, "0.05", Fraction(1, 5)]}, cv=3)
    search.fit(X, y)
    assert search.best_score_ >= cross_val_score(DOSDTClassifier(0.2), X, y, cv=3).mean()
    assert search.predict(X).shape == y.shape
    direct = clone(search.best_estimator_[-1]).fit(X, y)
    assert search.best_estimator_[-1].objective_ == direct.objective_


def test_a_column_of_labels() -> None:
    with pytest.warns(DataConversionWarning):
        model = DOSDTClassifier(0.05).fit(FRAME, LABELS[:, None])
    assert model.predict(FRAME).shape == (12,)


# -- input of every kind ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["no", "yes"], "U"),
        ([False, True], "b"),
        ([-1, 1], "i"),
        ([2.0, 5.0], "f"),
    ],
)
@pytest.mark.parametrize("make", [list, np.array, pd.Series, lambda values: np.array(values, dtype=object)])
def test_labels_of_every_kind(labels: list[Any], kind: str, make: Any) -> None:
    y = make([labels[label] for label in LABELS])
    model = DOSDTClassifier(0.05).fit(FRAME, y)
    assert model.classes_.tolist() == labels
    answers = model.predict(FRAME)
    assert answers.dtype.kind == kind
    assert set(answers.tolist()) <= set(labels)
    assert answers.tolist() == [labels[label] for label in DOSDTClassifier(0.05).fit(FRAME, LABELS).predict(FRAME)]
    shares = model.predict_proba(FRAME)
    assert shares.shape == (12, 2)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert model.classes_[shares.argmax(axis=1)].tolist() == answers.tolist()
    assert model.score(FRAME, np.array(list(y))) == (answers == np.array(list(y))).mean()


def test_tables_of_every_kind_give_the_same_tree() -> None:
    frame = FRAME.drop(columns="colour")
    rows = frame.astype(object).to_numpy().tolist()
    trees = [
        DOSDTClassifier(0.05).fit(X, LABELS).tree_
        for X in (frame, pa.Table.from_pandas(frame), frame.convert_dtypes(), frame.astype(object))
    ]
    assert trees.count(trees[0]) == len(trees)
    unnamed = [
        DOSDTClassifier(0.05).fit(X, LABELS).tree_ for X in (rows, np.array(rows, object), frame.to_numpy(float))
    ]
    assert unnamed.count(unnamed[0]) == len(unnamed)
    assert unnamed[0].columns == ("x0", "x1", "x2")
    assert unnamed[0].leaves == trees[0].leaves


def test_columns_are_found_by_name() -> None:
    model = DOSDTClassifier(0.05).fit(FRAME, LABELS)
    assert model.n_leaves_ > 1
    assert model.predict(FRAME[["height", "member", "colour", "age"]]).tolist() == model.predict(FRAME).tolist()


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRAME.drop(columns="age"), "missing 'age'"),
        (FRAME.assign(extra=1), "unexpected 'extra'"),
        (FRAME.rename(columns={"age": "Age"}), "missing 'age' and unexpected 'Age'"),
        (np.zeros((3, 3)), "X has 3 features, but dosdt is expecting 4 features"),
        (FRAME.assign(age="old"), "column 'age' held numbers when fitted and holds text now"),
        (FRAME.assign(height=np.nan), "column 'height' has 12 missing values"),
        (FRAME.iloc[:0], "0 sample"),
    ],
)
def test_other_columns_at_predict_time(X: Any, message: str) -> None:
    model = DOSDTClassifier(0.05).fit(FRAME, LABELS)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(InputError, match=message) as error:
            method(X)
        assert "\n" not in str(error.value)


def test_unseen_categories_answer_no() -> None:
    frame = pd.DataFrame({"colour": ["red", "blue", "green"] * 5})
    model = DOSDTClassifier(0.05).fit(frame, [1, 0, 0] * 5)
    assert model.predict(pd.DataFrame({"colour": ["red", "violet"]})).tolist() == [1, 0]


def test_predictions_agree_with_the_binary_features() -> None:
    """A file may hold text where another happens to hold only numbers."""
    frame = pd.DataFrame({"code": ["2", "x", "y"] * 5})
    model = DOSDTClassifier(0.05).fit(frame, [1, 0, 0] * 5)
    for codes in (["1", "2", "2"], [1, 2, 2], [1.0, 2.0, 2.0]):
        assert model.predict(pd.DataFrame({"code": codes})).tolist() == [0, 1, 1]
        assert model.tree_.predict(column_table(pd.DataFrame({"code": codes}))).tolist() == [0, 1, 1]


# -- what it finds is optimal -----------------------------------------------------------------------------


def optimum(model: DOSDTClassifier, X: Any, y: np.ndarray, **options: Any) -> Fraction:
    """Try every tree over the features that the model saw."""
    features = model.binarizer_.transform(X).tolist()
    labels = np.searchsorted(model.classes_, y).tolist()
    return exhaustive.optimum(features, labels, Fraction(str(model.regularization)), **options)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(4))
def test_limits_on_the_tree(seed: int, algorithm: str) -> None:
    X, y = binary(seed, n_classes=2 + seed % 2)
    for options in ({"max_depth": 1}, {"max_depth": 2}, {"max_leaves": 2}, {"max_leaves": 3, "max_depth": 2}):
        model = DOSDTClassifier(0, algorithm=algorithm, **options).fit(X, y)
        assert model.objective_ == optimum(model, X, y, **options)
        assert model.tree_.depth <= options.get("max_depth", 99)
        assert model.n_leaves_ <= options.get("max_leaves", 99)
    for support in (5, "12.5", Fraction(29, 2)):
        model = DOSDTClassifier(0.01, algorithm=algorithm, min_support=support).fit(X, y)
        assert model.objective_ == optimum(model, X, y, min_support=Fraction(support))
        assert all(sum(leaf.class_weights) >= Fraction(support) for leaf in model.tree_.leaves)


def test_a_single_leaf() -> None:
    for options in ({"max_depth": 0}, {"max_leaves": 1}, {"regularization": 1}, {"min_support": 7}):
        model = DOSDTClassifier(**{"regularization": 0.01, **options}).fit(FRAME, LABELS)
        assert model.n_leaves_ == 1
        assert set(model.predict(FRAME)) == {model.classes_[model.tree_.leaves[0].label]}


def test_no_penalty_needs_a_limit() -> None:
    assert refused(DOSDTClassifier(0)) == "regularization 0 needs a limit: pass max_depth or max_leaves as well"
    assert DOSDTClassifier(0, max_leaves=2).fit(FRAME, LABELS).status_ == "optimal"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(4))
def test_balanced_classes(seed: int, algorithm: str) -> None:
    X, y = binary(seed, n_classes=2 + seed % 2)
    keep = (y != 1) | (np.arange(len(y)) % 3 == 0)
    X, y = X[keep], y[keep]
    model = DOSDTClassifier(0.02, algorithm=algorithm, class_weight="balanced").fit(X, y)
    counts = np.bincount(y).tolist()
    weights = [Fraction(len(y), len(counts) * counts[label]) for label in y]
    assert model.objective_ == optimum(model, X, y, weights=weights)
    assert model.problem_.total_weight == len(y)
    # As scikit-learn means it: the same as these weights given for every row.
    same = DOSDTClassifier(0.02, algorithm=algorithm).fit(X, y, sample_weight=weights)
    assert same.tree_ == model.tree_


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(4))
def test_class_weights(seed: int, algorithm: str) -> None:
    X, y = binary(seed)
    names = np.array(["bad", "good"])[y]
    model = DOSDTClassifier(0.02, algorithm=algorithm, class_weight={"bad": 0.1}).fit(X, names)
    weights = [Fraction(1, 10) if label == 0 else Fraction(1) for label in y]
    assert model.objective_ == optimum(model, X, names, weights=weights)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(4))
def test_cost_matrix(seed: int, algorithm: str) -> None:
    n_classes = 2 + seed % 2
    X, y = binary(seed, n_classes=n_classes)
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 9, (n_classes, n_classes)) / 2
    model = DOSDTClassifier(0.02, algorithm=algorithm, cost_matrix=costs).fit(X, y)
    exact = [[Fraction(str(cost)) for cost in row] for row in costs.tolist()]
    assert model.objective_ == optimum(model, X, y, costs=exact)
    paid = sum(exact[true][guess] for true, guess in zip(y, model.predict(X), strict=True))
    assert model.tree_.cost == paid


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repetitions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, 12)
    weights[:2] = 1, 0
    rows = np.repeat(np.arange(12), weights)
    weighted = DOSDTClassifier(0.05).fit(FRAME, LABELS, sample_weight=weights)
    repeated = DOSDTClassifier(0.05).fit(FRAME.iloc[rows], LABELS[rows])
    assert weighted.tree_ == repeated.tree_
    assert weighted.objective_ == repeated.objective_
    assert weighted.predict_proba(FRAME).tolist() == repeated.predict_proba(FRAME).tolist()


@pytest.mark.parametrize(
    "make", [lambda rows: rows, lambda rows: rows.to_numpy(object).tolist(), pa.Table.from_pandas]
)
def test_no_weight_is_absence(make: Any) -> None:
    """Also for thresholds and categories: a row that does not count asks no questions."""
    weights = [0.5] * 9 + [0] * 3
    weighted = DOSDTClassifier(0.05).fit(make(FRAME), LABELS, sample_weight=weights)
    absent = DOSDTClassifier(0.05).fit(make(FRAME.iloc[:9]), LABELS[:9])
    assert weighted.binarizer_.rules_ == absent.binarizer_.rules_
    assert weighted.objective_ == absent.objective_
    assert weighted.predict(FRAME).tolist() == absent.predict(FRAME).tolist()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_class_without_weight_is_still_a_class(algorithm: str) -> None:
    """As in scikit-learn's own trees: it has its place everywhere, and is predicted only if costs say so."""
    y = np.where(np.arange(12) < 3, "rare", np.where(LABELS == 1, "yes", "no"))
    weights = np.where(y == "rare", 0, 1)
    model = DOSDTClassifier(0.05, algorithm=algorithm).fit(FRAME, y, sample_weight=weights)
    absent = DOSDTClassifier(0.05, algorithm=algorithm).fit(FRAME.iloc[3:], y[3:])
    assert model.classes_.tolist() == ["no", "rare", "yes"]
    assert model.objective_ == absent.objective_
    assert model.binarizer_.rules_ == absent.binarizer_.rules_
    assert model.predict(FRAME).tolist() == absent.predict(FRAME).tolist()
    assert model.predict_proba(FRAME)[:, [0, 2]].tolist() == absent.predict_proba(FRAME).tolist()
    assert not model.predict_proba(FRAME)[:, 1].any()
    named = DOSDTClassifier(0.05, algorithm=algorithm, class_weight={"rare": 5, "no": 2})
    assert named.fit(FRAME, y, sample_weight=weights).classes_.tolist() == ["no", "rare", "yes"]
    balanced = DOSDTClassifier(0.05, algorithm=algorithm, class_weight="balanced")
    assert balanced.fit(FRAME, y, sample_weight=weights).objective_ == balanced.fit(FRAME[3:], y[3:]).objective_
    costs = [[0, 9, 1], [1, 0, 1], [1, 9, 0]]
    dear = DOSDTClassifier(0.05, algorithm=algorithm, cost_matrix=costs).fit(FRAME, y, sample_weight=weights)
    assert dear.objective_ == absent.objective_
    costs = [[5, "0.1", 5], [9, 9, 9], [5, "0.1", 5]]
    cheap = DOSDTClassifier(0.05, algorithm=algorithm, cost_matrix=costs).fit(FRAME, y, sample_weight=weights)
    assert set(cheap.predict(FRAME)) == {"rare"}
    assert cheap.objective_ == Fraction(1, 10) + Fraction(1, 20)


def test_only_one_class_with_weight() -> None:
    model = DOSDTClassifier(0.05).fit(FRAME, LABELS, sample_weight=LABELS)
    assert model.classes_.tolist() == [0, 1]
    assert set(model.predict(FRAME)) == {1}
    assert model.predict_proba(FRAME).tolist() == [[0, 1]] * 12
    many = np.random.default_rng(0).random((12, 100))  # more thresholds than are taken without looking at labels
    assert DOSDTClassifier(0.05).fit(many, LABELS, sample_weight=LABELS).objective_ == Fraction(1, 20)


@pytest.mark.parametrize("zero", [0, 0.0, "0", "0/7", Fraction(0)])
def test_every_zero_is_absence(zero: Any) -> None:
    weights = ["1/3"] * 9 + [zero] * 3
    weighted = DOSDTClassifier(0.05).fit(FRAME, LABELS, sample_weight=weights)
    assert weighted.binarizer_.rules_ == Binarizer().fit(FRAME.iloc[:9]).rules_


def test_weights_are_exact() -> None:
    large = DOSDTClassifier(0.05).fit(FRAME, LABELS, sample_weight=[2**53 + 1, 0.5, 0] * 4)
    assert large.problem_.total_weight == 4 * (2**53 + 1) + 2


# -- binarizers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encode", ["onehot", "onehot-dense"])
def test_bins_of_scikit_learn(encode: str) -> None:
    X, y = FRAME[["age", "height"]], LABELS
    bins = KBinsDiscretizer(3, encode=encode, quantile_method="averaged_inverted_cdf")
    model = DOSDTClassifier(0.05, binarizer=bins).fit(X, y)
    features = model.binarizer_.transform(X)
    dense = features if encode == "onehot-dense" else features.toarray()
    assert model.objective_ == exhaustive.optimum(dense.tolist(), y.tolist(), Fraction(1, 20))
    assert model.tree_.columns == tuple(model.binarizer_.get_feature_names_out())
    assert model.tree_.cost == (model.predict(X) != y).sum()
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["age", "height"]
    with pytest.raises(InputError, match="only models fitted with a dosdt.Binarizer can be saved"):
        model.to_model()


@pytest.mark.parametrize("sparse", [True, False])
def test_categories_of_scikit_learn(sparse: bool) -> None:
    encoder = OneHotEncoder(sparse_output=sparse, handle_unknown="ignore")
    model = DOSDTClassifier(0.05, binarizer=encoder).fit(FRAME[["colour"]], LABELS)
    assert any(isinstance(node, Split) for node in model.tree_.nodes)
    assert model.predict(pd.DataFrame({"colour": ["violet"]})).shape == (1,)
    assert model.tree_.columns == ("colour_blue", "colour_green", "colour_red")


def test_sparse_features_and_texts() -> None:
    """Whatever a transformer takes: nothing looks at `X` but the transformer."""
    X, y = binary(0)
    model = DOSDTClassifier(0.05, binarizer=FunctionTransformer(accept_sparse=True)).fit(csr_array(X), y)
    assert model.objective_ == DOSDTClassifier(0.05).fit(X, y).objective_
    assert model.predict(csr_array(X)).tolist() == DOSDTClassifier(0.05).fit(X, y).predict(X).tolist()
    texts = ["good fun", "bad fun", "good food", "bad food"] * 3
    words = DOSDTClassifier(0.05, binarizer=CountVectorizer(binary=True)).fit(texts, [1, 0, 1, 0] * 3)
    assert words.predict(["quite good", "quite bad"]).tolist() == [1, 0]
    assert "sparse matrices are not supported" in refused(DOSDTClassifier(), csr_array(X), y)


def test_a_transformer_without_yes_and_no() -> None:
    scaler = MinMaxScaler()
    message = refused(DOSDTClassifier(binarizer=scaler), FRAME[["age", "height"]])
    assert message == "features must be 0 or 1; use dosdt.Binarizer for numbers and categories"


def test_missing_values() -> None:
    frame = FRAME.assign(height=FRAME["height"].where(LABELS == 1))
    assert "column 'height' has 6 missing values" in refused(DOSDTClassifier(0.05), frame)
    model = DOSDTClassifier(0.05, binarizer=Binarizer(missing="category")).fit(frame, LABELS)
    assert str(model.tree_.nodes[0].rule) == "height is missing"
    assert (model.predict(frame) == LABELS).all()


# -- limits and warnings ----------------------------------------------------------------------------------


def test_a_proof_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DOSDTClassifier(0.05).fit(FRAME, LABELS).status_ == "optimal"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({"evaluation_limit": 3}, "evaluation_limit"),
        ({"time_limit": 0}, "time_limit"),
        ({"time_limit": "0.0"}, "time_limit"),
        ({"memory_limit": "1k"}, "memory_limit"),
        ({"memory_limit": 1}, "memory_limit"),
    ],
)
def test_a_stop_before_the_proof_warns(options: dict[str, Any], status: str, algorithm: str) -> None:
    X, y = binary(3, n=200, p=8)
    model = DOSDTClassifier(0.001, algorithm=algorithm, warm_start=False, **options)
    with pytest.warns(ConvergenceWarning, match=f"^stopped by {status} before the proof was complete: .* up to"):
        model.fit(X, y)
    assert model.status_ == status
    assert model.lower_bound_ < model.objective_
    assert model.gap_ == (model.objective_ - model.lower_bound_) / model.objective_
    assert model.predict(X).shape == y.shape


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("gap", ["0.01", 0.1, "1/3", 0.9])
def test_a_gap_that_was_asked_for(gap: Any, algorithm: str) -> None:
    """It is kept, it holds for the true optimum, and nothing is left to warn of."""
    for seed in range(5):
        X, y = binary(seed, n=80, p=6)
        best = DOSDTClassifier(0.01).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = DOSDTClassifier(0.01, algorithm=algorithm, warm_start=False, relative_gap=gap).fit(X, y)
        assert model.status_ in ("optimal", "gap_reached")
        assert model.gap_ <= Fraction(str(gap))
        assert model.lower_bound_ <= best.objective_ <= model.objective_
        again = DOSDTClassifier(0.01, algorithm=algorithm, warm_start=False, relative_gap=gap).fit(X, y)
        assert again.tree_ == model.tree_
        assert again.stats_["evaluated"] == model.stats_["evaluated"]


@pytest.mark.parametrize("options", [{"memory_limit": "64G"}, {"time_limit": 600}, {"evaluation_limit": 10**9}])
def test_limits_that_are_not_reached(options: dict[str, Any]) -> None:
    assert DOSDTClassifier(0.05, **options).fit(FRAME, LABELS).status_ == "optimal"


def test_a_cold_start_finds_the_same() -> None:
    warm, cold = (
        DOSDTClassifier(0.05, algorithm="leafset", warm_start=warm).fit(FRAME, LABELS) for warm in (True, False)
    )
    assert warm.objective_ == cold.objective_
    assert "warm_start_objective" in warm.stats_
    assert "warm_start_objective" not in cold.stats_


def test_verbose_writes_to_stderr_only(capfd: pytest.CaptureFixture[str]) -> None:
    DOSDTClassifier(0.05, verbose=True).fit(FRAME, LABELS)
    out, _ = capfd.readouterr()
    assert out == ""
    DOSDTClassifier(0.05).fit(FRAME, LABELS)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"regularization": -0.1}, "regularization must not be negative, got -0.1"),
        ({"regularization": "much"}, "regularization must be a finite number, got 'much'"),
        ({"regularization": float("nan")}, "regularization must be a finite number, got nan"),
        ({"n_jobs": 0}, "n_jobs must be a number of workers, or -1 for one on each CPU; got 0"),
        ({"n_jobs": "two"}, "n_jobs must be a number of workers"),
        ({"ray_address": ""}, "ray_address must be text such as 'auto' or '10.0.0.1:6379', got ''"),
        ({"max_depth": -1}, "max_depth must be a whole number, 0 or more, got -1"),
        ({"max_depth": 2.5}, "max_depth must be a whole number, 0 or more, got 2.5"),
        ({"max_leaves": 0}, "max_leaves must be a whole number, 1 or more, got 0"),
        ({"max_leaves": True}, "max_leaves must be a whole number"),
        ({"evaluation_limit": -1}, "evaluation_limit must be a whole number, 0 or more"),
        ({"time_limit": -1}, "time_limit must not be negative, got -1"),
        ({"relative_gap": 1}, "relative_gap must be a number from 0 to less than 1, such as 0.05 for 5 %, got 1"),
        ({"time_limit": "soon"}, "time_limit must be a finite number, got 'soon'"),
        ({"memory_limit": "lots"}, "memory_limit must be a number of bytes or a text such as '2G', got 'lots'"),
        ({"min_support": -1}, "min_support must not be negative, got -1"),
        ({"min_support": "few"}, "min_support must be a finite number, got 'few'"),
        ({"algorithm": "magic"}, "algorithm must be one of"),
        ({"policy": "luck"}, "policy must be one of"),
        ({"bounds": ["leap"]}, "bounds must be one of"),
        ({"class_weight": {3: 1}}, "class_weight names 3, which is not a class"),
        ({"class_weight": "fair"}, "class_weight must be None, 'balanced' or a mapping"),
        ({"cost_matrix": [[0]]}, "cost_matrix must be 2 x 2"),
        ({"binarizer": Binarizer(thresholds="some")}, "thresholds must be one of"),
    ],
)
def test_refused_options(options: dict[str, Any], message: str) -> None:
    assert message in refused(DOSDTClassifier(**options))


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (FRAME, LABELS[:5], {}, "inconsistent numbers of rows: 12 of features, 5 of labels"),
        (FRAME, LABELS[:5], {"sample_weight": [0, 1, 1, 1, 1]}, "inconsistent numbers of rows"),
        (FRAME.iloc[:5], LABELS, {"sample_weight": [1, 1, 1, 1] + [0] * 8}, "inconsistent numbers of rows"),
        (FRAME, LABELS, {"sample_weight": [1] * 5}, "sample_weight.shape == (5,), expected (12,)"),
        (FRAME, LABELS, {"sample_weight": [0] * 12}, "sample_weight is zero for every row"),
        (FRAME, LABELS, {"sample_weight": [-1] * 12}, "sample_weight must not be negative: row 1 has -1"),
        (FRAME, None, {}, "requires y to be passed, but the target y is None"),
        (FRAME, [1] * 12, {}, "the target has only one class, 1"),
        (FRAME, [1, "a"] * 6, {}, "the target mixes labels of different types: 1 (row 1) and 'a' (row 2)"),
        (FRAME, ["a", None] * 6, {}, "missing labels"),
        (FRAME, np.linspace(0, 1, 12), {}, "Unknown label type"),
        (FRAME, np.zeros((12, 2)), {}, "must be one column of labels"),
        (FRAME.iloc[:0], [], {}, "the target has no rows"),
        (FRAME.iloc[[0] * 12], LABELS, {}, "no feature is left: every feature has the same value in all rows"),
        (FRAME.iloc[:1], LABELS[:1], {}, "the target has only one class, 0"),
        (FRAME.assign(age=np.inf), LABELS, {}, "column 'age' holds infinity"),
        (None, LABELS, {}, "X must be a table, got NoneType"),
        (5, LABELS, {}, "X must have two dimensions"),
    ],
)
def test_refused_data(X: Any, y: Any, options: dict[str, Any], message: str) -> None:
    assert message in refused(DOSDTClassifier(0.05), X, y, **options)


# -- models -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"], [False, True]])
def test_a_saved_model_predicts_the_same(tmp_path: Path, labels: list[Any]) -> None:
    y = np.array(labels)[LABELS]
    frame = FRAME.assign(height=FRAME["height"].where(FRAME["age"] != 41), code=["7", "8", "9"] * 4)
    binarizer = Binarizer(missing="category", categories=["code"])
    model = DOSDTClassifier("0.02", binarizer=binarizer).fit(frame, y)
    assert model.n_leaves_ > 1
    save_model(model.to_model("bought"), tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded == model.to_model("bought")
    assert loaded.tree == model.tree_
    assert (loaded.objective, loaded.lower_bound, loaded.status) == (model.objective_, model.lower_bound_, "optimal")
    assert (loaded.regularization, loaded.training_weight, loaded.target) == (Fraction(1, 50), 12, "bought")
    assert loaded.kinds == ("int", "text", "bool", "float", "text")
    table = column_table(frame, categories=["code"])
    assert loaded.tree.predict(table).tolist() == model.predict(frame).tolist()
    assert loaded.tree.predict_proba(table).tolist() == model.predict_proba(frame).tolist()
