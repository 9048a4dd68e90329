"""Arrow data with whole numbers in as few bytes as they need: most columns of files declare eight and use one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def narrow_table(batches: Iterable[Any], schema: Any) -> Any:
    """Return record batches as one table of that schema, except that whole numbers are as narrow as they can be.

    Each batch is narrowed as it comes, so that a file's numbers are never all in memory at their full width.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        With the schema's columns, in types that can be cast to the schema's.
    schema : pyarrow.Schema
    """
    import pyarrow as pa

    chunks: list[list[Any]] = [[] for _ in schema]
    for batch in batches:
        for field, column, parts in zip(schema, batch.columns, chunks, strict=True):
            parts.append(_narrow(column.cast(field.type)))
    columns = []
    for field, parts in zip(schema, chunks, strict=True):
        # Batches may need different widths. All widths hold small numbers, so the widest holds every batch's.
        types = {part.type for part in parts} or {field.type}
        widest = max(types, key=lambda kind: kind.bit_width) if len(types) > 1 else next(iter(types))
        columns.append(pa.chunked_array([part.cast(widest) for part in parts], type=widest))
    fields = [field.with_type(column.type) for field, column in zip(schema, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields, metadata=schema.metadata))


def _narrow(column: Any) -> Any:
    """Return a column of whole numbers in the narrowest type with a sign that holds them; others as they are."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_integer(column.type) or column.type.bit_width == 8:
        return column
    ends = compute.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    for kind in (pa.int8(), pa.int16(), pa.int32()):
        half = 2 ** (kind.bit_width - 1)
        if kind.bit_width < column.type.bit_width and (low is None or (-half <= low and high < half)):
            return column.cast(kind, safe=False)
    return column
