"""Random problems of all kinds with their certificates, and certificates changed after the fact."""

from __future__ import annotations

import hashlib
import random
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgpack
from exhaustive import optimum
from random_problems import random_problem
from sklearn.exceptions import ConvergenceWarning

from dosdt.certificate import to_bytes
from dosdt.checker.claims import Certificate
from dosdt.checker.reading import read_certificate
from dosdt.checker.verify import Verdict, verify
from dosdt.classifier import DOSDTClassifier


@dataclass(frozen=True)
class Case:
    """Data, options, the fitted model and its certificate."""

    features: list[list[int]]
    labels: list[int]
    weights: list[Fraction] | None
    options: dict[str, Any]
    model: DOSDTClassifier
    path: Path

    @property
    def certificate(self) -> Certificate:
        return read_certificate(self.path.read_bytes())

    def verdict(self, certificate: Certificate | bytes | None = None) -> Verdict:
        """Check the certificate, or another one, against the data."""
        if certificate is not None:
            content = certificate if isinstance(certificate, bytes) else to_bytes(certificate)
            self.path.write_bytes(content)
        return verify(self.path, self.features, self.labels, self.weights)

    def optimum(self, certificate: Certificate | None = None) -> Fraction:
        """Return the least objective, by trying everything, of the problem that a certificate speaks of."""
        c = certificate or self.certificate
        classes = {label: place for place, label in enumerate(c.classes)}
        weights = self.weights or [Fraction(1)] * len(self.labels)
        used = [row for row, weight in enumerate(weights) if weight]
        labels = [classes[self.labels[row]] for row in used]
        columns = [int(rule.column[1:]) for rule in c.features]
        return optimum(
            [[self.features[row][j] for j in columns] for row in used],
            labels,
            c.regularization,
            weights=[weights[row] * c.class_weight[label] for row, label in zip(used, labels, strict=True)],
            costs=c.cost_matrix,
            max_depth=c.max_depth,
            max_leaves=c.max_leaves,
            min_support=c.min_support,
        )


def case(seed: int, folder: Path, **more: Any) -> Case:
    """Fit a random problem; `more` are options of the classifier that replace the random ones."""
    rng = random.Random(seed)
    features = rng.choice([3, 4, 5, 6])
    given = random_problem(
        seed + 500_000, max_features=features, max_classes=4, least=rng.choice(["0", "0.001", "0.01"])
    )
    options: dict[str, Any] = {"regularization": given.regularization, "cost_matrix": given.costs}
    if rng.random() < 0.2 and given.regularization:
        options["regularization"] = 10 ** rng.uniform(-2.5, -0.5)  # 17 digits
    if rng.random() < 0.5 or not given.regularization:
        options["max_depth"] = rng.choice([None, 0, 1, 2, 3, 4])
        options["max_leaves"] = rng.choice([None, None, 1, 2, 3, 4, 6])
        options["min_support"] = rng.choice([None, None, 1, 3, "7/2", 8])
        if not given.regularization and options["max_depth"] is None and options["max_leaves"] is None:
            options["max_depth"] = 3
    if rng.random() < 0.2:
        options["class_weight"] = rng.choice(["balanced", {given.labels[0]: "1/3"}])
    if rng.random() < 0.2:
        options["evaluation_limit"] = rng.choice([1, 2, 5, 10, 20])
    used = {label for label, weight in zip(given.labels, given.weights or given.labels, strict=True) if weight}
    if given.weights and len(used) < len(set(given.labels)):
        options["cost_matrix"] = None  # it would have a row for a class that weighs nothing
        if len(used) < 2:
            return case(seed + 1_000_000, folder, **more)
    model = DOSDTClassifier(**(options | more))
    path = folder / f"{seed}.certificate"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(given.features, given.labels, given.weights, certificate=path)
    return Case(given.features, given.labels, given.weights, options | more, model, path)


def payload(content: bytes) -> dict[str, Any]:
    """Return the fields of a certificate as msgpack has them."""
    fields: dict[str, Any] = msgpack.unpackb(msgpack.unpackb(content)["payload"])
    return fields


def sealed(fields: Any) -> bytes:
    """Return the content of a file with these fields and a checksum that fits."""
    packed = fields if isinstance(fields, bytes) else msgpack.packb(fields)
    envelope = {
        "format": "dosdt-certificate",
        "version": 1,
        "payload": packed,
        "sha256": hashlib.sha256(packed).digest(),
    }
    content: bytes = msgpack.packb(envelope)
    return content
