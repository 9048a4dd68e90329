"""Facts that were forgotten are proved again; what a stopped search cannot show any more is not claimed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_problems import random_problem

from dosdt.bitvectors import pack
from dosdt.checker.claims import Fact
from dosdt.checker.counting import Counting
from dosdt.checker.expansion import check_facts
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.proof import Proof, Unproved
from dosdt.solver import Answer, solve


class Forgetful:
    """A search that has forgotten all but a share of its facts, until it proves them again."""

    def __init__(self, search: Any, share: float, seed: int) -> None:
        self._search, self._share, self._rng = search, share, random.Random(seed)
        self._remembers: dict[Any, bool] = {}
        self.proved = 0

    @property
    def expanded(self) -> int:
        return self._search.expanded + self.proved  # so that proving anything costs something

    def known(self, row_set: Any, depth: int | None, leaves: int | None) -> int:
        key = (row_set, depth, leaves)
        if key not in self._remembers:
            self._remembers[key] = self._rng.random() < self._share
        known: int = self._search.known(row_set, depth, leaves) if self._remembers[key] else 0
        return known

    def prove(self, path: tuple[int, ...], depth: int | None, leaves: int | None, expansions: int | None) -> None:
        self.proved += 1
        self._search.prove(path, depth, leaves, expansions)
        rows = np.ones(self._search.problem.n_rows, np.bool_)
        for side in path:
            rows &= self._search.problem.features[:, abs(side) - 1] == (side > 0)
        self._remembers[pack(rows), depth, leaves] = True


def solved(seed: int) -> tuple[Problem, Answer]:
    problem = random_problem(seed + 700_000, max_features=6, max_classes=4, least="0.01").problem
    return problem, solve(problem, certify=True)


def check(problem: Problem, facts: tuple[Fact, ...]) -> None:
    prices = Prices(problem)
    counting = Counting(problem.features, problem.cost, problem.weight, 0, prices.a, prices.b)
    check_facts(facts, counting, [column.name for column in problem.columns])


@pytest.mark.parametrize("share", [1, 0.7, 0])
def test_forgotten_facts_are_proved_again(share: float) -> None:
    proved = 0
    for seed in range(150):
        problem, answer = solved(seed)
        prices = Prices(problem)
        bound = prices.inside(int(answer.objective * problem.b * problem.total_weight / problem.cost_unit))
        search = Forgetful(answer.search, share, seed)
        facts = Proof(problem, search, 0).facts(None, None, bound)
        assert facts[-1][:4] == ((), None, None, bound)
        check(problem, facts)
        cited = {number for fact in facts for _, number in fact.cites}
        assert cited == set(range(1, len(facts)))  # nothing is there for nothing
        proved += search.proved
    assert (proved > 0) == (share < 1)


def test_without_leave_to_prove_again_less_is_claimed() -> None:
    weakened = 0
    for seed in range(150):
        problem, answer = solved(seed)
        prices = Prices(problem)
        bound = prices.inside(int(answer.objective * problem.b * problem.total_weight / problem.cost_unit))
        search = Forgetful(answer.search, 0.5, seed)
        proof = Proof(problem, search, 0, expansions=0)
        claimed = bound
        while True:
            try:
                facts = proof.facts(None, None, claimed)
                break
            except Unproved as unproved:
                proof.weaken(unproved)
                if unproved.row_set == pack(np.ones(problem.n_rows, np.bool_)):
                    claimed = unproved.bound
                    weakened += 1
        check(problem, facts)
        assert facts[-1].bound == claimed <= bound
        assert search.proved == 0
    assert weakened > 5


def test_a_bound_that_is_not_true_is_never_proved() -> None:
    for seed in range(60):
        problem, answer = solved(seed)
        prices = Prices(problem)
        bound = prices.inside(int(answer.objective * problem.b * problem.total_weight / problem.cost_unit))
        with pytest.raises(Unproved):
            Proof(problem, Forgetful(answer.search, 1, seed), 0).facts(None, None, bound + prices.a + prices.b)


def test_a_stopped_search_certifies_what_it_had_proved(tmp_path: Path) -> None:
    """On a problem of some size, where the bound falls short of the tree."""
    from dosdt import DOSDTClassifier, datasets, verify

    data = datasets.load("tic-tac-toe")
    for limit in (1, 200):
        with pytest.warns(UserWarning, match="stopped by evaluation_limit"):
            model = DOSDTClassifier(0.01, evaluation_limit=limit).fit(data.X, data.y, certificate=tmp_path / "c")
        verdict = verify(tmp_path / "c", data.X, data.y)
        assert verdict
        assert verdict.lower_bound == model.lower_bound_ < verdict.objective
        assert f"no tree is below {model.lower_bound_} (" in verdict.message
