"""Small random problems with ties, duplicates, weights, costs and two or three classes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

from exhaustive import optimum

from dosdt.problem import Problem


@dataclass(frozen=True)
class RandomProblem:
    """Raw rows and options, for the package and for the exhaustive search alike."""

    features: list[list[int]]
    labels: list[int]
    regularization: Fraction
    weights: list[Fraction] | None
    costs: list[list[Fraction]] | None

    @property
    def problem(self) -> Problem:
        return Problem.from_arrays(
            self.features,
            self.labels,
            self.regularization,
            sample_weight=self.weights,
            cost_matrix=self.costs,
        )

    def optimum(self, **constraints: object) -> Fraction:
        return optimum(
            self.features,
            self.labels,
            self.regularization,
            weights=self.weights,
            costs=self.costs,
            **constraints,  # type: ignore[arg-type]
        )


def random_problem(
    seed: int, *, max_features: int = 6, max_rows: int = 80, max_classes: int = 3, least: str = "0.01"
) -> RandomProblem:
    """Return a problem that has at least two classes and a feature that is not constant."""
    rng = random.Random(seed)
    while True:
        n_features = rng.randint(2, max_features)
        n_rows = rng.randint(10, max_rows)
        n_classes = rng.randint(2, max_classes)
        density = rng.choice([0.2, 0.5, 0.5, 0.8])
        features = [[int(rng.random() < density) for _ in range(n_features)] for _ in range(n_rows)]
        # Labels follow a random rule with some noise, or are noise altogether.
        table = {tuple(row): rng.randrange(n_classes) for row in features}
        noise = rng.choice([0.0, 0.1, 0.3, 1.0])
        labels = [rng.randrange(n_classes) if rng.random() < noise else table[tuple(row)] for row in features]
        constant = all(len({row[j] for row in features}) == 1 for j in range(n_features))
        if len(set(labels)) == n_classes and not constant:
            break
    # The leaf-set search multiplies the choices of all leaves: many features want a larger penalty.
    smallest = max(Fraction(least), {5: Fraction(3, 100), 6: Fraction(5, 100)}.get(n_features, Fraction(0)))
    choices = [Fraction(text) for text in ["0", "0.001", "0.01", "0.02", "0.03", "1/30", "0.05", "0.1", "0.25"]]
    regularization = rng.choice([value for value in choices if value >= smallest])
    weights = None
    if rng.random() < 0.4:
        weights = [Fraction(rng.randint(0, 6), rng.choice([1, 1, 2, 3])) for _ in range(n_rows)]
        weights[0] += 1
    costs = None
    if rng.random() < 0.4:
        costs = [
            [Fraction(0 if t == g and rng.random() < 0.9 else rng.randint(0, 5), 2) for g in range(n_classes)]
            for t in range(n_classes)
        ]
    problem = RandomProblem(features, labels, regularization, weights, costs)
    if weights and all(
        len({row[j] for row, w in zip(features, weights, strict=True) if w}) == 1 for j in range(n_features)
    ):
        return random_problem(
            seed + 1_000_003,
            max_features=max_features,
            max_rows=max_rows,
            max_classes=max_classes,
            least=least,
        )
    return problem
