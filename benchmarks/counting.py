"""What counting costs, by every way that was tried: microseconds for the losses of all children of one subset.

Subsets are those that searches meet: all rows, and what two or four random questions leave of them. The last column
is of another kind: a matrix product counts all grandchildren as well, which the other ways would do child by child.
All ways must agree, or the script ends with exit code 1. Times are the fastest of several rounds over all subsets.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.common import Table, data_folder, guarded, header, line, number, print_table

TITLES = ["data", "rows", "distinct", "features", "questions", "gmpy2, planes", "gmpy2, repeated rows"]
TITLES += ["numpy bits, planes", "numpy bits, repeated rows", "numpy product", "all grandchildren"]
ROUNDS = 5
SUBSETS = 40
SEED = 0

Way = Callable[[Any], Any]


class Ways:
    """The ways to count, each from a mask of the distinct rows to the losses of the 2M children."""

    def __init__(self, problem: Any) -> None:
        import numpy as np

        from dosdt.bitvectors import PlaneSum, pack

        self.np, self.pack = np, pack
        floor = problem.floor
        residuals = [[cost - low for cost, low in zip(row, floor, strict=True)] for row in problem.cost]
        self.m = problem.n_columns
        self.features = problem.features
        self.columns = [pack(column) for column in problem.features.T]
        self.planes = [PlaneSum(table) for table in residuals]
        # One bit for every unit of residual: no planes to add up, but longer vectors.
        self.repeats = [np.repeat(np.arange(problem.n_rows), table) for table in residuals]
        self.repeated_columns = [
            [pack(column[rows]) for column in problem.features.T] if len(rows) else [] for rows in self.repeats
        ]
        self.packed = [self.words(column) for column in problem.features.T]
        self.packed_columns = np.array(self.packed)
        self.packed_planes = [self._planes(table) for table in residuals]
        self.packed_repeats = [
            np.array([self.words(column[rows]) for column in problem.features.T]) for rows in self.repeats
        ]
        self.values = [np.array(table, np.float32) for table in residuals]
        self.floats = problem.features.astype(np.float32)

    def words(self, mask: Any) -> Any:
        np = self.np
        data = np.packbits(mask, bitorder="little")
        return np.concatenate([data, np.zeros(-len(data) % 8, np.uint8)]).view(np.uint64)

    def _planes(self, table: Sequence[int]) -> list[tuple[int, Any]]:
        np = self.np
        values = np.array(table)
        shifts = range(int(values.max()).bit_length())
        return [(1 << shift, self.words(values >> shift & 1 == 1)) for shift in shifts]

    def _losses(self, yes: list[Any], total: list[Any]) -> Any:
        np = self.np
        sides = [
            np.concatenate([part, whole - part]) for part, whole in zip(map(np.asarray, yes), total, strict=True)
        ]
        return np.minimum.reduce(sides)

    def gmpy2_planes(self, mask: Any) -> Any:
        rows = self.pack(mask)
        children = [rows & column for column in self.columns]
        yes = [[table.over(child) for child in children] for table in self.planes]
        return self._losses(yes, [table.over(rows) for table in self.planes])

    def gmpy2_repeated(self, mask: Any) -> Any:
        from gmpy2 import popcount

        yes, total = [], []
        for repeats, columns in zip(self.repeats, self.repeated_columns, strict=True):
            rows = self.pack(mask[repeats])
            yes.append([popcount(rows & column) for column in columns])
            total.append(popcount(rows))
        return self._losses(yes, total)

    def numpy_planes(self, mask: Any) -> Any:
        np = self.np
        rows = self.words(mask)
        yes, total = [], []
        for planes in self.packed_planes:
            parts = [(unit, rows & plane) for unit, plane in planes]
            yes.append(sum(unit * np.bitwise_count(self.packed_columns & part).sum(axis=1) for unit, part in parts))
            total.append(sum(unit * int(np.bitwise_count(part).sum()) for unit, part in parts))
        return self._losses(yes, total)

    def numpy_repeated(self, mask: Any) -> Any:
        np = self.np
        yes, total = [], []
        for repeats, columns in zip(self.repeats, self.packed_repeats, strict=True):
            rows = self.words(mask[repeats])
            yes.append(np.bitwise_count(columns & rows).sum(axis=1))
            total.append(int(np.bitwise_count(rows).sum()))
        return self._losses(yes, total)

    def numpy_product(self, mask: Any) -> Any:
        np = self.np
        rows = np.flatnonzero(mask)
        features = self.floats.take(rows, 0)
        values = [table.take(rows) for table in self.values]
        return self._losses([table @ features for table in values], [table.sum() for table in values])


def subsets(problem: Any, questions: int) -> list[Any]:
    """Return masks of what some random questions leave, none of them empty."""
    import numpy as np

    rng = np.random.default_rng(SEED)
    masks = []
    while len(masks) < (SUBSETS if questions else 1):
        mask = np.ones(problem.n_rows, np.bool_)
        for feature in rng.integers(0, problem.n_columns, questions):
            mask &= problem.features[:, feature] == rng.integers(0, 2)
        if mask.any():
            masks.append(mask)
    return masks


def microseconds(way: Way, masks: list[Any], *, at_once: bool = False) -> float:
    """Return the time for one subset, of the fastest round."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        if at_once:
            way(masks)
        else:
            for mask in masks:
                way(mask)
        best = min(best, time.perf_counter() - start)
    return 1e6 * best / len(masks)


def rows(table: Table) -> list[str]:
    """Return the rows of one data set."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    from dosdt.errors import InputError
    from dosdt.penalty import Prices
    from dosdt.subproblem.counts import Counter
    from dosdt.subproblem.terms import SWITCHES

    problem = table.problem("0.01")
    if max(map(sum, problem.cost)) >= 2**24 or problem.n_columns > 200:
        raise InputError(f"{table.name}: too large for all ways of counting; use fewer rows and columns")
    ways, prices = Ways(problem), Prices(problem)
    counter = Counter(problem, prices.penalty, 0, frozenset(SWITCHES))
    several = [ways.gmpy2_planes, ways.gmpy2_repeated, ways.numpy_planes, ways.numpy_repeated, ways.numpy_product]
    lines = []
    with threadpool_limits(1):
        for questions in (0, 2, 4):
            masks = subsets(problem, questions)
            for mask in masks:
                first, *others = (np.asarray(way(mask), np.int64) for way in several)
                if any(not np.array_equal(first, other) for other in others):
                    raise SystemExit(f"counting: {table.name}: ways of counting disagree")
            grandchildren = microseconds(
                lambda masks: counter.count(counter.rows_of(np.array([ways.words(mask) for mask in masks]))),
                masks,
                at_once=True,
            )
            sizes = [number(problem.n_samples), number(problem.n_rows), str(problem.n_columns), str(questions)]
            times = [*(microseconds(way, masks) for way in several), grandchildren]
            lines.append(line([table.name, *sizes, *map(number, times)]))
    return lines


def main(arguments: list[str]) -> int:
    """Print the table row by row, as it is made."""
    parser = argparse.ArgumentParser(description="Time the ways of counting; see the top of this file.")
    folder = data_folder()
    names = ["compas-binary", "fico_binary", "monk2-train"] if folder else ["tic-tac-toe", "monk2", "breast-cancer"]
    parser.add_argument("data", nargs="*", default=names, help=f"names of tables; default: {' '.join(names)}")
    tables = [Table(name, folder) for name in parser.parse_args(arguments).data]
    print_table(header(TITLES, words=1), (row for table in tables for row in rows(table)))
    return 0


if __name__ == "__main__":
    sys.exit(guarded("counting", main, sys.argv[1:]))
