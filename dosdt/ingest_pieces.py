"""A table in pieces: what is done with each piece of a folder of Parquet files, wherever it is done.

Every function here takes one piece and returns little: distinct values, distinct rows, or a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dosdt.distinct import distinct_rows
from dosdt.errors import InputError
from dosdt.frames import refuse_duplicates
from dosdt.weights import IntArray, fitting

if TYPE_CHECKING:
    from dosdt.binarizer import Binarizer

MOST_DISTINCT = 10**6
"""Values of a column that are kept; beyond that a sample must do."""
_PIECE = 2**27  # bytes of a piece when decoded, or one row group if that has more


@dataclass(frozen=True)
class Piece:
    """Some row groups of a file, of `n_rows` rows."""

    file: str
    groups: tuple[int, ...]
    n_rows: int


Each = Callable[[Sequence[Piece], Callable[[Piece], Any]], Iterator[Any]]
"""Does some work on every piece."""


@dataclass(frozen=True)
class Source:
    """A table in pieces, all read as one schema.

    Parameters
    ----------
    pieces : tuple of Piece
    schema : pyarrow.Schema
        Of the columns that are data; not of an index that pandas stored.
    size : int
        Bytes on disk.
    """

    pieces: tuple[Piece, ...]
    schema: Any
    size: int

    @property
    def n_rows(self) -> int:
        return sum(piece.n_rows for piece in self.pieces)


def source(path: str) -> Source:
    """Look at a Parquet file, or a folder of them, without reading any rows."""
    import pyarrow as pa

    from dosdt.tables import _PARQUET, _one_line, _parquet, _telling

    place = Path(path).absolute()
    with _telling(place):
        if not place.exists():
            raise FileNotFoundError
        folder = place.is_dir()
        parts = sorted(part for part in place.iterdir() if part.suffix.lower() in _PARQUET) if folder else [place]
        if not parts or parts[0].suffix.lower() not in _PARQUET:
            raise InputError(f"{path!r} is no Parquet file, nor a folder of .parquet files")
        size = sum(part.stat().st_size for part in parts)
    schemas: list[Any] = []
    pieces: list[Piece] = []
    for part in parts:
        with _parquet(part) as content:
            schemas.append(content.schema_arrow)
            pieces += _pieces(str(part), content.metadata)
        refuse_duplicates(schemas[-1].names, f"{str(part)!r} has ")
        if schemas[-1].names != schemas[0].names:
            raise InputError(
                f"{str(part)!r} has other columns than {str(parts[0])!r}; put files of one table in a folder"
            )
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(f"the files in {path!r} do not fit: {_one_line(error)}") from error
    if not pieces:
        raise InputError(f"{path!r} has no rows; add data")
    data = set(schema.empty_table().to_pandas().columns)
    return Source(tuple(pieces), pa.schema([field for field in schema if field.name in data]), size)


def _pieces(file: str, metadata: Any) -> Iterator[Piece]:
    groups: list[int] = []
    rows = size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if groups and size + group.total_byte_size > _PIECE:
            yield Piece(file, tuple(groups), rows)
            groups, rows, size = [], 0, 0
        groups.append(number)
        rows, size = rows + group.num_rows, size + group.total_byte_size
    if rows:
        yield Piece(file, tuple(groups), rows)


def read(piece: Piece, schema: Any) -> Any:
    """Return the columns of a schema, as a pyarrow Table."""
    from dosdt.tables import _parquet

    with _parquet(Path(piece.file)) as content:
        return content.read_row_groups(list(piece.groups), columns=schema.names).select(schema.names).cast(schema)


@dataclass(frozen=True)
class Values:
    """Distinct values of a column, and how much each of them weighs.

    Parameters
    ----------
    values : pyarrow.Array of shape (k,), or None
        None if there are more than are kept.
    sums : ndarray of integers, shape (k,)
    missing : int
        Rows without a value.
    """

    values: Any
    sums: IntArray
    missing: int


def distinct_in(column: Any, weights: IntArray, most: int) -> Values:
    """Return the distinct values of a column of a table."""
    import pyarrow as pa
    from pyarrow import compute

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    missing = compute.is_null(column, nan_is_null=pa.types.is_floating(column.type))
    try:
        encoded = column.dictionary_encode(null_encoding="encode")
    except pa.ArrowException:
        raise InputError(f"values of type {column.type} are not supported; turn them into numbers or text") from None
    return _counted(encoded.dictionary, encoded.indices, weights, int(compute.sum(missing).as_py() or 0), most)


def merged(parts: Sequence[Values], most: int) -> Values:
    """Return the distinct values of several pieces as one."""
    import pyarrow as pa

    missing = sum(part.missing for part in parts)
    if any(part.values is None for part in parts):
        return Values(None, np.zeros(0, np.int64), missing)
    values = pa.concat_arrays([part.values for part in parts])
    sums = [int(one) for part in parts for one in part.sums.tolist()]
    encoded = values.dictionary_encode(null_encoding="encode")
    return _counted(encoded.dictionary, encoded.indices, fitting(sums, len(sums)), missing, most)


def _counted(values: Any, places: Any, weights: IntArray, missing: int, most: int) -> Values:
    if len(values) > most:
        return Values(None, np.zeros(0, np.int64), missing)
    sums = np.zeros(len(values), weights.dtype)
    np.add.at(sums, places.to_numpy(zero_copy_only=False), weights)
    return Values(values, sums, missing)


@dataclass(frozen=True)
class Weighing:
    """What the rows weigh: the column, its distinct values, and the integers that they stand for."""

    column: str | None = None
    values: Any = None
    integers: tuple[int, ...] = ()

    def of(self, table: Any) -> IntArray:
        """Return the weight of every row."""
        if self.column is None:
            return np.ones(table.num_rows, np.int64)
        return fitting(self.integers, table.num_rows)[places(table[self.column], self.values)]


def places(column: Any, values: Any) -> npt.NDArray[np.intp]:
    """Return which of the values each entry is; each is one of them."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found = compute.index_in(column, value_set=values)
    return np.asarray(found.to_numpy(), np.intp)


