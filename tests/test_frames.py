"""Any table becomes named columns of bool, a signed integer, float64, or str and None."""

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from dosdt.errors import InputError
from dosdt.frames import ColumnTable, column_names, column_table


def column(values, **options):
    return column_table(pd.DataFrame({"c": values}), **options).column("c")


def same(array, dtype, values):
    assert array.dtype == np.dtype(dtype)
    assert array.shape == (len(values),)
    if dtype is np.float64:
        np.testing.assert_array_equal(array, np.array(values, dtype=float))
    else:
        assert array.tolist() == values


def refused(X, *parts, **options):
    with pytest.raises(InputError) as error:
        column_table(X, **options)
    message = str(error.value)
    assert "\n" not in message
    for part in parts:
        assert part in message
    return message


def test_array_is_not_copied():
    X = np.arange(12.0).reshape(4, 3)
    table = column_table(X)
    assert table.names == ("x0", "x1", "x2")
    assert table.n_rows == 4
    for j in range(3):
        assert np.shares_memory(table.arrays[j], X)
        same(table.column(f"x{j}"), np.float64, X[:, j].tolist())


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (np.bool_, np.bool_),
        (np.int8, np.int8),
        (np.uint16, np.int32),
        (">i4", np.int32),
        (">u4", np.int64),
        (np.uint64, np.int64),
        (np.float16, np.float64),
        (np.float32, np.float64),
        (np.longdouble, np.float64),
    ],
)
def test_number_dtypes_of_arrays(dtype, expected):
    table = column_table(np.array([[0, 1], [1, 1]]).astype(dtype))
    assert [array.dtype for array in table.arrays] == [expected, expected]
    assert table.arrays[0].tolist() == [0, 1]


def test_unsigned_beyond_int64_becomes_float():
    same(column(np.array([2**63, 1], dtype=np.uint64)), np.float64, [2.0**63, 1.0])
    same(column(np.array([2**62, 1], dtype=np.uint64)), np.int64, [2**62, 1])


def test_names_can_be_given():
    table = column_table([[1, 2], [3, 4]], names=["a", "b"])
    assert table.names == ("a", "b")
    same(table.column("b"), np.int64, [2, 4])
    assert table.select(["b"]).names == ("b",)
    refused([[1, 2]], "X has 2 features, but dosdt is expecting 1 features as input", names=["a"])


def test_unknown_column_of_a_table():
    with pytest.raises(InputError, match=r"no column 'z'.*'x0'"):
        column_table([[1]]).column("z")


def test_list_of_lists_keeps_numbers_beside_strings():
    table = column_table([[1, "red", None], [2, None, 0.5]])
    same(table.column("x0"), np.int64, [1, 2])
    same(table.column("x1"), object, ["red", None])
    same(table.column("x2"), np.float64, [np.nan, 0.5])


def test_pyarrow_table():
    table = column_table(
        pa.table(
            {
                "n": [1, None, 3],
                "s": ["a", None, "b"],
                "b": [True, False, True],
                "d": pa.array(["u", "v", "u"]).dictionary_encode(),
            }
        )
    )
    assert table.names == ("n", "s", "b", "d")
    same(table.column("n"), np.float64, [1, np.nan, 3])
    same(table.column("s"), object, ["a", None, "b"])
    same(table.column("b"), np.bool_, [True, False, True])
    same(table.column("d"), object, ["u", "v", "u"])


def test_pyarrow_table_keeps_the_index_of_pandas():
    table = pa.Table.from_pandas(pd.DataFrame({"a": [1, 2], "b": ["u", "v"]}).set_index("b"))
    assert column_table(table).names == ("a", "b")


@pytest.mark.parametrize(
    "dtype", ["object", "str", "string", "string[python]", "category", pd.ArrowDtype(pa.string())]
)
def test_every_way_to_hold_strings(dtype):
    same(column(pd.Series(["b", None, "a", "b"], dtype=dtype)), object, ["b", None, "a", "b"])


