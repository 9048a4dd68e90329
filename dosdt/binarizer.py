"""Any table as yes/no questions: what the search works on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dosdt.columns import Column
from dosdt.errors import InputError
from dosdt.evaluation import evaluate_rules
from dosdt.frames import ColumnTable, column_table, listed, matching_table
from dosdt.rules import Rule, is_missing
from dosdt.thresholds import cuts, distinct_values, quantile_gaps, readable
from dosdt.training import rows_that_count, taken
from dosdt.weights import IntArray, sample_weights

__all__ = ["Binarizer", "evaluate_rules"]

_MOST_THRESHOLDS = 512
"""Up to here the search takes all thresholds there are; beyond it a reference model chooses."""
_TYPES = {"b": "bool", "i": "int", "f": "float", "O": "text"}


class Binarizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn columns of any kind into yes/no features that read as a person would write them.

    Booleans and 0/1 columns pass, numbers become ``age <= 25`` between neighbouring values, strings become
    ``colour = red``, and missing values an error or ``income is missing``.

    Parameters
    ----------
    thresholds : {"auto", "all", "quantile", "reference"}, default="auto"
        Which midpoints between neighbouring numbers to use: all of them; at most `max_thresholds` a column
        that cut the data into parts of nearly equal size; or those that a small gradient-boosted model uses
        when fitted to `y`. ``auto`` is all of them up to 512 for the whole table; beyond
        that ``reference``, or ``quantile`` if there is no `y` or only one class.
    max_thresholds : int, optional
        Thresholds per column, 1 or more; given with ``thresholds="quantile"`` and only then.
    missing : {"error", "category"}, default="error"
        Refuse missing values, or give a column that has some in `fit` the question ``column is missing``.
        A missing value answers no to every other question.
    categories : sequence of str, default=()
        Columns to be asked for each of their values even if these are numbers.
    max_categories : int, default=50
        Refuse a column with more distinct categories than this.
    random_state : int, RandomState or None, default=0
        Seed of the reference model.

    Attributes
    ----------
    rules_ : tuple of Rule
        The questions, one for each column of the output.
    columns_ : tuple of str
        Names of the columns seen in `fit`, ``x0, x1, ...`` for an array.
    column_kinds_ : tuple of {"number", "text", "empty"}
        What each of them held; "empty" if it had no value at all.
    column_types_ : tuple of {"bool", "int", "float", "text"}
        How their values were held; numbers with missing values, and empty columns, are float.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Their names; only if `fit` was given a frame whose names are all strings.
    """

    def __init__(
        self,
        *,
        thresholds: str = "auto",
        max_thresholds: int | None = None,
        missing: str = "error",
        categories: Sequence[str] = (),
        max_categories: int = 50,
        random_state: Any = 0,
    ) -> None:
        self.thresholds = thresholds
        self.max_thresholds = max_thresholds
        self.missing = missing
        self.categories = categories
        self.max_categories = max_categories
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Binarizer:
        """Choose the questions.

        Parameters
        ----------
        X : DataFrame, ndarray, list of lists or pyarrow Table of shape (n, p)
        y : array-like of shape (n,), optional
            Labels; needed to choose thresholds with a reference model.
        sample_weight : array-like of non-negative numbers, shape (n,), optional
            A row of weight 2 counts as two rows, and one of weight 0 as none.
        """
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[np.uint8]:
        """Choose the questions and return the answers, as `fit` and `transform` do; columns are converted once."""
        table = self._fit(X, y, sample_weight)
        return self.transform(X) if table is None else evaluate_rules(self.rules_, table)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> ColumnTable | None:
        """Choose the questions; return `X` as named columns, unless some of its rows do not count."""
        categories = self._check_options()
        rows = rows_that_count(X, sample_weight)
        X, y, sample_weight = (taken(rows, given) for given in (X, y, sample_weight))
        table = column_table(X, categories=categories)
        unknown = [name for name in categories if name not in table.names]
        if unknown:
            raise InputError(f"categories names {listed(unknown)}; the columns are {listed(table.names)}")
        missing = _check_values(table, 'pass missing="category"' if self.missing == "error" else None)

        fixed: dict[str, list[Rule]] = {}  # columns whose questions need no threshold
        numbers: dict[str, Column] = {}
        for name, values in zip(table.names, table.arrays, strict=True):
            present = values[~is_missing(values)] if missing[name] else values
            if _is_binary(present):
                fixed[name] = [Rule(name, "is_true")]
            elif values.dtype.kind == "O" or name in categories:
                fixed[name] = _one_hot(name, present, self.max_categories, missing[name] > 0)
            else:
                numbers[name] = values
        weights = None if sample_weight is None else sample_weights(sample_weight, table.n_rows)[0]
        cut = self._thresholds(numbers, [rule for rules in fixed.values() for rule in rules], table, y, weights)
        rules: list[Rule] = []
        for name in table.names:
            rules += fixed[name] if name in fixed else [Rule(name, "at_most", value) for value in cut[name]]
            if missing[name]:
                rules.append(Rule(name, "is_missing"))

        self.rules_ = tuple(rules)
        self.columns_ = table.names
        self.column_types_ = tuple(_TYPES[values.dtype.kind] for values in table.arrays)
        self.column_kinds_ = tuple(
            "empty" if missing[name] == table.n_rows else "text" if held == "text" else "number"
            for name, held in zip(table.names, self.column_types_, strict=True)
        )
        self.n_features_in_ = len(table.names)
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.array(table.names, dtype=object)
        return table if rows is None else None

    def transform(self, X: Any) -> npt.NDArray[np.uint8]:
        """Return the answers, 1 for yes and 0 for no, shape (n, len(rules_)), column by column in memory."""
        table = self.check_columns(X)
        return evaluate_rules(self.rules_, table)

    def check_columns(self, X: Any) -> ColumnTable:
        """Return `X` as a table of the columns seen in `fit`, in their order, or say why it cannot be one.

        Columns of a frame are found by name, those of an array by place.
        """
        check_is_fitted(self, "rules_")
        kinds = dict(zip(self.columns_, self.column_kinds_, strict=True))
        text = [name for name, kind in kinds.items() if kind != "number"]
        table = matching_table(X, self.columns_, categories=text)
        for name, values in zip(table.names, table.arrays, strict=True):
            if kinds[name] == "number" and values.dtype.kind == "O":
                row, value = next((i, value) for i, value in enumerate(values, 1) if value is not None)
                raise InputError(
                    f"column {name!r} held numbers when fitted and holds text now ({value!r} in row {row}); "
                    "correct it or fit again"
                )
        _check_values(table, 'fit with missing="category"' if self.missing == "error" else None)
        return table

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Return the questions as text, shape (len(rules_),).

        `input_features` renames the columns of an array; for a frame it must repeat its names.
        """
        check_is_fitted(self, "rules_")
        rules = self.rules_
        if input_features is not None:
            given = tuple(str(name) for name in input_features)
            if len(given) != self.n_features_in_:
                raise InputError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(given)}"
                )
            if hasattr(self, "feature_names_in_") and given != self.columns_:
                raise InputError("input_features is not equal to feature_names_in_; leave it out")
            renamed = dict(zip(self.columns_, given, strict=True))
            rules = tuple(replace(rule, column=renamed[rule.column]) for rule in rules)
        return np.array([str(rule) for rule in rules], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.missing == "category"
        tags.target_tags.required = self.thresholds == "reference"
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_options(self) -> tuple[str, ...]:
        """Validate the options and return the category columns by name."""
        for option, choices in (
            ("thresholds", ("auto", "all", "quantile", "reference")),
            ("missing", ("error", "category")),
        ):
            value = getattr(self, option)
            if not isinstance(value, str) or value not in choices:
                raise InputError(f"{option} must be one of {listed(choices)}, got {value!r}")
        if self.thresholds == "quantile":
            _check_count("max_thresholds", self.max_thresholds, ' with thresholds="quantile"')
        elif self.max_thresholds is not None:
            raise InputError(
                f'max_thresholds goes with thresholds="quantile" and not {self.thresholds!r}; leave it out'
            )
        _check_count("max_categories", self.max_categories, "")
        if isinstance(self.categories, str | bytes) or not hasattr(self.categories, "__iter__"):
            raise InputError(f"categories must be a list of column names, got {self.categories!r}")
        return tuple(str(name) for name in self.categories)

    def _thresholds(
        self,
        numbers: dict[str, Column],
        others: list[Rule],
        table: ColumnTable,
        y: Any,
        weights: IntArray | None,
    ) -> dict[str, list[int | float]]:
        """Return the thresholds of every column of numbers."""
        distinct = {name: distinct_values(values, weights) for name, values in numbers.items()}
        gaps: dict[str, Sequence[int]] = {name: range(len(values) - 1) for name, (values, _) in distinct.items()}
        too_many = sum(map(len, gaps.values())) > _MOST_THRESHOLDS
        choose, most = self.thresholds, self.max_thresholds
        if choose == "auto" and too_many:
            choose = "quantile" if y is None or len(set(np.ravel(np.asarray(y, object)))) < 2 else "reference"
            most = max(1, _MOST_THRESHOLDS // len(numbers))
        if choose == "reference":
            from dosdt.reference import reference_gaps

            gaps = dict(reference_gaps(numbers, evaluate_rules(others, table), y, weights, self.random_state))
        elif most is not None:
            gaps = {name: quantile_gaps(counts, most) for name, (_, counts) in distinct.items()}
        return {name: cuts(values, gaps[name]) for name, (values, _) in distinct.items()}


def _check_count(option: str, value: object, when: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{option} must be a whole number, 1 or more{when}, got {value!r}")


def _check_values(table: ColumnTable, remedy: str | None) -> dict[str, int]:
    """Refuse infinities, and missing values unless `remedy` is None; return how many each column has."""
    counts = dict.fromkeys(table.names, 0)
    for name, values in zip(table.names, table.arrays, strict=True):
        if values.dtype.kind == "f":
            if np.isfinite(values).all():
                continue
            infinite = np.flatnonzero(np.isinf(values))
            if len(infinite):
                raise InputError(f"column {name!r} holds infinity ({_rows(infinite)}); put a number or drop the row")
        if values.dtype.kind in "fO":
            missing = np.flatnonzero(is_missing(values))
            counts[name] = len(missing)
            if remedy is not None and len(missing):
                plural = "s" if len(missing) > 1 else ""
                raise InputError(
                    f"column {name!r} has {len(missing)} missing value{plural}, NaN or none "
                    f"({_rows(missing)}); {remedy} or drop {'them' if plural else 'it'}"
                )
    return counts


def _rows(positions: npt.NDArray[np.intp]) -> str:
    rows = [int(position) + 1 for position in positions[:5]]
    more = f" and {len(positions) - 5} more" if len(positions) > 5 else ""
    return f"row{'s' if len(positions) > 1 else ''} " + ", ".join(map(str, rows)) + more


def _is_binary(present: Column) -> bool:
    if present.dtype.kind == "O" or len(present) == 0 or present.min() < 0 or present.max() > 1:
        return False
    return present.dtype.kind != "f" or bool(np.all((present == 0) | (present == 1)))


def _one_hot(name: str, present: Column, most: int, some_missing: bool) -> list[Rule]:
    """Return one question per category; a number keeps its value, so it compares with numbers later."""
    distinct = sorted(set(present.tolist()))
    if len(distinct) > most:
        if len(distinct) == len(present):
            raise InputError(
                f"column {name!r} has {len(distinct)} distinct categories, more than max_categories={most}, one for "
                "each row; what only names the rows says nothing of others: drop the column"
            )
        raise InputError(
            f"column {name!r} has {len(distinct)} distinct categories, more than max_categories={most}; "
            "raise max_categories, group them, turn them into numbers or drop the column"
        )
    if len(distinct) == 2 and not some_missing:
        # The other question has the opposite answers everywhere. Keep "yes", "true" and "positive".
        distinct = distinct[1:]
    return [Rule(name, "equals", readable(value) if isinstance(value, float) else value) for value in distinct]
