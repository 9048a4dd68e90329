"""What a certificate says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dosdt.rules import Rule

FORMAT = "dosdt-certificate"
VERSION = 1
EXPAND = "expand"
"""The rule by which every fact follows; see `dosdt.checker.expansion`."""
LARGEST = 2**12
"""Most bytes of one integer: arithmetic with longer ones takes longer than any proof is worth."""

Label = bool | int | float | str


class Refused(Exception):  # noqa: N818 - a verdict, not a fault of the program
    """The certificate proves nothing about these data; the message says why in one line."""


class Fact(NamedTuple):
    """No tree for the rows at `path`, of at most this depth and so many leaves, costs less than `bound`.

    `path` has signed feature numbers from 1, negative where the answer is no; None is no limit. `cites` has pairs
    of a side of a split, as a signed feature number, and the number of an earlier fact about the rows there.
    """

    path: tuple[int, ...]
    depth: int | None
    leaves: int | None
    bound: int
    cites: tuple[tuple[int, int], ...]


class Node(NamedTuple):
    """A node of the tree: a split if `feature` > 0, with children further on in the list; else a leaf."""

    feature: int
    yes: int
    no: int
    label: int


@dataclass(frozen=True)
class Certificate:
    """What is claimed, of which problem, and why.

    Attributes
    ----------
    fingerprint : bytes
        Of the data as the features show them; see `dosdt.checker.rows`.
    features : tuple of Rule
        Every yes/no question that trees may ask.
    columns, kinds, missing, target
        The training table, as a model file has them.
    weights : str, bool
        Name of the column of row weights, True if they were given without a name, False if there are none.
    classes : tuple
    class_weight : tuple of n_classes Fraction
    cost_matrix : tuple of n_classes tuples of n_classes Fraction
        ``cost_matrix[true][predicted]``.
    regularization : Fraction
        λ.
    max_depth, max_leaves : int or None
    min_support : Fraction
        Least weight of a leaf.
    unit : Fraction
        Costs are whole multiples of it.
    penalty : Fraction
        a'/b': in facts a tree costs b'·(errors above what no tree avoids, in units) + a'·leaves.
    status : str
        How the search ended.
    tree : tuple of Node
    objective, lower_bound : Fraction
        Of the tree, and of all trees.
    facts : tuple of Fact
        Numbered from 1.
    """

    fingerprint: bytes
    features: tuple[Rule, ...]
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    missing: str
    target: str | None
    weights: str | bool
    classes: tuple[Label, ...]
    class_weight: tuple[Fraction, ...]
    cost_matrix: tuple[tuple[Fraction, ...], ...]
    regularization: Fraction
    max_depth: int | None
    max_leaves: int | None
    min_support: Fraction
    unit: Fraction
    penalty: Fraction
    status: str
    tree: tuple[Node, ...]
    objective: Fraction
    lower_bound: Fraction
    facts: tuple[Fact, ...]


def shown(value: Fraction | int) -> str:
    """Return a number as text; one of thousands of digits, which Python will not print, by its size alone."""
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    return str(value) if bits < 13_000 else f"a number of {bits} bits"
