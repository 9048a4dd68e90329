"""All trees near the optimum, held against trees made one by one."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from everytree import Everything, counts, uses

from dosdt import DOSDTClassifier, InputError, Problem, find_alternatives
from dosdt.alternatives import Alternatives
from dosdt.cli import main
from dosdt.commands.alternatives import to_text as alternatives_text
from dosdt.contract import Constraints
from dosdt.export import to_text
from dosdt.limits import Limits, Status
from dosdt.rashomon.rounds import Rounds, Stopped
from dosdt.tree import Leaf, Tree


class Case:
    """A small random problem with limits, copies of columns, ties, weights and costs."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        while True:
            n_features, n_rows = rng.choice([(2, 14), (3, 14), (3, 9), (4, 7)])
            self.features = [[rng.randint(0, 1) for _ in range(n_features)] for _ in range(n_rows)]
            if rng.random() < 0.4:  # a copy of a column, or its opposite
                chosen, flip = rng.randrange(n_features), rng.randint(0, 1)
                self.features = [[*row, row[chosen] ^ flip] for row in self.features]
            n_classes = rng.choice([2, 2, 3])
            self.labels = [rng.randrange(n_classes) for _ in range(n_rows)]
            varied = any(len(set(column)) == 2 for column in zip(*self.features, strict=True))
            if len(set(self.labels)) == n_classes and varied:
                break
        self.penalty = Fraction(rng.choice(["0", "0.01", "1/30", "0.05", "0.1", "0.0123456789012345678"]))
        self.weights = self.costs = None
        if rng.random() < 0.3:
            unit = rng.choice([1, 1, 2**55])  # beyond what floats and 64 bits hold exactly
            self.weights = [Fraction(unit + rng.randint(0, 5), rng.choice([1, 2, 3])) for _ in range(n_rows)]
        if rng.random() < 0.3:
            self.costs = [
                [Fraction(rng.randint(0, 5) * (t != g), 2) for g in range(n_classes)] for t in range(n_classes)
            ]
        self.limits: dict[str, Any] = {"max_depth": None, "max_leaves": None, "min_support": Fraction(0)}
        if not self.penalty or rng.random() < 0.5:
            self.limits["max_depth"] = rng.choice([None, 0, 1, 2, 3])
            self.limits["max_leaves"] = rng.choice([None, 1, 2, 3, 5, 100])
            self.limits["min_support"] = Fraction(rng.choice([0, 0, 1, 2, 5]))
        if not self.penalty and self.limits["max_depth"] is None and self.limits["max_leaves"] is None:
            self.limits["max_leaves"] = 4
        self.useless = rng.random() < 0.4
        self.within = Fraction(rng.choice(["0", "0.02", "0.05", "0.1", "0.3", "5"]))

    @property
    def everything(self) -> Everything:
        return Everything(
            self.features,
            self.labels,
            self.penalty,
            weights=self.weights,
            costs=self.costs,
            useless=self.useless,
            **self.limits,
        )

    def found(self, **options: Any) -> Alternatives:
        problem = Problem.from_arrays(
            self.features, self.labels, self.penalty, sample_weight=self.weights, cost_matrix=self.costs
        )
        support = ceil(self.limits["min_support"] / problem.weight_unit)
        constraints = Constraints(self.limits["max_depth"], self.limits["max_leaves"], support)
        return find_alternatives(problem, constraints=constraints, useless_splits=self.useless, **options)


def nested(tree: Tree, place: int = 0) -> Any:
    """Return a tree as `everytree` writes it; features are called x0, x1, ..."""
    node = tree.nodes[place]
    if isinstance(node, Leaf):
        return node.label
    return int(node.rule.column[1:]), nested(tree, node.yes), nested(tree, node.no)


