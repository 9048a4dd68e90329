"""The path and the front hold exactly the best trade-offs, also when they are cut short."""

from __future__ import annotations

import json
import random
import re
import signal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from exhaustive import evaluate, optimum
from random_problems import RandomProblem, random_problem
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.preprocessing import FunctionTransformer

from dosdt import DOSDTClassifier, DOSDTPath, InputError, load_model, plot_path
from dosdt.cli import main
from dosdt.contract import Constraints
from dosdt.front import pareto_front
from dosdt.hull import trace
from dosdt.limits import Limits, Status
from dosdt.many import ManySearches
from dosdt.path_plot import save_path_plot
from dosdt.path_text import path_text

RNG = np.random.default_rng(1)
WIDE = (RNG.random((300, 12)) < 0.5).astype(int)
NOISY = (WIDE[:, 0] ^ WIDE[:, 1]) | (WIDE[:, 2] & WIDE[:, 3]) ^ (RNG.random(300) < 0.2)


def fewest_errors(given: RandomProblem, limits: dict[str, Any], most: int) -> list[Fraction]:
    """Return the fewest errors with at most 1, 2, ... leaves, by trying everything."""
    weight = sum(given.weights) if given.weights else Fraction(len(given.labels))
    most = most if limits["max_leaves"] is None else min(most, limits["max_leaves"])
    rows = given.features, given.labels, Fraction(0)
    options = {**limits, "weights": given.weights, "costs": given.costs}
    return [weight * optimum(*rows, **{**options, "max_leaves": k}) for k in range(1, most + 1)]


def intervals(errors: list[Fraction], weight: Fraction, least: Fraction) -> dict[int, tuple[Any, Any]]:
    """Return, for each number of leaves that is optimal at more than one λ, the λ between which it is."""
    found = {}
    for k, own in enumerate(errors, 1):
        slopes = [((own - other) / (weight * (j - k)), j) for j, other in enumerate(errors, 1) if j != k]
        low = max([least, *(slope for slope, j in slopes if j > k)])
        high = min((slope for slope, j in slopes if j < k), default=None)
        if high is None or low < high:
            found[k] = (low, high)
    return found


def random_limits(seed: int) -> dict[str, Any]:
    rng = random.Random(seed)
    if rng.random() < 0.5:
        return {"max_depth": None, "max_leaves": None, "min_support": Fraction(0)}
    return {
        "max_depth": rng.choice([None, 0, 1, 2, 3]),
        "max_leaves": rng.choice([None, None, 1, 2, 3, 5]),
        "min_support": Fraction(rng.choice([0, 0, 2, 5])),
    }


def check_tree(given: RandomProblem, point: Any, limits: dict[str, Any]) -> None:
    """Check that a tree is what its point says, from the raw rows."""
    tree = point.tree
    assert tree.n_leaves == point.leaves
    assert limits["max_depth"] is None or tree.depth <= limits["max_depth"]
    assert tree.n_leaves == 1 or min(sum(leaf.class_weights) for leaf in tree.leaves) >= limits["min_support"]
    from dosdt.frames import column_table

    answers = tree.predict(column_table(np.array(given.features), names=tree.columns)).tolist()
    weight = sum(given.weights) if given.weights else Fraction(len(given.labels))
    options = {"weights": given.weights, "costs": given.costs}
    assert evaluate(answers, given.labels, 0, Fraction(0), **options) * weight == point.errors == tree.cost


def fitted(given: RandomProblem, least: Any, limits: dict[str, Any], **options: Any) -> DOSDTPath:
    path = DOSDTPath(least, cost_matrix=given.costs, **limits, **options)
    return path.fit(np.array(given.features), given.labels, sample_weight=given.weights)


