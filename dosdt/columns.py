"""One column of anything, as one of four plain types: bool, a signed integer, float64, or str and None."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from numbers import Integral, Number, Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from dosdt.errors import InputError

Column = npt.NDArray[Any]
_REAL = (Real, Decimal, np.bool_)  # bool, int, float, Fraction and numpy's own numbers are Real
_BOOL = (bool, np.bool_)


def parse_number(text: str) -> int | float | None:
    """Return the finite number that `text` spells, or None; Python's ``1_000`` is not a number here."""
    if "_" in text:
        return None
    try:
        number: int | float = int(text)
    except ValueError:
        try:
            number = float(text)
        except ValueError:
            return None
    try:
        return number if isfinite(number) else None
    except OverflowError:
        return None


def from_numbers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as bool, int8 to int64 or float64, without copying when they are; narrow ones stay narrow."""
    kind = values.dtype.kind
    if kind == "b":
        return values
    too_large = kind == "u" and values.size > 0 and int(values.max()) > np.iinfo(np.int64).max
    if kind == "f" or too_large:
        with np.errstate(over="ignore"):  # a long double may become infinite, which is reported later
            return values.astype(np.float64, copy=False)
    # The narrowest type with a sign that holds all of the given type; none holds all of uint64.
    wide = np.dtype(np.int64) if values.dtype == np.uint64 else np.promote_types(values.dtype, np.int8)
    return values.astype(wide, copy=False)


def from_series(series: Any, name: str, keep_text: bool) -> Column:
    """Normalise one pandas column."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
        dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        texts = [_text(value) for value in dtype.categories]
        # A missing value has code -1, which picks the None at the end.
        return np.asarray(np.array([*texts, None], dtype=object)[series.cat.codes.to_numpy()])
    kind = getattr(dtype, "kind", "O")
    if kind == "c":
        _complex(name)
    if kind not in "biuf":
        if isinstance(dtype, pd.StringDtype):
            return _strings(series, name, keep_text)
        return from_objects(series.to_numpy(dtype=object), name, keep_text)
    if not isinstance(dtype, np.dtype):  # a nullable type
        if series.isna().any():
            return np.asarray(series.to_numpy(dtype=np.float64, na_value=np.nan))
        series = series.astype(dtype.numpy_dtype)
    return from_numbers(series.to_numpy())


def from_objects(values: Column, name: str, keep_text: bool) -> Column:
    """Normalise a column of Python objects by what its values are."""
    import pandas as pd

    if values.dtype.kind == "U":
        return _strings(values.astype(object), name, keep_text)
    if values.dtype.kind in "Mm":
        # Some of these turn into plain integers as objects, so refuse them before.
        _unsupported(name, values.dtype.name, 1)
    values = values.astype(object, copy=False)
    missing = np.asarray(pd.isna(values), dtype=np.bool_)
    present = values[~missing]
    types = set(map(type, present))
    if not types:
        return np.full(len(values), np.nan)
    if all(issubclass(kind, _REAL) for kind in types):
        return _numbers(present, missing, types, name)
    if types <= {str}:
        return _strings(values, name, keep_text)
    for kind in types:
        if not issubclass(kind, (*_REAL, str)):
            if issubclass(kind, Number):
                _complex(name)
            row = next(i for i, value in enumerate(values) if type(value) is kind) + 1
            _unsupported(name, kind.__name__, row)
    texts = [None if gone else _text(value) for value, gone in zip(values, missing, strict=True)]
    return _strings(np.array(texts, dtype=object), name, keep_text)


def _unsupported(name: str, kind: str, row: int) -> NoReturn:
    raise InputError(
        f"column {name!r} holds values of type {kind} (row {row}); turn them into numbers or text, or drop the column"
    )


def _complex(name: str) -> NoReturn:
    raise InputError(f"Complex data not supported: column {name!r} holds complex numbers; pass real numbers")


def _numbers(present: Column, missing: npt.NDArray[np.bool_], types: set[type], name: str) -> Column:
    """Return numbers held as objects in the narrowest of bool, int64 and float64."""
    if not missing.any():
        if all(issubclass(kind, _BOOL) for kind in types):
            return present.astype(np.bool_)
        if all(issubclass(kind, Integral) for kind in types):
            try:
                return present.astype(np.int64)
            except OverflowError:
                pass
    result = np.full(len(missing), np.nan)
    try:
        result[~missing] = present.astype(np.float64)
    except (OverflowError, ValueError, TypeError) as error:
        raise InputError(
            f"column {name!r} holds a number beyond ±1.8e308 (infinity); correct it or drop the row"
        ) from error
    return result


def _text(value: object) -> str:
    """Return a value as a category's text; 3.0 and 3 are both ``3``."""
    if isinstance(value, _REAL) and not isinstance(value, (*_BOOL, Integral)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    return str(value)


def _strings(values: Any, name: str, keep_text: bool) -> Column:
    """Return strings as numbers if they all spell one, else as str and None."""
    import pandas as pd

    # Work on the distinct strings, in order of appearance; a missing value has code -1.
    codes, found = pd.factorize(values)
    distinct = [str(text) for text in found]
    numbers = [] if keep_text else [parse_number(text) for text in distinct]
    n_numbers = sum(number is not None for number in numbers)
    if not distinct:
        return np.full(len(codes), np.nan)
    if n_numbers < len(distinct):
        if not keep_text and 2 * n_numbers >= len(distinct):
            first = next(k for k, number in enumerate(numbers) if number is None)
            others = len(distinct) - n_numbers - 1
            more = f" and {others} more value{'s' if others > 1 else ''}" if others else ""
            row = int(np.argmax(codes == first)) + 1
            raise InputError(
                f"column {name!r} holds numbers except {distinct[first]!r} (row {row}){more}; "
                f"correct it, leave it empty if it is missing, or pass categories=[{name!r}] to keep it as text"
            )
        return np.array([*distinct, None], dtype=object)[codes]
    exact = all(isinstance(number, int) and -(2**63) <= number < 2**63 for number in numbers)
    if exact and codes.min() >= 0:
        return np.array(numbers, dtype=np.int64)[codes]
    return np.array([*numbers, np.nan], dtype=np.float64)[codes]
