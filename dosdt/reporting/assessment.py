"""How a tree does on a table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from dosdt.errors import InputError
from dosdt.frames import ColumnTable
from dosdt.tree import Leaf, Tree, plain
from dosdt.words import one_line

NORMAL = 1.959963984540054  # 97.5 % of a normal distribution lie below
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Assessment:
    """Counts of rows by what they are and what the tree says.

    Attributes
    ----------
    truths : tuple of str
        The tree's classes, and after them labels it does not know.
    confusion : ndarray of shape (len(truths), n_classes)
        Rows of each label that are predicted to be of each class.
    leaves : dict of int to ndarray of shape (len(truths),)
        For every leaf, by node number, the labels of its rows.
    """

    truths: tuple[str, ...]
    confusion: Counts
    leaves: dict[int, Counts]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.confusion.sum())

    @property
    def correct(self) -> int:
        """How many are predicted as they are labelled."""
        return int(np.trace(self.confusion))  # unknown labels are below the square

    def largest(self) -> int:
        """How many rows the most frequent of the tree's classes has."""
        return int(self.confusion.sum(axis=1)[: self.confusion.shape[1]].max())

    def looks_like_training(self, tree: Tree) -> bool:
        """Say whether every leaf has as many rows of every class as in training."""
        return all(
            tuple(counts.tolist()) == tree.nodes[index].class_weights  # type: ignore[union-attr]
            for index, counts in self.leaves.items()
        )


def assess(tree: Tree, table: ColumnTable, y: Any) -> Assessment:
    """Compare the tree's answers with the labels `y`, shape (n,)."""
    labels = _labels(y, table.n_rows)
    place = {value: index for index, value in enumerate(map(plain, tree.classes))}
    # Of two files, one may hold text where the other holds numbers.
    spelled = {str(value): index for value, index in place.items()}
    unknown: dict[Any, int] = {}
    numbered: dict[Any, int] = {}
    for label in dict.fromkeys(labels):
        known = place.get(label, spelled.get(str(label)))
        numbered[label] = unknown.setdefault(label, len(place) + len(unknown)) if known is None else known
    truth = np.fromiter((numbered[label] for label in labels), np.intp, len(labels))
    ends = tree.apply(table)
    n_truths = len(place) + len(unknown)
    by_leaf = np.zeros((len(tree.nodes), n_truths), np.int64)
    np.add.at(by_leaf, (ends, truth), 1)
    confusion = np.zeros((n_truths, len(place)), np.int64)
    leaves = {}
    for index, node in enumerate(tree.nodes):
        if isinstance(node, Leaf):
            confusion[:, node.label] += by_leaf[index]
            leaves[index] = by_leaf[index]
    names = [str(value) for value in place] + [f"{label} (not in training)" for label in unknown]
    return Assessment(tuple(map(one_line, names)), confusion, leaves)


def wilson(correct: int, rows: int) -> tuple[float, float]:
    """Return Wilson's 95 % confidence interval of a share."""
    share, z2 = correct / rows, NORMAL**2
    middle = (share + z2 / (2 * rows)) / (1 + z2 / rows)
    half = NORMAL / (1 + z2 / rows) * sqrt(share * (1 - share) / rows + z2 / (4 * rows**2))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def training_accuracy(tree: Tree) -> Fraction:
    """Return the share of the training weight that the tree gets right."""
    right = sum((leaf.class_weights[leaf.label] for leaf in tree.leaves), Fraction(0))
    total = sum((sum(leaf.class_weights, Fraction(0)) for leaf in tree.leaves), Fraction(0))
    return right / total if total else Fraction(1)


def _labels(y: Any, n_rows: int) -> list[Any]:
    import pandas as pd

    values = np.asarray(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or len(values) != n_rows:
        raise InputError(f"y must be one column of {n_rows} labels, got shape {values.shape}")
    labels = [plain(value) for value in values]
    missing = (np.flatnonzero(pd.isna(values)) + 1).tolist()
    if missing:
        shown = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise InputError(f"the labels are missing in {len(missing)} rows ({shown}); drop these rows")
    return labels