@pytest.mark.parametrize(
    ("values", "dtype", "expected", "result"),
    [
        ([1, 2], "Int64", np.int64, [1, 2]),
        ([1, None], "Int32", np.float64, [1, np.nan]),
        ([1, None], "UInt8", np.float64, [1, np.nan]),
        ([0.5, None], "Float64", np.float64, [0.5, np.nan]),
        ([True, False], "boolean", np.bool_, [True, False]),
        ([True, None], "boolean", np.float64, [1, np.nan]),
        ([2**60 + 1, 0], "Int64", np.int64, [2**60 + 1, 0]),
        ([1, 2], pd.ArrowDtype(pa.int32()), np.int32, [1, 2]),
        ([1.5, None], pd.ArrowDtype(pa.float32()), np.float64, [1.5, np.nan]),
        ([True, None], pd.ArrowDtype(pa.bool_()), np.float64, [1, np.nan]),
        ([0, 7], "Sparse[int]", np.int64, [0, 7]),
    ],
)
def test_nullable_arrow_and_sparse_columns(values, dtype, expected, result):
    same(column(pd.Series(values, dtype=dtype)), expected, result)


def test_categorical_column_is_text_even_of_numbers():
    same(column(pd.Categorical([3, 1, None, 2.0])), object, ["3", "1", None, "2"])
    same(column(pd.cut([1, 9], [0, 5, 10])), object, ["(0, 5]", "(5, 10]"])


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        ([1, 2, 3], np.int64, [1, 2, 3]),
        ([2**62 + 1, 1], np.int64, [2**62 + 1, 1]),
        ([2**70, 1], np.float64, [2.0**70, 1]),
        ([1, None], np.float64, [1, np.nan]),
        ([1, 2.5], np.float64, [1, 2.5]),
        ([1, float("nan")], np.float64, [1, np.nan]),
        ([Decimal("0.5"), 1], np.float64, [0.5, 1]),
        ([Fraction(1, 4), Decimal("0.5")], np.float64, [0.25, 0.5]),
        ([True, False], np.bool_, [True, False]),
        ([np.True_, False], np.bool_, [True, False]),
        ([True, None], np.float64, [1, np.nan]),
        ([True, 2], np.int64, [1, 2]),
        ([np.float32(0.5), np.int8(1)], np.float64, [0.5, 1]),
        ([None, None], np.float64, [np.nan, np.nan]),
        ([pd.NA, 1], np.float64, [np.nan, 1]),
        (["a", float("nan")], object, ["a", None]),
        (["a", pd.NA], object, ["a", None]),
        ([np.str_("a"), "b"], object, ["a", "b"]),
    ],
)
def test_columns_of_objects(values, dtype, expected):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    same(column(array), dtype, expected)
    same(column_table(array.reshape(-1, 1)).column("x0"), dtype, expected)


@pytest.mark.parametrize(
    ("values", "dtype", "expected"),
    [
        (["1", " 2", "-3"], np.int64, [1, 2, -3]),
        (["1", "2.5"], np.float64, [1, 2.5]),
        (["1e3", None], np.float64, [1000, np.nan]),
        (["9007199254740993", "1"], np.int64, [2**53 + 1, 1]),
        (["99999999999999999999", "1"], np.float64, [1e20, 1]),
        ([1, "2"], np.int64, [1, 2]),
        ([1.5, "2"], np.float64, [1.5, 2]),
    ],
)
def test_strings_that_are_all_numbers(values, dtype, expected):
    same(column(pd.Series(values, dtype=object)), dtype, expected)


def test_strings_of_arrays():
    table = column_table(np.array([["1", "a"], ["2", "b"]]))
    same(table.column("x0"), np.int64, [1, 2])
    same(table.column("x1"), object, ["a", "b"])


def test_text_among_numbers_is_refused():
    frame = pd.DataFrame({"age": ["30", None, "abc", "31", "abc"]})
    message = refused(frame, "column 'age' holds numbers except 'abc' (row 3);", "categories=['age']")
    assert "more" not in message
    refused(pd.DataFrame({"age": [1, 2, "x", "y", "z", 3]}, dtype=object), "'x' (row 3) and 2 more values")
    refused(pd.DataFrame({"age": ["1", "inf"]}), "'inf' (row 2)")
    refused(pd.DataFrame({"age": ["1", "1_000"]}), "'1_000' (row 2)")
    refused(pd.DataFrame({"age": ["1", "9" * 400]}), "(row 2)")


