"""Parquet data of any size as a `Problem`: read in pieces, with Ray Data if they are large.

What a problem needs of a table is its distinct rows of answers with their weights. So the table is read three times,
piece by piece, and nobody ever holds all of it: labels and weights first, then the distinct values of every column,
which the rules are chosen from, then the distinct rows. The problem is the same as if all had been in memory, rules,
order and exact weights included, unless a note says that thresholds were chosen from a sample.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from dosdt import ingest_pieces as work
from dosdt.binarizer import Binarizer
from dosdt.errors import InputError
from dosdt.frames import listed
from dosdt.ingest_pieces import MOST_DISTINCT, Each, Source, Values, Weighing
from dosdt.ingest_rules import as_series, choose_rules
from dosdt.labels import encode_labels
from dosdt.problem import Problem, check_regularization
from dosdt.weights import sample_weights

LARGE = 2**30  # bytes on disk from which on Ray does the work
_CHATTY = ("ray.data._internal.execution.streaming_executor", "ray.data._internal.logging")
_TOGETHER = 32  # summaries merged at a time


@dataclass(frozen=True)
class Ingested:
    """What a classifier needs of its training data.

    Parameters
    ----------
    problem : Problem
    binarizer : Binarizer
        Fitted: it has the rules, the columns and their types.
    target : str
    notes : tuple of str
        What is not as it would be with all data in memory.
    """

    problem: Problem
    binarizer: Binarizer
    target: str
    notes: tuple[str, ...]


def ingest(
    path: str,
    target: str | None,
    regularization: object,
    *,
    weights: str | None = None,
    binarizer: Binarizer | None = None,
    class_weight: Any = None,
    cost_matrix: Any = None,
    larger_than: int = LARGE,
    ray_address: str | None = None,
) -> Ingested:
    """Read a Parquet file, or a folder of them, that need not fit in memory.

    Parameters
    ----------
    path : str
        On storage that every node of the cluster can read.
    target : str or None
        Label column; the last one if None.
    regularization, class_weight, cost_matrix
        As in `Problem.from_arrays`.
    weights : str, optional
        Column of row weights.
    binarizer : Binarizer, optional
        Its options; it is not changed.
    larger_than : int
        Bytes on disk up to which the work is done in this process, without Ray.
    ray_address : str, optional
        Cluster to use if this process is not connected to one.
    """
    check_regularization(regularization)
    chosen = Binarizer() if binarizer is None else clone(binarizer)
    chosen._check_options()
    table = work.source(path)
    target, features = _columns(table.schema, target, weights, chosen)
    with _workers(table.size > larger_than, ray_address) as each:
        with _no_rows_named():
            labels, weighing, unit = _labels_and_weights(table, target, weights, each)
            known, n_used = _summaries(table, features, weighing, each)
            notes = choose_rules(chosen, table, known, target, weighing, each)
        rows = _distinct_rows(table, chosen, target, labels, weighing, each)
    problem = _problem(rows, chosen, labels, unit, regularization, class_weight, cost_matrix)
    for note in notes:
        warnings.warn(note, UserWarning, stacklevel=2)
    return Ingested(replace(problem, n_samples=n_used), chosen, target, notes)


def _columns(schema: Any, target: str | None, weights: str | None, binarizer: Binarizer) -> tuple[str, list[str]]:
    """Return the names of the label column and of the features."""
    from dosdt.tables import split_target

    names = list(schema.names)
    if weights is not None:
        if weights not in names:
            raise InputError(f"there is no weights column {weights!r}; the columns are {listed(names, most=10)}")
        if weights == target:
            raise InputError(f"column {weights!r} cannot be both the target and the weights")
        names.remove(weights)
    features, label = split_target(schema.empty_table().select(names).to_pandas(), target)
    columns = [str(name) for name in features.columns]
    unknown = [name for name in map(str, binarizer.categories) if name not in columns]
    if unknown:
        raise InputError(f"categories names {listed(unknown)}; the columns are {listed(columns)}")
    return str(label.name), columns


class _Quiet(logging.Filter):
    """Lets warnings pass; Ray Data sets the level of its loggers itself, and has much to say."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING


@contextmanager
def _workers(on_ray: bool, address: str | None) -> Iterator[Each]:
    if not on_ray:
        yield work.each
        return
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise InputError(f"data of this size need Ray Data ({error}); run pip install 'dosdt[cluster]'") from None
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(
                f"cannot use the Ray cluster {address or 'here'}: {' '.join(str(error).split())[:200]}"
            ) from None
    quiet = _Quiet()
    for name in _CHATTY:
        logging.getLogger(name).addFilter(quiet)
    context = ray.data.DataContext.get_current()
    kept, context.enable_progress_bars = context.enable_progress_bars, False
    try:
        yield work.each_on_ray
    finally:
        context.enable_progress_bars = kept
        for name in _CHATTY:
            logging.getLogger(name).removeFilter(quiet)
        if ours:
            ray.shutdown()