@pytest.mark.parametrize("start", range(0, 75, 25))
def test_path_and_front_are_those_of_exhaustive_search(start: int) -> None:
    for seed in range(start, start + 25):
        given, limits = random_problem(seed + 500_000, max_features=4, max_rows=30), random_limits(seed)
        rng = random.Random(seed)
        errors = fewest_errors(given, limits, 16)
        weight = sum(given.weights) if given.weights else Fraction(len(given.labels))
        every = intervals(errors, weight, Fraction(0))
        corners = [low for low, _ in every.values()]  # exactly where one tree takes over from another
        least = rng.choice([Fraction(1, 1000), Fraction(1, 100), Fraction(1, 20), Fraction(2), *corners])
        if not least and limits["max_depth"] is None and limits["max_leaves"] is None:
            least = Fraction(1, 10**9)
        most = rng.choice([1, 3, 7, 20])
        path = fitted(given, least, limits, front_leaves=most)

        assert path.status_ == "optimal"
        assert path.proved_down_to_ == least
        assert path.front_proved_to_ == min(most, limits["max_leaves"] or most)
        expected = intervals(errors, weight, least)
        assert {point.leaves: (point.low, point.high) for point in path.points_} == expected
        for point in path.points_:
            assert point.errors == errors[point.leaves - 1]
            assert point.proved
            check_tree(given, point, limits)
        best: dict[int, Fraction] = {}
        for leaves, fewest in enumerate(errors[:most], 1):
            if leaves == 1 or fewest < errors[leaves - 2]:
                best[leaves] = fewest
        assert {point.leaves: point.errors for point in path.front_ or []} == best
        for step in path.front_ or []:
            assert step.proved
            check_tree(given, step, limits)


def test_what_is_proved_before_a_stop_is_true() -> None:
    stopped = 0
    for seed in range(80):
        given, limits = random_problem(seed + 510_000, max_features=3, max_rows=30), random_limits(seed)
        weight = sum(given.weights) if given.weights else Fraction(len(given.labels))
        errors, least = fewest_errors(given, limits, 8), Fraction(1, 1000)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("warnings.warn", lambda *_, **__: None)
            path = fitted(given, least, limits, front_leaves=9, evaluation_limit=[0, 1, 2, 5, 20][seed % 5])
        stopped += not path.is_complete_
        truth = intervals(errors, weight, least)
        ends = [point.low for point in path.points_]
        assert ends == sorted(ends, reverse=True)
        assert ends[-1] == least
        assert [point.high for point in path.points_] == [None, *ends[:-1]]
        for point in path.points_:
            check_tree(given, point, limits)
            assert point.errors >= errors[point.leaves - 1]
            assert point.proved == (point.low >= path.proved_down_to_)
            if point.proved:
                low, high = truth[point.leaves]
                assert low <= point.low
                assert high == point.high
        for value in (path.proved_down_to_, path.proved_down_to_ * 2, path.proved_down_to_ + 1):
            best = min(errors[k - 1] / weight + value * k for k in range(1, len(errors) + 1))
            model = path.classifier_at(value)
            assert model.objective_ == model.lower_bound_ == best
            assert model.status_ == "optimal"
        below = (least + path.proved_down_to_) / 2
        best = min(errors[k - 1] / weight + below * k for k in range(1, len(errors) + 1))
        assert path.classifier_at(below).lower_bound_ <= best <= path.classifier_at(below).objective_
        front = path.front_ or []
        for step in front:
            check_tree(given, step, limits)
            assert step.errors >= errors[step.leaves - 1]
            assert not step.proved or step.errors == errors[step.leaves - 1]
        listed = {step.leaves: step.errors for step in front}
        for leaves in range(2, min(path.front_proved_to_ or 0, len(errors)) + 1):
            assert (leaves in listed) == (errors[leaves - 1] < errors[leaves - 2])
    assert stopped > 20


def test_reuse_spares_work_and_changes_nothing() -> None:
    problem = random_problem(1).problem.from_arrays(WIDE, NOISY, 1)
    runs = []
    for reuse in (True, False):
        with ManySearches(problem, reuse=reuse) as searches:
            hull = trace(searches, Fraction("0.005"))
            evaluated = searches.evaluated
            front = pareto_front(searches, 12, hull)
        assert searches.status is None
        runs.append((hull, front, evaluated, searches.evaluated - evaluated))
    one, other = runs
    assert [corner[:4] for corner in one[0].corners] == [corner[:4] for corner in other[0].corners]
    assert [step[:2] for step in one[1].steps] == [step[:2] for step in other[1].steps]
    assert one[2] < 0.8 * other[2]
    assert one[3] < 0.8 * other[3]


