"""The baselines, held against exhaustive search and against scikit-learn itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from exhaustive import optimum
from random_problems import RandomProblem, random_problem
from sklearn.tree import DecisionTreeClassifier

from benchmarks import fits
from benchmarks.baselines import binoct, cart
from benchmarks.data import Data


def data_of(given: RandomProblem, *, constant: bool = False) -> Data:
    features = np.array(given.features, bool)
    if constant:
        features = np.hstack([features, np.zeros((len(features), 1), bool)])
    names = tuple(f"x{j}" for j in range(features.shape[1]))
    return Data(features, np.array(given.labels), names, tuple(map(str, range(max(given.labels) + 1))))


def small(seed: int) -> RandomProblem:
    return random_problem(seed, max_features=4, max_rows=20)


@pytest.mark.parametrize("seed", range(6))
def test_binoct_finds_the_fewest_errors_of_its_depth(seed: int) -> None:
    given = small(seed)
    data = data_of(given)
    found = binoct.solve(data, 2, None, 60.0, threads=1)
    assert found.nodes is not None
    assert found.status == "optimal"
    assert fits.count_leaves(found.nodes) == 4
    assert fits.depth(found.nodes) == 2
    least = optimum(given.features, given.labels, Fraction(0), max_depth=2)
    assert Fraction(fits.errors(found.nodes, data), len(given.labels)) == least
    assert found.objective == pytest.approx(float(least * len(given.labels)), abs=1e-4)
    assert found.bound == pytest.approx(found.objective, abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("regularization", ["0.03", "0.12"])
def test_regularised_binoct_finds_the_optimum_of_its_depth(seed: int, regularization: str) -> None:
    given = small(seed + 50)
    data = data_of(given, constant=True)  # a question that all rows answer alike makes a single leaf possible
    found = binoct.solve(data, 2, Fraction(regularization), 60.0, threads=1)
    assert found.nodes is not None
    assert found.status == "optimal"
    judged = fits.judged(found.nodes, data, None, regularization)
    least = optimum(given.features, given.labels, Fraction(regularization), max_depth=2)
    assert Fraction(judged["objective"]) == least
    # Errors are counts in the program, so the penalty is λ times the number of rows.
    assert found.objective == pytest.approx(float(least * len(given.labels)), abs=1e-4)


def test_binoct_leaves_a_trace_that_closes() -> None:
    found = binoct.solve(data_of(small(3)), 2, Fraction("0.05"), 60.0, threads=1)
    seconds, best, bounds = zip(*found.trace, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(best) == sorted(best, reverse=True)
    assert bounds[-1] == pytest.approx(best[-1], abs=1e-4)


def test_binoct_stops_in_time() -> None:
    found = binoct.solve(data_of(random_problem(8, max_features=6)), 3, None, 0.0, threads=1)
    assert found.status == "time_limit"


def test_leaves_below_a_node() -> None:
    assert binoct.leaves_below(1, 2) == [0, 1, 2, 3]
    assert binoct.leaves_below(3, 2) == [2, 3]
    assert binoct.leaves_below(5, 2) == [1]


def test_empty_leaves_go_and_nothing_else_changes() -> None:
    features = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], bool)
    data = Data(features, np.array([0, 1, 1, 1]), ("a", "b"), ("0", "1"))
    asked_twice = [[0, 2, 1, -1], [1, 4, 3, -1], [0, 6, 5, -1], *([-1, -1, -1, label] for label in (0, 1, 0, 1))]
    kept = binoct.without_empty_leaves(asked_twice, data)
    assert fits.count_leaves(kept) == 3
    assert (fits.predict(kept, features) == fits.predict(asked_twice, features)).all()


def test_cart_has_the_authors_settings() -> None:
    assert cart.settings(Fraction("0.005"), 6907) == {
        "min_samples_split": 70,
        "min_samples_leaf": 35,
        "max_leaf_nodes": 100,
        "min_impurity_decrease": 0.005,
    }
    assert cart.settings(Fraction("0.001"), 100)["min_samples_split"] == 2  # type: ignore[index]
    assert cart.settings(Fraction("0.26"), 100) is None  # one leaf at most


def test_cart_is_scikit_learns_tree() -> None:
    for seed in range(20):
        data = data_of(random_problem(seed))
        parameters = cart.settings(Fraction("0.02"), len(data.labels))
        assert parameters is not None
        model = DecisionTreeClassifier(random_state=0, **parameters).fit(data.features, data.labels)
        nodes = cart.fit(data, parameters)
        assert (fits.predict(nodes, data.features) == model.predict(data.features)).all()
        assert fits.count_leaves(nodes) == model.get_n_leaves()
        assert fits.depth(nodes) == model.get_depth()
