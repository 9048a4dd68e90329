"""Tables become yes/no questions, the same at fit and at predict time."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from dosdt.binarizer import Binarizer, evaluate_rules
from dosdt.errors import InputError
from dosdt.evaluation import answer
from dosdt.frames import column_table
from dosdt.rules import Rule

FRAME = pd.DataFrame(
    {
        "age": [20, 31, 31, 45],
        "colour": ["red", "blue", "green", "red"],
        "member": [True, False, True, False],
        "flag": [0, 1, 1, 0],
        "height": [1.5, 1.75, 1.8, 1.6],
    }
)


def names(frame, **options):
    return Binarizer(**options).fit(frame).get_feature_names_out().tolist()


def refused(call, *args, **options):
    with pytest.raises(InputError) as error:
        call(*args, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


@parametrize_with_checks(
    [
        Binarizer(),
        Binarizer(missing="category"),
        Binarizer(thresholds="quantile", max_thresholds=3),
        Binarizer(thresholds="reference"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_names_read_as_a_person_would_write_them():
    assert names(FRAME) == [
        "age <= 25",
        "age <= 38",
        "colour = blue",
        "colour = green",
        "colour = red",
        "member",
        "flag",
        "height <= 1.55",
        "height <= 1.7",
        "height <= 1.77",
    ]


def test_answers():
    binarizer = Binarizer()
    answers = binarizer.fit_transform(FRAME)
    assert answers.dtype == np.uint8
    assert answers.shape == (4, len(binarizer.rules_))
    by_name = dict(zip(binarizer.get_feature_names_out(), answers.T.tolist(), strict=True))
    assert by_name["age <= 25"] == [1, 0, 0, 0]
    assert by_name["age <= 38"] == [1, 1, 1, 0]
    assert by_name["colour = red"] == [1, 0, 0, 1]
    assert by_name["member"] == [1, 0, 1, 0]
    assert by_name["flag"] == [0, 1, 1, 0]
    assert by_name["height <= 1.7"] == [1, 0, 0, 1]
    assert binarizer.columns_ == tuple(FRAME.columns)
    assert binarizer.column_kinds_ == ("number", "text", "number", "number", "number")
    assert binarizer.n_features_in_ == 5
    assert binarizer.feature_names_in_.tolist() == list(FRAME.columns)


def test_all_thresholds_part_all_neighbours():
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [
            rng.normal(size=200),
            rng.integers(-5, 5, 200),
            rng.normal(size=200) * 1e300,
            rng.normal(size=200) * 1e-310,
            1 + rng.integers(0, 9, 200) * np.finfo(float).eps,
        ]
    )
    binarizer = Binarizer(thresholds="all").fit(X)
    answers = binarizer.transform(X)
    for j, name in enumerate(binarizer.columns_):
        own = [k for k, rule in enumerate(binarizer.rules_) if rule.column == name]
        distinct = np.unique(X[:, j])
        assert len(own) == len(distinct) - 1
        # the number of noes tells the value's rank
        ranks = len(own) - answers[:, own].sum(axis=1, dtype=int)
        assert np.array_equal(distinct[ranks], X[:, j])


def test_integers_beyond_floats_are_parted():
    frame = pd.DataFrame({"id": np.array([2**62, 2**62 + 1, 2**62 + 2])})
    assert Binarizer().fit_transform(frame).tolist() == [[1, 1], [0, 1], [0, 0]]


def test_thresholds_are_plain_python_numbers():
    rules = Binarizer(categories=["code"]).fit(FRAME.assign(code=[1.5, 2.0, 3.0, 2.0])).rules_
    assert {type(rule.value) for rule in rules} == {int, float, str, type(None)}


def test_zero_one_columns_pass():
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": ["1", "0"], "c": [0, 0], "d": [True, True], "e": [7, 7]})
    assert names(frame) == ["a", "b", "c", "d"]
    assert Binarizer().fit_transform(frame).tolist() == [[0, 1, 0, 1], [1, 0, 0, 1]]
    assert names(pd.DataFrame({"a": [0, 1, None]}), missing="category") == ["a", "a is missing"]
    assert names(pd.DataFrame({"a": [0, 2]})) == ["a <= 1"]
    assert names(pd.DataFrame({"a": [-1, 1]})) == ["a <= 0"]


def test_nothing_to_ask():
    assert Binarizer().fit_transform([[7], [7]]).shape == (2, 0)


def test_two_categories_need_one_question():
    assert names(pd.DataFrame({"a": ["no", "yes", "no"]})) == ["a = yes"]
    assert names(pd.DataFrame({"a": ["x", "x"]})) == ["a = x"]
    # with a missing value the two questions are not opposites
    frame = pd.DataFrame({"a": ["no", "yes", None]})
    assert names(frame, missing="category") == ["a = no", "a = yes", "a is missing"]


def test_too_many_categories():
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(51)]})
    message = refused(Binarizer().fit, frame)
    assert "column 'name' has 51 distinct categories" in message
    assert "max_categories=50" in message
    assert len(names(frame, max_categories=51)) == 51


def test_unseen_categories_answer_no():
    binarizer = Binarizer().fit(FRAME)
    answers = binarizer.transform(FRAME.assign(colour="mauve"))
    asked = [k for k, rule in enumerate(binarizer.rules_) if rule.column == "colour"]
    assert answers[:, asked].sum() == 0


# numbers as categories


def test_numbers_as_categories():
    frame = pd.DataFrame({"zip": [10, 20, 30, 20], "rate": [0.5, 1.0, 2.0, 2.0]})
    binarizer = Binarizer(categories=["zip", "rate"]).fit(frame)
    expected = ["zip = 10", "zip = 20", "zip = 30", "rate = 0.5", "rate = 1", "rate = 2"]
    assert binarizer.get_feature_names_out().tolist() == expected
    answers = binarizer.transform(frame)
    assert answers[:, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]]
    # the same numbers in any other dress
    for dressed in (
        frame.astype(float),
        frame.astype(object),
        frame.astype("Float64"),
        frame.astype(str),
        frame.to_numpy(),
        pa.Table.from_pandas(frame),
    ):
        assert np.array_equal(binarizer.transform(dressed), answers)
    assert binarizer.transform(frame.assign(zip=99))[:, :3].sum() == 0


def test_codes_with_leading_zeros_keep_them():
    frame = pd.DataFrame({"zip": ["02139", "2139", "10001"]})
    assert names(frame, categories=["zip"]) == ["zip = 02139", "zip = 10001", "zip = 2139"]
    binarizer = Binarizer(categories=["zip"]).fit(frame)
    assert binarizer.transform(frame).tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_text_at_fit_and_numbers_or_booleans_at_predict():
    frame = pd.DataFrame({"a": ["1", "2.0", "low", "high", "mid"], "b": ["true", "false", "unknown", "x", "y"]})
    binarizer = Binarizer().fit(frame)
    part = pd.DataFrame({"a": [2, 1], "b": [True, False]})
    found = binarizer.get_feature_names_out()
    yes = [found[row == 1].tolist() for row in binarizer.transform(part)]
    assert yes == [["a = 2.0", "b = true"], ["a = 1", "b = false"]]
    # numbers under names that are none
    assert binarizer.transform(pd.DataFrame({"a": [7.5], "b": [7.5]})).sum() == 0


def test_categorical_numbers_at_fit_and_plain_ones_at_predict():
    frame = pd.DataFrame({"a": pd.Categorical([1, 2, 3])})
    binarizer = Binarizer().fit(frame)
    assert np.array_equal(binarizer.transform(pd.DataFrame({"a": [1, 2, 3]})), np.eye(3))
    assert np.array_equal(binarizer.transform(np.array([[1.0], [2.0], [3.0]])), np.eye(3))


def test_mixed_column_as_category():
    frame = pd.DataFrame({"size": [1, 2.0, "XL"]}, dtype=object)
    assert "holds numbers except 'XL' (row 3)" in refused(Binarizer().fit, frame)
    binarizer = Binarizer(categories=["size"]).fit(frame)
    assert binarizer.get_feature_names_out().tolist() == ["size = 1", "size = 2", "size = XL"]
    assert np.array_equal(binarizer.transform(frame), np.eye(3))
    assert np.array_equal(binarizer.transform(pd.DataFrame({"size": [1, 2]})), np.eye(3)[:2])


def test_categories_by_number_of_an_unnamed_frame():
    assert names(pd.DataFrame([[1], [2], [3]]), categories=[0]) == ["0 = 1", "0 = 2", "0 = 3"]


# missing values and infinity


def test_missing_values_are_refused():
    frame = pd.DataFrame({"age": [1.0, np.nan, 3.0, np.nan, np.nan]})
    message = refused(Binarizer().fit, frame)
    assert "column 'age' has 3 missing values" in message
    assert "(rows 2, 4, 5)" in message
    assert 'pass missing="category" or drop them' in message
    assert "NaN" in message
    assert "(row 2)" in refused(Binarizer().fit, pd.DataFrame({"c": ["a", None]}))
    many = refused(Binarizer().fit, pd.DataFrame({"c": [None] * 9}))
    assert "has 9 missing values" in many
    assert "(rows 1, 2, 3, 4, 5 and 4 more)" in many


def test_missing_values_at_transform_are_refused():
    binarizer = Binarizer().fit(FRAME)
    message = refused(binarizer.transform, FRAME.assign(colour=["red", None, "red", "red"]))
    assert "column 'colour' has 1 missing value" in message
    assert 'fit with missing="category"' in message
    assert "'age'" in refused(binarizer.transform, FRAME.assign(age=np.nan))


def test_missing_as_a_question():
    frame = pd.DataFrame({"income": [10, None, 30], "c": ["a", "b", None], "n": [1, 2, 3]})
    binarizer = Binarizer(missing="category").fit(frame)
    expected = ["income <= 20", "income is missing", "c = a", "c = b", "c is missing", "n <= 1", "n <= 2"]
    assert binarizer.get_feature_names_out().tolist() == expected
    assert binarizer.transform(frame).tolist() == [
        [1, 0, 1, 0, 0, 1, 1],
        [0, 1, 0, 1, 0, 0, 1],
        [0, 0, 0, 0, 1, 0, 0],
    ]
    # a column without missing values at fit has no question for them: all answers are no
    assert binarizer.transform(frame.assign(n=None))[:, 5:].sum() == 0
    # all missing later
    assert binarizer.transform(frame.assign(c=None))[:, 2:5].tolist() == [[0, 0, 1]] * 3


def test_column_without_any_value():
    frame = pd.DataFrame({"a": [None, None], "b": [1, 3]})
    binarizer = Binarizer(missing="category").fit(frame)
    assert binarizer.get_feature_names_out().tolist() == ["a is missing", "b <= 2"]
    assert binarizer.column_kinds_ == ("empty", "number")
    assert binarizer.transform(pd.DataFrame({"a": ["x", None], "b": [1, 3]})).tolist() == [[0, 1], [1, 0]]


@pytest.mark.parametrize("missing", ["error", "category"])
def test_infinity_is_refused(missing):
    frame = pd.DataFrame({"ok": [1, 2, 3], "rate": [0.5, 1.5, -np.inf]})
    message = refused(Binarizer(missing=missing).fit, frame)
    assert "column 'rate' holds infinity (row 3)" in message
    binarizer = Binarizer(missing=missing).fit(frame.assign(rate=[0.5, 1.5, 2.5]))
    assert "'rate' holds infinity (row 3)" in refused(binarizer.transform, frame)


# thresholds


def test_quantile_thresholds():
    frame = pd.DataFrame({"a": range(100), "b": [0, 1, 2] + [2] * 97})
    assert names(frame, thresholds="quantile", max_thresholds=3) == [
        "a <= 24",
        "a <= 49",
        "a <= 74",
        "b <= 0",
        "b <= 1",
    ]
    assert len(names(frame, thresholds="quantile", max_thresholds=1000)) == 99 + 2


def test_reference_thresholds_find_the_cut():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=300) * 1e300,
            "noise": rng.normal(size=300),
            "colour": rng.choice(["r", "g", "b"], 300),
            "gap": np.where(rng.random(300) < 0.1, np.nan, rng.integers(0, 50, 300)),
        }
    )
    y = np.where(frame["x"] > 1e299, "high", "low")
    every = Binarizer(thresholds="all", missing="category").fit(frame)
    some = Binarizer(thresholds="reference", missing="category").fit(frame, y)
    assert set(some.rules_) < set(every.rules_)
    assert [rule for rule in every.rules_ if rule.kind != "at_most"] == [
        rule for rule in some.rules_ if rule.kind != "at_most"
    ]
    assert 0 < len([rule for rule in some.rules_ if rule.kind == "at_most"]) < 130
    # one of the answers is the label itself
    answers = some.transform(frame)
    assert any(np.array_equal(column == 1, y == "low") for column in answers.T)
    again = Binarizer(thresholds="reference", missing="category").fit(frame, pd.Series(y))
    assert again.rules_ == some.rules_


@pytest.mark.parametrize(
    "binarizer",
    [
        Binarizer(thresholds="quantile", max_thresholds=4, missing="category"),
        Binarizer(thresholds="reference", missing="category"),
    ],
    ids=["quantile", "reference"],
)
@pytest.mark.parametrize("seed", range(5))
def test_a_weight_is_that_many_rows(binarizer, seed):
    """Repeated in any order; and a row of weight zero is no row, whatever it holds."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "x": rng.integers(0, 60, 120) / 4,
            "y": np.where(rng.random(120) < 0.1, np.nan, rng.integers(0, 40, 120)),
            "colour": rng.choice(["r", "g", "b"], 120),
        }
    )
    y = (frame["x"] > 6).to_numpy() ^ (rng.random(120) < 0.2)
    weights = rng.integers(0, 5, 120)
    rows = rng.permutation(np.repeat(np.arange(120), weights))
    repeated = clone(binarizer).fit(frame.iloc[rows], y[rows]).rules_
    assert clone(binarizer).fit(frame, y, weights).rules_ == repeated
    assert clone(binarizer).fit(frame, y, [f"{weight}/7" for weight in weights]).rules_ == repeated
    odd = frame.astype(object)
    odd.loc[weights == 0, :] = [["what", "is", "this"]] * int((weights == 0).sum())
    assert clone(binarizer).fit(odd, y, weights).rules_ == repeated
    assert clone(binarizer).fit(frame, y).rules_ != repeated
    huge = [int(weight) * 10**40 for weight in weights]
    assert clone(binarizer).fit(frame, y, huge).rules_ == repeated