def test_text_with_few_numbers_is_text():
    same(column(["a", "b", "1"]), object, ["a", "b", "1"])
    # distinct values count, not rows
    same(column(["1", "1", "1", "a", "b"]), object, ["1", "1", "1", "a", "b"])


def test_categories_keep_their_text():
    same(column(["01", "1", None], categories=["c"]), object, ["01", "1", None])
    same(column(["1", "abc"], categories={"c"}), object, ["1", "abc"])
    mixed = pd.Series([1, 2.0, "x", 0.5, True], dtype=object)
    same(column(mixed, categories=("c",)), object, ["1", "2", "x", "0.5", "True"])
    # numbers stay numbers: a category may be one
    same(column([3, 1], categories=("c",)), np.int64, [3, 1])


def test_names_become_text():
    table = column_table(pd.DataFrame({0: [1], ("a", 1): [2]}))
    assert table.names == ("0", "('a', 1)")
    assert column_names(pd.DataFrame({0: [1]})) == ("0",)
    assert column_names(pa.table({"a": [1]})) == ("a",)
    assert column_names(np.zeros((1, 1))) is None


def test_duplicate_names():
    refused(pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), "duplicate column names: 'a';")
    refused(pd.DataFrame([[1, 2]], columns=[1, "1"]), "'1'")
    refused([[1, 2]], "'a'", names=["a", "a"])


@pytest.mark.parametrize("X", [np.zeros(3), [1, 2, 3], pd.Series([1, 2]), 5.0, np.zeros((2, 2, 2))])
def test_not_two_dimensions(X):
    message = refused(X, "two dimensions")
    assert ("Reshape your data" in message) == (np.ndim(X) < 2)


def test_empty():
    refused(np.zeros((0, 3)), "0 sample(s) (shape=(0, 3)) while a minimum of 1 is required")
    refused(np.zeros((12, 0)), "0 feature(s) (shape=(12, 0)) while a minimum of 1 is required.")
    refused(pd.DataFrame({"a": []}), "0 sample(s)")
    refused(pd.DataFrame(index=range(3)), "0 feature(s)")
    refused([], "Reshape your data")


def test_ragged_rows():
    refused([[1, 2], [3]], "different lengths")
    refused([["a", 2], ["b"]], "different lengths")


@pytest.mark.parametrize("X", [None, "abc", {"a": [1]}])
def test_no_table_at_all(X):
    refused(X, "X must be a table")


@pytest.mark.parametrize(
    "X", [np.array([[1j]]), [[1, 2j]], pd.DataFrame({"c": [1j]}), np.array([[1j]], dtype=object)]
)
def test_complex(X):
    refused(X, "Complex data not supported")


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.coo_array])
def test_sparse(kind):
    refused(kind(np.eye(3)), "sparse", ".toarray()")


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", None]),
        pd.to_datetime(["2020-01-01", None]).tz_localize("UTC"),
        pd.to_timedelta([1, 2], unit="s"),
        pd.period_range("2020", periods=2, freq="Y"),
        [datetime.date(2020, 1, 1), None],
        [b"a", b"b"],
        [[1], [2, 3]],
        [{"a": 1}, "b"],
        [object(), 1],
    ],
    ids=["dates", "dates with zones", "durations", "periods", "objects", "bytes", "lists", "dicts", "anything"],
)
def test_unsupported_columns(values):
    frame = pd.DataFrame({"ok": [1, 2], "when": pd.Series(values)})
    refused(frame, "column 'when' holds values of type", "(row 1)", "numbers or text")


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "datetime64[D]", "timedelta64[s]", "S3"])
def test_unsupported_arrays(dtype):
    refused(np.array([[1], [2]]).astype(dtype), "column 'x0' holds values of type")


def test_unsupported_value_names_its_row():
    refused(pd.DataFrame({"c": ["a", None, [1]]}), "type list (row 3)")


def test_number_too_large():
    refused(pd.DataFrame({"c": [1.5, 10**400]}, dtype=object), "column 'c'", "infinity")


def test_masked_values_are_missing():
    X = np.ma.masked_array([[1.0], [2.0]], mask=[[False], [True]])
    same(column_table(X).column("x0"), np.float64, [1.0, np.nan])


def test_table_is_immutable():
    table = column_table([[1]])
    assert isinstance(table, ColumnTable)
    with pytest.raises(AttributeError):
        table.n_rows = 2