def _labels_and_weights(
    table: Source, target: str, weights: str | None, each: Each
) -> tuple[Any, Weighing, Fraction]:
    """Return the distinct labels, of rows that weigh nothing too; what rows weigh; and the unit of that."""
    import pyarrow as pa

    names = [target] if weights is None else [target, weights]
    schema = pa.schema([table.schema.field(name) for name in names])
    known, _ = _merged(table, schema, names, Weighing(), each)
    if (label := known[target]).missing:
        raise InputError(
            f"target column {target!r} has {label.missing} missing labels; drop them or give them a label"
        )
    if label.values is None:
        raise InputError(f"target column {target!r} has more than {MOST_DISTINCT} classes")
    encode_labels(as_series(label.values), f"target column {target!r}")
    if weights is None:
        return label.values, Weighing(), Fraction(1)
    given = known[weights]
    if given.values is None:
        raise InputError(f"weights column {weights!r} has more than {MOST_DISTINCT} distinct values; round them")
    try:
        integers, unit = sample_weights(as_series(given.values).to_numpy(), len(given.values))
    except InputError as error:
        raise InputError(f"weights column {weights!r}: {error}") from None
    return label.values, Weighing(weights, given.values, tuple(map(int, integers.tolist()))), unit


def _summaries(table: Source, features: list[str], weighing: Weighing, each: Each) -> tuple[dict[str, Values], int]:
    import pyarrow as pa

    names = features if weighing.column is None else [*features, weighing.column]
    return _merged(table, pa.schema([table.schema.field(name) for name in names]), features, weighing, each)


def _merged(
    table: Source, schema: Any, names: list[str], weighing: Weighing, each: Each
) -> tuple[dict[str, Values], int]:
    """Return the distinct values of some columns of the whole table, and the number of rows that weigh something."""
    parts: dict[str, list[Values]] = {name: [] for name in names}
    rows = 0
    summarise = partial(work.summaries, schema=schema, names=names, weighing=weighing, most=MOST_DISTINCT)
    for found, n_rows in each(table.pieces, summarise):
        rows += n_rows
        for name, values in found.items():
            parts[name].append(values)
            if len(parts[name]) == _TOGETHER:
                parts[name] = [work.merged(parts[name], MOST_DISTINCT)]
    return {name: work.merged(values, MOST_DISTINCT) for name, values in parts.items()}, rows


def _distinct_rows(
    table: Source, binarizer: Binarizer, target: str, labels: Any, weighing: Weighing, each: Each
) -> dict[tuple[bytes, int], int]:
    """Return the weight of every distinct row of answers with every label it has."""
    sums: dict[tuple[bytes, int], int] = {}
    group = partial(
        work.groups, schema=table.schema, binarizer=binarizer, target=target, labels=labels, weighing=weighing
    )
    for found in each(table.pieces, group):
        for row, label, weight in zip(found.rows, found.labels, found.weights, strict=True):
            sums[row, label] = sums.get((row, label), 0) + weight
    return sums


def _problem(
    sums: dict[tuple[bytes, int], int],
    binarizer: Binarizer,
    labels: Any,
    unit: Fraction,
    regularization: object,
    class_weight: Any,
    cost_matrix: Any,
) -> Problem:
    rows = [(row, label, weight * unit) for (row, label), weight in sums.items()]
    # One row apart that weighs one unit, so that the weights have no other common factor than single rows have.
    row, label, weight = rows[0]
    if weight != unit:
        rows[:1] = [(row, label, unit), (row, label, weight - unit)]
    # A class whose rows weigh nothing is a class.
    rows += [(row, label, Fraction(0)) for label in range(len(labels))]
    width = len(binarizer.rules_)
    packed = np.frombuffer(b"".join(row for row, _, _ in rows), np.uint8).reshape(len(rows), -1)
    return Problem.from_arrays(
        np.unpackbits(packed, axis=1, count=width),
        as_series(labels).to_numpy()[[label for _, label, _ in rows]],
        regularization,
        sample_weight=[weight for _, _, weight in rows],
        class_weight=class_weight,
        cost_matrix=cost_matrix,
        names=[str(rule) for rule in binarizer.rules_],
    )


@contextmanager
def _no_rows_named() -> Iterator[None]:
    """Leave rows out of error messages: distinct values have no row."""
    try:
        yield
    except InputError as error:
        raise InputError(re.sub(r" \(rows? [^)]*\)| in row \d+|: row \d+ has", "", str(error))) from None
