"""Writing a certificate: what a search has proved, so that anyone can check it without searching.

The format is in `dosdt.checker.claims`; `docs/CERTIFICATE.md` explains it and why it proves what it says.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import msgpack
import numpy as np

from dosdt.bitvectors import pack
from dosdt.checker.claims import EXPAND, FORMAT, LARGEST, VERSION, Certificate, Fact, Node, Refused
from dosdt.checker.rows import Rows, group, price
from dosdt.checker.tree import evaluate
from dosdt.checker.verify import conclusion
from dosdt.contract import Sketch
from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.files import write_atomically
from dosdt.limits import Status
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.proof import Proof, Unproved
from dosdt.solver import Answer
from dosdt.subproblem.search import SubproblemSearch
from dosdt.tree import plain
from dosdt.weights import class_weights, cost_table

if TYPE_CHECKING:
    from dosdt.classifier import DOSDTClassifier

_ATTEMPTS = 50


def claim_of(
    model: DOSDTClassifier, problem: Problem, X: Any, y: Any, sample_weight: Any
) -> tuple[Certificate, Rows]:
    """Return all that a certificate says of a problem before it is solved, and the data as the checker sees them.

    `X`, `y` and `sample_weight` are the data as they were given to `fit`.
    """
    binarizer = model.binarizer_
    features = tuple(binarizer.rules_[column.source] for column in problem.columns)
    classes = tuple(plain(label) for label in problem.classes)
    columns, kinds, missing = binarizer.columns_, binarizer.column_types_, binarizer.missing
    try:
        groups = group(features, columns, kinds, missing, classes, X, y, sample_weight)
    except Refused as reason:
        raise InputError(f"this fit cannot be certified: {reason}") from None
    claim = Certificate(
        fingerprint=groups.fingerprint(),
        features=features,
        columns=columns,
        kinds=kinds,
        missing=missing,
        target=_name(y),
        weights=False if sample_weight is None else _name(sample_weight) or True,
        classes=classes,
        class_weight=tuple(class_weights(model.class_weight, list(problem.classes), groups.totals())),
        cost_matrix=tuple(map(tuple, cost_table(model.cost_matrix, len(classes)))),
        regularization=problem.regularization,
        max_depth=None if model.max_depth is None else int(model.max_depth),
        max_leaves=None if model.max_leaves is None else int(model.max_leaves),
        min_support=Fraction(0) if model.min_support is None else exact(model.min_support, "min_support"),
        unit=problem.cost_unit,
        penalty=Prices(problem).penalty,
        status="",
        tree=(),
        objective=Fraction(0),
        lower_bound=Fraction(0),
        facts=(),
    )
    return claim, price(groups, claim)


def rows_of(problem: Problem, min_support: int) -> Rows:
    """Return the rows of a problem whose data are not at hand."""
    costs = [list(cost) for cost in problem.cost]
    return Rows(problem.features, costs, list(problem.weight), problem.total_weight, min_support)


def write_certificate(
    path: str | os.PathLike[str], claim: Certificate, rows: Rows, problem: Problem, answer: Answer
) -> dict[str, Any]:
    """Write what proves an answer, to what `claim_of` says of the problem.

    Returns
    -------
    dict
        ``certified_facts``, their number; ``certified_lower_bound``, what they show; ``certificate_seconds``.
    """
    start = time.perf_counter()
    assert answer.search is not None
    certificate = replace(claim, status=answer.status.value, tree=_tree(answer.sketch), objective=answer.objective)
    shape = evaluate(certificate, rows)
    bound, facts = prove(problem, answer.search, answer, Prices(problem))
    most = min(problem.n_rows, certificate.max_leaves or problem.n_rows)
    proved = conclusion(bound, sum(problem.floor), most, certificate, rows.total)
    if shape.cost * problem.cost_unit / rows.total + problem.regularization * shape.leaves != answer.objective:
        raise AssertionError("the checker finds another objective; please report this as a bug")
    certificate = replace(certificate, lower_bound=min(proved, answer.lower_bound), facts=facts)
    write_atomically(path, to_bytes(certificate))
    return {
        "certified_facts": len(facts),
        "certified_lower_bound": certificate.lower_bound,
        "certificate_seconds": time.perf_counter() - start,
    }


def prove(problem: Problem, search: SubproblemSearch, answer: Answer, prices: Prices) -> tuple[int, tuple[Fact, ...]]:
    """Return the best bound on all trees that facts show, in the search's prices, and those facts.

    It is what the answer says, unless a search that was stopped has forgotten much of what it knew: what takes
    longer to prove again than the whole search took is left out, and the bound is less.
    """
    task = search.root()
    costs = [sum(cost) for cost in problem.cost]
    leaf = prices.b * (min(costs) - sum(problem.floor)) + prices.a
    if task.depth == 0 or task.leaves == 1:
        return leaf, ()
    counted = min(leaf, 2 * prices.a)
    everything = pack(np.ones(problem.n_rows, np.bool_))
    optimal = answer.status is Status.OPTIMAL
    bound = prices.inside(int(answer.lower_bound * problem.b * problem.total_weight / problem.cost_unit))
    proof = Proof(problem, search, search.constraints.min_support, None if optimal else search.expanded)
    for _ in range(_ATTEMPTS):
        if bound <= counted:
            break
        try:
            return bound, proof.facts(task.depth, task.leaves, bound)
        except Unproved as unproved:
            if optimal:
                raise AssertionError(f"the proof has a gap: {unproved}; please report this as a bug") from None
            proof.weaken(unproved)
            if unproved.row_set == everything:
                bound = unproved.bound
    return counted, ()


def to_bytes(certificate: Certificate) -> bytes:
    """Return the content of a certificate's file."""
    c = certificate
    payload: bytes = msgpack.packb(
        {
            "fingerprint": c.fingerprint,
            "features": [[rule.column, rule.kind, plain(rule.value)] for rule in c.features],
            "columns": list(c.columns),
            "kinds": list(c.kinds),
            "missing": c.missing,
            "target": c.target,
            "weights": c.weights,
            "classes": list(c.classes),
            "class_weight": [_fraction(value) for value in c.class_weight],
            "cost_matrix": [[_fraction(value) for value in row] for row in c.cost_matrix],
            "regularization": _fraction(c.regularization),
            "max_depth": c.max_depth,
            "max_leaves": c.max_leaves,
            "min_support": _fraction(c.min_support),
            "unit": _fraction(c.unit),
            "penalty": _fraction(c.penalty),
            "status": c.status,
            "tree": [[node.feature, node.yes, node.no] if node.feature else [node.label] for node in c.tree],
            "objective": _fraction(c.objective),
            "lower_bound": _fraction(c.lower_bound),
            "facts": [
                [EXPAND, fact.path, fact.depth, fact.leaves, _natural(fact.bound), fact.cites] for fact in c.facts
            ],
        }
    )
    envelope: bytes = msgpack.packb(
        {
            "format": FORMAT,
            "version": VERSION,
            "payload": payload,
            "sha256": hashlib.sha256(payload).digest(),
        }
    )
    return envelope


def _natural(value: int) -> int | bytes:
    """Return a number as msgpack can hold it; beyond 64 bits as bytes, the highest first."""
    if value < 2**63:
        return value
    data = value.to_bytes((value.bit_length() + 7) // 8, "big")
    if len(data) > LARGEST:
        raise InputError("weights or costs have too many digits for a certificate; round them")
    return data


def _fraction(value: Fraction) -> list[int | bytes]:
    return [_natural(value.numerator), _natural(value.denominator)]


def _tree(sketch: Sketch) -> tuple[Node, ...]:
    return tuple(
        Node(node.feature + 1, node.yes, node.no, 0) if node.feature >= 0 else Node(0, 0, 0, node.label)
        for node in sketch.nodes
    )


def _name(column: Any) -> str | None:
    """Return the name of a column that has one."""
    name = getattr(column, "name", None)
    return name if isinstance(name, str) else None
