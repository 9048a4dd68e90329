"""Checkpoints: all that is needed to go on with a search elsewhere, in a file that is whole or not there.

The file is msgpack in an envelope with a version and a hash. It holds the problem itself, so no data are needed to go
on; reading it runs none of it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgpack
import numpy as np

from dosdt.contract import Constraints, Sketch, SketchNode, Solution
from dosdt.errors import InputError
from dosdt.files import rehearse, write_atomically
from dosdt.numbers import natural, whole
from dosdt.plan import Plan
from dosdt.problem import Column, Problem
from dosdt.sketches import prune
from dosdt.team import REGIONS, Record
from dosdt.tree import plain

FORMAT = "dosdt-checkpoint"
VERSION = 2


@dataclass(frozen=True)
class Checkpoint:
    """What a search has come to.

    Attributes
    ----------
    problem : Problem
    plan : Plan
    solution : Solution
        The best tree so far.
    limit : int
        What is not cheaper than this may be missing from the records: less than the solution costs if a gap was
        allowed.
    records : list of Record
        What its members have saved.
    context : mapping
        What the answer is to be shown with: plain values by name.
    """

    problem: Problem
    plan: Plan
    solution: Solution
    limit: int
    records: list[Record]
    context: Mapping[str, Any]


class CheckpointFile:
    """Writes checkpoints of one search to one file; see `dosdt.workers.drive.Checkpoints`.

    Parameters
    ----------
    path : path
    problem : Problem
    plan : Plan
    context : mapping
    seconds : float
        How often.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        problem: Problem,
        plan: Plan,
        context: Mapping[str, Any],
        seconds: float = 30.0,
    ) -> None:
        self.seconds = seconds
        self._path = path
        self._head = {"problem": _problem(problem), "plan": _plan(plan), "context": dict(context)}
        self.written = 0

    def write(self, solution: Solution, limit: int, records: list[Record]) -> None:
        """Put a checkpoint in the place of the last one."""
        nodes = [list(node) for node in solution.sketch.nodes]
        payload: bytes = msgpack.packb(
            {
                **self._head,
                "solution": [natural(solution.cost), nodes],
                "limit": natural(limit),
                "records": [list(record) for record in records],
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
        write_atomically(self._path, envelope)
        self.written += 1


def check_checkpoint(path: str | os.PathLike[str], seconds: object) -> None:
    """Refuse what cannot be written, or how often, before any long work begins."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < float("inf"):
        raise InputError(f"checkpoint_seconds must be a number of seconds above 0, got {seconds!r}")
    rehearse(path)


def read_checkpoint(path: str | os.PathLike[str]) -> Checkpoint:
    """Read a checkpoint; anything else is an `InputError` of one line."""
    name = repr(os.fspath(path))
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"there is no checkpoint {name}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot read checkpoint {name}: {reason}") from error
    payload = _opened(data, name)
    try:
        content = msgpack.unpackb(payload, max_ext_len=0)
        problem = _read_problem(content["problem"])
        plan = _read_plan(content["plan"])
        cost, nodes = content["solution"]
        sketch = Sketch(tuple(SketchNode(*node) for node in nodes))
        records = [Record(region, bytes(part)) for region, part in content["records"]]
        if any(not 0 <= record.region < REGIONS for record in records):
            raise ValueError("region")
        # Never believed, always counted: a tree costs what it costs.
        solution = prune(problem, sketch, plan.constraints)
        if solution.cost > whole(cost):
            raise ValueError("solution")
        return Checkpoint(problem, plan, solution, whole(content["limit"]), records, content["context"])
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError, AttributeError) as error:
        raise InputError(f"checkpoint {name} does not hold what it should ({error}); start anew") from error


def _opened(data: bytes, name: str) -> bytes:
    """Return what is in the envelope."""
    try:
        envelope = msgpack.unpackb(data, max_ext_len=0)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        start = data[: len(FORMAT) + 16]
        if FORMAT.encode() in start:
            raise InputError(f"checkpoint {name} was cut off; start anew") from error
        raise InputError(f"{name} is not a dosdt checkpoint; write one with 'dosdt fit --checkpoint'") from error
    if not isinstance(envelope, dict) or envelope.get("format") != FORMAT:
        raise InputError(f"{name} is not a dosdt checkpoint; write one with 'dosdt fit --checkpoint'")
    if envelope.get("version") != VERSION:
        raise InputError(f"checkpoint {name} has version {envelope.get('version')}; this dosdt reads {VERSION}")
    payload = envelope.get("payload")
    if not isinstance(payload, bytes) or hashlib.sha256(payload).digest() != envelope.get("sha256"):
        raise InputError(f"checkpoint {name} is damaged; start anew")
    return payload


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "shape": list(problem.features.shape),
        "features": np.packbits(problem.features).tobytes(),
        "class_weight": [[natural(value) for value in row] for row in problem.class_weight],
        "cost": [[natural(value) for value in row] for row in problem.cost],
        "a": natural(problem.a),
        "b": natural(problem.b),
        "columns": [
            [column.name, column.source, list(column.aliases), list(column.complements)] for column in problem.columns
        ],
        "classes": [plain(label) for label in problem.classes],
        "regularization": _pair(problem.regularization),
        "weight_unit": _pair(problem.weight_unit),
        "cost_unit": _pair(problem.cost_unit),
        "n_samples": problem.n_samples,
        "fingerprint": problem.fingerprint,
    }


def _read_problem(data: Mapping[str, Any]) -> Problem:
    rows, columns = data["shape"]
    bits = np.unpackbits(np.frombuffer(data["features"], np.uint8), count=rows * columns)
    problem = Problem(
        features=bits.astype(np.bool_).reshape(rows, columns),
        class_weight=tuple(tuple(map(whole, row)) for row in data["class_weight"]),
        cost=tuple(tuple(map(whole, row)) for row in data["cost"]),
        a=whole(data["a"]),
        b=whole(data["b"]),
        columns=tuple(
            Column(name, source, tuple(aliases), tuple(complements))
            for name, source, aliases, complements in data["columns"]
        ),
        classes=tuple(data["classes"]),
        regularization=_fraction(data["regularization"]),
        weight_unit=_fraction(data["weight_unit"]),
        cost_unit=_fraction(data["cost_unit"]),
        n_samples=data["n_samples"],
    )
    if problem.fingerprint != data["fingerprint"]:
        raise ValueError("fingerprint")
    return problem


def _plan(plan: Plan) -> list[Any]:
    limits = plan.constraints
    return [
        plan.algorithm,
        [limits.max_depth, limits.max_leaves, natural(limits.min_support)],
        sorted(plan.switches),
        plan.policy,
        plan.certify,
    ]


def _read_plan(data: list[Any]) -> Plan:
    algorithm, (depth, leaves, support), switches, policy, certify = data
    return Plan(algorithm, Constraints(depth, leaves, whole(support)), tuple(switches), policy, bool(certify))


def _pair(value: Fraction) -> list[int | bytes]:
    return [natural(value.numerator), natural(value.denominator)]


def _fraction(pair: list[Any]) -> Fraction:
    numerator, denominator = map(whole, pair)
    return Fraction(numerator, denominator)
