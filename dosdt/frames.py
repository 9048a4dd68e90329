"""Any table a person may pass, as named columns of four plain types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dosdt.columns import Column, from_numbers, from_objects, from_series
from dosdt.errors import InputError


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Named columns of equal length.

    Parameters
    ----------
    names : tuple of str
        Distinct column names.
    arrays : tuple of ndarray, each of shape (n_rows,)
        Of dtype bool, int8 to int64, float64 (NaN is missing), or object holding str (None is missing).
    n_rows : int
        Number of rows.
    """

    names: tuple[str, ...]
    arrays: tuple[Column, ...]
    n_rows: int

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return dict(zip(self.names, self.arrays, strict=True))

    def column(self, name: str) -> Column:
        """Return the values of one column, shape (n_rows,)."""
        if name not in self._by_name:
            raise InputError(f"there is no column {name!r}; the columns are {listed(self.names)}")
        return self._by_name[name]

    def select(self, names: Iterable[str]) -> ColumnTable:
        """Return the columns called `names`, in that order."""
        chosen = tuple(names)
        return ColumnTable(chosen, tuple(self.column(name) for name in chosen), self.n_rows)


def listed(values: Iterable[object], most: int = 5) -> str:
    """Write up to `most` values as a person would: ``'a', 'b' and 7 more``."""
    items = [repr(value) for value in values]
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the column names of a frame-like `X`, or None when it has none."""
    names = getattr(X, "column_names", None)  # pyarrow
    if names is None and hasattr(X, "dtypes"):
        names = getattr(X, "columns", None)  # pandas and its likes
    return None if names is None else tuple(str(name) for name in names)


def column_table(X: Any, *, names: Sequence[str] | None = None, categories: Collection[str] = ()) -> ColumnTable:
    """Return `X` as a `ColumnTable`.

    Parameters
    ----------
    X : DataFrame, ndarray, list of lists or pyarrow Table of shape (n, p)
        A pandas categorical column becomes text, as does a column of strings that are not all numbers.
    names : sequence of str, optional
        Column names; by default those of `X`, or ``x0, x1, ...`` if it has none.
    categories : collection of str
        Columns whose strings stay text even if they look like numbers. Numbers there stay numbers.
    """
    _refuse(X)
    own = column_names(X)
    if own is None:
        values = _matrix(X)
        shape = values.shape
    else:
        frame = _frame(X)
        shape = frame.shape
    n_rows, n_columns = shape
    chosen = own if names is None else tuple(names)
    if chosen is not None and len(chosen) != n_columns:
        raise InputError(
            f"X has {n_columns} features, but dosdt is expecting {len(chosen)} features as input ({listed(chosen)})"
        )
    # The next two are worded as scikit-learn's checks expect.
    if n_columns == 0:
        raise InputError(f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if n_rows == 0:
        raise InputError(f"X has 0 sample(s) (shape={shape}) while a minimum of 1 is required.")
    labels = _default_names(n_columns) if chosen is None else tuple(map(str, chosen))
    refuse_duplicates(labels)
    kept = [label in categories for label in labels]
    if own is not None:
        arrays = tuple(from_series(frame.iloc[:, j], labels[j], kept[j]) for j in range(n_columns))
    elif values.dtype.kind in "biuf":
        values = from_numbers(values)
        arrays = tuple(values[:, j] for j in range(n_columns))
    else:
        arrays = tuple(from_objects(values[:, j], labels[j], kept[j]) for j in range(n_columns))
    return ColumnTable(labels, arrays, n_rows)


def matching_table(X: Any, columns: tuple[str, ...], *, categories: Collection[str] = ()) -> ColumnTable:
    """Return `X` as a table of `columns`, the ones a model was fitted on, in their order.

    Columns of a frame are found by name, those of an array by place; so are those of a frame if the model
    was fitted on an array.
    """
    names = column_names(X)
    unnamed = columns == _default_names(len(columns))
    if names is None or (unnamed and len(names) == len(columns) and set(names) != set(columns)):
        return column_table(X, names=columns, categories=categories)
    given, wanted = set(names), set(columns)
    absent = [name for name in columns if name not in given]
    unexpected = [name for name in names if name not in wanted]
    faults = [f"missing {listed(absent)}"] if absent else []
    faults += [f"unexpected {listed(unexpected)}"] if unexpected else []
    if faults:
        raise InputError(f"columns differ from those fitted: {' and '.join(faults)}; pass the same columns")
    return column_table(X, categories=categories).select(columns)


def _default_names(n_columns: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(n_columns))


def _refuse(X: Any) -> None:
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        raise InputError("sparse matrices are not supported; pass X.toarray()")
    if isinstance(X, str | bytes | dict) or X is None:
        raise InputError(f"X must be a table, got {type(X).__name__}; pass a DataFrame or a 2-D array")


def refuse_duplicates(names: Sequence[str], where: str = "") -> None:
    """Raise if a column name occurs twice; `where` begins the message."""
    if len(set(names)) < len(names):
        seen: dict[str, int] = {}
        for name in names:
            seen[name] = seen.get(name, 0) + 1
        twice = [name for name, count in seen.items() if count > 1]
        raise InputError(f"{where}duplicate column names: {listed(twice)}; rename or drop them")


def _not_a_table(shape: tuple[int, ...]) -> NoReturn:
    advice = "pass one row per sample and one column per feature"
    if len(shape) < 2:
        advice = "Reshape your data: X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single row"
    raise InputError(f"X must have two dimensions, got {len(shape)} (shape={shape}); {advice}")


def _frame(X: Any) -> Any:
    """Return a frame of any make as a pandas one with the same columns."""
    if hasattr(X, "iloc"):
        return X
    # pyarrow would hide a column that pandas once used as its index.
    return X.to_pandas(ignore_metadata=True) if hasattr(X, "column_names") else X.to_pandas()


def _matrix(X: Any) -> npt.NDArray[Any]:
    """Return `X` as a 2-D array without turning numbers that stand beside strings into strings."""
    if isinstance(X, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(X)
        X = np.ma.getdata(X).astype(object)
        X[masked] = None
    try:
        values = np.asarray(X)
        if not isinstance(X, np.ndarray) and values.dtype.kind not in "biufc":
            values = np.asarray(X, dtype=object)
    except (ValueError, TypeError) as error:
        raise InputError("the rows of X have different lengths; give every row the same columns") from error
    if values.ndim != 2:
        _not_a_table(values.shape)
    if values.dtype.kind == "c":
        raise InputError("Complex data not supported: X holds complex numbers; pass real and imaginary parts")
    return values
