"""What `fit` was given: checked, and without the rows that do not count."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.errors import InputError
from dosdt.labels import encode_labels
from dosdt.weights import sample_weights, weight_array


def checked_labels(X: Any, y: Any) -> Any:
    """Return the labels of the rows of `X` as one column."""
    from sklearn.utils.validation import _num_samples

    if y is None:
        raise InputError("this classifier requires y to be passed, but the target y is None")
    encode_labels(y)
    y = np.asarray(y)
    if y.ndim == 2:
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; change the shape of y to (n_samples,), "
            "for example with ravel().",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y.ravel()
    with suppress(TypeError):  # what is not a table is refused by the binarizer, in its own words
        if (n := _num_samples(X)) != len(y):
            raise InputError(f"inconsistent numbers of rows: {n} of features, {len(y)} of labels")
    return y


def rows_that_count(X: Any, sample_weight: Any) -> npt.NDArray[np.intp] | None:
    """Return the places of the rows with a weight, or None if all have one or the weights are to be refused."""
    from sklearn.utils.validation import _num_samples

    if sample_weight is None:
        return None
    given = weight_array(sample_weight)
    with suppress(TypeError, InputError):  # what cannot be right is refused where it is used, with all details
        if given.shape == (n := _num_samples(X),):
            if given.dtype.kind not in "biuf":
                given, _ = sample_weights(given, n)  # "0" is zero, too
            if not given.all() and given.any():
                return np.flatnonzero(given)
    return None


def taken(rows: npt.NDArray[np.intp] | None, given: Any) -> Any:
    """Return these rows of a table, of labels or of weights; None takes all of them."""
    from sklearn.utils import _safe_indexing

    return given if rows is None or given is None else _safe_indexing(given, rows)


def spread(features: npt.NDArray[Any], rows: npt.NDArray[np.intp] | None, n: int) -> npt.NDArray[Any]:
    """Return features of the rows that count as features of all n rows; what the others hold does not matter."""
    if rows is None:
        return features
    everywhere = np.zeros((n, *features.shape[1:]), features.dtype)
    everywhere[rows] = features
    return everywhere


def dense(features: Any) -> npt.NDArray[Any]:
    """Return the features of a transformer as an array, also if they are sparse."""
    return np.asarray(features.toarray() if hasattr(features, "toarray") else features)
