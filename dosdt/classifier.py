"""The optimal tree as a scikit-learn classifier."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from dosdt.binarizer import Binarizer
from dosdt.checkpoint import CheckpointFile, check_checkpoint
from dosdt.contract import Constraints
from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.files import rehearse
from dosdt.frames import ColumnTable, column_table
from dosdt.limits import Limits, Status, check_whole, parse_limits
from dosdt.model_file import Model
from dosdt.plan import Plan
from dosdt.present import at_most
from dosdt.problem import Problem, check_regularization
from dosdt.progress import progress
from dosdt.rules import Rule
from dosdt.search_record import SearchRecord, steps
from dosdt.sketches import tree_of
from dosdt.solver import ALGORITHMS, SWITCHES, Answer, check_choice, solve, switches_of
from dosdt.teamwork import Teamwork, parse_workers
from dosdt.training import checked_labels, dense, rows_that_count, spread, taken
from dosdt.tree import Tree, plain

if TYPE_CHECKING:
    from dosdt.alternatives import Alternatives
    from dosdt.explain import Explanation


class DOSDTClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision tree that provably minimises ``errors/N + regularization · leaves``.

    Parameters
    ----------
    regularization : float, str or Fraction, default=0.01
        λ, the penalty per leaf, as a share of the training weight: a leaf must save more errors than this. A
        float means the decimal it prints as. 0 needs `max_depth` or `max_leaves`.
    algorithm : {"subproblem", "leafset"}, default="subproblem"
        ``subproblem`` is the fast search, ``leafset`` that of the paper *Optimal Sparse Decision Trees*.
    max_depth : int, optional
        Most questions on a path; 0 is a single leaf.
    max_leaves : int, optional
        Most leaves.
    min_support : number, optional
        Least training weight of a leaf; with no weights given, the least number of rows.
    time_limit : float or str, optional
        Seconds for the search.
    memory_limit : int or str, optional
        Bytes, or text such as ``"2G"``, for the whole process; by default what it uses and 80 % of what is free.
    evaluation_limit : int, optional
        Most subsets to expand, or trees to evaluate; looked at after every few hundred of them.
    relative_gap : float, str or Fraction, default=0
        Stop as soon as no tree can be better by more than this share of the objective; 0.05 is 5 %.
    policy : str, default="curiosity"
        Which tree ``leafset`` expands next: curiosity, objective, lower_bound, entropy, gini, fifo or lifo.
    bounds : "all" or collection of str, default="all"
        Which bounds and caches to use, for experiments; see `dosdt.solver.SWITCHES`.
    warm_start : bool, default=True
        Start ``leafset`` from CART's tree; ``subproblem`` finds good trees at once by itself.
    class_weight : mapping or "balanced", optional
        Factor on the weights of each class.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        ``cost_matrix[true][predicted]``, classes in sorted order; replaces the count of errors.
    binarizer : transformer, optional
        Turns columns into yes/no features; by default ``Binarizer()``. Any transformer with 0/1 output will do.
    n_jobs : int, optional
        Worker processes to search with; -1 is one for each CPU. What one process solves within a second is solved
        that way, and else a local Ray is started and shut down again.
    ray_address : str, optional
        Of a Ray cluster to search on: ``"auto"``, ``"host:port"`` or ``"ray://host:port"``; with no `n_jobs`, one
        worker for each of its CPUs, also of nodes that join later.
    verbose : bool, default=False
        Show the course of the search on stderr, with a live last line on a terminal.

    Attributes
    ----------
    tree_ : Tree
    objective_, lower_bound_ : Fraction
        Of the tree, and of all trees; equal when optimal.
    gap_ : Fraction
        How much better another tree could be at most, as a share of `objective_`; 0 when optimal.
    status_ : str
        ``optimal``, ``gap_reached``, ``time_limit``, ``memory_limit``, ``evaluation_limit`` or ``interrupted``.
    n_leaves_ : int
    classes_ : ndarray of shape (n_classes,)
        All classes in `y`, also one whose rows all weigh nothing.
    stats_ : dict
        Counts and seconds.
    trace_ : tuple of TracePoint
        (seconds, evaluated, incumbent, lower_bound, open, ...) over time.
    binarizer_ : transformer
    problem_ : Problem
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if `fit` saw a frame whose column names are all text. Both are those of `binarizer_`.

    Examples
    --------
    >>> from dosdt import DOSDTClassifier, datasets
    >>> data = datasets.load("monk1")
    >>> model = DOSDTClassifier(regularization=0.02).fit(data.X, data.y)
    >>> model.status_, model.n_leaves_
    ('optimal', 7)
    """

    binarizer_: Any

    def __init__(
        self,
        regularization: Any = 0.01,
        *,
        algorithm: str = "subproblem",
        max_depth: int | None = None,
        max_leaves: int | None = None,
        min_support: Any = None,
        time_limit: Any = None,
        memory_limit: int | str | None = None,
        evaluation_limit: int | None = None,
        relative_gap: Any = 0,
        policy: str = "curiosity",
        bounds: str | Collection[str] = "all",
        warm_start: bool = True,
        class_weight: Any = None,
        cost_matrix: Any = None,
        binarizer: Any = None,
        n_jobs: int | None = None,
        ray_address: str | None = None,
        verbose: bool = False,
    ) -> None:
        self.regularization = regularization
        self.algorithm = algorithm
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_support = min_support
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.evaluation_limit = evaluation_limit
        self.relative_gap = relative_gap
        self.policy = policy
        self.bounds = bounds
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.binarizer = binarizer
        self.n_jobs = n_jobs
        self.ray_address = ray_address
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        certificate: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 30.0,
        log_file: str | os.PathLike[str] | None = None,
    ) -> DOSDTClassifier:
        """Find the optimal tree.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, p)
        y : array-like of shape (n,)
        sample_weight : array-like of non-negative numbers, shape (n,), optional
        certificate : path, optional
            Where to write what proves the answer, for `dosdt.verify`.
        checkpoint : path, optional
            Where to keep what is known, from time to time, so that ``dosdt resume`` can go on if this process dies.
        checkpoint_seconds : float, default=30
            How often.
        log_file : path, optional
            File to add the course of the search to, as it goes.
        """
        self._check(checkpoint, checkpoint_seconds, log_file)
        if certificate is not None:
            self._check_certificate(certificate)
        given = X, y, sample_weight
        problem, rules, columns = self._pose(X, y, sample_weight)
        keeping = _Keeping(checkpoint, checkpoint_seconds, getattr(given[1], "name", None), log_file)
        if certificate is None:
            answer = self._solve(problem, rules, columns, keeping)
        else:
            from dosdt.certificate import claim_of, to_bytes, write_certificate

            claim, checked = claim_of(self, problem, *given)
            answer = self._solve(problem, rules, columns, keeping._replace(claim=to_bytes(claim)), certify=True)
            self.stats_ |= write_certificate(certificate, claim, checked, problem, answer)
        _warn_of_a_gap(answer)
        return self

    def fit_parquet(
        self,
        path: str | os.PathLike[str],
        target: str | None = None,
        *,
        weights: str | None = None,
        larger_than: int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 30.0,
        log_file: str | os.PathLike[str] | None = None,
    ) -> DOSDTClassifier:
        """Find the optimal tree for Parquet files that need not fit into memory; there is no certificate.

        Parameters
        ----------
        path : path
            Of a Parquet file or a folder of them.
        target : str, optional
            The label column; the last one unless told.
        weights : str, optional
            Column of row weights.
        larger_than : int, optional
            Bytes on disk from which on the rows are read and counted on Ray; 1 GiB unless told.
        checkpoint, checkpoint_seconds, log_file : optional
            As in `fit`.
        """
        from dosdt.ingest import LARGE, ingest

        if not isinstance(self.binarizer, Binarizer | None):
            raise InputError("fit_parquet needs a dosdt.Binarizer: it reads the rows in pieces")
        self._check(checkpoint, checkpoint_seconds, log_file)
        data = ingest(
            os.fspath(path),
            target,
            self.regularization,
            weights=weights,
            binarizer=self.binarizer,
            class_weight=self.class_weight,
            cost_matrix=self.cost_matrix,
            larger_than=LARGE if larger_than is None else larger_than,
            ray_address=self.ray_address,
        )
        self.binarizer_ = data.binarizer
        keeping = _Keeping(checkpoint, checkpoint_seconds, data.target, log_file)
        rules, columns = data.binarizer.rules_, data.binarizer.columns_
        _warn_of_a_gap(self._solve(data.problem, rules, columns, keeping))
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the predicted class of every row, shape (n,)."""
        table = self._table(X)  # first, since it says so if the model is not fitted
        return np.asarray(self.classes_[self.tree_.predict_index(table)])

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return each class's share of the training weight in every row's leaf, shape (n, n_classes)."""
        table = self._table(X)
        return self.tree_.predict_proba(table)

    def explain(self, x: Any) -> Explanation:
        """Return why one case gets its class, and the smallest changes that would change it; print it, or ask it.

        Parameters
        ----------
        x : mapping of column to value, Series, list or array of shape (p,), or table of one row
        """
        from dosdt.explain import explain, one_row

        table = self._table(one_row(x))
        if not isinstance(self.binarizer_, Binarizer):
            return explain(self.tree_, table, gaps=False)
        kinds = dict(zip(self.tree_.columns, self._kinds, strict=True))
        return explain(self.tree_, table, kinds=kinds, gaps=self.binarizer_.missing == "category")

    def alternatives(
        self,
        within: Any = None,
        *,
        best: int | None = None,
        useless_splits: bool = False,
        time_limit: Any = None,
        memory_limit: int | str | None = None,
        report: Callable[[Any], None] | None = None,
    ) -> Alternatives:
        """Count all trees that are nearly as good as the best, on the training data and within the same limits.

        Parameters
        ----------
        within : number or str, optional
            How much larger than the optimum an objective may be: 0.01, or ``"5%"`` of it. By default 5 %.
        best : int, optional
            Instead: the best so many trees, with all that are as good as the last of them.
        useless_splits : bool, default=False
            Whether trees count that have a split into two leaves which saves nothing.
        time_limit, memory_limit : optional
            As for the classifier; what stops the count leaves the count up to a smaller objective.
        report : callable, optional
            Called with a `dosdt.rashomon.rounds.Progress` now and then.

        Returns
        -------
        Alternatives
            Their number, which features they ask, and each of them by its place; see `dosdt.alternatives`.
        """
        from dosdt.alternatives import find_alternatives

        check_is_fitted(self, "tree_")
        columns = self.tree_.columns
        own = isinstance(self.binarizer_, Binarizer)
        return find_alternatives(
            self.problem_,
            within=within,
            best=best,
            constraints=self._constraints(self.problem_),
            useless_splits=useless_splits,
            limits=parse_limits(time_limit, memory_limit, None, 0),
            rules=self.binarizer_.rules_ if own else [Rule(name, "is_true") for name in columns],
            columns=columns,
            objective=self.objective_,
            report=report,
        )

    def to_model(self, target: str | None = None) -> Model:
        """Return the fitted tree with what is proved about it, ready to be saved."""
        check_is_fitted(self, "tree_")
        if not isinstance(self.binarizer_, Binarizer):
            raise InputError("only models fitted with a dosdt.Binarizer can be saved: others cannot be read back")
        return Model(
            tree=self.tree_,
            target=target,
            kinds=self._kinds,
            missing=self.binarizer_.missing,
            regularization=self.problem_.regularization,
            objective=self.objective_,
            lower_bound=self.lower_bound_,
            status=self.status_,
            training_weight=self.problem_.total_weight,
            algorithm=self.algorithm,
            search=self._record(),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = getattr(self.binarizer, "missing", "error") == "category"
        return tags

    def _solve(
        self,
        problem: Problem,
        rules: tuple[Rule, ...],
        columns: tuple[str, ...],
        keeping: _Keeping,
        *,
        certify: bool = False,
    ) -> Answer:
        """Solve a problem, alone or by a team, and keep the answer."""
        constraints = self._constraints(problem)
        together, workers = parse_workers(self.n_jobs, self.ray_address)
        team = file = None
        if keeping.path is not None:
            plan = Plan(
                self.algorithm,
                constraints,
                tuple(switches_of(self.bounds, SWITCHES[self.algorithm])),
                self.policy,
                certify,
            )
            context = self._context(rules, columns, keeping.target) | {"certificate": keeping.claim}
            file = CheckpointFile(keeping.path, problem, plan, context, keeping.seconds)
        if together or file is not None:
            team = Teamwork(workers if together else 1, self.ray_address, file)
        with progress(
            self.verbose, problem, algorithm=self.algorithm, team=together, log_file=keeping.log_file
        ) as report:
            answer = solve(
                problem,
                algorithm=self.algorithm,
                constraints=constraints,
                limits=self._limits(),
                policy=self.policy,
                bounds=self.bounds,
                warm_start=self.warm_start,
                certify=certify,
                report=report,
                team=team,
            )
        self._keep(problem, answer, rules, columns)
        return answer

    def _check(
        self,
        checkpoint: str | os.PathLike[str] | None,
        seconds: float,
        log_file: str | os.PathLike[str] | None,
    ) -> None:
        """Refuse options that cannot be right before any long work begins."""
        self._limits()
        parse_workers(self.n_jobs, self.ray_address)
        if checkpoint is not None:
            check_checkpoint(checkpoint, seconds)
        if log_file is not None:
            rehearse(log_file)

    def _limits(self) -> Limits:
        check_choice("algorithm", self.algorithm, ALGORITHMS)
        check_whole("max_depth", self.max_depth, least=0)
        check_whole("max_leaves", self.max_leaves, least=1)
        return parse_limits(self.time_limit, self.memory_limit, self.evaluation_limit, self.relative_gap)

    def _check_certificate(self, path: str | os.PathLike[str]) -> None:
        """Refuse what cannot be certified before any long work begins."""
        if self.algorithm != "subproblem":
            raise InputError(f'a certificate needs algorithm="subproblem", not {self.algorithm!r}')
        if not isinstance(self.binarizer, Binarizer | None):
            raise InputError("a certificate needs a dosdt.Binarizer: the checker cannot repeat what others do")
        rehearse(path)

    def _pose(self, X: Any, y: Any, sample_weight: Any) -> tuple[Problem, tuple[Rule, ...], tuple[str, ...]]:
        """Return the problem, the rules of its features and the columns that they ask about."""
        check_regularization(self.regularization)
        y = checked_labels(X, y)
        # A row of weight zero has no say in the thresholds either; only its class is known of.
        rows = rows_that_count(X, sample_weight)
        X = taken(rows, X)
        features, rules, columns = self._binarize(X, taken(rows, y), taken(rows, sample_weight))
        problem = Problem.from_arrays(
            spread(features, rows, len(y)),
            y,
            self.regularization,
            sample_weight=sample_weight,
            class_weight=self.class_weight,
            cost_matrix=self.cost_matrix,
            names=[str(rule) for rule in rules],
        )
        return problem, rules, columns

    def _constraints(self, problem: Problem) -> Constraints:
        support = Fraction(0) if self.min_support is None else exact(self.min_support, "min_support")
        if support < 0:
            raise InputError(f"min_support must not be negative, got {self.min_support!r}")
        return Constraints(self.max_depth, self.max_leaves, ceil(support / problem.weight_unit))

    def _binarize(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[npt.NDArray[Any], tuple[Rule, ...], tuple[str, ...]]:
        """Fit the binarizer; return yes/no features, their rules and the columns that the rules ask about."""
        self.binarizer_ = Binarizer() if self.binarizer is None else clone(self.binarizer)
        if isinstance(self.binarizer_, Binarizer):
            features = self.binarizer_.fit_transform(X, y, sample_weight)
            return features, self.binarizer_.rules_, self.binarizer_.columns_
        features = dense(self.binarizer_.fit(X, y).transform(X))
        own_names = getattr(self.binarizer_, "get_feature_names_out", None)
        names = tuple(map(str, own_names() if own_names else (f"x{j}" for j in range(features.shape[1]))))
        return features, tuple(Rule(name, "is_true") for name in names), names

    def _context(self, rules: tuple[Rule, ...], columns: tuple[str, ...], target: Any) -> dict[str, Any]:
        """Return what a resumed search needs to show its answer as this one would."""
        own = isinstance(self.binarizer_, Binarizer)
        return {
            "rules": [[rule.column, rule.kind, plain(rule.value)] for rule in rules],
            "columns": list(columns),
            "kinds": list(self.binarizer_.column_types_) if own else None,
            "column_kinds": list(self.binarizer_.column_kinds_) if own else None,
            "missing": self.binarizer_.missing if own else None,
            "target": target if isinstance(target, str) else None,
            "costs": self.cost_matrix is not None,
            "class_weights": self.class_weight is not None,
        }

    def _keep(self, problem: Problem, answer: Answer, rules: tuple[Rule, ...], columns: tuple[str, ...]) -> None:
        self.problem_ = problem
        self.tree_: Tree = tree_of(problem, answer.sketch, rules, columns)
        self.objective_ = answer.objective
        self.lower_bound_ = answer.lower_bound
        self.gap_ = answer.gap
        self.status_ = answer.status.value
        self.n_leaves_ = self.tree_.n_leaves
        self.classes_ = np.asarray(problem.classes)
        self.stats_ = answer.stats
        self.trace_ = answer.trace
        if isinstance(self.binarizer_, Binarizer):
            self._kinds = self.binarizer_.column_types_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.binarizer_, name):
                setattr(self, name, getattr(self.binarizer_, name))

    def _record(self) -> SearchRecord:
        problem, stats = self.problem_, self.stats_
        return SearchRecord(
            rows=problem.n_samples,
            distinct_rows=stats["distinct_rows"],
            features=stats["features"],
            evaluated=stats["evaluated"],
            workers=stats["workers"],
            seconds=stats["seconds"],
            weighted=problem.total_weight != problem.n_samples or self.class_weight is not None,
            costs=self.cost_matrix is not None,
            trace=steps(self.trace_),
        )

    def _repr_html_inner(self) -> str:
        # scikit-learn calls it if its option `display` asks for pictures.
        if not hasattr(self, "tree_"):
            return str(super()._repr_html_inner())
        from dosdt.notebook import model_html

        return model_html(self.tree_, self.status_, self.objective_, self.gap_)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _table(self, X: Any) -> ColumnTable:
        check_is_fitted(self, "tree_")
        if isinstance(self.binarizer_, Binarizer):
            return self.binarizer_.check_columns(X)
        return column_table(dense(self.binarizer_.transform(X)), names=self.tree_.columns)


class _Keeping(NamedTuple):
    """Where to keep what is known and how often, the label's name, the log, and what a certificate begins with."""

    path: str | os.PathLike[str] | None
    seconds: float
    target: Any
    log_file: str | os.PathLike[str] | None = None
    claim: bytes | None = None


def _warn_of_a_gap(answer: Answer) -> None:
    if not answer.gap or answer.status is Status.GAP_REACHED:
        return
    stopped, advice = f"stopped by {answer.status.value}", "raise the limit, or raise regularization"
    if answer.status is Status.INTERRUPTED:
        stopped, advice = "interrupted", "fit again to go on searching"
    warnings.warn(
        f"{stopped} before the proof was complete: another tree may be better by up to "
        f"{at_most(answer.gap)}; {advice}",
        ConvergenceWarning,
        stacklevel=3,
    )
