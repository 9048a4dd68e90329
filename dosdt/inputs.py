"""What the command line was given: tables by file or by name, checked before any long work begins."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dosdt import datasets
from dosdt.errors import InputError
from dosdt.files import rehearse
from dosdt.solver import ALGORITHMS, SWITCHES, check_choice
from dosdt.tidying import note

_MANY = 10  # rows from which on that all are different is no chance
_LABELS = ("label", "target", "class", "y", "outcome")
_ID = re.compile(r"(?:^|[\W_])(?:id|uuid|index|nr|no|number|key|row)$|[a-z]I[dD]$|^ID", re.IGNORECASE)

if TYPE_CHECKING:
    import pandas as pd

    from dosdt.frames import ColumnTable
    from dosdt.model_file import Model


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A table taken apart.

    Parameters
    ----------
    X : pandas.DataFrame, shape (n, p)
        The features.
    y : pandas.Series, shape (n,)
        The labels, named after the target.
    weights : pandas.Series, shape (n,), or None
        Weight of every row.
    """

    X: pd.DataFrame
    y: pd.Series[Any]
    weights: Any


def read_data(data: str, *, text: Collection[str] = ()) -> pd.DataFrame:
    """Read a file, or else a built-in data set of that name with its label as the last column.

    Columns named in `text` hold names; see `dosdt.tables.read_table`.
    """
    if not os.path.isfile(data):
        names = [info.name for info in datasets.available()]
        if data in names:
            import pandas as pd

            loaded = datasets.load(data)
            return pd.concat([loaded.X, loaded.y], axis=1)
        if not os.path.exists(data):
            hint = f"the data sets are {', '.join(names)}"
            raise InputError(f"there is no file {data!r} and no data set of that name; {hint}")
    from dosdt.tables import read_table

    return read_table(data, text=text)


def is_large(data: str) -> bool:
    """Say whether a table is Parquet and too large to be read as a whole."""
    path = Path(data)
    if not path.is_dir() and path.suffix.lower() not in (".parquet", ".pq"):
        return False
    from dosdt.ingest import LARGE

    parts = [part for part in path.iterdir() if part.is_file()] if path.is_dir() else [path]
    return sum(part.stat().st_size for part in parts if part.exists()) > LARGE


def training_data(
    data: str,
    *,
    target: str | None = None,
    weights: str | None = None,
    drop: Collection[str] = (),
    text: Collection[str] = (),
) -> TrainingData:
    """Read a table and take it apart; a label column named in `text` may hold numbers and words."""
    from dosdt.frames import listed
    from dosdt.labels import encode_labels
    from dosdt.tables import split_target
    from dosdt.weights import sample_weights

    frame = read_data(data)
    for name in dict.fromkeys(drop):
        if name in (target, weights):
            raise InputError(
                f"column {name!r} cannot be dropped: it is the {'target' if name == target else 'weights'}"
            )
        if name not in frame.columns:
            raise InputError(f"--drop names {name!r}; the columns are {listed(frame.columns, most=10)}")
        frame = frame.drop(columns=name)
    values = None
    if weights is not None:
        if weights not in frame.columns:
            raise InputError(
                f"there is no weights column {weights!r}; the columns are {listed(frame.columns, most=10)}"
            )
        if weights == target:
            raise InputError(f"column {weights!r} cannot be both the target and the weights")
        values = frame.pop(weights)
        try:
            sample_weights(values.to_numpy(), len(frame))
        except InputError as error:
            raise InputError(f"weights column {weights!r}: {error}") from None
    X, y = split_target(frame, target)
    encode_labels(y, f"target column {str(y.name)!r}")
    if y.name not in text:
        _refuse_mixed(y)
    if os.path.exists(data):
        if target is None:
            _doubt_target(X, y)
        _doubt_classes(y)
        _doubt_features(X)
    return TrainingData(X, y, values)


def _doubt_target(X: pd.DataFrame, y: pd.Series[Any]) -> None:
    """Refuse a last column that hardly holds classes, and tell of another that is called what labels are called."""
    n, classes = len(y), y.nunique()
    if n >= _MANY and 2 * classes > n:
        raise InputError(
            f"the last column, {str(y.name)!r}, has {classes} different values in {n} rows, hardly classes; "
            "name the label with --target"
        )
    named = [str(name) for name in X.columns if str(name).strip().lower() in _LABELS]
    if named and str(y.name).strip().lower() not in _LABELS:
        note(f"the label is {str(y.name)!r}, the last column; if it is {named[0]!r}, pass --target {named[0]}")


