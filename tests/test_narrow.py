"""Whole numbers take no more bytes than they need, and stay the same numbers."""

import pyarrow as pa
import pytest

from dosdt.narrow import narrow_table


def narrowed(*batches, kind):
    schema = pa.schema([("x", kind)])
    arrays = [pa.record_batch([pa.array(values, kind)], schema=schema) for values in batches]
    table = narrow_table(arrays, schema)
    assert table.column("x").to_pylist() == [value for values in batches for value in values]
    return table.schema.field("x").type


@pytest.mark.parametrize(
    ("batches", "kind", "expected"),
    [
        ([[0, 1], [1, 1]], "int64", "int8"),
        ([[-128, 127]], "int64", "int8"),
        ([[-129]], "int64", "int16"),
        ([[128]], "int32", "int16"),
        ([[1], [2**15 - 1], [-3]], "int64", "int16"),
        ([[1], [2**15]], "int64", "int32"),
        ([[-(2**31) - 1], [0]], "int64", "int64"),
        ([[2**63 - 1], [0], [-(2**63)]], "int64", "int64"),
        ([[0], [2**64 - 1]], "uint64", "uint64"),
        ([[0], [2**31 - 1]], "uint64", "int32"),
        ([[200], [2**16 - 1]], "uint16", "uint16"),
        ([[5]], "uint16", "int8"),
        ([[200]], "uint8", "uint8"),
        ([[None, None], [7, None]], "int64", "int8"),
        ([[None], [300]], "int64", "int16"),
        ([], "int64", "int64"),
        ([[0.5], [1.0]], "float64", "double"),
        ([[True], [None]], "bool", "bool"),
        ([["a"], [None]], "string", "string"),
    ],
)
def test_widths(batches, kind, expected):
    assert str(narrowed(*batches, kind=getattr(pa, f"{kind}_" if kind == "bool" else kind)())) == expected


def test_batches_take_the_types_of_the_schema():
    schema = pa.schema([("x", pa.float64()), ("y", pa.int64())], metadata={"k": "v"})
    batches = [
        pa.record_batch({"x": pa.array([1, 2], pa.int64()), "y": pa.nulls(2)}),
        pa.record_batch({"x": pa.array([0.5]), "y": pa.array([1000], pa.int16())}),
    ]
    table = narrow_table(batches, schema)
    assert table.to_pydict() == {"x": [1.0, 2.0, 0.5], "y": [None, None, 1000]}
    assert list(map(str, table.schema.types)) == ["double", "int16"]
    assert table.schema.metadata == {b"k": b"v"}
