"""What people leave in tables: row numbers, spaces, numbers written for people. Read as it is meant, and told of."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from typing import Any

from dosdt.columns import parse_number
from dosdt.errors import DataWarning, InputError
from dosdt.frames import listed
from dosdt.spelled import AmbiguousError, spelled_numbers

_ROW_NUMBERS = re.compile(r"(?:Unnamed: \d+)?")  # as pandas names a column without a name
_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[ T]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(?::\d{2}.*)?")
_MEASURE = re.compile(r"[-+]?\d+(?:\.\d+)? ?([^\W\d_]+)")
_EXACT = 2**53


def note(text: str) -> None:
    """Tell of something in the data that whoever passed them may not expect."""
    warnings.warn(text, DataWarning, stacklevel=2)


def tidied(table: Any, missing: tuple[str, ...], *, comma_separates: bool, text: Collection[str] = ()) -> Any:
    """Return an Arrow table of a text file with columns as they are meant.

    Columns without a name go if they are empty or number the rows. Spaces around texts go. Numbers written for people
    become numbers, but for the columns named in `text`. All but the first of these are told of.
    """
    import pyarrow as pa

    table = _without_nameless(table)
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = _trimmed(table.column(place), field.name, missing)
            if field.name not in text:
                column = _numbers(column, field.name, comma_separates)
            if column is not table.column(place):
                table = table.set_column(place, field.name, column)
    _look_at_names([str(name) for name in table.column_names])
    return table


def refuse_rounded(table: Any, read: Any) -> None:
    """Refuse whole numbers that are too long to be told apart as floats; `read` gives a column as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for field, column in zip(table.schema, table.columns, strict=True):
        if not pa.types.is_floating(field.type) or not len(column):
            continue
        largest = pc.max(pc.abs(pc.fill_null(column, 0.0))).as_py()
        if not _EXACT < largest < float("inf"):
            continue
        for row, text in enumerate(read(field.name).to_pylist(), 1):
            if text is not None and text.strip().lstrip("+-").isdigit() and int(float(text)) != int(text):
                raise InputError(
                    f"column {field.name!r} holds whole numbers that are too long to be told apart, such as "
                    f"{text.strip()} (row {row}); put a letter before them if they are names, or drop the column"
                )


def _without_nameless(table: Any) -> Any:
    import pyarrow as pa

    for place in reversed(range(table.num_columns)):
        name = str(table.column_names[place]).strip()
        if not _ROW_NUMBERS.fullmatch(name) or table.num_columns == 1:
            continue
        column = table.column(place)
        if not name and column.null_count == len(column):  # every line ends with a delimiter
            table = table.remove_column(place)
        elif (name or not place) and pa.types.is_integer(column.type) and len(column.unique()) == len(column) > 1:
            note(f"column {place + 1}, {name!r}, numbers the rows and is left out")
            table = table.remove_column(place)
    return table


def _trimmed(column: Any, name: str, missing: tuple[str, ...]) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    changed = pc.fill_null(pc.not_equal(trimmed, column), False)
    if not pc.any(changed).as_py():
        return column
    row = pc.index(changed, True).as_py()
    note(f"column {name!r}: spaces around values are left out, as in {column[row].as_py()!r} (row {row + 1})")
    gone = pc.is_in(trimmed, value_set=pa.array(missing, trimmed.type))
    return pc.if_else(pc.fill_null(gone, True), pa.scalar(None, trimmed.type), trimmed)


def _numbers(column: Any, name: str, comma_separates: bool) -> Any:
    """Return a column of texts that are all numbers with separators or units as numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    texts = [text for text in coded.dictionary.to_pylist() if text is not None]
    if all(map(_is_plain, texts)):
        return column  # numbers as computers write them become numbers later
    try:
        numbers = spelled_numbers(texts, comma_separates=comma_separates)
    except AmbiguousError as error:
        one, another = (f"{reading:.15g}" for reading in error.readings)
        raise InputError(
            f"column {name!r} holds {error.text!r}, which may be {one} or {another}; write its numbers without "
            "separators of thousands and with a point for decimals"
        ) from None
    if numbers is None:
        if texts and all(map(_DATE.fullmatch, texts)):
            note(
                f"column {name!r} holds dates or times, taken as names; turn them into numbers, such as the year, to "
                "ask for ranges"
            )
        elif len(texts) > 2 and (unit := _unit(texts)):
            note(f"column {name!r} holds names such as {texts[0]!r}; leave {unit!r} out to ask for ranges")
        return column
    note(f"column {name!r} holds numbers, with {texts[0]!r} read as {numbers[0]}")
    found = pa.array(numbers, pa.int64() if _fit(numbers) else pa.float64())
    return pc.take(found, coded.indices)


def _unit(texts: list[str]) -> str | None:
    """Return the word that follows a number in all texts, if it is the same."""
    unit = None
    for text in texts:
        match = _MEASURE.fullmatch(text)
        if match is None or unit not in (None, match[1]):
            return None
        unit = match[1]
    return unit


def _is_plain(text: str) -> bool:
    return parse_number(text) is not None


def _fit(numbers: list[int] | list[float]) -> bool:
    return all(isinstance(number, int) and -(2**63) <= number < 2**63 for number in numbers)


def _look_at_names(names: list[str]) -> None:
    numbers = [name for name in names if parse_number(name) is not None]
    if 2 * len(numbers) >= len(names) > 0:
        note(f"the first line is taken for the names of the columns, such as {listed(numbers, 2)}; add them if not")