def test_refused_weights():
    assert "row 2" in refused(Binarizer().fit, FRAME, None, [1, -1, 1, 1])
    assert "4 rows, 3 weights" in refused(Binarizer().fit, FRAME, None, [1, 0, 1])
    assert "zero for every row" in refused(Binarizer().fit, FRAME, None, [0] * 4)
    assert "must be a number" in refused(Binarizer().fit, FRAME, None, [0, [], 1, 1])


def test_a_rare_class_is_not_lost_among_many_rows(monkeypatch):
    """Of too many rows some are taken, and one of every class among them."""
    monkeypatch.setattr("dosdt.reference.MOST_ROWS", 20)
    X = np.random.default_rng(0).normal(size=(500, 2))
    y = np.zeros(500)
    y[317] = 1
    assert Binarizer(thresholds="reference").fit(X, y).rules_


def test_reference_needs_labels():
    binarizer = Binarizer(thresholds="reference")
    assert "requires y" in refused(binarizer.fit, FRAME)
    assert "one class" in refused(binarizer.fit, FRAME, [1, 1, 1, 1])
    assert "4 rows" in refused(binarizer.fit, FRAME, [1, 0])
    assert "row 2" in refused(binarizer.fit, FRAME, ["a", None, "b", "b"])


def test_reference_without_numbers():
    frame = FRAME[["colour", "member"]]
    assert Binarizer(thresholds="reference").fit(frame, [0, 1, 1, 0]).rules_ == Binarizer().fit(frame).rules_