@pytest.mark.parametrize("seed", range(120))
def test_all_trees_are_found_and_no_other(seed: int) -> None:
    case = Case(seed)
    everything, found = case.everything, case.found(within=case.within)
    expected = everything.within(everything.best + case.within)
    assert found.complete
    assert found.optimum == everything.best
    assert found.bound == everything.best + case.within
    assert found.count == len(expected)
    assert found.n_optimal == sum(objective == everything.best for objective, _ in expected)
    for use in found.features:
        assert use.trees == sum(int(use.name[1:]) in uses(tree) for _, tree in expected)
        assert use.share == Fraction(use.trees, found.count)
    if found.count <= 3000:
        listed = [(one.objective, nested(one.tree)) for one in found]
        assert Counter(listed) == Counter(expected)
        order = [(one.objective, one.tree.n_leaves) for one in found]
        assert order == sorted(order)
        assert found.by_leaves == dict(sorted(Counter(leaves for _, leaves in order).items()))
    else:
        assert (found[found.count - 1].objective, nested(found[found.count - 1].tree)) in expected


@pytest.mark.parametrize("seed", range(12))
def test_counts_where_bounds_save_most_of_the_work(seed: int) -> None:
    rng = random.Random(seed)
    features = [[int(rng.random() < 0.4) for _ in range(7)] for _ in range(60)]
    labels = [int((row[0] ^ row[1]) or (row[2] and row[3])) ^ (rng.random() < 0.1) for row in features]
    penalty, useless = Fraction(rng.choice(["0.02", "0.03", "0.05"])), seed % 2 == 0
    found = find_alternatives(Problem.from_arrays(features, labels, penalty), within="0.05", useless_splits=useless)
    expected = counts(features, labels, penalty, found.bound, useless)
    assert found.optimum == min(expected)
    assert found.count == sum(expected.values()) > 1
    assert found.n_optimal == expected[found.optimum]


@pytest.mark.parametrize("seed", range(500, 530))
def test_the_best_trees_with_all_that_tie_with_the_last(seed: int) -> None:
    case = Case(seed)
    objectives = sorted(objective for objective, _ in case.everything.trees)
    for best in (1, 2, 5, 40):
        found = case.found(best=best)
        last = objectives[min(best, len(objectives)) - 1]
        assert found.bound == last
        assert found.count == sum(objective <= last for objective in objectives)


@pytest.mark.parametrize("scale", [1, 2**55])
def test_counts_beyond_64_bits(scale: int) -> None:
    """On all rows of n features every tree is possible: T(0) = 1, T(n) = 1 + n·T(n - 1)²."""
    n, rng = 6, random.Random(1)
    features = [[row >> j & 1 for j in range(n)] for row in range(2**n)]
    labels = [rng.randint(0, 1) for _ in features]
    problem = Problem.from_arrays(features, labels, "0.01", sample_weight=[scale] * len(labels))
    found = find_alternatives(problem, within=100, useless_splits=True)
    trees = [1]
    for k in range(1, n + 1):
        trees.append(1 + k * trees[-1] ** 2)
    assert found.count == trees[n] > 2**64
    assert [use.trees for use in found.features] == [trees[n] - trees[n - 1]] * n
    assert found[found.count - 1].objective == max(found[found.count - k].objective for k in range(1, 9))
    with pytest.raises(OverflowError):
        len(found)


def monk_like(n: int = 6) -> tuple[list[list[int]], list[int]]:
    rows = [[row >> j & 1 for j in range(n)] for row in range(2**n)]
    return rows, [int(row[0] == row[1] or (row[2] and row[3])) for row in rows]


def test_a_share_of_the_optimum() -> None:
    problem = Problem.from_arrays(*monk_like(), "0.01")
    found = find_alternatives(problem, within="10%")
    assert found.bound == found.optimum * Fraction(11, 10) == found.asked
    same = find_alternatives(problem, within=found.optimum / 10)
    assert (same.count, same.bound) == (found.count, found.bound)
    assert find_alternatives(problem).bound == found.optimum * Fraction(21, 20)


