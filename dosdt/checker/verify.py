"""Checking a certificate against the data it speaks of."""

from __future__ import annotations

import os
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dosdt.checker.answers import check_memory
from dosdt.checker.claims import Certificate, Refused, shown
from dosdt.checker.counting import Counting
from dosdt.checker.expansion import check_facts
from dosdt.checker.reading import read_certificate
from dosdt.checker.rows import Rows, group, price
from dosdt.checker.subsets import Subsets
from dosdt.checker.tree import evaluate
from dosdt.errors import InputError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Verdict:
    """What a certificate proves; true if it proves all that it claims.

    Attributes
    ----------
    verified : bool
    message : str
        One line, as ``dosdt verify`` prints it.
    objective, lower_bound : Fraction or None
        Of the tree, and of all trees; None where nothing is proved.
    facts : int
        How many facts the proof has.
    certificate : Certificate or None
        What was verified: of which features, λ and limits the verdict speaks.
    """

    verified: bool
    message: str
    objective: Fraction | None = None
    lower_bound: Fraction | None = None
    facts: int = 0
    certificate: Certificate | None = None

    def __bool__(self) -> bool:
        return self.verified

    def __str__(self) -> str:
        return self.message


def verify(certificate: str | os.PathLike[str], X: Any, y: Any, sample_weight: Any = None) -> Verdict:
    """Check a certificate against the data that were fitted.

    Parameters
    ----------
    certificate : path
        Written by ``DOSDTClassifier.fit(..., certificate=path)``.
    X : DataFrame or array-like of shape (n, p)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional
        Needed if the fit had one.
    """
    return _verdict(certificate, lambda _: (X, y, sample_weight))


def verify_table(certificate: str | os.PathLike[str], frame: pd.DataFrame) -> Verdict:
    """Check a certificate against one table; the certificate names the columns of labels and weights."""
    return _verdict(certificate, lambda claims: _taken_apart(claims, frame))


def conclusion(bound: int, base: int, most_leaves: int, certificate: Certificate, total: Fraction) -> Fraction:
    """Return the least objective of a tree, given that none costs less than `bound` in the prices of the facts.

    A tree with `leaves` leaves and a loss above the base costs b'·loss + a'·leaves there, so its loss is at least
    (bound - a'·leaves)/b', rounded up, since it is whole. That holds for any a' and b', whatever they have to do
    with λ: what the true λ makes of it is computed here for every number of leaves that a tree may have. Beyond
    bound/a' leaves the loss may be 0, and without a' it is always the same, so that more of them only cost more.
    """
    a, b = certificate.penalty.numerator, certificate.penalty.denominator
    last = min(most_leaves, -(-bound // a)) if a else 1

    def objective(leaves: int) -> Fraction:
        loss = max(0, -((a * leaves - bound) // b))
        return (base + loss) * certificate.unit / total + certificate.regularization * leaves

    return min(map(objective, range(1, max(last, 1) + 1)))


def _verdict(path: str | os.PathLike[str], data: Any) -> Verdict:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the certificate must be given by the path of its file, got {type(path).__name__}")
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read certificate {os.fspath(path)!r}: {reason}") from error
    try:
        certificate = read_certificate(content)
        return _check(certificate, *data(certificate))
    except Refused as reason:
        return Verdict(False, f"refused: {reason}")
    except MemoryError:
        return Verdict(False, "refused: checking takes more memory than there is")


def _check(certificate: Certificate, X: Any, y: Any, sample_weight: Any) -> Verdict:
    c = certificate
    groups = group(c.features, c.columns, c.kinds, c.missing, c.classes, X, y, sample_weight)
    if groups.fingerprint() != c.fingerprint:
        raise Refused("field 'fingerprint' is not that of these data: rows, labels or weights differ")
    rows = price(groups, c)
    shape = evaluate(c, rows)
    objective = shape.cost * c.unit / rows.total + c.regularization * shape.leaves
    if objective != c.objective:
        raise Refused(f"field 'objective' is {shown(c.objective)}, but the tree's is {shown(objective)}")
    check_memory(4 * rows.features.size * (len(c.classes) + 4))
    counting = Counting(
        rows.features, rows.cost, rows.weight, rows.min_support, c.penalty.numerator, c.penalty.denominator
    )
    check_facts(c.facts, counting, [str(rule) for rule in c.features])
    proved = conclusion(_root_bound(c, counting), counting.base, _most_leaves(c, rows), c, rows.total)
    if proved < c.lower_bound:
        raise Refused(
            f"field 'lower_bound' does not follow: the facts only show that no tree is below {shown(proved)}"
        )
    if c.lower_bound > objective:
        raise Refused("field 'lower_bound' is more than the objective of the tree")
    if c.status == "optimal" and c.lower_bound < objective:
        raise Refused("field 'status' is optimal, but field 'lower_bound' is less than the objective")
    facts = f"({len(c.facts)} fact{'' if len(c.facts) == 1 else 's'})"
    if c.lower_bound == objective:
        message = f"verified: objective {shown(objective)} is optimal {facts}"
    else:
        message = f"verified: objective {shown(objective)}, no tree is below {shown(c.lower_bound)} {facts}"
    return Verdict(True, message, objective, c.lower_bound, len(c.facts), c)


def _root_bound(certificate: Certificate, counting: Counting) -> int:
    """Return the best bound on all trees: of a fact about all rows, or of counting alone."""
    subsets = Subsets(counting.features)
    leaf = counting.leaf(subsets.rows(subsets.everything))
    depth, leaves = certificate.max_depth, certificate.max_leaves
    if depth == 0 or leaves == 1:
        return leaf
    best = min(leaf, 2 * counting.a)
    for fact in certificate.facts:
        deep = fact.depth is None or (depth is not None and fact.depth >= depth)
        wide = fact.leaves is None or (leaves is not None and fact.leaves >= leaves)
        if not fact.path and deep and wide:
            best = max(best, fact.bound)
    return best


def _most_leaves(certificate: Certificate, rows: Rows) -> int:
    """Return how many leaves a tree needs at most: one for every distinct row, as empty leaves do nothing."""
    limit = certificate.max_leaves
    return len(rows.features) if limit is None else min(limit, len(rows.features))


def _taken_apart(certificate: Certificate, frame: pd.DataFrame) -> tuple[Any, Any, Any]:
    """Return features, labels and weights of a table."""
    names = [str(name) for name in frame.columns]
    target = names[-1] if certificate.target is None else certificate.target
    weights = certificate.weights
    if weights is True:
        raise InputError("the weights were given apart from the table; check the certificate with dosdt.verify")
    for field, name in (("target", target), ("weights", weights)):
        if name is not False and name not in names:
            raise Refused(f"field {field!r} names column {name!r}, which the data lack")
    rest = [name for name in names if name not in (target, weights)]
    if set(certificate.columns) <= set(rest):
        rest = list(certificate.columns)
    elif len(rest) != len(certificate.columns):
        absent = next(name for name in certificate.columns if name not in rest)
        raise Refused(f"field 'columns' names {absent!r}, which the data lack")
    by_name = dict(zip(names, range(len(names)), strict=True))
    column = frame.iloc[:, by_name[weights]].to_numpy() if isinstance(weights, str) else None
    return frame.iloc[:, [by_name[name] for name in rest]], frame.iloc[:, by_name[target]], column
