"""Data sets by name: generated from their rules, scikit-learn's own, OpenML's, or files in a folder.

The folder is named by the environment variable ``DOSDT_DATA``. When it is set, `compas`, `fico` and `car`
are read from it and never downloaded, and every other table in it can be loaded by its file's stem.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dosdt import generated
from dosdt.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Source = Literal["generated", "scikit-learn", "openml", "DOSDT_DATA"]
FOLDER_VARIABLE = "DOSDT_DATA"
# In order of preference, when one stem has several.
_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq")


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set without loading it.

    Parameters
    ----------
    name : str
        What `load` takes.
    rows, columns : int or None
        Number of rows, and of feature columns (the label not counted); None when only loading tells.
    source : {"generated", "scikit-learn", "openml", "DOSDT_DATA"}
        Where `load` would take it from now.
    description : str
        One line.
    """

    name: str
    rows: int | None
    columns: int | None
    source: Source
    description: str


@dataclass(frozen=True, eq=False)  # comparing DataFrames gives a DataFrame, not a yes or no
class Dataset:
    """A loaded data set.

    Parameters
    ----------
    name : str
        The name it was loaded by.
    X : pandas.DataFrame, shape (n, columns)
        Features: numbers, or text for categories.
    y : pandas.Series, shape (n,)
        Labels, named after the target.
    description : str
        One line.
    source : {"generated", "scikit-learn", "openml", "DOSDT_DATA"}
        Where it came from.
    """

    name: str
    X: pd.DataFrame
    y: pd.Series
    description: str
    source: Source


@dataclass(frozen=True)
class _Download:
    """A data set of OpenML, pinned by id so that it cannot change, and its file in ``DOSDT_DATA``."""

    info: DatasetInfo
    data_id: int
    file: str


_Table = Callable[[], "tuple[pd.DataFrame, pd.Series]"]


def _sklearn(loader: str, target: str) -> _Table:
    def table() -> tuple[pd.DataFrame, pd.Series]:
        from sklearn import datasets

        bunch = getattr(datasets, loader)(as_frame=True)
        names = dict(enumerate(map(str, bunch.target_names)))
        return bunch.data, bunch.target.map(names).rename(target)

    return table


_OFFLINE: dict[str, tuple[DatasetInfo, _Table]] = {
    info.name: (info, table)
    for info, table in (
        (
            DatasetInfo("tic-tac-toe", 958, 9, "generated", "final boards of tic-tac-toe; does x win?"),
            generated.tic_tac_toe,
        ),
        (
            DatasetInfo("monk1", 432, 6, "generated", "MONK's problem 1: head = body, or a red jacket"),
            lambda: generated.monk(1),
        ),
        (
            DatasetInfo("monk2", 432, 6, "generated", "MONK's problem 2: exactly two first values"),
            lambda: generated.monk(2),
        ),
        (
            DatasetInfo("monk3", 432, 6, "generated", "MONK's problem 3, without noise"),
            lambda: generated.monk(3),
        ),
        (
            DatasetInfo("balance-scale", 625, 4, "generated", "which way a loaded balance tips"),
            generated.balance_scale,
        ),
        (
            DatasetInfo("breast-cancer", 569, 30, "scikit-learn", "benign or malignant breast tumours"),
            _sklearn("load_breast_cancer", "diagnosis"),
        ),
        (
            DatasetInfo("iris", 150, 4, "scikit-learn", "three species of iris by their flowers"),
            _sklearn("load_iris", "species"),
        ),
        (
            DatasetInfo("wine", 178, 13, "scikit-learn", "three cultivars of wine by chemical analysis"),
            _sklearn("load_wine", "cultivar"),
        ),
    )
}

_DOWNLOADS: dict[str, _Download] = {
    download.info.name: download
    for download in (
        _Download(
            DatasetInfo("compas", 5278, 13, "openml", "COMPAS: charged again within two years?"),
            data_id=42193,
            file="compas-binary.csv",
        ),
        _Download(
            DatasetInfo("fico", 9871, 23, "openml", "FICO HELOC: good or bad credit risk"),
            data_id=45554,
            file="fico_binary.csv",
        ),
        _Download(
            DatasetInfo("car", 1728, 6, "openml", "car evaluation: how acceptable a car is"),
            data_id=40975,
            file="car-evaluation.csv",
        ),
    )
}