# options


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"thresholds": "some"}, "thresholds must be one of 'auto', 'all', 'quantile', 'reference', got 'some'"),
        ({"thresholds": 3}, "thresholds"),
        ({"missing": None}, "missing must be one of 'error', 'category', got None"),
        ({"thresholds": "quantile"}, "max_thresholds"),
        ({"thresholds": "quantile", "max_thresholds": 0}, "max_thresholds"),
        ({"thresholds": "quantile", "max_thresholds": 2.5}, "max_thresholds"),
        ({"thresholds": "quantile", "max_thresholds": True}, "max_thresholds"),
        ({"max_thresholds": 5}, "max_thresholds"),
        ({"max_categories": 0}, "max_categories"),
        ({"max_categories": "many"}, "max_categories"),
        ({"categories": "colour"}, "categories must be a list of column names, got 'colour'"),
        ({"categories": None}, "categories"),
        ({"categories": ["colour", "size"]}, "categories names 'size'; the columns are 'age'"),
    ],
)
def test_bad_options(options, part):
    assert part in refused(Binarizer(**options).fit, FRAME)


def test_options_are_kept_untouched():
    categories = ["colour"]
    binarizer = Binarizer(categories=categories, thresholds="nonsense")
    assert binarizer.categories is categories
    assert clone(binarizer).get_params() == binarizer.get_params()


