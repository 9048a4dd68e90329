"""The data sets of the paper as tables of 0 and 1, whole or in part."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.common import Table, data_folder
from dosdt import datasets
from dosdt.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SETS = {
    "compas-binary": "COMPAS",
    "fico_binary": "FICO",
    "tic-tac-toe": "Tic-tac-toe",
    "car-evaluation": "Car evaluation",
    "monk1-train": "MONK 1",
    "monk2-train": "MONK 2",
    "monk3-train": "MONK 3",
}
"""The seven data sets, by the names of their files, and what people call them."""
BUILT_IN = ("tic-tac-toe", "monk1", "monk2", "monk3")
"""Those that are generated from their rules, and so need no file."""
FOLD_SEED = 0


class Data(NamedTuple):
    """Features as booleans, shape (n, p); labels 0, 1, ..., shape (n,); names of features and classes."""

    features: NDArray[np.bool_]
    labels: NDArray[np.intp]
    names: tuple[str, ...]
    classes: tuple[str, ...]

    def rows(self, chosen: Any) -> Data:
        """Return some of the rows."""
        return self._replace(features=self.features[chosen], labels=self.labels[chosen])


def title(name: str) -> str:
    """Return what people call a data set."""
    return SETS.get(name, name)


def available(asked: list[str] | None = None) -> tuple[list[str], str]:
    """Return the data sets asked for, as NAME or NAME=λ, or those of the seven there are, and what is missing."""
    folder = data_folder()
    if asked:
        for name in (text.partition("=")[0] for text in asked):
            _require(name, folder)
        return asked, ""
    if folder is None:
        missing = "DOSDT_DATA is not set, so only data sets that are generated from their rules are here"
        return list(BUILT_IN), missing
    found = [name for name in SETS if (Path(folder) / f"{name}.csv").is_file()]
    if not found:
        raise InputError(f"none of the paper's tables is in {folder!r}; correct DOSDT_DATA or unset it")
    lacking = [name for name in SETS if name not in found]
    return found, f"not in DOSDT_DATA and left out: {', '.join(lacking)}" if lacking else ""


def with_penalty(text: str, usual: str) -> tuple[str, str]:
    """Return the name and λ of NAME=λ, or of NAME with the usual λ."""
    name, _, given = text.partition("=")
    return name, given or usual


def _require(name: str, folder: str | None) -> None:
    """Say at once if a table is missing, and not once for every run."""
    if folder is not None and not (path := Path(folder) / f"{name}.csv").is_file():
        raise InputError(f"there is no file {str(path)!r}; correct DOSDT_DATA or name other data")
    if folder is None and name not in (known := [info.name for info in datasets.available()]):
        raise InputError(f"there is no data set {name!r} without DOSDT_DATA; there are {', '.join(known)}")


def load(case: dict[str, Any]) -> tuple[Data, Data | None]:
    """Return the data that a case names, and the rows kept for the test if it is one of several folds.

    ``data`` is a name, ``columns`` the numbers of the features to keep, ``copies`` how many times all rows are
    there, and ``fold`` such as (3, 10) the fourth of ten folds.
    """
    import numpy as np

    whole = load_table(case["data"], data_folder())
    if (columns := case.get("columns")) is not None:
        whole = whole._replace(features=whole.features[:, columns], names=tuple(whole.names[j] for j in columns))
    if (copies := case.get("copies", 1)) > 1:
        whole = whole.rows(np.tile(np.arange(len(whole.labels)), copies))
    if "fold" not in case:
        return whole, None
    from sklearn.model_selection import StratifiedKFold

    fold, folds = case["fold"]
    split = StratifiedKFold(folds, shuffle=True, random_state=FOLD_SEED).split(whole.features, whole.labels)
    train, test = list(split)[fold]
    return whole.rows(train), whole.rows(test)


@cache
def load_table(name: str, folder: str | None) -> Data:
    """Return a data set of a folder, or a built-in one."""
    import numpy as np

    from dosdt.binarizer import Binarizer

    X, y = Table(name, folder).load()
    binarizer = Binarizer(thresholds="reference").fit(X, y)
    classes, labels = np.unique(np.asarray(y), return_inverse=True)
    features = np.asarray(binarizer.transform(X), bool)
    return Data(features, labels, tuple(map(str, binarizer.rules_)), tuple(map(str, classes)))