def _doubt_classes(y: pd.Series[Any]) -> None:
    """Tell of classes that differ in case only."""
    alike: dict[str, str] = {}
    for label in y.unique().tolist():
        if isinstance(label, str) and (other := alike.setdefault(label.casefold(), label)) != label:
            note(
                f"classes {other!r} and {label!r} of {str(y.name)!r} are two; correct one if they are meant to be one"
            )


def _doubt_features(X: pd.DataFrame) -> None:
    """Tell of numbers that only name the rows."""
    for name in X.columns:
        if _ID.search(str(name)) and len(X) >= _MANY and X[name].dtype.kind in "iu" and X[name].nunique() == len(X):
            note(f"column {str(name)!r} has another number in each row; if it only names them, pass --drop {name}")


def _refuse_mixed(y: pd.Series[Any]) -> None:
    """Refuse labels of which some are numbers and some words: a file has no types, so they come as text."""
    import pandas as pd

    from dosdt.columns import parse_number

    codes, labels = pd.factorize(y)
    words = [isinstance(label, str) and parse_number(label) is None for label in labels]
    if isinstance(labels[0], str) and len(set(words)) == 2:
        odd = words.index(not words[0])  # labels are in order of appearance
        row = codes.tolist().index(odd) + 1
        raise InputError(
            f"target column {str(y.name)!r} mixes labels of different types: {labels[0]!r} (row 1) and "
            f"{labels[odd]!r} (row {row}); correct them, or pass --categories {y.name} if they are all names"
        )


def table_for(model: Model, frame: pd.DataFrame) -> ColumnTable:
    """Return the columns that the model asks about, held to the same checks as in `DOSDTClassifier.predict`.

    Every column of the training data must be there, since a table without one is hardly of the same kind;
    what those columns hold that no question asks about does not matter.
    """
    from dosdt.binarizer import Binarizer
    from dosdt.frames import ColumnTable, listed

    absent = [name for name in model.tree.columns if name not in frame.columns]
    if absent:
        raise InputError(f"the data lack {_columns(absent)} {listed(absent)}, which the model was fitted on")
    rules = model.tree.used_rules
    used = tuple(dict.fromkeys(rule.column for rule in rules))
    if not used:
        return ColumnTable((), (), len(frame))
    binarizer = Binarizer(missing=model.missing)
    binarizer.rules_ = rules
    binarizer.columns_ = used
    binarizer.column_kinds_ = tuple("text" if _takes_text(model, name) else "number" for name in used)
    return binarizer.check_columns(frame[list(used)])


def text_columns(model: Model) -> list[str]:
    """Return the columns whose names the model asks for: in a part of such a table they may look like numbers."""
    asked = dict.fromkeys(rule.column for rule in model.tree.used_rules)
    return [name for name in asked if _takes_text(model, name)]


def _takes_text(model: Model, column: str) -> bool:
    rules = [rule for rule in model.tree.used_rules if rule.column == column]
    return all(rule.kind == "is_missing" or isinstance(rule.value, str) for rule in rules)


def _columns(names: Sequence[str]) -> str:
    return "column" if len(names) == 1 else "columns"


def check_output(path: str, *inputs: str) -> None:
    """Refuse a path that could not be written later, or that is one of the files being read."""
    for given in inputs:
        if os.path.exists(path) and os.path.exists(given) and os.path.samefile(path, given):
            raise InputError(f"{path!r} would overwrite the input {given!r}; choose another path")
    rehearse(path)


def check_outputs(data: str, **outputs: str | None) -> None:
    """Refuse outputs, by what they hold, that could not be written later or would overwrite each other."""
    seen: dict[str, str] = {}
    for what, path in outputs.items():
        if path is None:
            continue
        check_output(path, data)
        if (other := seen.setdefault(os.path.realpath(path), what)) != what:
            raise InputError(f"{path!r} cannot hold both the {other} and the {what}; choose another path")


def parse_costs(text: str) -> Any:
    """Return a cost matrix written as JSON; decimals stay text, which is exact."""
    try:
        return json.loads(text, parse_float=str)
    except (ValueError, RecursionError):
        raise InputError(f"--cost-matrix must be JSON such as '[[0,1],[5,0]]', got {text[:60]!r}") from None


def bounds_without(names: Collection[str], algorithm: str) -> tuple[str, ...]:
    """Return all bounds and caches of an algorithm but these."""
    check_choice("algorithm", algorithm, ALGORITHMS)
    known = SWITCHES[algorithm]
    for name in names:
        if name not in known:
            raise InputError(f"--without must be one of {', '.join(known)} for {algorithm}; got {name!r}")
    return tuple(name for name in known if name not in names)
