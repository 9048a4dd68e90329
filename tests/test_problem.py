"""The exact problem, recomputed from the raw rows in fractions."""

from __future__ import annotations

import random
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sketch_checks import cost_of, leaf_of, random_sketch

from dosdt.errors import InputError
from dosdt.problem import Column, Problem

F = Fraction
FEATURES = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1], [1, 1, 1], [0, 1, 0]]
LABELS = [0, 1, 0, 1, 0, 1]


def build(regularization: object = "0.1", features: Any = FEATURES, labels: Any = LABELS, **options: Any) -> Problem:
    return Problem.from_arrays(features, labels, regularization, **options)


class Raw:
    """A random problem as a person would give it, and what it means, row by row."""

    def __init__(self, seed: int, n_features: int | None = None) -> None:
        rng = random.Random(seed)
        self.n_classes = rng.randint(2, 4)
        n_rows, n_features = rng.randint(12, 60), n_features or rng.randint(2, 6)
        density = rng.choice([0.2, 0.5, 0.9])
        self.features = [[int(rng.random() < density) for _ in range(n_features)] for _ in range(n_rows)]
        self.features[0][0], self.features[1][0] = 0, 1  # at least one feature that is not constant
        self.labels = [k % self.n_classes if k < 8 else rng.randrange(self.n_classes) for k in range(n_rows)]
        self.regularization = rng.choice(["0", "0.005", "1/30", "0.1", "0.012345678901234567"])
        self.sample_weight = rng.choice([None, self._integers(rng), self._floats(rng), self._fractions(rng)])
        self.class_weight: Any = rng.choice([None, "balanced", {0: 3}, {0: 0.1, 1: F(1, 7)}, {1: 0}])
        self.cost_matrix = None
        if rng.random() < 0.5:
            costs = [[F(rng.randint(0, 9), rng.choice([1, 2, 3])) for _ in range(self.n_classes)] for _ in range(9)]
            self.cost_matrix = costs[: self.n_classes]

    def _integers(self, rng: random.Random) -> list[int]:
        return [1, 1, *(rng.randint(0, 5) for _ in self.labels[2:])]

    def _floats(self, rng: random.Random) -> list[float]:
        return [0.1, 0.1, *(rng.choice([0.0, 0.1, 0.25, 1e-3, rng.random()]) for _ in self.labels[2:])]

    def _fractions(self, rng: random.Random) -> list[Fraction]:
        return [F(1, 3), F(1, 3), *(F(rng.randint(0, 9), rng.randint(1, 9)) for _ in self.labels[2:])]

    @property
    def problem(self) -> Problem:
        return build(
            self.regularization,
            self.features,
            self.labels,
            sample_weight=self.sample_weight,
            class_weight=self.class_weight,
            cost_matrix=self.cost_matrix,
        )

    @cached_property
    def weights(self) -> list[Fraction]:
        """Weight of every raw row; a float is the decimal it prints as."""
        given = [F(str(weight)) for weight in self.sample_weight or [1] * len(self.labels)]
        factors = dict.fromkeys(range(self.n_classes), F(1))
        if self.class_weight == "balanced":
            for c in factors:
                own = sum(w for w, label in zip(given, self.labels, strict=True) if label == c)
                factors[c] = sum(given) / (self.n_classes * own) if own else F(0)
        elif self.class_weight is not None:
            factors |= {c: F(str(factor)) for c, factor in self.class_weight.items()}
        return [w * factors[label] for w, label in zip(given, self.labels, strict=True)]

    def cost(self, row: int, guess: int) -> Fraction:
        true = self.labels[row]
        each = F(int(true != guess)) if self.cost_matrix is None else self.cost_matrix[true][guess]
        return self.weights[row] * each