def available() -> tuple[DatasetInfo, ...]:
    """Return what `load` accepts now; nothing is read or downloaded to find out."""
    folder = _folder()
    infos = [info for info, _ in _OFFLINE.values()]
    if folder is None:
        infos += [download.info for download in _DOWNLOADS.values()]
    else:
        infos += [_in_folder(download.info) for download in _DOWNLOADS.values()]
        infos += [
            DatasetInfo(name, None, None, "DOSDT_DATA", f"the file {path.name}")
            for name, path in _files(folder).items()
        ]
    return tuple(infos)


def load(name: str) -> Dataset:
    """Return the data set of that name, see `available`."""
    if name in _OFFLINE:
        info, table = _OFFLINE[name]
        return _dataset(info, *table())
    folder = _folder()
    if name in _DOWNLOADS:
        download = _DOWNLOADS[name]
        if folder is None:
            return _dataset(download.info, *_download(download))
        return _dataset(_in_folder(download.info), *_read(folder, download.file, name))
    if folder is not None:
        _require_folder(folder)
        path = _files(folder).get(name)
        if path is not None:
            info = DatasetInfo(name, None, None, "DOSDT_DATA", f"the file {path.name}")
            return _dataset(info, *_read(folder, path.name, name))
    raise InputError(_unknown(name))


def _dataset(info: DatasetInfo, X: pd.DataFrame, y: pd.Series) -> Dataset:
    return Dataset(info.name, X, y, info.description, info.source)


def _folder() -> Path | None:
    value = os.environ.get(FOLDER_VARIABLE)
    return Path(value).expanduser() if value else None


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{FOLDER_VARIABLE} is {str(folder)!r}, which is not a folder; correct or unset it")


def _in_folder(info: DatasetInfo) -> DatasetInfo:
    # The file may hold another preparation of the data than OpenML does, so its size is not known.
    return replace(info, rows=None, columns=None, source="DOSDT_DATA")


def _files(folder: Path) -> dict[str, Path]:
    """Return the tables in the folder by stem, without those that already go by a name of ours."""
    taken = _OFFLINE.keys() | _DOWNLOADS.keys()
    try:
        paths = [path for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES and path.is_file()]
    except OSError:
        return {}
    # Worst first, so that the preferred suffix of a stem is the one that stays.
    paths.sort(key=lambda path: (path.stem, -_SUFFIXES.index(path.suffix.lower()), path.name))
    return {path.stem: path for path in paths if path.stem not in taken}


def _read(folder: Path, file: str, name: str) -> tuple[pd.DataFrame, pd.Series]:
    _require_folder(folder)
    path = folder / file
    if not path.is_file():
        raise InputError(f"data set {name!r} needs the file {file} in {str(folder)!r} ({FOLDER_VARIABLE})")
    from dosdt.tables import read_table, split_target

    return split_target(read_table(path))


def _download(download: _Download) -> tuple[pd.DataFrame, pd.Series]:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # It warns before each retry; what matters is said once, below.
            warnings.simplefilter("ignore")
            bunch = fetch_openml(data_id=download.data_id, as_frame=True, n_retries=1)
        if bunch.target is None:
            raise ValueError("it names no target")
    # OSError: no network, refusals, a cache that cannot be written; the others: a broken or strange answer
    # (OpenMLError, JSON errors and wrong checksums are ValueErrors).
    except (OSError, HTTPException, EOFError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"data set {download.info.name!r} needs the network, and OpenML's data set {download.data_id} "
            f"could not be fetched ({reason}); try later, or set {FOLDER_VARIABLE} to a folder with "
            f"{download.file}"
        ) from error
    return bunch.data.apply(_plain), _plain(bunch.target)


def _plain(column: Any) -> Any:
    """Turn OpenML's categories into numbers where all are numbers, else into text."""
    import pandas as pd

    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column
    try:
        return pd.to_numeric(column.astype(object))
    except (ValueError, TypeError):
        return column.astype(object)


def _unknown(name: object) -> str:
    names = [info.name for info in available()]
    near = get_close_matches(str(name).lower().replace("_", "-"), names, n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    return f"unknown data set {name!r}; {hint}Available: {', '.join(names)}"
