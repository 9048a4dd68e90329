"""Each theorem, as a property of what exhaustive search finds; and each error of the paper."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import partial

import pytest
from everything import Everything, problems
from random_problems import random_problem

from dosdt import bounds
from dosdt.problem import Problem
from dosdt.solver import solve as solve_by

solve = partial(solve_by, algorithm="leafset")


def test_node_support_keeps_every_split_of_the_smallest_optimum() -> None:
    checked = 0
    for known in problems(200):
        for parent, _, _ in known.splits():
            checked += 1
            assert bounds.node_support(known.loss(parent), known.floor(parent), known.a)
    assert checked > 100


def test_incremental_accuracy_keeps_every_final_split_of_the_smallest_optimum() -> None:
    checked = 0
    for known in problems(200):
        for parent, yes, no in known.splits():
            if known.best(yes)[1] == known.best(no)[1] == 1:
                checked += 1
                assert bounds.incremental_accuracy(known.loss(parent), known.loss(yes), known.loss(no), known.a)
    assert checked > 100


def test_accurate_support_keeps_every_side_of_the_smallest_optimum() -> None:
    checked = 0
    for known in problems(300):
        for _, yes, no in known.splits():
            for side in (yes, no):
                checked += 1
                assert bounds.accurate_support(known.ceiling(side), known.loss(side), known.a)
    assert checked > 200


def test_accurate_support_is_inherited() -> None:
    """What fails on a side fails on every part of it, so a dead feature stays dead further down."""
    for known in problems(60):
        for _, yes, no in known.sides(known.root):
            for side in (yes, no):
                args = known.ceiling(side), known.loss(side), known.a
                if not bounds.accurate_support(*args):
                    for _, part, _ in known.sides(side):
                        part_args = known.ceiling(part), known.loss(part), known.a
                        assert not bounds.accurate_support(*part_args)


def test_accurate_support_counts_correct_samples_for_two_classes() -> None:
    """For plain errors and two classes it says what the paper says, and more by the equivalent points."""
    checked = 0
    for known in problems(100, max_classes=2):
        if known.problem.cost != known.problem.class_weight[::-1]:
            continue
        for _, side, _ in known.sides(known.root):
            correct = max(known.total(weights, side) for weights in known.problem.class_weight)
            args = known.ceiling(side), known.loss(side), known.a
            assert bounds.accurate_support(*args) == (correct - known.floor(side) > known.a)
            checked += 1
    assert checked > 50


def test_one_label_for_the_ceiling_would_be_wrong_with_three_classes() -> None:
    """max over c of Σ residual[c] is too small a ceiling: three rows, each indifferent between two labels.

    Given to the sibling's tree, which tells them apart, each may get just the label it must not get.
    """
    # Feature 0 says which side; features 1 and 2 tell the three rows of each side apart.
    rows = [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (1, 1, 0), (1, 0, 1)]
    bad_label = {3: 1, 4: 2, 5: 0}  # on the second side, the one label each row must not get
    features, labels = [], []
    for number, row in enumerate(rows):
        if number < 3:  # the first side demands that very label, heavily
            features += [row] * 40
            labels += [[1, 2, 0][number]] * 40
        else:
            others = [c for c in range(3) if c != bad_label[number]]
            features += [row] * 2 * 10
            labels += others * 10
    regularization = Fraction(15, len(labels))
    problem = Problem.from_arrays(features, labels, regularization)
    known = Everything(problem)
    side = frozenset(row for row in known.root if problem.features[row, 0])
    residual = [known.total(cost, side) - known.floor(side) for cost in problem.cost]
    assert max(residual) <= known.a  # the tempting rule would drop the split on feature 0
    assert bounds.accurate_support(known.ceiling(side), known.loss(side), known.a)
    without = Problem.from_arrays([row[1:] for row in features], labels, regularization)
    optimum = solve(problem).objective
    assert optimum == problem.objective(known.best(known.root)[0]) < solve(without).objective


def test_similar_support_bounds_one_subset_by_another() -> None:
    rng = random.Random(0)
    tight = 0
    for known in problems(150):
        subsets = [frozenset(row for row in known.root if rng.random() < 0.7) for _ in range(6)]
        for one in subsets:
            for other in subsets:
                if one and other:
                    extra = known.ceiling(one - other) - known.floor(one - other)
                    # Constant floors cancel: compare what can be avoided.
                    value = known.best(other)[0] - known.floor(other)
                    bound = bounds.similar_support(known.best(one)[0] - known.floor(one), extra)
                    assert value >= bound
                    tight += value == bound
    assert tight > 100


def test_similar_support_needs_the_sum_of_the_largest_residuals() -> None:
    """With max over c of Σ residual[c] in its place the bound is false, even for two classes."""
    features, labels = [], []
    for x, z, label, weight in [(0, 0, 0, 100), (1, 0, 1, 100), (0, 1, 1, 10), (1, 1, 0, 10)]:
        features += [(x, z)] * weight
        labels += [label] * weight
    known = Everything(Problem.from_arrays(features, labels, Fraction(15, 220)))
    part = frozenset(row for row in known.root if not known.problem.features[row, 1])
    rest = known.root - part
    residual = max(known.total(cost, rest) - known.floor(rest) for cost in known.problem.cost)
    assert known.best(part)[0] < known.best(known.root)[0] - residual
    extra = known.ceiling(rest) - known.floor(rest)
    assert known.best(part)[0] >= bounds.similar_support(known.best(known.root)[0], extra)


def test_lookahead_and_equivalent_points_bound_every_descendant() -> None:
    for known in problems(150):
        for rows in {known.root} | {side for _, *sides in known.sides(known.root) for side in sides}:
            if known.best(rows)[1] > 1:
                bound = bounds.equivalent_points(bounds.hierarchical(0, 1, known.a), known.floor(rows))
                assert bound <= known.best(rows)[0]
                assert bounds.lookahead(bound, 1, known.a) <= known.best(rows)[0]


def test_limits_on_leaves_admit_the_optimum() -> None:
    for known in problems(200):
        cost, leaves, _ = known.best(known.root)
        single, floor = known.loss(known.root) + known.a, known.floor(known.root)
        for given_floor in (0, floor):
            limit = bounds.a_priori_leaves(single, given_floor, known.a)
            assert limit is not None
            assert leaves <= limit
            limit = bounds.incumbent_leaves(cost, given_floor, known.a)
            assert limit is not None
            assert leaves <= limit
        if cost < single:
            limit = bounds.parent_leaves(1, known.a, single, known.a)
            assert limit is not None
            assert leaves <= limit
        assert bounds.zero_error_leaves(leaves, cost - leaves * known.a - floor) in (None, leaves - 1)


def test_no_limit_on_leaves_without_a_penalty() -> None:
    assert bounds.a_priori_leaves(7, 0, 0) is None
    assert bounds.incumbent_leaves(7, 0, 0) is None
    assert bounds.parent_leaves(1, 0, 7, 0) is None


# -- the paper's errors: each of these tests fails with the formula as printed --------------------------------


def test_a_priori_limit_remembers_that_a_single_leaf_pays() -> None:
    """Two opposite rows at λ = 0.3 need two leaves; floor(1/2λ) allows one."""
    problem = Problem.from_arrays([[0], [1]], [0, 1], "0.3")
    assert solve(problem).sketch.n_leaves == 2
    limit = bounds.a_priori_leaves(problem.b * 1 + problem.a, 0, problem.a)
    assert limit is not None
    assert limit >= 2 > Fraction(1) // (2 * problem.regularization)


def test_parent_limit_rounds_after_the_comparison() -> None:
    """With (R_c - b)/λ = 1.67, a child with one more leaf is allowed; rounding down first forbids it."""
    a, lower_bound, incumbent, leaves = 3, 10, 15, 4
    printed = leaves + (incumbent - lower_bound) // a - 1  # the largest H' below H + floor(...)
    limit = bounds.parent_leaves(leaves, lower_bound, incumbent, a)
    assert limit == leaves + 1 > printed
    # Whole quotients: both agree that the quotient itself is out.
    assert bounds.parent_leaves(leaves, 9, 15, a) == leaves + 1


@pytest.mark.parametrize("rounding", ["printed", "corrected"])
def test_parent_limit_as_printed_loses_the_optimum(rounding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the parent-specific limit alone, the printed formula certifies a worse tree somewhere."""
    if rounding == "printed":
        monkeypatch.setattr(bounds, "parent_leaves", lambda leaves, bound, cost, a: leaves + (cost - bound) // a - 1)
    switches = set(bounds.SWITCHES) - {"lookahead"}
    wrong = 0
    for seed in range(150):
        given = random_problem(seed + 95_000, max_features=4, max_rows=30)
        answer = solve(given.problem, bounds=switches, warm_start=False)
        wrong += answer.objective != given.optimum()
    assert (wrong > 0) == (rounding == "printed")


def test_a_warm_start_does_not_replace_a_better_single_leaf() -> None:
    """Where a single leaf is optimal, the answer is a single leaf, however CART would split."""
    single = 0
    for seed in range(100):
        given = random_problem(seed + 97_000, max_features=4, max_rows=30, least="0.1")
        answer = solve(given.problem)
        assert answer.objective == given.optimum()
        single += answer.sketch.n_leaves == 1
    assert single > 10


def test_tic_tac_toe_at_five_percent_is_a_single_leaf() -> None:
    """The published program certifies two leaves at 0.4006 here; a single leaf costs 332/958 + 1/20."""
    from dosdt.binarizer import Binarizer
    from dosdt.datasets import load

    data = load("tic-tac-toe")
    binarizer = Binarizer().fit(data.X)
    # The authors' features: o and x for every square, blank left out.
    kept = [j for j, rule in enumerate(binarizer.rules_) if rule.value in ("o", "x")]
    problem = Problem.from_arrays(binarizer.transform(data.X)[:, kept], data.y, "0.05")
    assert problem.n_columns == 18
    answer = solve(problem)
    assert answer.objective == Fraction(3799, 9580)
    assert answer.sketch.n_leaves == 1