def raw_groups(raw: Raw, problem: Problem) -> dict[tuple[int, ...], list[int]]:
    """Return the raw rows behind every distinct row; rows without a sample weight have none."""
    groups = defaultdict(list)
    for row, values in enumerate(raw.features):
        if raw.sample_weight is None or raw.sample_weight[row]:
            groups[tuple(values[column.source] for column in problem.columns)].append(row)
    return groups


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_distinct_rows_and_costs(start: int) -> None:
    for seed in range(start, start + 50):
        raw = Raw(seed)
        problem, weights = raw.problem, raw.weights
        groups = raw_groups(raw, problem)
        total = sum(weights, F(0))
        assert problem.n_rows == len(groups)
        assert problem.classes == tuple(range(raw.n_classes))
        assert problem.total_weight == total
        assert problem.n_samples == sum(map(len, groups.values()))
        assert F(problem.a, problem.b) == F(raw.regularization) * total / problem.cost_unit
        assert (problem.a, problem.b) == F(problem.a, problem.b).as_integer_ratio()
        for r, values in enumerate(problem.features.astype(int).tolist()):
            rows = groups[tuple(values)]
            for c in range(raw.n_classes):
                weight = sum(weights[row] for row in rows if raw.labels[row] == c)
                assert problem.class_weight[c][r] * problem.weight_unit == weight
                assert problem.cost[c][r] * problem.cost_unit == sum(raw.cost(row, c) for row in rows)
                assert type(problem.class_weight[c][r]) is int
                assert type(problem.cost[c][r]) is int
            costs = [problem.cost[c][r] for c in range(raw.n_classes)]
            assert (problem.floor[r], problem.ceiling[r]) == (min(costs), max(costs))
            assert problem.weight[r] * problem.weight_unit == sum(weights[row] for row in rows)


def test_objective_of_random_trees() -> None:
    for seed in range(200):
        raw, rng = Raw(seed), random.Random(seed)
        problem = raw.problem
        sketch = random_sketch(rng, problem, rng.randint(0, 6))
        wrong = Fraction(0)
        for row, values in enumerate(raw.features):
            end = leaf_of(sketch, [bool(values[column.source]) for column in problem.columns])
            wrong += raw.cost(row, sketch.nodes[end].label)
        expected = wrong / sum(raw.weights) + F(raw.regularization) * sketch.n_leaves
        assert problem.objective(cost_of(problem, sketch)) == expected


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (0.005, F(1, 200)),
        ("0.005", F(1, 200)),
        ("1e-3", F(1, 1000)),
        (F(1, 3), F(1, 3)),
        ("1/3", F(1, 3)),
        (Decimal("0.005"), F(1, 200)),
        (np.float64(0.005), F(1, 200)),
        (np.float32(0.005), F(1, 200)),
        (0, F(0)),
        (1, F(1)),
        (0.012345678901234567, F(repr(0.012345678901234567))),
        (10 ** np.linspace(-3, -1, 7)[1], F(repr(float(10 ** np.linspace(-3, -1, 7)[1])))),
    ],
)
def test_regularization_is_what_was_typed(typed: object, meant: Fraction) -> None:
    problem = build(typed)
    assert problem.regularization == meant
    assert F(problem.a, problem.b) == meant * 6
    assert problem.objective(problem.a) == meant


def test_heavy_rows_come_first() -> None:
    for seed in range(100):
        problem = Raw(seed).problem
        assert list(problem.weight) == sorted(problem.weight, reverse=True)


def test_the_order_of_the_raw_rows_does_not_matter() -> None:
    for seed in range(50):
        raw = Raw(seed, n_features=70 if seed % 5 == 0 else None)
        problem = raw.problem
        order = random.Random(seed).sample(range(len(raw.labels)), len(raw.labels))
        raw.features = [raw.features[row] for row in order]
        raw.labels = [raw.labels[row] for row in order]
        raw.sample_weight = raw.sample_weight and [raw.sample_weight[row] for row in order]
        shuffled = raw.problem
        assert shuffled.fingerprint == problem.fingerprint
        assert shuffled.features.tolist() == problem.features.tolist()
        assert shuffled.cost == problem.cost


@pytest.mark.parametrize("n_features", [8, 9, 63, 64, 65, 100, 300])
def test_wide_rows(n_features: int) -> None:
    """Rows that differ in one feature only, wherever it is, stay apart."""
    features = np.vstack([np.zeros((2, n_features), bool), np.eye(n_features, dtype=bool)])
    labels = np.arange(n_features + 2) % 2
    problem = build("0.1", features, labels)
    assert problem.n_columns == n_features
    assert problem.n_rows == n_features + 1
    assert problem.features[0].sum() == 0
    assert problem.weight == (2, *[1] * n_features)
    assert {tuple(row) for row in problem.features.tolist()} == {tuple(row) for row in features.tolist()}


