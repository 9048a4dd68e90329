"""Rules for a table in pieces: chosen column by column from distinct values, or else from a sample of the rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dosdt import ingest_pieces as work
from dosdt.binarizer import _MOST_THRESHOLDS, Binarizer
from dosdt.errors import InputError
from dosdt.frames import listed
from dosdt.ingest_pieces import MOST_DISTINCT, Each, Source, Values, Weighing
from dosdt.rules import Rule

SAMPLE = 100_000  # rows that thresholds are chosen from where not all can be


def choose_rules(
    binarizer: Binarizer, table: Source, known: dict[str, Values], target: str, weighing: Weighing, each: Each
) -> tuple[str, ...]:
    """Fit the binarizer, column by column to the distinct values; return what people should know about it."""
    if binarizer.missing == "error":
        for name, values in known.items():
            if values.missing:
                raise InputError(
                    f"column {name!r} has {values.missing} missing values, NaN or none; "
                    'pass missing="category" or drop them'
                )
    fits = {name: _fitted(binarizer, table, name, values, "all", None) for name, values in known.items()}
    numbers = [name for name, fit in fits.items() if fit is None or _cuts(fit)]
    all_known = all(fit is not None for fit in fits.values())
    choose, most = binarizer.thresholds, binarizer.max_thresholds
    if choose == "auto":
        n_cuts = sum(len(_cuts(fit)) for fit in fits.values() if fit is not None)
        choose = "all" if all_known and n_cuts <= _MOST_THRESHOLDS else "reference"
    notes: tuple[str, ...] = ()
    if choose == "quantile":
        for name in numbers:
            fits[name] = _fitted(binarizer, table, name, known[name], "quantile", most)
    if choose == "reference" or not all(fit is not None for fit in fits.values()):
        unknown = [name for name, fit in fits.items() if fit is None]
        if choose == "all":
            raise InputError(
                f"column {unknown[0]!r} has more than {MOST_DISTINCT} distinct values, too many for "
                'thresholds="all"; pass thresholds="quantile" with max_thresholds'
            )
        redo = numbers if choose == "reference" else unknown
        n_rows = _fit_to_sample(binarizer, table, known, fits, redo, choose, target, weighing, each)
        notes = (f"thresholds of {listed(redo)} were chosen from a sample of {n_rows} of {table.n_rows} rows",)
    _put_together(binarizer, fits)
    return notes


def _cuts(fit: Binarizer) -> list[Rule]:
    return [rule for rule in fit.rules_ if rule.kind == "at_most"]


def _fitted(
    binarizer: Binarizer, table: Source, name: str, known: Values, thresholds: str, most: int | None
) -> Binarizer | None:
    """Return a binarizer fitted to the distinct values of one column, or None if they are too many to be known."""
    import pandas as pd
    import pyarrow as pa

    kind = table.schema.field(name).type
    category = name in map(str, binarizer.categories)
    if known.values is None:
        if category or not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise InputError(
                f"column {name!r} has more than {MOST_DISTINCT} distinct categories; group them or drop the column"
            )
        return None
    series = as_series(known.values.dictionary_encode() if pa.types.is_dictionary(kind) else known.values)
    column = Binarizer(
        thresholds=thresholds,
        max_thresholds=most,
        missing="category",
        categories=[name] if category else [],
        max_categories=binarizer.max_categories,
    )
    # Weights as objects: sums may be beyond 64 bits.
    return column.fit(pd.DataFrame({name: series}), sample_weight=np.array([*known.sums.tolist(), None], object)[:-1])


def _fit_to_sample(
    binarizer: Binarizer,
    table: Source,
    known: dict[str, Values],
    fits: dict[str, Binarizer | None],
    redo: list[str],
    thresholds: str,
    target: str,
    weighing: Weighing,
    each: Each,
) -> int:
    """Choose the thresholds of some columns from a sample of the rows; return how many rows it has."""
    import pandas as pd
    import pyarrow as pa

    seed = binarizer.random_state if isinstance(binarizer.random_state, int) else 0
    choose = partial(work.sample, schema=table.schema, share=SAMPLE / table.n_rows, seed=seed)
    parts = sorted(each(table.pieces, choose), key=lambda part: (part.piece.file, part.piece.groups))
    rows = pa.concat_tables([part.rows for part in parts])
    weights = weighing.of(rows)
    rows = rows.filter(weights != 0)
    options = binarizer.get_params() | {
        "thresholds": thresholds,
        "missing": "category",
        "max_categories": rows.num_rows,
    }
    whole = Binarizer(**options).fit(
        work.frame(rows, list(known)),
        as_series(rows[target]),
        None if weighing.column is None else weights[weights != 0],
    )
    for name in redo:
        values = pd.DataFrame({name: work.frame(rows, [name])[name]})
        if known[name].missing:  # there may be none in the sample
            values = pd.concat([values, pd.DataFrame({name: [np.nan]})], ignore_index=True)
        fit = Binarizer(thresholds="quantile", max_thresholds=1, missing="category").fit(values)
        other = [rule for rule in fit.rules_ if rule.kind != "at_most"]
        fit.rules_ = (*(rule for rule in _cuts(whole) if rule.column == name), *other)
        fits[name] = fit
    return int(rows.num_rows)


def _put_together(binarizer: Binarizer, fits: dict[str, Binarizer | None]) -> None:
    done = {name: fit for name, fit in fits.items() if fit is not None}
    binarizer.rules_ = tuple(rule for fit in done.values() for rule in fit.rules_)
    binarizer.columns_ = tuple(done)
    binarizer.column_types_ = tuple(fit.column_types_[0] for fit in done.values())
    binarizer.column_kinds_ = tuple(fit.column_kinds_[0] for fit in done.values())
    binarizer.n_features_in_ = len(done)
    binarizer.feature_names_in_ = np.array(binarizer.columns_, dtype=object)


def as_series(values: Any) -> Any:
    """Return Arrow values as the pandas column that reading all of them would have made."""
    return values.to_pandas()