# columns at predict time


def test_not_fitted():
    for method in (Binarizer().transform, Binarizer().check_columns):
        with pytest.raises(NotFittedError):
            method(FRAME)
    with pytest.raises(NotFittedError):
        Binarizer().get_feature_names_out()


def test_columns_are_found_by_name():
    binarizer = Binarizer().fit(FRAME)
    expected = binarizer.transform(FRAME)
    assert np.array_equal(binarizer.transform(FRAME[FRAME.columns[::-1]]), expected)
    assert binarizer.check_columns(FRAME[FRAME.columns[::-1]]).names == tuple(FRAME.columns)
    assert np.array_equal(binarizer.transform(FRAME.to_numpy()), expected)
    assert np.array_equal(binarizer.transform(FRAME.to_numpy().tolist()), expected)


def test_frame_after_array_goes_by_place():
    X = np.array([[1.0, 5.0], [2.0, 4.0]])
    binarizer = Binarizer().fit(X)
    assert not hasattr(binarizer, "feature_names_in_")
    assert np.array_equal(binarizer.transform(pd.DataFrame(X, columns=["b", "a"])), binarizer.transform(X))
    # but by name where the names are the array's own
    swapped = pd.DataFrame({"x1": X[:, 1], "x0": X[:, 0]})
    assert np.array_equal(binarizer.transform(swapped), binarizer.transform(X))