def test_columns() -> None:
    names = ["zero", "a", "same", "not a", "one", "b", "not b", "b again"]
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    features = np.stack([a * 0, a, a, 1 - a, a * 0 + 1, b, 1 - b, b], axis=1)
    problem = build("0.1", features, [0, 1, 1, 0], names=names)
    assert problem.columns == (
        Column("a", 1, aliases=("same",), complements=("not a",)),
        Column("b", 5, aliases=("b again",), complements=("not b",)),
    )
    assert sorted(problem.features.astype(int).tolist()) == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert [column.name for column in build().columns] == ["x0", "x1", "x2"]


def test_rows_without_weight_decide_nothing() -> None:
    """Neither which columns are constant nor which are alike."""
    features, labels = [[0, 0, 0], [1, 1, 0], [0, 1, 1]], [0, 1, 1]
    problem = build("0.1", features, labels, sample_weight=[1, 2.5, 0])
    assert [column.name for column in problem.columns] == ["x0"]
    assert problem.columns[0].aliases == ("x1",)
    assert (problem.n_rows, problem.n_samples) == (2, 2)
    assert problem.total_weight == F(7, 2)


def test_weights_are_repetitions() -> None:
    for seed in range(30):
        raw = Raw(seed)
        weights = [random.Random(seed + row).randint(0, 3) for row in range(len(raw.labels))]
        weights[:8] = [1] * 8  # every class is there
        repeated = [row for row, weight in enumerate(weights) for _ in range(weight)]
        options = {"class_weight": raw.class_weight, "cost_matrix": raw.cost_matrix}
        one = build("0.01", raw.features, raw.labels, sample_weight=weights, **options)
        other = build(
            "0.01", [raw.features[row] for row in repeated], [raw.labels[row] for row in repeated], **options
        )
        assert one.fingerprint == other.fingerprint
        assert one.objective(10) == other.objective(10)


def test_repeating_everything_changes_nothing() -> None:
    for seed in range(30):
        raw = Raw(seed)
        once, k = raw.problem, 7
        raw.features, raw.labels = raw.features * k, raw.labels * k
        raw.sample_weight = raw.sample_weight and raw.sample_weight * k
        often = raw.problem
        assert often.total_weight == k * once.total_weight
        for c in range(raw.n_classes):
            ratios = {
                F(after, before) * often.cost_unit / once.cost_unit
                for after, before in zip(often.cost[c], once.cost[c], strict=True)
                if before
            }
            assert ratios <= {F(k)}
        errors = sum(once.cost[0])
        assert often.objective(often.b * sum(often.cost[0]) + often.a) == once.objective(once.b * errors + once.a)


def test_the_unit_of_the_weights_does_not_matter() -> None:
    weights = [3, 1, 2, 2, 5, 1]
    plain = build(sample_weight=weights)
    for factor in (3, F(1, 7), F(2**80, 3), F(1, 10**40)):
        scaled = build(sample_weight=[factor * weight for weight in weights])
        assert scaled.fingerprint == plain.fingerprint
        assert scaled.objective(123) == plain.objective(123)
        assert scaled.total_weight == 14 * factor


def test_fingerprint() -> None:
    problem = build()
    assert build(names=["p", "q", "r"]).fingerprint == problem.fingerprint
    assert build(labels=["no", "yes", "no", "yes", "no", "yes"]).fingerprint == problem.fingerprint
    assert build(sample_weight=[2] * 6).fingerprint == problem.fingerprint
    others = [
        build("0.2"),
        build("0.1000000000000000001"),
        build(labels=[1, *LABELS[1:]]),
        build(features=[[1, 0, 1], *FEATURES[1:]]),
        build(sample_weight=[1, 1, 1, 1, 1, 2]),
        build(class_weight={0: 2}),
        build(cost_matrix=[[0, 2], [1, 0]]),
        build(cost_matrix=[[0, 1], [1, F(1, 10**30)]]),
    ]
    assert len({problem.fingerprint, *(other.fingerprint for other in others)}) == 1 + len(others)