def summaries(
    piece: Piece, schema: Any, names: Sequence[str], weighing: Weighing, most: int
) -> tuple[dict[str, Values], int]:
    """Return the distinct values of some columns in the rows that weigh something, and how many rows these are."""
    table = read(piece, schema)
    weights = weighing.of(table)
    used = weights != 0
    if not used.all():
        table, weights = table.filter(used), weights[used]
    found = {}
    for name in names:
        try:
            found[name] = distinct_in(table[name], weights, most)
        except InputError as error:
            raise InputError(f"column {name!r}: {error}") from None
    return found, table.num_rows


@dataclass(frozen=True)
class Groups:
    """Distinct rows of answers with a label: bits of the answers, number of the label, and their weight."""

    rows: tuple[bytes, ...]
    labels: tuple[int, ...]
    weights: tuple[int, ...]


def groups(piece: Piece, schema: Any, binarizer: Binarizer, target: str, labels: Any, weighing: Weighing) -> Groups:
    """Return the distinct rows of a piece."""
    from dosdt.evaluation import evaluate_rules

    table = read(piece, schema)
    weights = weighing.of(table)
    used = weights != 0
    table, weights = table.filter(used), weights[used]
    if table.num_rows == 0:
        return Groups((), (), ())
    answers = evaluate_rules(binarizer.rules_, binarizer.check_columns(frame(table, binarizer.columns_))).view(
        np.bool_
    )
    # The label is a number of a few bits, which are columns like the others.
    label = places(table[target], labels)
    width = max(1, (len(labels) - 1).bit_length())
    bits = (label[:, None] >> np.arange(width)) & 1
    rows, place = distinct_rows(np.hstack([answers, bits.astype(np.bool_)]), range(answers.shape[1] + width))
    sums = np.zeros(len(rows), weights.dtype)
    np.add.at(sums, place, weights)
    packed = np.packbits(rows[:, : answers.shape[1]], axis=1)
    numbers = rows[:, answers.shape[1] :] @ (1 << np.arange(width))
    return Groups(tuple(map(bytes, packed)), tuple(numbers.tolist()), tuple(map(int, sums.tolist())))


def frame(table: Any, names: Sequence[str]) -> Any:
    """Return columns of a table for the binarizer."""
    return table.select(list(names)).to_pandas(ignore_metadata=True)


@dataclass(frozen=True)
class Sample:
    """Some rows of a piece, as a pyarrow Table."""

    piece: Piece
    rows: Any


def sample(piece: Piece, schema: Any, share: float, seed: int) -> Sample:
    """Return rows chosen at random; at least one."""
    table = read(piece, schema)
    rng = np.random.default_rng([seed, *piece.file.encode(), *piece.groups])
    count = min(table.num_rows, ceil(share * table.num_rows))
    return Sample(piece, table.take(np.sort(rng.choice(table.num_rows, count, replace=False))))


def each(pieces: Iterable[Piece], work: Callable[[Piece], Any]) -> Iterator[Any]:
    """Do the work here, one piece after another."""
    return map(work, pieces)


@dataclass(frozen=True)
class _Done:
    answer: Any
    refusal: str | None = None


def each_on_ray(pieces: Sequence[Piece], work: Callable[[Piece], Any]) -> Iterator[Any]:
    """Do the work with Ray Data on the cluster that this process is connected to; answers come in any order."""
    import ray.data

    def answers(batch: Any) -> Any:
        done = np.empty(len(batch["item"]), dtype=object)
        for place, number in enumerate(batch["item"]):
            try:
                done[place] = _Done(work(pieces[int(number)]))
            except InputError as error:  # Ray would wrap it in a traceback
                done[place] = _Done(None, str(error))
        return {"done": done}

    numbers = ray.data.from_items(list(range(len(pieces))), override_num_blocks=len(pieces))
    for row in numbers.map_batches(answers, batch_size=1).iter_rows():
        done: _Done = row["done"]
        if done.refusal is not None:
            raise InputError(done.refusal)
        yield done.answer
