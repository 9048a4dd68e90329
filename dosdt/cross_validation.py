"""`DOSDTClassifierCV`: the λ that cross-validation chooses."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from dosdt.bars import bars
from dosdt.choosing import RULES, chosen, middles, results
from dosdt.classifier import DOSDTClassifier
from dosdt.errors import InputError
from dosdt.folds import Data, Fold, Score, run_fold
from dosdt.labels import encode_labels
from dosdt.limits import Status
from dosdt.model_file import Model
from dosdt.path import DOSDTPath, check_least
from dosdt.problem import check_regularization
from dosdt.solver import check_choice
from dosdt.training import checked_labels
from dosdt.tree import Tree


class DOSDTClassifierCV(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An optimal tree whose penalty per leaf is chosen by cross-validation.

    Every λ is fitted, with proof, to the training part of every fold and scored on the rest; the tree is then fitted
    to all rows with the λ chosen.

    Parameters
    ----------
    regularizations : sequence of float, str or Fraction, optional
        The λ to choose from. By default one for each tree of the path on all rows, from its interval's middle.
    min_regularization : float, str or Fraction, default=0.01
        Where that path ends; of no use if `regularizations` are given.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn: by default 5 stratified folds, in the order of the rows.
    rule : {"one_se", "best"}, default="one_se"
        ``best`` takes the λ with the best mean score; ``one_se`` the largest λ, so the simplest tree, whose mean
        score is within one standard error of it. Ties go to the larger λ.
    scoring : str or callable, optional
        As in scikit-learn; accuracy by default. Scores are weighted if `sample_weight` is given.
    max_depth, max_leaves, min_support, class_weight, cost_matrix, binarizer : optional
        As in `DOSDTClassifier`. The binarizer is fitted in every fold anew.
    time_limit, memory_limit, evaluation_limit : optional
        As in `DOSDTClassifier`, for each fold with all its λ, for the path, and for the fit to all rows. A fold that
        is stopped scores the best trees it knows; Ctrl-C ends it all.
    n_jobs : int, optional
        How many folds run at the same time, as in scikit-learn; each is searched by one process.
    verbose : bool, default=False
        Show progress on stderr.

    Attributes
    ----------
    best_regularization_ : Fraction
    best_index_ : int
        Its place in `cv_results_`.
    best_score_ : float
        Its mean score.
    cv_results_ : dict of arrays
        As `GridSearchCV` has it, by descending λ, with the leaves of each fold's tree and how its search ended.
    estimator_ : DOSDTClassifier
        Fitted to all rows.
    path_ : DOSDTPath or None
        The path that the λ come from.
    n_splits_ : int
    classes_, tree_, n_leaves_, status_, objective_, n_features_in_, feature_names_in_
        Those of `estimator_`.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from dosdt import DOSDTClassifierCV, datasets
    >>> data = datasets.load("monk1")
    >>> model = DOSDTClassifierCV(cv=StratifiedKFold(3, shuffle=True, random_state=0)).fit(data.X, data.y)
    >>> model.best_regularization_, model.n_leaves_
    (Fraction(1, 50), 7)
    """

    def __init__(
        self,
        regularizations: Sequence[Any] | None = None,
        *,
        min_regularization: Any = 0.01,
        cv: Any = None,
        rule: str = "one_se",
        scoring: Any = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_support: Any = None,
        time_limit: Any = None,
        memory_limit: int | str | None = None,
        evaluation_limit: int | None = None,
        class_weight: Any = None,
        cost_matrix: Any = None,
        binarizer: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.regularizations = regularizations
        self.min_regularization = min_regularization
        self.cv = cv
        self.rule = rule
        self.scoring = scoring
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_support = min_support
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.evaluation_limit = evaluation_limit
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.binarizer = binarizer
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> DOSDTClassifierCV:
        """Choose λ and fit to all rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of non-negative numbers, shape (n,), optional
        groups : array-like of shape (n,), optional
            For splitters that keep groups together.
        """
        check_choice("rule", self.rule, RULES)
        given = self._given()
        check_least(self.min_regularization)
        template = DOSDTClassifier(**self._options())
        template._check(None, 30.0, None)
        classes, codes = encode_labels(checked_labels(X, y))
        y = classes[codes]  # scikit-learn's scores do not know labels that are objects
        scorer = check_scoring(template, "accuracy" if self.scoring is None else self.scoring)
        # All rows first: what is wrong with them is said of them, and not of the rows of a fold.
        path = None
        if given is None:
            path = self._path(Data(X, y, sample_weight))
        else:
            template.set_params(regularization=given[0])._pose(X, y, sample_weight)
        data = Data(*(part if part is None else indexable(part)[0] for part in (X, y, sample_weight)))
        splits = self._splits(data, groups)
        regularizations = given if path is None else middles(path.points_)
        assert regularizations is not None
        folds = self._folds(splits, template, data, regularizations, scorer)
        table = [fold.scores for fold in sorted(folds)]
        self.cv_results_ = results(regularizations, table)
        self.n_splits_ = len(splits)
        self.best_index_ = chosen(self.cv_results_["mean_test_score"], self.cv_results_["std_error"], self.rule)
        self.best_regularization_ = regularizations[self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.path_ = path
        self.estimator_ = template.set_params(regularization=self.best_regularization_).fit(X, y, sample_weight)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        _warn_of_stops(table)
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predicted class of every row, shape (n,)."""
        return self._fitted().predict(X)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return each class's share of the training weight in every row's leaf, shape (n, n_classes)."""
        return self._fitted().predict_proba(X)

    def to_model(self, target: str | None = None) -> Model:
        """Return the fitted tree with what is proved about it, ready to be saved."""
        return self._fitted().to_model(target)

    @property
    def tree_(self) -> Tree:
        """The tree fitted to all rows."""
        return self._fitted().tree_

    @property
    def n_leaves_(self) -> int:
        """Its number of leaves."""
        return self._fitted().n_leaves_

    @property
    def status_(self) -> str:
        """Whether it is proved optimal for the λ chosen, or what stopped the search."""
        return self._fitted().status_

    @property
    def objective_(self) -> Fraction:
        """Its ``errors/N + λ·leaves``."""
        return self._fitted().objective_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = DOSDTClassifier(binarizer=self.binarizer).__sklearn_tags__().input_tags
        return tags

    def _fitted(self) -> DOSDTClassifier:
        check_is_fitted(self, "estimator_")
        model: DOSDTClassifier = self.estimator_
        return model

    def _options(self) -> dict[str, Any]:
        names = "max_depth max_leaves min_support time_limit memory_limit evaluation_limit"
        return {name: getattr(self, name) for name in (*names.split(), "class_weight", "cost_matrix", "binarizer")}

    def _given(self) -> list[Fraction] | None:
        """Return the λ that were given, largest first, or None."""
        if self.regularizations is None:
            return None
        if isinstance(self.regularizations, str | bytes) or not isinstance(self.regularizations, Iterable):
            raise InputError(f"regularizations must be a list of numbers, got {self.regularizations!r}")
        values = {check_regularization(value) for value in self.regularizations}
        if not values:
            raise InputError("regularizations must hold at least one number; leave it out to have them chosen")
        if not min(values) and self.max_depth is None and self.max_leaves is None:
            raise InputError("regularization 0 needs a limit: pass max_depth or max_leaves as well")
        return sorted(values, reverse=True)

    def _splits(self, data: Data, groups: Any) -> list[tuple[Any, Any]]:
        try:
            splitter = check_cv(self.cv, data.y, classifier=True)
            splits = list(splitter.split(data.X, data.y, groups))
        except (ValueError, TypeError) as error:
            raise InputError(f"cv: {' '.join(str(error).split())}") from error
        if not splits:
            raise InputError("cv gives no folds; pass a number of folds, 2 or more")
        return splits

    def _path(self, data: Data) -> DOSDTPath:
        path = DOSDTPath(self.min_regularization, **self._options(), verbose=self.verbose).fit(*data)
        if path.status_ == Status.INTERRUPTED.value:
            raise KeyboardInterrupt
        return path

    def _folds(
        self,
        splits: list[tuple[Any, Any]],
        template: DOSDTClassifier,
        data: Data,
        regularizations: list[Fraction],
        scorer: Any,
    ) -> list[Fold]:
        jobs = (
            delayed(run_fold)(number, template, data, train, test, regularizations, scorer)
            for number, (train, test) in enumerate(splits)
        )
        folds: list[Fold] = []
        with bars(["folds"]) if self.verbose else nullcontext() as show:
            if show is not None:
                show("folds", f"0 of {len(splits)}", 0.0)
            for fold in Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")(jobs):
                if fold.interrupted:
                    raise KeyboardInterrupt
                folds.append(fold)
                if show is not None:
                    show("folds", f"{len(folds)} of {len(splits)}", len(folds) / len(splits))
        return folds


def _warn_of_stops(table: Sequence[Sequence[Score]]) -> None:
    stops = Counter(score.status.value for scores in table for score in scores if score.status is not Status.OPTIMAL)
    if stops:
        total = sum(map(len, table))
        what = " and ".join(stops)
        warnings.warn(
            f"{stops.total()} of {total} fits in folds were stopped by {what}, so their trees may not be optimal; "
            "raise the limit, or leave out the smallest regularizations",
            ConvergenceWarning,
            stacklevel=3,
        )