@pytest.mark.parametrize("within", ["", "%", "five", -0.1, "-1%", "nan", True, float("inf")])
def test_what_cannot_be_a_distance_is_refused(within: Any) -> None:
    problem = Problem.from_arrays(*monk_like(3 + 1), "0.01")
    with pytest.raises(InputError, match="within must be a number such as 0.01, or a share .* such as 5%"):
        find_alternatives(problem, within=within)


def test_options_that_do_not_go_together() -> None:
    problem = Problem.from_arrays(*monk_like(4), 0)
    with pytest.raises(InputError, match="within or best, not both"):
        find_alternatives(problem, within=1, best=1)
    with pytest.raises(InputError, match="best must be a whole number, 1 or more, got 0"):
        find_alternatives(problem, best=0)
    with pytest.raises(InputError, match="regularization 0 needs a limit"):
        find_alternatives(problem, within=1)


def test_a_limit_leaves_a_count_that_is_true_up_to_a_smaller_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_arrays(*monk_like(), "0.01")
    whole = find_alternatives(problem, within="0.08")
    rounds: list[int] = []

    class OneRoundFewer(Rounds):
        def up_to(self, cost: int) -> Any:
            rounds.append(cost)
            if cost == self.cost(whole.bound):
                raise Stopped(Status.TIME_LIMIT)
            return super().up_to(cost)

    monkeypatch.setattr("dosdt.alternatives.Rounds", OneRoundFewer)
    part = find_alternatives(problem, within="0.08")
    assert len(rounds) == 4
    assert (part.status, part.complete, part.asked) == ("time_limit", False, whole.bound)
    assert part.optimum < part.bound < whole.bound
    monkeypatch.undo()
    again = find_alternatives(problem, within=part.bound - part.optimum)
    assert 0 < part.count == again.count < whole.count
    with pytest.raises(InputError, match="time_limit came before the optimal trees were counted; raise it"):
        find_alternatives(problem, limits=Limits(seconds=0))


def test_features_that_give_the_same_answers_are_different_features() -> None:
    # x1 repeats x0, x2 is its opposite, and x3 never changes.
    features = [[k, k, 1 - k, 1] for k in (0, 1)] * 5
    model = DOSDTClassifier("0.1").fit(features, [0, 1] * 5)
    found = model.alternatives(0)
    assert (found.count, found.n_optimal) == (3, 3)
    assert [(use.name, use.trees) for use in found.features] == [("x0", 1), ("x1", 1), ("x2", 1), ("x3", 0)]
    assert [(use.name, use.trees) for use in found.columns] == [("x0", 1), ("x1", 1), ("x2", 1), ("x3", 0)]
    for one in found:
        table = model.binarizer_.check_columns(features)
        assert one.tree.predict(table).tolist() == [0, 1] * 5
    assert sorted(str(one.tree.used_rules[0]) for one in found) == ["x0", "x1", "x2"]


def test_columns_of_numbers_are_counted_over_all_their_thresholds() -> None:
    rng = random.Random(3)
    rows = [[rng.randint(0, 4), rng.randint(0, 3), rng.randint(0, 1)] for _ in range(60)]
    labels = [int(a > 2) ^ (rng.random() < 0.1) for a, _, _ in rows]
    model = DOSDTClassifier("0.03").fit(rows, labels)
    found = model.alternatives("60%")
    trees = [one.tree for one in found]
    assert trees[0].cost + Fraction("0.03") * len(rows) * trees[0].n_leaves == found.optimum * len(rows)
    for use in found.columns:
        assert use.trees == sum(use.name in {rule.column for rule in tree.used_rules} for tree in trees)
    for use in found.features:
        assert use.trees == sum(use.name in map(str, tree.used_rules) for tree in trees)
    assert any(0 < use.share < 1 for use in found.columns)


def test_a_tree_that_is_not_optimal_is_a_start_like_any_other() -> None:
    problem = Problem.from_arrays(*monk_like(), "0.01")
    right = find_alternatives(problem, within="0.02")
    for objective in (Fraction(1), right.optimum, Fraction(0)):  # far too much, what is true, and less than any tree
        found = find_alternatives(problem, within="0.02", objective=objective)
        assert (found.optimum, found.count, found.bound) == (right.optimum, right.count, right.bound)