@pytest.mark.parametrize(
    ("weights", "meant"),
    [
        ([1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]),
        (np.array([1, 2, 3, 4, 5, 6], np.uint8), [1, 2, 3, 4, 5, 6]),
        ([True, True, False, True, True, True], [1, 1, 0, 1, 1, 1]),
        (2, [2] * 6),
        ([0.1] * 6, [F(1, 10)] * 6),
        (np.array([0.1, 0.3] * 3, np.float32), [F(1, 10), F(3, 10)] * 3),
        (["0.1", "1/3"] * 3, [F(1, 10), F(1, 3)] * 3),
        ([Decimal("0.1"), F(1, 3)] * 3, [F(1, 10), F(1, 3)] * 3),
        ([0.1, F(0.1)] * 3, [F(1, 10), F(3602879701896397, 36028797018963968)] * 3),
        ([2**70 + 1, 2**75] * 3, [2**70 + 1, 2**75] * 3),
        ([2**63 + 1, 3] * 3, [2**63 + 1, 3] * 3),
        ([2**53 + 1, 0.5] * 3, [2**53 + 1, F(1, 2)] * 3),
        ([2**62] * 6, [2**62] * 6),
        ([1e-300, 3e300] * 3, [F(1, 10**300), 3 * 10**300] * 3),
        (["1e-500", "1e500"] * 3, [F(1, 10**500), 10**500] * 3),
        (pd.Series([0.5, 1.5] * 3), [F(1, 2), F(3, 2)] * 3),
        ([-0.0, 1] * 3, [0, 1] * 3),
    ],
)
def test_weights_are_taken_exactly(weights: Any, meant: list[Fraction]) -> None:
    features = np.arange(6)[:, None] >> np.arange(3) & 1
    labels = np.array([0, 1, 1, 0, 0, 1])
    problem = build("0.1", features, labels, sample_weight=weights)
    assert problem.total_weight == sum(meant)
    found = [problem.weight[r] * problem.weight_unit for r in range(problem.n_rows)]
    assert found == sorted((weight for weight in map(F, meant) if weight), reverse=True)
    # Everything is wrong when every row gets the other label.
    errors = sum(max(costs) for costs in zip(*problem.cost, strict=True))
    assert problem.objective(problem.b * errors + problem.a) == F(11, 10)


