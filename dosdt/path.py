"""`DOSDTPath`: every optimal trade-off between leaves and errors, and the λ at which each is optimal."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from dosdt.bars import path_bars
from dosdt.classifier import DOSDTClassifier
from dosdt.contract import Sketch
from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.front import Front, pareto_front
from dosdt.hull import Hull, trace
from dosdt.limits import Status, check_whole
from dosdt.many import ManySearches
from dosdt.problem import Problem
from dosdt.rules import Rule
from dosdt.sketches import tree_of
from dosdt.solver import Answer, TracePoint
from dosdt.tree import Tree


class PathPoint(NamedTuple):
    """An optimal trade-off.

    Attributes
    ----------
    leaves : int
    errors : Fraction
        Misclassified training weight, or what the cost matrix says.
    low, high : Fraction
        The tree is optimal for these λ and all between; `high` is None for the single leaf, which is optimal up to
        infinity. The high end of one point is the low end of the point before.
    tree : Tree
    proved : bool
        Whether that is proved for the whole interval; False only where a limit has stopped the search, and then these
        are the best trees and the interval known.
    """

    leaves: int
    errors: Fraction
    low: Fraction
    high: Fraction | None
    tree: Tree
    proved: bool


class FrontPoint(NamedTuple):
    """The fewest errors that a number of leaves allows.

    Attributes
    ----------
    leaves : int
    errors : Fraction
    tree : Tree
    proved : bool
        Whether no tree with so many leaves, or fewer, has fewer errors.
    """

    leaves: int
    errors: Fraction
    tree: Tree
    proved: bool


class DOSDTPath(BaseEstimator):  # type: ignore[misc]
    """All trees that minimise ``errors/N + λ · leaves`` for some λ, from the single leaf down to a smallest λ.

    Between two neighbouring trees the exact λ where they cost the same is searched: if no tree is better there, it is
    proved that none is missing. A trade-off that is optimal at one λ only, together with both its neighbours, is not
    listed; the front has it.

    Parameters
    ----------
    min_regularization : float, str or Fraction, default=0.001
        The smallest λ of interest; 0 needs `max_depth` or `max_leaves`. The smaller, the harder.
    front_leaves : int, optional
        Also find the fewest errors for each number of leaves up to this, whether or not they are optimal at some λ.
    max_depth, max_leaves, min_support, class_weight, cost_matrix, binarizer : optional
        As in `DOSDTClassifier`.
    time_limit, memory_limit, evaluation_limit : optional
        As in `DOSDTClassifier`, but for everything together. The large λ come first, so that a stop leaves a path
        that is complete down to some λ.
    verbose : bool, default=False
        Show progress on stderr.

    Attributes
    ----------
    points_ : list of PathPoint
        By leaves, the single leaf first. The last interval ends at `min_regularization`.
    front_ : list of FrontPoint, or None
        By leaves, each with fewer errors than all before; a number of leaves that is not there is no better than the
        next smaller one.
    status_ : str
        ``optimal`` if all is proved, else what has stopped the search.
    proved_down_to_ : Fraction
        For this λ and all larger ones, `points_` holds an optimal tree; `min_regularization` if all is proved.
    front_proved_to_ : int or None
        The number of leaves up to which `front_` is complete and proved.
    stats_ : dict
        Searches, evaluations, seconds.
    classes_, binarizer_, problem_, n_features_in_, feature_names_in_
        As in `DOSDTClassifier`.

    Examples
    --------
    >>> from dosdt import DOSDTPath, datasets
    >>> data = datasets.load("monk1")
    >>> path = DOSDTPath(min_regularization=0.01).fit(data.X, data.y)
    >>> [(point.leaves, str(point.errors), str(point.low)) for point in path.points_]
    [(1, '216', '1/4'), (2, '108', '1/20'), (7, '0', '1/100')]
    >>> path.point_at(0.02).leaves
    7
    """

    def __init__(
        self,
        min_regularization: Any = 0.001,
        *,
        front_leaves: int | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_support: Any = None,
        time_limit: Any = None,
        memory_limit: int | str | None = None,
        evaluation_limit: int | None = None,
        class_weight: Any = None,
        cost_matrix: Any = None,
        binarizer: Any = None,
        verbose: bool = False,
    ) -> None:
        self.min_regularization = min_regularization
        self.front_leaves = front_leaves
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_support = min_support
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.evaluation_limit = evaluation_limit
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.binarizer = binarizer
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DOSDTPath:
        """Find the path.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of non-negative numbers, shape (n,), optional
        """
        least = check_least(self.min_regularization)
        check_whole("front_leaves", self.front_leaves, least=1)
        poser = _classifier(self, least)
        limits = poser._limits()
        if not least and self.max_depth is None and self.max_leaves is None:
            raise InputError("min_regularization 0 needs a limit: pass max_depth or max_leaves as well")
        problem, rules, columns = poser._pose(X, y, sample_weight)
        constraints = poser._constraints(problem)
        most = self.front_leaves
        if most is not None and self.max_leaves is not None:
            most = min(most, self.max_leaves)
        front = None
        with (
            path_bars(self.verbose, problem, least, most) as bars,
            ManySearches(problem, constraints, limits, bars.search) as searches,
        ):
            hull = trace(searches, least, bars.path)
            if most is not None:
                front = pareto_front(searches, most, hull, bars.front)
        self.binarizer_ = poser.binarizer_
        self._keep(problem, rules, columns, hull, front)
        self.status_ = (searches.status or Status.OPTIMAL).value
        self.stats_ = searches.statistics()
        self._warn()
        return self

    def point_at(self, regularization: Any) -> PathPoint:
        """Return the point whose tree is optimal at this λ; where two are, the one with fewer leaves."""
        check_is_fitted(self, "points_")
        value = exact(regularization, "regularization")
        for point in self.points_:
            if value >= point.low:
                return point
        raise InputError(
            f"the path ends at regularization {self.points_[-1].low}, so it does not say what is optimal at "
            f"{regularization}; fit it again with a smaller min_regularization"
        )

    def classifier_at(self, regularization: Any) -> DOSDTClassifier:
        """Return a fitted `DOSDTClassifier` with the tree of this λ, without another search."""
        point = self.point_at(regularization)
        value = exact(regularization, "regularization")
        problem = self.problem_.with_regularization(value)
        weight = problem.total_weight
        objective = point.errors / weight + value * point.leaves
        proved = value >= self.proved_down_to_
        bound = objective if proved else self._bound(value)
        status = Status.OPTIMAL if proved else Status(self.status_)
        answer = answer_of(status, objective, bound, self._sketches[point.leaves], self.stats_)
        model = _classifier(self, regularization)
        model.binarizer_ = self.binarizer_
        model._keep(problem, answer, self._rules, self._columns)
        return model

    def _bound(self, regularization: Fraction) -> Fraction:
        """Return a bound on the objective at a λ below those that are proved.

        The least objective is concave in λ, and at λ = 0 no less than what no tree avoids: it lies above the chord.
        """
        problem, proved = self.problem_, self.proved_down_to_
        unavoidable = sum(problem.floor) * problem.cost_unit / problem.total_weight
        point = self.point_at(proved)
        objective = point.errors / problem.total_weight + proved * point.leaves
        return unavoidable + (objective - unavoidable) * regularization / proved

    def _keep(
        self, problem: Problem, rules: tuple[Rule, ...], columns: tuple[str, ...], hull: Hull, front: Front | None
    ) -> None:
        def tree(sketch: Sketch) -> Tree:
            return tree_of(problem, sketch, rules, columns)

        self.problem_, self._rules, self._columns = problem, rules, columns
        self.classes_ = np.asarray(problem.classes)
        self.points_ = [
            PathPoint(leaves, errors, low, high, tree(sketch), low >= hull.proved_to)
            for leaves, errors, low, high, sketch in hull.corners
        ]
        self._sketches = {corner.leaves: corner.sketch for corner in hull.corners}
        self.proved_down_to_ = hull.proved_to
        self.front_, self.front_proved_to_ = None, None
        if front is not None:
            self.front_ = [FrontPoint(s.leaves, s.errors, tree(s.sketch), s.proved) for s in front.steps]
            self.front_proved_to_ = front.complete_to
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.binarizer_, name):
                setattr(self, name, getattr(self.binarizer_, name))

    def _warn(self) -> None:
        if self.is_complete_:
            return
        missing = []
        if not self.points_[-1].proved:
            missing.append(f"the path is proved only for regularization {float(self.proved_down_to_):.6g} and above")
        if self.front_ is not None and self.front_proved_to_ != self._most():
            missing.append(f"the front only up to {self.front_proved_to_} leaves")
        warnings.warn(
            f"stopped by {self.status_}: {', and '.join(missing)}; raise the limit or min_regularization",
            ConvergenceWarning,
            stacklevel=3,
        )

    @property
    def is_complete_(self) -> bool:
        """Whether all that was asked for is proved; also if a stop came just then."""
        return self.points_[-1].proved and (self.front_ is None or self.front_proved_to_ == self._most())

    def _most(self) -> int | None:
        if self.front_leaves is None or self.max_leaves is None:
            return self.front_leaves
        return min(self.front_leaves, self.max_leaves)


def check_least(value: object) -> Fraction:
    """Return the smallest λ of a path as an exact fraction, or say why it cannot be one."""
    least = exact(value, "min_regularization")
    if least < 0:
        raise InputError(f"min_regularization must not be negative, got {value}")
    return least


def answer_of(status: Status, objective: Fraction, bound: Fraction, sketch: Sketch, stats: dict[str, Any]) -> Answer:
    """Return as the answer of a search what was found by many."""
    seconds, evaluated = stats["seconds"], stats["evaluated"]
    return Answer(
        status=status,
        objective=objective,
        lower_bound=bound,
        sketch=sketch,
        trace=(TracePoint(seconds, evaluated, objective, bound, 0, None),),
        stats={**stats, "expanded": evaluated, "search_seconds": seconds, "workers": 1},
    )


def _classifier(path: DOSDTPath, regularization: Any) -> DOSDTClassifier:
    """Return a classifier with the options of a path, not fitted."""
    return DOSDTClassifier(
        regularization,
        max_depth=path.max_depth,
        max_leaves=path.max_leaves,
        min_support=path.min_support,
        time_limit=path.time_limit,
        memory_limit=path.memory_limit,
        evaluation_limit=path.evaluation_limit,
        class_weight=path.class_weight,
        cost_matrix=path.cost_matrix,
        binarizer=path.binarizer,
    )