def test_trees_by_place() -> None:
    found = find_alternatives(Problem.from_arrays(*monk_like(), "0.01"), within="0.02")
    assert found[-1] == found[found.count - 1] == list(found)[-1]
    assert len(found) == found.count
    assert f"{found.count} trees" in repr(found)
    for place in (found.count, -found.count - 1):
        with pytest.raises(IndexError, match=f"there are {found.count} trees, numbered from 0; got {place}"):
            found[place]


def test_names_that_cannot_be_told_apart_are_refused() -> None:
    problem = Problem.from_arrays([[0, 1], [1, 1], [0, 0]], [0, 1, 1], "0.1", names=["a", "a"])
    with pytest.raises(InputError, match="two features are both called 'a'; rename a column"):
        find_alternatives(problem)


class TestCommand:
    """``dosdt alternatives``."""

    @pytest.fixture
    def data(self, tmp_path: Path) -> str:
        path = tmp_path / "rows.csv"
        rows = [
            f"{row[0]},{'red' if row[1] else 'blue'},{row[2] + 2 * row[3]},{y}"
            for row, y in zip(*monk_like(4), strict=True)
        ]
        path.write_text("a,colour,size,label\n" + "\n".join(rows * 3) + "\n")
        return str(path)

    def test_json_says_what_the_library_says(self, data: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["alternatives", data, "--within", "30%", "--max-listed", "2", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        frame = pd.read_csv(data)
        found = DOSDTClassifier().fit(frame[["a", "colour", "size"]], frame["label"]).alternatives("30%")
        assert said["status"] == "complete"
        assert (said["trees"], said["optimal_trees"]) == (found.count, found.n_optimal)
        assert Fraction(said["optimum"]) == found.optimum
        assert Fraction(said["bound"]) == found.bound
        assert said["by_leaves"] == {str(leaves): trees for leaves, trees in found.by_leaves.items()}
        assert [use["trees"] for use in said["features"]] == [use.trees for use in found.features]
        assert [use["name"] for use in said["columns"]] == ["a", "colour", "size"]
        assert [Fraction(one["objective"]) for one in said["listed"]] == [found[0].objective, found[1].objective]
        assert len(said["listed"][0]["nodes"]) == len(found[0].tree.nodes)

    def test_text(self, data: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["alternatives", data, "--best", "5", "--max-listed", "1"]) == 0
        text = capsys.readouterr().out
        frame = pd.read_csv(data)
        found = DOSDTClassifier().fit(frame[["a", "colour", "size"]], frame["label"]).alternatives(best=5)
        assert found.count >= 5
        assert f"trees       {found.count} trees, " in text
        assert f"1 of {found.count} trees shown; --max-listed N shows more" in text
        assert to_text(found[0].tree) in text
        assert "columns in all trees: " in text

    def test_what_was_not_counted_is_said(self, data: str, capsys: pytest.CaptureFixture[str]) -> None:
        frame = pd.read_csv(data)
        found = DOSDTClassifier().fit(frame[["a", "colour", "size"]], frame["label"]).alternatives(0.01)
        stopped = replace(found, status="memory_limit", asked=found.bound + 1)
        text = alternatives_text(stopped, 0, 1.0)
        assert "memory_limit: counted up to a smaller objective than" in text
        assert f"at least {found.count} tree" in text

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (
                ["--within", "x"],
                "within must be a number such as 0.01, or a share of the optimum such as 5%; got 'x'",
            ),
            (["--within", "1%", "--best", "3"], "pass --within or --best, not both"),
            (["--best", "0"], "best must be a whole number, 1 or more, got 0"),
            (["--max-listed", "-1"], "--max-listed must be a whole number, 0 or more, got -1"),
        ],
    )
    def test_bad_options(
        self, data: str, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["alternatives", data, *arguments]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("dosdt: error: ")
        assert says in err
        assert err.count("\n") == 1