def test_other_columns_are_refused():
    binarizer = Binarizer().fit(FRAME)
    assert "missing 'age'; pass" in refused(binarizer.transform, FRAME.drop(columns="age"))
    assert "unexpected 'label'" in refused(binarizer.transform, FRAME.assign(label=1))
    both = refused(binarizer.transform, FRAME.rename(columns={"age": "years"}))
    assert "missing 'age' and unexpected 'years'" in both
    short = refused(binarizer.transform, FRAME.to_numpy()[:, :2])
    assert "X has 2 features, but" in short
    assert "expecting 5 features as input" in short
    twice = pd.concat([FRAME, FRAME[["age"]]], axis=1)
    assert "duplicate column names: 'age'" in refused(binarizer.transform, twice)


def test_text_where_numbers_were():
    binarizer = Binarizer().fit(FRAME)
    message = refused(binarizer.transform, FRAME.assign(age=["old", "young", "new", "x"]))
    assert "column 'age' held numbers when fitted and holds text now ('old' in row 1)" in message
    message = refused(binarizer.transform, FRAME.assign(age=["1", "2", "3", "old"]))
    assert "column 'age' holds numbers except 'old' (row 4)" in message
    # numbers as strings are numbers
    assert np.array_equal(binarizer.transform(FRAME.assign(age=FRAME["age"].astype(str))), binarizer.transform(FRAME))


def test_refit_forgets():
    binarizer = Binarizer().fit(FRAME)
    binarizer.fit([[1], [2]])
    assert binarizer.columns_ == ("x0",)
    assert not hasattr(binarizer, "feature_names_in_")


