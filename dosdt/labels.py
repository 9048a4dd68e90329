"""Class labels: checked, and numbered in sorted order."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.distinct import distinct
from dosdt.errors import InputError

Labels = npt.NDArray[np.int64]


def encode_labels(y: Any, what: str = "the target") -> tuple[npt.NDArray[Any], Labels]:
    """Return the sorted classes and, for every row, the number of its class.

    Parameters
    ----------
    y : array-like of shape (n,)
        Booleans, numbers or text, all of one kind.
    what : str
        How error messages name the labels.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
    indices : ndarray of shape (n,)
    """
    values = _as_array(y, what)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"{what} must be one column of labels, got an array of shape {values.shape}")
    if len(values) == 0:
        raise InputError(f"{what} has no rows")
    if values.dtype.kind in "OUST":
        values = values.astype(object)
    if values.dtype.kind == "O" and all(issubclass(kind, str) for kind in set(map(type, values))):
        classes, indices = _distinct_text(values)
    else:
        classes, indices = distinct(_numbers(values, what))
    if len(classes) < 2:
        raise InputError(f"{what} has only one class, {classes.tolist()[0]!r}; there is nothing to tell apart")
    return classes, indices.astype(np.int64, copy=False)


def _as_array(y: Any, what: str) -> npt.NDArray[Any]:
    try:
        values = np.asarray(y)
        # numpy would make text of the numbers in a list that holds both.
        return values if hasattr(y, "dtype") or values.dtype.kind != "U" else np.asarray(y, dtype=object)
    except ValueError:
        raise InputError(f"{what} must be one column of labels, got rows of different lengths") from None


def _distinct_text(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return the sorted texts and every row's place among them; only the distinct ones are sorted."""
    found = list(dict.fromkeys(values))
    classes, places = np.unique(np.array(found), return_inverse=True)
    place = dict(zip(found, places.tolist(), strict=True))
    return classes, np.fromiter(map(place.__getitem__, values), np.intp, len(values))


def _numbers(values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Return labels other than text as an array of booleans or whole numbers, or say why they cannot be one."""
    if values.dtype.kind == "O":
        values = _plain(values, what)
    if values.dtype.kind == "f":
        _refuse_rows(~np.isfinite(values), f"{what} has missing or infinite labels (NaN or infinity)")
        if (values != np.floor(values)).any():
            raise InputError(
                f"Unknown label type: {what} holds continuous numbers; dosdt classifies, so give it classes, or name "
                "another target"
            )
    elif values.dtype.kind not in "biu":
        lead = "Complex data not supported: " if values.dtype.kind == "c" else ""  # scikit-learn's words
        raise InputError(f"{lead}{what} holds {values.dtype} values; labels must be booleans, whole numbers or text")
    return values


def _plain(values: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
    """Return objects that are not all text as an array of booleans or numbers, if they are all of that kind."""
    missing = np.fromiter(map(_is_missing, values), np.bool_, len(values))
    _refuse_rows(missing, f"{what} has missing labels (NaN)")
    text = np.fromiter((isinstance(value, str) for value in values), np.bool_, len(values))
    if text.any():
        odd = int(np.flatnonzero(text != text[0])[0])
        raise InputError(
            f"{what} mixes labels of different types: {values[0]!r} (row 1) and {values[odd]!r} "
            f"(row {odd + 1}); make them all text or all numbers"
        )
    for row, value in enumerate(values, 1):
        if not isinstance(value, Number | np.bool_):
            raise InputError(
                f"{what} holds a value of type {type(value).__name__} (row {row}); "
                "labels must be booleans, whole numbers or text"
            )
    return np.asarray(values.tolist())


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


def _refuse_rows(bad: npt.NDArray[np.bool_], message: str) -> None:
    rows = np.flatnonzero(bad) + 1
    if len(rows):
        shown = ", ".join(str(row) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        raise InputError(f"{message} in {len(rows)} rows ({shown}); drop them or give them a label")
