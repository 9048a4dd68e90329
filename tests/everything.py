"""All subproblems of small problems, solved by trying everything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from random_problems import random_problem

from dosdt.problem import Problem

Rows = frozenset[int]


class Everything:
    """All subproblems of a small problem, solved: the cost and leaves of the smallest optimal tree of each."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.a, self.b = problem, problem.a, problem.b
        self.root: Rows = frozenset(range(problem.n_rows))
        self.best = cache(self._best)

    def total(self, values: tuple[int, ...], rows: Rows) -> int:
        return self.b * sum(values[row] for row in rows)

    def loss(self, rows: Rows) -> int:
        return min(self.total(cost, rows) for cost in self.problem.cost)

    def floor(self, rows: Rows) -> int:
        return self.total(self.problem.floor, rows)

    def ceiling(self, rows: Rows) -> int:
        return self.total(self.problem.ceiling, rows)

    def sides(self, rows: Rows) -> Iterator[tuple[int, Rows, Rows]]:
        for feature in range(self.problem.n_columns):
            yes = frozenset(row for row in rows if self.problem.features[row, feature])
            if yes and yes != rows:
                yield feature, yes, rows - yes

    def _best(self, rows: Rows) -> tuple[int, int, int]:
        """Return cost, leaves and feature (-1: a leaf) of the optimal tree with the fewest leaves."""
        return min(
            [(self.loss(rows) + self.a, 1, -1)]
            + [
                (self.best(yes)[0] + self.best(no)[0], self.best(yes)[1] + self.best(no)[1], feature)
                for feature, yes, no in self.sides(rows)
            ]
        )

    def splits(self, rows: Rows | None = None) -> Iterator[tuple[Rows, Rows, Rows]]:
        """The splits of the optimal tree: parent, yes, no."""
        stack = [self.root if rows is None else rows]
        while stack:
            rows = stack.pop()
            chosen = self.best(rows)[2]
            for feature, yes, no in self.sides(rows):
                if feature == chosen:
                    yield rows, yes, no
                    stack += [yes, no]


def problems(n: int, **options: Any) -> Iterator[Everything]:
    for seed in range(n):
        yield Everything(random_problem(seed + 90_000, max_features=4, max_rows=30, **options).problem)