def test_feature_names_out():
    binarizer = Binarizer().fit([[1, 0], [3, 1]])
    assert binarizer.get_feature_names_out().tolist() == ["x0 <= 2", "x1"]
    assert binarizer.get_feature_names_out(["a", "b"]).tolist() == ["a <= 2", "b"]
    assert "length" in refused(binarizer.get_feature_names_out, ["a"])
    assert "feature_names_in_" in refused(Binarizer().fit(FRAME).get_feature_names_out, list("abcde"))


def test_pipeline_and_pandas_output():
    model = make_pipeline(Binarizer(), DecisionTreeClassifier(random_state=0))
    assert model.fit(FRAME, [0, 1, 1, 0]).score(FRAME, [0, 1, 1, 0]) == 1
    frame = Binarizer().set_output(transform="pandas").fit_transform(FRAME)
    assert frame.columns[0] == "age <= 25"


# rules on tables


def test_some_rules_alone():
    table = Binarizer().fit(FRAME).check_columns(FRAME)
    rules = [Rule("colour", "equals", "red"), Rule("age", "at_most", 31), Rule("colour", "is_missing")]
    assert evaluate_rules(rules, table).tolist() == [[1, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert evaluate_rules([], table).shape == (4, 0)


def test_rules_that_do_not_fit_the_table():
    table = column_table(FRAME)
    assert "no column 'size'" in refused(evaluate_rules, [Rule("size", "is_true")], table)
    for rule in (Rule("colour", "at_most", 3), Rule("colour", "is_true"), Rule("colour", "equals", 3)):
        assert "column 'colour' holds text" in refused(evaluate_rules, [rule], table)


def test_a_text_column_without_values_answers_no():
    values = np.array([None, None], dtype=object)
    assert answer(Rule("a", "at_most", 3), values).tolist() == [False, False]
    assert answer(Rule("a", "is_missing"), values).tolist() == [True, True]


def test_more_answers_than_memory():
    rules = [Rule("x0", "at_most", 1)] * 10**6
    table = column_table(np.broadcast_to(np.float64(0), (10**9, 1)))
    message = refused(evaluate_rules, rules, table)
    assert 'thresholds="quantile"' in message


def test_auto_takes_all_thresholds_while_they_are_few():
    rng = np.random.default_rng(0)
    few = rng.normal(size=(100, 3))
    assert Binarizer().fit(few).rules_ == Binarizer(thresholds="all").fit(few).rules_


def test_auto_lets_a_reference_model_choose_among_many():
    rng = np.random.default_rng(0)
    many = rng.normal(size=(200, 5))
    y = many[:, 0] > 0.3
    assert Binarizer().fit(many, y).rules_ == Binarizer(thresholds="reference").fit(many, y).rules_
    without_labels = Binarizer().fit(many).rules_
    assert Binarizer().fit(many, [1] * 200).rules_ == without_labels
    assert without_labels == Binarizer(thresholds="quantile", max_thresholds=512 // 5).fit(many).rules_


@pytest.mark.parametrize("missing", ["error", "category"])
def test_one_pass_is_as_two(missing):
    frame = pd.DataFrame(
        {
            "flag": [True, False, True, True],
            "bit": np.array([0, 1, 1, 0], np.int8),
            "few": np.array([-100, 100, 3, 3], np.int8),
            "word": ["a", "b", "c", "a"],
            "digits": ["1", "2", "2", "3"],
            "ratio": [0.5, 1.5, 0.5, 2.5],
        }
    )
    types = ["bool", "int", "int", "text", "int", "float"]
    if missing == "category":
        frame = frame.assign(gap=[1.0, np.nan, 0.0, 1.0], hole=["x", None, "y", "x"], empty=[None] * 4)
        types += ["float", "text", "float"]
    two = Binarizer(missing=missing).fit(frame)
    one = Binarizer(missing=missing)
    assert one.fit_transform(frame).tolist() == two.transform(frame).tolist()
    assert one.rules_ == two.rules_
    assert one.column_types_ == tuple(types)
    kinds = ["number", "number", "number", "text", "number", "number", "number", "text", "empty"]
    assert one.column_kinds_ == two.column_kinds_ == tuple(kinds[: len(types)])
    assert Rule("few", "at_most", 51) in one.rules_
