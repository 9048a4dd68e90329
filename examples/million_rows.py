"""A million rows in Parquet files: what counts is how many of them differ.

python examples/million_rows.py [--rows 1000000] [--folder tour]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from made_up import sensors

from dosdt import Binarizer, DOSDTClassifier
from dosdt.export import to_text

PIECE = 250_000  # rows in each file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path("tour"))
    options = parser.parse_args()
    folder = options.folder / "sensors"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("part-*.parquet"):
        old.unlink()
    for number, first in enumerate(range(0, options.rows, PIECE)):
        piece = sensors(min(PIECE, options.rows - first), seed=number)
        piece.to_parquet(folder / f"part-{number}.parquet", index=False)

    # The files are read in pieces, so that they need not fit into memory. Ten cuts of each number turn the rows into
    # answers to yes/no questions, and rows with the same answers become one row with a weight.
    began = time.perf_counter()
    model = DOSDTClassifier(0.005, binarizer=Binarizer(thresholds="quantile", max_thresholds=10))
    model.fit_parquet(folder, "failed")
    seconds = time.perf_counter() - began

    stats = model.stats_
    print(f"rows        {model.problem_.n_samples:,}, {stats['distinct_rows']:,} of them different")
    print(f"questions   {stats['features']}")
    print(f"status      {model.status_}, {model.n_leaves_} leaves, objective {float(model.objective_):.6f}")
    print(f"seconds     {seconds:.1f}, of which {stats['search_seconds']:.1f} searching")
    print(to_text(model.tree_))


if __name__ == "__main__":
    main()
