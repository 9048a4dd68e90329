"""Similarity along chains: bounds that are carried from child to child hold."""

from __future__ import annotations

import numpy as np
import pytest
from everything import Everything, problems

from dosdt.problem import Problem
from dosdt.subproblem.chains import Chains

NEVER = 2**40


def nested(known: Everything, seed: int) -> Everything:
    """Return the same labels with the thresholds of two numbers for features."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 5, known.problem.n_rows), rng.integers(0, 3, known.problem.n_rows)
    x[:2], y[:2] = (0, 4), (0, 2)
    features = np.stack([x <= 0, x <= 1, x <= 2, x <= 3, y > 0, y > 1], axis=1)
    labels = [weights.index(max(weights)) for weights in zip(*known.problem.class_weight, strict=True)]
    labels[:2] = [0, 1]
    return Everything(Problem.from_arrays(features, labels, known.problem.regularization))


@pytest.mark.parametrize("min_support", [False, True])
def test_carried_bounds_hold(min_support: bool) -> None:
    raised = 0
    rng = np.random.default_rng(0)
    for seed, plain in enumerate(problems(120, max_classes=3)):
        for known in (plain, nested(plain, seed)):
            features = known.problem.features
            sides = [frozenset(np.flatnonzero(side).tolist()) for side in np.hstack([features, ~features]).T]
            truth = np.array([known.best(part)[0] - known.floor(part) for part in sides])
            losses = np.array([known.ceiling(part) - known.floor(part) for part in sides])
            lowers = np.where(rng.random(len(sides)) < 0.5, truth, 0)[None, None]
            before = lowers.copy()
            Chains(features, NEVER, min_support=min_support).carry(lowers, losses[None])
            assert (before <= lowers).all()
            assert (lowers[0, 0] <= truth).all()
            raised += int((lowers > before).sum())
    assert raised > 20


def test_what_is_out_of_the_question_says_nothing_of_others() -> None:
    features = np.array([[0, 0], [0, 1], [1, 1]], np.bool_)
    chains = Chains(features, NEVER, min_support=False)
    lowers = np.array([[[NEVER, 3, 0, 0]]])
    chains.carry(lowers, np.full((1, 4), 100))
    assert lowers.tolist() == [[[NEVER, 3, 0, 0]]]


def test_thresholds_of_a_number_are_one_chain() -> None:
    number = np.arange(6)
    features = np.stack([number <= t for t in range(5)], axis=1)
    assert len(set(Chains(features, NEVER, min_support=False).of_feature.tolist())) == 1
    unlike = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.bool_)
    assert len(set(Chains(unlike, NEVER, min_support=False).of_feature.tolist())) == 2
