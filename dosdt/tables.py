"""Tables in files: CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from dosdt.errors import InputError
from dosdt.files import replacing
from dosdt.frames import listed, refuse_duplicates
from dosdt.narrow import narrow_table
from dosdt.tidying import refuse_rounded, tidied

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = (",", ";", "\t", "|")
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null")
_PARQUET = (".parquet", ".pq")
_OTHERS = {
    b"PAR1": "is a Parquet file; give it the extension .parquet",
    b"PK\x03\x04": "is an Excel workbook or a zip file; save the table as CSV UTF-8",
    b"\xd0\xcf\x11\xe0": "is an Excel workbook; save the table as CSV UTF-8",
    b"\x1f\x8b": "is compressed; unpack it first",
    b"BZh": "is compressed; unpack it first",
    b"\xfd7zXZ": "is compressed; unpack it first",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}
_AS_UTF8 = "save it as UTF-8, which spreadsheets call CSV UTF-8"
_EXCEL = re.compile(r"sep=(.)\r?\n")  # a first line that tells Excel the delimiter
_SAMPLE = 2**20  # bytes looked at to find the delimiter
_BATCH = 2**17  # rows of a Parquet file decoded at a time
_BLOCK = 2**23  # bytes parsed at a time; no row may be longer


def read_table(path: str | os.PathLike[str], *, text: Collection[str] = ()) -> pd.DataFrame:
    """Read a CSV, TSV or Parquet file, or a folder of Parquet files, into a frame indexed 0 .. n-1.

    The delimiter of a text file is found among comma, semicolon, tab and bar; its first line names the
    columns, dates stay text, and empty fields, ``NA``, ``NaN`` and ``null`` are missing values. A file of
    another extension is read as CSV. What else becomes of it is in `dosdt.tidying`, which tells of it by a
    `DataWarning`; columns named in `text` hold names, also if each looks like a number written for people. Whole
    numbers of a Parquet file take as few bytes as they need.
    """
    file = Path(path)
    with _telling(file):
        if file.is_dir():
            parts = sorted(part for part in file.iterdir() if part.suffix.lower() in _PARQUET)
            if not parts:
                _refuse(file, "is a folder without .parquet files; pass a file")
            table = _read_parquets(parts)
        elif file.suffix.lower() in _PARQUET:
            table = _read_parquets([file])
        else:
            table = _read_csv(file, text)
        names = [str(name) for name in table.column_names]
        if "" in names:
            _refuse(file, f"has no name for column {names.index('') + 1}; name it or remove the column")
        if table.num_rows == 0:
            _refuse(file, "has a header but no rows; add data")
        # An index that pandas stored in a Parquet file numbers the rows and is no column of the data.
        return cast("pd.DataFrame", table.to_pandas().reset_index(drop=True))


def split_target(frame: pd.DataFrame, target: str | None = None) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Return the features and the label column: `target`, or the last column if that is None."""
    names = [str(name) for name in frame.columns]
    if target is None:
        target = names[-1] if names else ""
    if target not in names:
        near = get_close_matches(target, names, n=3)
        hint = f"did you mean {listed(near)}?" if near else f"the columns are {listed(names, most=10)}"
        raise InputError(f"there is no target column {target!r}; {hint}")
    if len(names) < 2:
        raise InputError(
            f"the table has only the column {target!r}; it needs features beside the label, separated by commas, "
            "semicolons, tabs or bars"
        )
    place = names.index(target)
    return frame.drop(columns=frame.columns[place]), frame.iloc[:, place]


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a frame, without its index, as Parquet, TSV or CSV by the extension; all of it or nothing."""
    from pyarrow import ArrowException

    file = Path(path)
    suffix = file.suffix.lower()
    with replacing(file) as temporary:
        if suffix in _PARQUET:
            try:
                frame.to_parquet(temporary, index=False)
            except (ArrowException, ValueError, TypeError) as error:
                raise InputError(
                    f"cannot write {str(file)!r} as Parquet: {_one_line(error)}; write .csv instead"
                ) from error
        else:
            separator = "\t" if suffix == ".tsv" else ","
            frame.to_csv(temporary, index=False, sep=separator, compression=None, encoding="utf-8")


def _refuse(file: Path, fault: str) -> NoReturn:
    raise InputError(f"{str(file)!r} {fault}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


@contextmanager
def _telling(file: Path) -> Iterator[None]:
    """Turn what the file system says into one line."""
    try:
        yield
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(file)!r}; check the path") from error
    except PermissionError as error:
        raise InputError(f"cannot read {str(file)!r}: permission denied") from error
    except OSError as error:
        raise InputError(f"cannot read {str(file)!r}: {error.strerror or _one_line(error)}") from error


def _read_parquets(parts: list[Path]) -> Any:
    import pyarrow as pa

    schemas: list[Any] = []
    for part in parts:
        with open(part, "rb") as stream:  # the file system's own errors come first
            if not stream.read(1):
                _refuse(part, "is empty")
        with _parquet(part) as content:
            schemas.append(content.schema_arrow)
        refuse_duplicates(schemas[-1].names, f"{str(part)!r} has ")
        if schemas[-1].names != schemas[0].names:
            _refuse(part, f"has other columns than {str(parts[0])!r}; put files of one table in a folder")
    try:
        schema = pa.unify_schemas(schemas, promote_options="permissive")
        return narrow_table(_batches(parts), schema)
    except pa.ArrowException as error:
        raise InputError(f"the files in {str(parts[0].parent)!r} do not fit: {_one_line(error)}") from error


def _batches(parts: list[Path]) -> Iterator[Any]:
    for part in parts:
        with _parquet(part) as content:
            yield from content.iter_batches(_BATCH)


@contextmanager
def _parquet(part: Path) -> Iterator[Any]:
    """Open a Parquet file; what goes wrong while it is read names the file."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        # Not read_table, which takes a folder called "year=2020" for a column.
        with pa.parquet.ParquetFile(part) as content:
            yield content
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{str(part)!r} is not a readable Parquet file: {_one_line(error)}") from error


