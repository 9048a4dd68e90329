"""One fold of a cross-validation: every λ fitted to one part of the rows and scored on the other."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from dosdt.classifier import DOSDTClassifier
from dosdt.errors import InputError
from dosdt.hull import single_leaf
from dosdt.limits import Status
from dosdt.many import ManySearches
from dosdt.path import answer_of
from dosdt.training import taken

Rows = npt.NDArray[np.intp]


class Data(NamedTuple):
    """What `fit` was given; `weight` may be None."""

    X: Any
    y: Any
    weight: Any

    def rows(self, rows: Rows) -> Data:
        """Return some of the rows."""
        return Data(*(taken(rows, part) for part in self))


class Score(NamedTuple):
    """How a λ did in a fold."""

    score: float
    leaves: int
    status: Status
    fit_seconds: float
    score_seconds: float


class Fold(NamedTuple):
    """A fold and the scores of all λ, in the order given, unless Ctrl-C came."""

    number: int
    scores: list[Score]
    interrupted: bool


def run_fold(
    number: int,
    template: DOSDTClassifier,
    data: Data,
    train: Rows,
    test: Rows,
    regularizations: Sequence[Fraction],
    scorer: Callable[..., float],
) -> Fold:
    """Fit and score; `regularizations` descend, and each search begins with what the one before has proved.

    Once a limit has stopped a search, the λ that are left get the best tree that is known.
    """
    model: DOSDTClassifier = clone(template)
    unseen = data.rows(test)
    scores: list[Score] = []
    try:
        problem, rules, columns = model._pose(*data.rows(train))
        constraints = model._constraints(problem)
    except InputError as error:
        raise InputError(f"the training rows of fold {number + 1}: {error}") from error
    options = {} if data.weight is None or not takes_weights(scorer) else {"sample_weight": unseen.weight}
    known = []
    with ManySearches(problem, constraints, model._limits()) as searches:
        for regularization in regularizations:
            start = time.perf_counter()
            solved = searches.at(regularization)
            searches.forget_above(regularization)
            if solved is not None:
                known.append(solved)
            elif not known:  # no time at all: the single leaf costs nothing to find
                known.append(single_leaf(problem))
            weight = problem.total_weight
            objective, best = min(
                ((tree.errors / weight + regularization * tree.leaves, tree) for tree in known),
                key=lambda pair: (pair[0], pair[1].leaves),
            )
            proved = solved is not None and solved.proved
            status = Status.OPTIMAL if proved else searches.status or Status.OPTIMAL
            answer = answer_of(
                status, objective, objective if proved else Fraction(0), best.sketch, searches.statistics()
            )
            model._keep(problem.with_regularization(regularization), answer, rules, columns)
            fitted = time.perf_counter()
            try:
                score = float(scorer(model, unseen.X, unseen.y, **options))
            except ValueError as error:
                raise InputError(f"scoring does not work in fold {number + 1}: {error}; choose another") from error
            done = time.perf_counter()
            scores.append(Score(score, best.leaves, status, fitted - start, done - fitted))
    return Fold(number, scores, searches.status is Status.INTERRUPTED)


def takes_weights(scorer: Callable[..., float]) -> bool:
    """Say whether a scorer can be told the weights of the rows, as those of scikit-learn can."""
    return "sample_weight" in inspect.signature(scorer).parameters