def test_facts_that_are_too_many_are_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = DOSDTPath(0.01, front_leaves=6).fit(WIDE, NOISY)
    monkeypatch.setattr("dosdt.many.MOST_FACTS", 3)
    again = DOSDTPath(0.01, front_leaves=6).fit(WIDE, NOISY)
    assert [point[:4] for point in again.points_] == [point[:4] for point in whole.points_]
    assert again.stats_["evaluated"] > whole.stats_["evaluated"]


def test_a_search_that_is_stopped_midway() -> None:
    whole = DOSDTPath(0.002).fit(WIDE, NOISY)
    with pytest.warns(ConvergenceWarning, match="evaluation_limit: the path is proved only for regularization 0"):
        part = DOSDTPath(0.002, evaluation_limit=whole.stats_["evaluated"] // 2).fit(WIDE, NOISY)
    assert part.status_ == "evaluation_limit"
    assert Fraction(2, 1000) < part.proved_down_to_
    assert not part.points_[-1].proved
    proved = [point for point in part.points_ if point.proved]
    assert proved
    assert [point[:4] for point in proved] == [point[:4] for point in whole.points_[: len(proved)]]
    assert "proved only for λ from" in path_text(part)
    assert "not proved" in path_text(part)
    model = part.classifier_at("0.002")
    assert model.status_ == "evaluation_limit"
    assert model.lower_bound_ <= whole.classifier_at("0.002").objective_ <= model.objective_


@pytest.mark.parametrize("within", [False, True])
def test_ctrl_c_is_a_stop(within: bool) -> None:
    """Also when it comes between two searches."""
    problem = random_problem(1).problem.from_arrays(WIDE, NOISY, 1)
    asked: list[Fraction] = []
    pressed: list[bool] = []

    def press() -> None:
        if not pressed:  # a second time it would end the program
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    def begin(proved_to: Fraction, regularization: Fraction) -> None:
        asked.append(regularization)
        if len(asked) == 3 and not within:
            press()

    def report(_: object) -> None:
        if len(asked) == 3:
            press()

    with ManySearches(problem, report=report if within else None) as searches:
        hull = trace(searches, Fraction(1, 1000), begin)
        front = pareto_front(searches, 5, hull)
    assert searches.status is Status.INTERRUPTED
    assert hull.proved_to > Fraction(1, 1000)
    assert len(asked) == 3
    assert front.complete_to < 5
    assert hull.corners[0].high is None
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_time_runs_out_at_once() -> None:
    with pytest.warns(ConvergenceWarning, match="time_limit: .*, and the front only up to 1 leaves"):
        path = DOSDTPath(0.001, front_leaves=4, time_limit=0).fit(WIDE, NOISY)
    assert [point.leaves for point in path.points_] == [1]
    assert path.status_ == "time_limit"
    assert [(step.leaves, step.proved) for step in path.front_ or []] == [(1, True)]


def test_one_limit_for_all_searches() -> None:
    problem = random_problem(1).problem.from_arrays(WIDE, NOISY, 1)
    with ManySearches(problem, Constraints(), Limits(evaluations=30)) as searches:
        answers = [searches.at(Fraction(1, k)) for k in range(10, 100, 10)]
    assert searches.status is Status.EVALUATION_LIMIT
    assert None in answers
    assert answers[0] is not None


# -- the estimator ----------------------------------------------


def test_classifier_at_is_the_one_that_fit_finds() -> None:
    path = DOSDTPath("0.004", max_depth=4).fit(WIDE, NOISY)
    for value in ("0.3", "0.02", "0.004", *(str(point.low) for point in path.points_)):
        model, own = path.classifier_at(value), DOSDTClassifier(value, max_depth=4).fit(WIDE, NOISY)
        assert model.objective_ == own.objective_ == model.lower_bound_
        assert model.status_ == "optimal"
        assert model.score(WIDE, NOISY) == 1 - float(path.point_at(value).errors) / 300
        assert model.to_model().regularization == Fraction(value)
        assert path.point_at(value).leaves <= own.n_leaves_
    assert path.point_at(10**6).leaves == 1
    with pytest.raises(InputError, match="the path ends at regularization 1/250"):
        path.point_at("0.0039")


def test_parameters_stay_as_they_are() -> None:
    path = DOSDTPath("1/100", front_leaves=3, class_weight="balanced", max_leaves=4)
    assert clone(path).get_params() == path.get_params()
    assert path.fit(WIDE, NOISY) is path
    assert path.min_regularization == "1/100"
    assert path.n_features_in_ == 12
    assert path.classes_.tolist() == [0, 1]
    with pytest.raises(NotFittedError):
        DOSDTPath().point_at(1)


def test_any_transformer_will_do() -> None:
    path = DOSDTPath(0.05, binarizer=FunctionTransformer()).fit(WIDE, NOISY)
    assert [point[:4] for point in path.points_] == [point[:4] for point in DOSDTPath(0.05).fit(WIDE, NOISY).points_]
    assert path.classifier_at(0.05).predict(WIDE).shape == (300,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_regularization": "few"}, "min_regularization must be a finite number, got 'few'"),
        ({"min_regularization": -1}, "min_regularization must not be negative, got -1"),
        ({"min_regularization": 0}, "min_regularization 0 needs a limit: pass max_depth or max_leaves as well"),
        ({"front_leaves": 0}, "front_leaves must be a whole number, 1 or more, got 0"),
        ({"max_depth": -1}, "max_depth must be a whole number"),
        ({"time_limit": "soon"}, "time_limit must be a finite number"),
        ({"min_support": -1}, "min_support must not be negative"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        DOSDTPath(**options).fit(WIDE, NOISY)


def test_nothing_to_gain() -> None:
    """Rows that cannot be told apart leave a single leaf, at every λ."""
    path = DOSDTPath(0, max_leaves=9, front_leaves=9).fit([[0], [0], [1], [1]], [0, 1, 0, 1])
    assert [point[:4] for point in path.points_] == [(1, 2, 0, None)]
    assert path.front_proved_to_ == 9
    assert [step[:2] for step in path.front_ or []] == [(1, 2)]


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    DOSDTPath(0.02, front_leaves=4).fit(WIDE, NOISY)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    DOSDTPath(0.02, front_leaves=4, verbose=True).fit(WIDE, NOISY)
    out, err = capsys.readouterr()
    assert out == ""
    assert "path" in err
    assert re.search("front.* 4 leaves, search", err)


# -- pictures ---------------------------------------------------


def test_plot(tmp_path: Path) -> None:
    with pytest.warns(ConvergenceWarning):
        path = DOSDTPath(0.002, front_leaves=9, evaluation_limit=400).fit(WIDE, NOISY)
    assert not path.is_complete_
    files = [tmp_path / name for name in ("a.svg", "b.svg", "c.png", "d.pdf")]
    for file in files:
        save_path_plot(path, file)
        assert file.stat().st_size > 1000
    assert "leaves" in files[0].read_text()
    assert files[2].read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InputError, match=r"must end in \.png, \.svg, \.pdf; rename it"):
        save_path_plot(path, tmp_path / "plot.txt")
    assert not (tmp_path / "plot.txt").exists()


def test_plot_into_axes_of_ones_own() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(1, 2)
    path = DOSDTPath(0.01).fit(WIDE, NOISY)
    assert plot_path(path, axes) is figure
    drawn = [text.get_text() for text in axes[1].texts]
    assert drawn[0] == "1 leaf"
    assert axes[0].get_xlabel() == "leaves"
    xs = {float(x) for line in axes[0].lines for x in line.get_xdata()}
    assert xs == {point.leaves for point in path.points_}
    with pytest.raises(NotFittedError):
        plot_path(DOSDTPath(), axes)


# -- the command ------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame = pd.DataFrame(WIDE[:, :6], columns=[f"q{k}" for k in range(6)])
    frame["w"] = [1 + k % 3 for k in range(300)]
    frame["label"] = NOISY
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_command(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path", str(table), "--min-regularization", "0.01", "--front", "6", "--weights", "w"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("status      optimal: proved for every λ from 0.01 on\n")
    lines = out.split("\n\n")[1].splitlines()
    assert lines[0].split() == ["leaves", "errors", "optimal", "for", "λ"]
    X, y = pd.DataFrame(WIDE[:, :6]).add_prefix("q"), NOISY
    path = DOSDTPath("0.01", front_leaves=6).fit(X, y, sample_weight=[1 + k % 3 for k in range(300)])
    expected = sorted({point.leaves for point in [*path.points_, *(path.front_ or [])]})
    assert [int(line.split()[0]) for line in lines[1:]] == expected
    assert lines[1].endswith("and more")


def test_command_prints_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    costs = '[[0,1],["2.5",0]]'
    arguments = ["--min-regularization", "1/100", "--front", "3", "--cost-matrix", costs, "--max-depth", "3"]
    assert main(["path", str(table), *arguments, "--cv", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result) == [
        *("status", "complete", "min_regularization", "min_regularization_float"),
        *("proved_down_to", "proved_down_to_float", "training_weight", "rows", "distinct_rows", "features"),
        *("searches", "evaluated", "seconds", "points", "front", "front_proved_to", "cross_validation"),
    ]
    assert (result["status"], result["complete"], result["min_regularization"]) == ("optimal", True, "1/100")
    frame = pd.read_csv(table)
    X, y = frame.drop(columns="label"), frame["label"]
    path = DOSDTPath("0.01", front_leaves=3, cost_matrix=[[0, 1], ["2.5", 0]], max_depth=3).fit(X, y)
    for entry, point in zip(result["points"], path.points_, strict=True):
        assert (entry["leaves"], Fraction(entry["errors"])) == (point.leaves, point.errors)
        assert Fraction(entry["low"]) == point.low
        assert (None if entry["high"] is None else Fraction(entry["high"])) == point.high
        assert entry["proved"] is True
        assert "predict" in entry["tree"]
    assert [entry["leaves"] for entry in result["front"]] == [step.leaves for step in path.front_ or []]
    folds = result["cross_validation"]
    assert folds["folds"] == 3
    assert len(folds["regularizations"]) == len(folds["mean_score"]) == len(result["points"])
    assert folds["best_regularization"] == folds["regularizations"][folds["best_index"]]


def test_command_chooses_and_saves(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, plot, rows = tmp_path / "tree.json", tmp_path / "path.svg", tmp_path / "rows.csv"
    files = ["--model", model, "--plot", plot, "--output", rows]
    arguments = ["path", table, "--min-regularization", "0.01", "--cv", "4", "--front", "9", *files]
    assert main([str(argument) for argument in arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    saved = load_model(model)
    assert saved.target == "label"
    chosen = next(line for line in out.splitlines() if "← chosen" in line)
    assert int(chosen.split()[0]) == saved.tree.n_leaves
    assert "in 4 folds" in out
    assert plot.read_text().lstrip().startswith("<?xml")
    frame = pd.read_csv(rows)
    assert list(frame.columns[:5]) == ["leaves", "errors", "proved", "low", "high"]
    assert frame["chosen"].sum() == 1
    assert Fraction(frame["low"].dropna().iloc[-1]) >= Fraction("0.01")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-regularization", "x"], "--min-regularization must be a finite number, got 'x'"),
        (["--min-regularization", "0"], "--min-regularization 0 needs a limit: pass --max-depth or --max-leaves"),
        (["--front", "0"], "--front must be a whole number, 1 or more, got 0"),
        (["--cv", "1"], "--cv must be from 2 to"),
        (["--cv", "3", "--rule", "worst"], "--rule must be one of one_se, best; got 'worst'"),
        (["--cv", "3", "--scoring", "luck"], "--scoring must be one of scikit-learn's scores"),
        (["--cv", "3", "--jobs", "0"], "--jobs must not be 0"),
        (["--model", "tree.json"], "--model saves the tree that --cv chooses; pass --cv 5"),
        (["--plot", "plot.gif"], "the plot 'plot.gif' must end in .png, .svg, .pdf; rename it"),
        (["--target", "nothing"], "'nothing'"),
        (["--cost-matrix", "[["], "--cost-matrix must be JSON"),
    ],
)
def test_command_refuses(
    table: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["path", str(table), *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("dosdt: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data.csv"]