def _read_csv(file: Path, names: Collection[str]) -> Any:
    import pyarrow as pa

    with open(file, "rb") as stream:
        sample = stream.read(_SAMPLE)
    text = _text(file, sample)
    told = _EXCEL.match(text)
    delimiter, skip = (told[1], 1) if told else (_delimiter(file, text), 0)
    table = _parse(file, delimiter, skip)
    refuse_duplicates([name.strip() for name in table.column_names], f"{str(file)!r} has ")
    dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
    if dates:
        table = _parse(file, delimiter, skip, texts=dates)
    for field, column in zip(table.schema, table.columns, strict=True):
        if pa.types.is_binary(field.type):
            row = next(i for i, value in enumerate(column.to_pylist(), 1) if not _is_text(value))
            _refuse(file, f"is not UTF-8 text (column {field.name!r}, row {row}); {_AS_UTF8}")
    _check_quotes(file, table)
    refuse_rounded(table, lambda name: _parse(file, delimiter, skip, texts=[name]).column(name))
    table = table.rename_columns([name.strip() for name in table.column_names])
    return tidied(table, MISSING, comma_separates=delimiter == ",", text=names)


def _text(file: Path, sample: bytes) -> str:
    """Return the beginning of the file as text."""
    for beginning, advice in _OTHERS.items():
        if sample.startswith(beginning):
            _refuse(file, advice)
    if b"\0" in sample:
        _refuse(file, "holds binary data, not a table; pass CSV as UTF-8 text, or Parquet")
    try:
        # A full sample may end in the middle of a character; what is wrong in it shows when it is parsed.
        text = sample.decode("utf-8-sig", errors="strict" if len(sample) < _SAMPLE else "ignore")
    except UnicodeDecodeError as error:
        row = sample.count(b"\n", 0, error.start)
        where = f"row {row}" if row else "the header"
        raise InputError(f"{str(file)!r} is not UTF-8 text ({where}); {_AS_UTF8}") from error
    if not text.strip():
        _refuse(file, "is empty")
    if text.lstrip()[0] in "[{" and _is_json(text if len(sample) < _SAMPLE else ""):
        _refuse(file, "holds JSON; pass a table as CSV or Parquet")
    if len(sample) < _SAMPLE and len(text.strip().splitlines()) == 1:
        _refuse(file, "has a header but no rows; add data")
    return text


def _is_json(text: str) -> bool:
    try:
        return bool(json.loads(text))
    except (ValueError, RecursionError):
        return False


def _delimiter(file: Path, text: str) -> str:
    """Return the delimiter that gives the header most fields, if possible as many as the next rows have."""
    text = text.lstrip("\r\n").replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text.split("\n", 20)[:20] if line]

    def score(delimiter: str) -> tuple[bool, bool, int]:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        except csv.Error:  # a field beyond the reader's limit
            return False, False, 0
        told = file.suffix.lower() == ".tsv" and delimiter == "\t"
        return counts[0] > 1 and told, counts[0] > 1 and len(set(counts)) == 1, counts[0]

    return max(DELIMITERS, key=score)


def _parse(file: Path, delimiter: str, skip: int, texts: Sequence[str] = ()) -> Any:
    """Parse with all cores; a row with too many or too few fields is then looked for with one.

    The first `skip` lines are left out, and the columns named in `texts` are taken as they are.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    convert = arrow.ConvertOptions(
        null_values=MISSING, strings_can_be_null=True, column_types=dict.fromkeys(texts, pa.string())
    )
    ragged: list[Any] = []

    def note(row: Any) -> str:
        ragged.append(row)
        return "error"

    for threads in (True, False):
        ragged.clear()
        try:
            return arrow.read_csv(
                file,
                arrow.ReadOptions(use_threads=threads, block_size=_BLOCK, skip_rows=skip),
                arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=note),
                convert,
            )
        except (pa.ArrowException, UnicodeDecodeError) as error:
            if not ragged:
                _refuse(file, f"is not a readable CSV file: {_one_line(error)}")
    row = ragged[0]
    if row.actual_columns == row.expected_columns + 1 and row.text.rstrip("\r\n").endswith(delimiter):
        _refuse(
            file,
            f"has a {delimiter!r} at the end of row {row.number - 1 - skip} but not of the header; remove the one or "
            "add the other",
        )
    if row.expected_columns == 1:
        _refuse(
            file,
            f"begins with a line of one field, but has {row.actual_columns} in row {row.number - 1 - skip}; remove "
            "lines before the one that names the columns",
        )
    _refuse(
        file,
        f"has {row.actual_columns} fields in row {row.number - 1 - skip}, expected {row.expected_columns} "
        "as in the header; correct the row",
    )


def _is_text(value: bytes | None) -> bool:
    try:
        return value is None or value.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def _check_quotes(file: Path, table: Any) -> None:
    """Refuse a quote that is never closed: it makes the rest of the file one value of the last row."""
    if table.num_rows == 0:
        return
    last = table.slice(table.num_rows - 1).to_pylist()[0].values()
    if any(isinstance(value, str) and "\n" in value for value in last):
        with open(file, "rb") as stream:
            quotes = sum(block.count(b'"') for block in iter(lambda: stream.read(_SAMPLE), b""))
        if quotes % 2:
            _refuse(file, f"opens a quote in row {table.num_rows} that is never closed; close it")