def test_sums_beyond_64_bits_do_not_wrap() -> None:
    problem = build("0.1", [[0], [1]] * 50, [0, 1] * 50, sample_weight=[2**62 - 1, 2**62 - 3] * 50)
    assert sorted(problem.weight) == [50 * (2**62 - 3), 50 * (2**62 - 1)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1, -1, 1, 1, 1, 1]}, "sample_weight must not be negative: row 2 has -1"),
        ({"sample_weight": np.array([1, 1, 1, -0.5, 1, 1])}, "sample_weight must not be negative: row 4 has -0.5"),
        ({"sample_weight": [0] * 6}, "sample_weight is zero for every row"),
        ({"sample_weight": [1, 1, np.nan, 1, 1, 1]}, "sample_weight in row 3 must be a finite number, got nan"),
        ({"sample_weight": np.array([1, 1, 1, np.inf, 1, 1])}, "sample_weight in row 4 must be a finite number"),
        ({"sample_weight": [1, "x", 1, 1, 1, 1]}, "sample_weight in row 2 must be a finite number, got 'x'"),
        ({"sample_weight": [1, None, 1, 1, 1, 1]}, "sample_weight in row 2 must be a finite number, got None"),
        ({"sample_weight": [1, [], 1, 1, 1, 1]}, r"sample_weight in row 2 must be a number, got \[\]"),
        ({"sample_weight": [1] * 5}, r"sample_weight.shape == \(5,\), expected \(6,\)"),
        (
            {"sample_weight": [[1]] * 6},
            r"sample_weight must be 1D, one number per row; got an array of shape \(6, 1\)",
        ),
        ({"class_weight": "balance"}, "class_weight must be None, 'balanced' or a mapping, got 'balance'"),
        ({"class_weight": [1, 2]}, r"class_weight must be None, 'balanced' or a mapping, got \[1, 2\]"),
        ({"class_weight": {2: 1}}, r"class_weight names 2, which is not a class; classes are \[0, 1\]"),
        ({"class_weight": {0: -1}}, "class_weight must not be negative: class 0 has -1"),
        ({"class_weight": {1: np.nan}}, "class_weight of 1 must be a finite number"),
        ({"class_weight": {0: 0, 1: 0}}, "class_weight leaves no weight at all"),
        ({"cost_matrix": 5}, r"cost_matrix must be a square table: cost_matrix\[true\]\[predicted\]"),
        ({"cost_matrix": [1, 2]}, "cost_matrix must be a square table"),
        ({"cost_matrix": []}, "cost_matrix must be 2 x 2, one row per true class, got 0 x 0"),
        ({"cost_matrix": [[0, 1, 1]] * 3}, "cost_matrix must be 2 x 2, one row per true class, got 3 x 3"),
        ({"cost_matrix": [[0, 1], [1]]}, "cost_matrix must be 2 x 2, one row per true class, got 2 x 1 and 2"),
        ({"cost_matrix": [[0, -1], [1, 0]]}, r"cost_matrix must not be negative: cost_matrix\[0\]\[1\] is -1"),
        ({"cost_matrix": [[0, 1], [np.nan, 0]]}, r"cost_matrix\[1\]\[0\] must be a finite number"),
        ({"regularization": -0.1}, "regularization must not be negative, got -0.1"),
        ({"regularization": np.nan}, "regularization must be a finite number, got nan"),
        ({"regularization": np.inf}, "regularization must be a finite number, got inf"),
        ({"regularization": "small"}, "regularization must be a finite number, got 'small'"),
        ({"regularization": None}, "regularization must be a finite number, got None"),
        ({"regularization": True}, "regularization must be a finite number, got True"),
        ({"features": [[1, 0]] * 6}, "no feature is left: every feature has the same value in all rows"),
        ({"features": np.zeros((6, 0))}, "no feature is left"),
        ({"features": FEATURES[:1] * 2, "labels": [0, 1]}, "no feature is left"),
        ({"features": FEATURES[:5]}, "inconsistent numbers of rows: 5 of features, 6 of labels"),
        (
            {"features": [1, 0, 1, 0, 1, 0]},
            r"features must be a table of rows and columns, got an array of shape \(6,\)",
        ),
        ({"features": [[1, 0], [1]]}, "features must be a table of 0 and 1 with rows of equal length"),
        ({"features": [[2, 1, 0]] * 6}, "features must be 0 or 1; use dosdt.Binarizer"),
        ({"features": [[np.nan, 1, 0]] * 6}, "features must be 0 or 1"),
        ({"features": [["a", "b", "c"]] * 6}, "features must be"),
        ({"features": np.array([[None, 1]] * 6, object)}, "features must be 0 or 1"),
        ({"features": [], "labels": []}, "features must be a table|has no rows"),
        ({"features": np.zeros((0, 3)), "labels": []}, "the target has no rows"),
        ({"names": ["a", "b"]}, "there are 3 features, but 2 names"),
        ({"labels": [1] * 6}, "the target has only one class, 1"),
        ({"labels": [0, 1, "a", 0, 1, 0]}, "mixes labels of different types"),
        ({"labels": [0, 1, None, 0, 1, 0]}, "missing labels"),
        ({"labels": [0.5, 1.5, 1, 1, 1, 1]}, "Unknown label type"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        build(**options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("as_given", [np.array, pd.DataFrame, lambda rows: np.array(rows, object), np.asfortranarray])
@pytest.mark.parametrize("dtype", [bool, int, float, np.uint8])
def test_features_of_any_make(as_given: Any, dtype: Any) -> None:
    given = as_given([[dtype(value) for value in row] for row in FEATURES])
    assert build(features=given).fingerprint == build().fingerprint


def test_a_frame_of_booleans_and_numbers() -> None:
    frame = pd.DataFrame(FEATURES, columns=["a", "b", "c"]).astype({"a": bool, "b": float})
    assert build(features=frame).fingerprint == build().fingerprint


def test_a_cost_matrix_may_be_a_frame() -> None:
    frame = pd.DataFrame([[0, 2], [1, 0]], index=["no", "yes"], columns=["no", "yes"])
    assert build(cost_matrix=frame).fingerprint == build(cost_matrix=[[0, 2], [1, 0]]).fingerprint


def test_a_class_whose_rows_weigh_nothing() -> None:
    problem = build(labels=[0, 1, 2, 1, 0, 1], sample_weight=[1, 1, 0, 1, 1, 1], class_weight="balanced")
    assert problem.classes == (0, 1, 2)
    assert sum(problem.class_weight[2]) == 0
    assert sum(problem.class_weight[0]) == sum(problem.class_weight[1])


def test_a_problem_does_not_change() -> None:
    problem = build()
    with pytest.raises(AttributeError):
        problem.a = 3  # type: ignore[misc]
