"""How time and memory grow with the number of rows: a table repeated 1, 10, 100 and 1,000 times.

Each copy is written to a Parquet file in a temporary folder and then fitted by the code behind `dosdt fit`, in a
process of its own. The clock runs from the closed file to the search, and then over the search; what Python imports
was imported before. Only distinct rows reach the search, so its work and the objective must not change; if the
objective does, the exit code is 1.

The table is compas-binary.csv in the folder that DOSDT_DATA names, or else a built-in one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.common import Table, data_folder, guarded, header, line, number, print_table, run_alone

TITLES = ["rows", "read and reduce, s", "rows a second", "search, s", "expansions", "peak memory, MB", "objective"]
IN_FOLDER, BUILT_IN = "compas-binary", "balance-scale"


class Copies(NamedTuple):
    """A table to be written several times over into one file."""

    table: Table
    times: int
    path: Path


class Fit(NamedTuple):
    """A file to be fitted, once a smaller one has been, so that all code is loaded."""

    path: Path
    smaller: Path
    regularization: str
    seconds: float


class Outcome(NamedTuple):
    """What a fit came to; memory is the process's peak, in bytes."""

    rows: int
    reading: float
    search: float
    expansions: int
    memory: int
    objective: Fraction
    status: str


def write_copies(copies: Copies) -> None:
    """Write the file."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet

    X, y = copies.table.load()
    table = pa.Table.from_pandas(pd.concat([X, y], axis=1), preserve_index=False)
    parquet.write_table(pa.concat_tables([table] * copies.times), copies.path)


def fit(case: Fit) -> Outcome:
    """Read, reduce and search as `dosdt fit` does."""
    import warnings

    from benchmarks.worker import peak_memory
    from dosdt.classifier import DOSDTClassifier
    from dosdt.inputs import training_data

    warnings.simplefilter("ignore")  # the status says it
    for path, expansions in ((case.smaller, 1), (case.path, None)):
        model = DOSDTClassifier(case.regularization, time_limit=case.seconds, evaluation_limit=expansions)
        start = time.perf_counter()
        data = training_data(str(path))
        model.fit(data.X, data.y)
        seconds = time.perf_counter() - start
    search = model.stats_["seconds"]
    return Outcome(
        len(data.y),
        seconds - search,
        search,
        model.stats_["expanded"],
        peak_memory(),
        model.objective_,
        model.status_,
    )


def outcomes(options: argparse.Namespace, found: list[Outcome]) -> Iterator[str]:
    """Yield a row for every number of copies, and keep what it came to in `found`."""
    folder = data_folder()
    table = Table(options.data or (BUILT_IN if folder is None else IN_FOLDER), folder)
    with TemporaryDirectory() as temporary:
        smaller = Path(temporary) / "once.parquet"
        run_alone(write_copies, Copies(table, 1, smaller))
        for times in options.times:
            path = Path(temporary) / f"{times}.parquet"
            run_alone(write_copies, Copies(table, times, path))
            outcome = run_alone(fit, Fit(path, smaller, options.regularization, options.time_limit))
            if outcome is None:
                yield line([f"{times} times {table.name}", "killed", *["-"] * (len(TITLES) - 2)])
                continue
            found.append(outcome)
            yield row(outcome)


def row(outcome: Outcome) -> str:
    """Return one row of the table."""
    objective = str(outcome.objective) + f" ({outcome.status})" * (outcome.status != "optimal")
    measures = [number(outcome.reading), number(outcome.rows / outcome.reading), number(outcome.search)]
    return line(
        [number(outcome.rows), *measures, number(outcome.expansions), number(round(outcome.memory / 1e6)), objective]
    )


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Time reading, reducing and searching; see the top of this file.")
    parser.add_argument("data", nargs="?", help="stem of a CSV file in DOSDT_DATA, or a built-in name without it")
    parser.add_argument("--times", type=copies, nargs="+", default=[1, 10, 100, 1000], metavar="N", help="copies")
    parser.add_argument("--regularization", default="0.005", metavar="λ", help="penalty per leaf; default: 0.005")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="SECONDS", help="per search; default: 60")
    return parser.parse_args(arguments)


def copies(text: str) -> int:
    """Return a number of copies, 1 or more."""
    if (times := int(text)) < 1:
        raise ValueError
    return times


def main(arguments: list[str]) -> int:
    """Print the table row by row, then whether the objective stayed the same."""
    found: list[Outcome] = []
    print_table(header(TITLES, words=0), outcomes(parse(arguments), found))
    proved = {outcome.objective for outcome in found if outcome.status == "optimal"}
    agree = len(proved) == 1
    print(f"\n- {'proved objectives are equal' if agree else 'objectives differ, or none is proved'}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(guarded("rows", main, sys.argv[1:]))
