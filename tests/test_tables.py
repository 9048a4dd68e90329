"""Files of every kind are read as they were meant, or refused in one line."""

import os

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dosdt import tables
from dosdt.binarizer import Binarizer
from dosdt.errors import InputError
from dosdt.frames import column_table
from dosdt.problem import Problem
from dosdt.tables import read_table, split_target, write_table


def write(folder, text, name="data.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(call, *args):
    with pytest.raises(InputError) as error:
        call(*args)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["data.csv", "data.tsv", "data.txt", "data", "data.weird"])
def test_delimiter_is_found(tmp_path, delimiter, name):
    lines = [["age", "colour", "y"], ["20", "red", "0"], ["30.5", "blue", "1"]]
    path = write(tmp_path, "\n".join(delimiter.join(line) for line in lines), name)
    for given in (path, str(path)):
        frame = read_table(given)
        assert frame.columns.tolist() == ["age", "colour", "y"]
        assert frame["age"].tolist() == [20.0, 30.5]
        assert frame["colour"].tolist() == ["red", "blue"]
        assert frame["y"].dtype == np.int64
        assert frame.index.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('"a,b,c,d";x\n1;2\n', ["a,b,c,d", "x"]),
        ("size (a,b,c);x\n1;2\n", ["size (a,b,c)", "x"]),
        ("a,b;c\n1,2\n", ["a", "b;c"]),
        ("single\n1\n2\n", ["single"]),
        ('a,"say ""hi"""\n1,2\n', ["a", 'say "hi"']),
        (" a , b\n1,2\n", ["a", "b"]),
        ("\n\na,b\n1,2\n", ["a", "b"]),
        ("\n" * 30 + "a;b\n1;2\n", ["a", "b"]),
        ("a,b\r\n1,2\r\n", ["a", "b"]),
        ("a,b\r1,2\r", ["a", "b"]),
        ("größe,b\n1,2\n", ["größe", "b"]),
        ("\ufeffa;b\n1;2\n", ["a", "b"]),
    ],
)
def test_headers(tmp_path, text, columns):
    assert read_table(write(tmp_path, text)).columns.tolist() == columns


def test_tab_wins_in_a_tsv(tmp_path):
    assert read_table(write(tmp_path, "a,b,c\tx\n1\t2\n", "data.tsv")).columns.tolist() == ["a,b,c", "x"]


def test_missing_values(tmp_path):
    path = write(tmp_path, 'n,s,q\n1,a,x\n,,\nNA,NaN,null\n2,b,""\n')
    frame = read_table(path)
    assert frame.isna().to_numpy().tolist() == [[False] * 3, [True] * 3, [True] * 3, [False, False, True]]
    table = column_table(frame)
    assert table.column("n").dtype == np.float64
    assert table.column("s").tolist() == ["a", None, None, "b"]


def test_types(tmp_path):
    path = write(
        tmp_path, "b,t,d,w,big,v\ntrue,x y,2020-01-01,12:30,9007199254740993,\nfalse,z,2020-01-02,12:45,1,\n"
    )
    table = column_table(read_table(path))
    assert table.column("b").tolist() == [True, False]
    assert table.column("b").dtype == np.bool_
    assert table.column("d").tolist() == ["2020-01-01", "2020-01-02"]
    assert table.column("w").tolist() == ["12:30", "12:45"]
    assert table.column("big").tolist() == [2**53 + 1, 1]
    assert np.isnan(table.column("v")).all()


def test_type_is_found_over_the_whole_file(tmp_path):
    # far beyond the first block
    path = write(tmp_path, "a,b\n" + "1,2\n" * 3_000_000 + "x,2.5\n")
    frame = read_table(path)
    assert len(frame) == 3_000_001
    assert frame["a"].iloc[-1] == "x"
    assert frame["b"].iloc[-1] == 2.5


def test_quotes(tmp_path):
    frame = read_table(write(tmp_path, 'a,b\n1,"x, ""y""\nz"\n2,w\n'))
    assert frame["b"].tolist() == ['x, "y"\nz', "w"]
    frame = read_table(write(tmp_path, 'a,b\n1,w\n2,"x\ny"\n'))
    assert frame["b"].tolist() == ["w", "x\ny"]


def test_quote_never_closed(tmp_path):
    message = refused(read_table, write(tmp_path, 'a,b\n1,x\n2,"y\n3,z\n4,w\n'))
    assert "opens a quote in row 2 that is never closed" in message


def test_text_in_one_file_and_numbers_in_another(tmp_path):
    binarizer = Binarizer().fit(read_table(write(tmp_path, "code,b\n007,true\nA1,maybe\nB2,false\n")))
    part = read_table(write(tmp_path, "code,b\n007,true\n7,false\n", "part.csv"))
    yes = [binarizer.get_feature_names_out()[row == 1].tolist() for row in binarizer.transform(part)]
    assert yes == [["code = 007", "b = true"], ["code = 007", "b = false"]]


@pytest.mark.parametrize(("row", "found"), [("5", 1), ("5,6,7", 3), ("5,6,7,", 4)])
def test_ragged_row(tmp_path, row, found):
    message = refused(read_table, write(tmp_path, f"a,b\n1,2\n3,4\n{row}\n7,8\n"))
    assert f"has {found} fields in row 3, expected 2" in message
    assert "data.csv" in message


def test_ragged_row_far_down(tmp_path):
    path = write(tmp_path, "a,b\n" + "1,2\n" * 3_000_000 + "3\n")
    assert "row 3000001," in refused(read_table, path)


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "is empty"),
        (b"\n\n  \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b", "has a header but no rows"),
        (b"a,b,a\n1,2,3\n", "duplicate column names: 'a'"),
        (b"a, a\n1,2\n", "duplicate column names: 'a'"),
        (b"when,when\n2020-01-01,2020-01-01\n", "duplicate column names: 'when'"),
        (b",a\nx,1\n", "has no name for column 1"),
        (bytes(range(256)) * 10, "binary data"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "binary data"),
        ("a,b\n1,2\n".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        ("größe,b\n1,2\n".encode("latin-1"), "is not UTF-8 text (the header)"),
        ("a,b\n1,x\n2,süß\n".encode("latin-1"), "is not UTF-8 text (row 2)"),
        (b"PAR1....", "is a Parquet file"),
        (b"\xfd\xff" * 100, "is not UTF-8 text"),
    ],
)
def test_bad_files(tmp_path, content, part):
    message = refused(read_table, write(tmp_path, content))
    assert part in message
    assert "data.csv" in message


def test_not_utf8_far_down(tmp_path):
    path = write(tmp_path, b"a,b\n" + b"1,x\n" * 300_000 + b"1,\xff\n")
    assert "is not UTF-8 text (column 'b', row 300001)" in refused(read_table, path)


def test_junk_far_down_in_one_long_line(tmp_path):
    message = refused(read_table, write(tmp_path, b"a" * 20_000_000))
    assert "data.csv" in message


def test_no_such_file(tmp_path):
    for name in ("no.csv", "no.parquet", "no/no.csv"):
        message = refused(read_table, tmp_path / name)
        assert "there is no file" in message
        assert name in message


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["data.csv", "data.parquet"])
def test_permission_denied(tmp_path, name):
    path = write(tmp_path, "a,b\n1,2\n", name)
    path.chmod(0)
    assert "permission denied" in refused(read_table, path)


def test_permission_denied_even_as_root(tmp_path, monkeypatch):
    path = write(tmp_path, "a,b\n1,2\n")

    def denied(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    message = refused(read_table, path)
    monkeypatch.undo()
    assert "data.csv" in message
    assert "permission denied" in message


# Parquet


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {"n": [1, 2], "s": ["a", None], "c": pd.Categorical(["u", "v"]), "f": [0.5, np.nan]}, index=[7, 9]
    )
    frame.to_parquet(tmp_path / "data.parquet")
    found = read_table(tmp_path / "data.parquet")
    assert found.columns.tolist() == ["n", "s", "c", "f"]
    assert found.index.tolist() == [0, 1]
    assert column_table(found).column("c").tolist() == ["u", "v"]
    assert column_table(found).column("s").tolist() == ["a", None]


def test_parquet_in_batches_is_the_same_table(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    n = 50
    frame = pd.DataFrame(
        {
            "bit": rng.integers(0, 2, n),
            "wide": [*range(n - 1), 2**53 + 1],
            "flag": rng.random(n) < 0.5,
            "holes": np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n)),
            "nullable": pd.array([None, *range(n - 1)], dtype="Int64"),
            "unsigned": np.array([2**64 - 1, *range(n - 1)], np.uint64),
            "word": rng.choice(["a", "b", None], n),
            "category": pd.Categorical(rng.choice(["u", "v"], n)),
            "label": rng.integers(0, 3, n),
        }
    )
    frame.to_parquet(tmp_path / "data.parquet", row_group_size=20)
    monkeypatch.setattr(tables, "_BATCH", 7)
    found = read_table(tmp_path / "data.parquet")
    assert found["bit"].dtype == np.int8
    assert found["wide"].tolist() == frame["wide"].tolist()
    given, read = column_table(frame), column_table(found)
    assert given.names == read.names
    for name in given.names:
        np.testing.assert_array_equal(given.column(name), read.column(name))


def test_the_width_of_numbers_makes_no_other_problem(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(-200, 200, (300, 3)) // (150, 40, 199), columns=["a", "b", "c"])
    frame["weight"] = rng.integers(1, 200, 300)
    frame["label"] = rng.integers(0, 3, 300)
    frame.to_parquet(tmp_path / "data.parquet")
    problems = []
    for table in (frame, read_table(tmp_path / "data.parquet")):
        X, y = table[["a", "b", "c"]], table["label"]
        binarizer = Binarizer().fit(X)
        features, names = binarizer.transform(X), binarizer.get_feature_names_out().tolist()
        problems.append(Problem.from_arrays(features, y, "0.01", sample_weight=table["weight"], names=names))
    wide, narrow = problems
    assert narrow.fingerprint == wide.fingerprint
    assert narrow.columns == wide.columns
    assert narrow.classes == wide.classes == (0, 1, 2)
    assert (narrow.weight_unit, narrow.total_weight) == (wide.weight_unit, wide.total_weight)


def test_damage_inside_a_parquet_file_names_the_file(tmp_path):
    pd.DataFrame({"a": np.arange(5000)}).to_parquet(tmp_path / "whole.parquet", compression="gzip")
    content = bytearray((tmp_path / "whole.parquet").read_bytes())
    content[200:1200] = bytes(1000)
    message = refused(read_table, write(tmp_path, bytes(content), "hole.parquet"))
    assert "hole.parquet' is not a readable Parquet file" in message


def test_folder_of_parquet_files(tmp_path):
    folder = tmp_path / "year=2020"  # a name that readers may take for a column
    folder.mkdir()
    pd.DataFrame({"a": [1], "b": ["x"]}).to_parquet(folder / "1.parquet")
    pd.DataFrame({"a": [2.5], "b": ["y"]}).to_parquet(folder / "2.parquet")
    (folder / "_SUCCESS").write_text("")
    frame = read_table(folder)
    assert frame.to_dict("list") == {"a": [1.0, 2.5], "b": ["x", "y"]}
    pd.DataFrame({"a": [2.5], "c": ["y"]}).to_parquet(folder / "3.parquet")
    assert "3.parquet' has other columns" in refused(read_table, folder)


def test_folder_of_parquet_files_that_do_not_fit(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "1.parquet")
    pd.DataFrame({"a": ["x"]}).to_parquet(tmp_path / "2.parquet")
    assert "do not fit" in refused(read_table, tmp_path)
    assert "int64" in refused(read_table, tmp_path)


def test_folder_without_parquet(tmp_path):
    write(tmp_path, "a,b\n1,2\n")
    assert "is a folder without .parquet files" in refused(read_table, tmp_path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n", b"PAR1" + bytes(100) + b"PAR1"])
def test_bad_parquet(tmp_path, content):
    message = refused(read_table, write(tmp_path, content, "data.parquet"))
    assert "data.parquet" in message
    assert "is empty" in message or "is not a readable Parquet file" in message


def test_truncated_parquet(tmp_path):
    pd.DataFrame({"a": range(1000)}).to_parquet(tmp_path / "whole.parquet")
    path = write(tmp_path, (tmp_path / "whole.parquet").read_bytes()[:-50], "half.parquet")
    assert "half.parquet' is not a readable Parquet file" in refused(read_table, path)


def test_parquet_without_rows_or_with_double_names(tmp_path):
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    assert "no rows" in refused(read_table, tmp_path / "none.parquet")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "two.parquet")
    assert "duplicate column names: 'a'" in refused(read_table, tmp_path / "two.parquet")


# the target


def test_split_target():
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "y": ["u", "v"]})
    features, label = split_target(frame)
    assert features.columns.tolist() == ["a", "b"]
    assert label.tolist() == ["u", "v"]
    assert label.name == "y"
    features, label = split_target(frame, "a")
    assert features.columns.tolist() == ["b", "y"]
    assert label.tolist() == [1, 2]
    assert frame.columns.tolist() == ["a", "b", "y"]


def test_split_target_refuses():
    frame = pd.DataFrame({"income": [1], "outcome": [0]})
    assert "no target column 'outcom'; did you mean 'outcome'" in refused(split_target, frame, "outcom")
    assert "no target column 'zzz'; the columns are 'income', 'outcome'" in refused(split_target, frame, "zzz")
    one = frame[["income"]]
    assert "only the column 'income'" in refused(split_target, one, None)
    assert "only the column 'income'" in refused(split_target, one, "income")
    assert "no target column" in refused(split_target, pd.DataFrame(), None)


# writing


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet", "out"])
def test_write_and_read_back(tmp_path, name):
    frame = pd.DataFrame({"a": [0.1, np.nan], "b": ['x,\t"y"\nz', "ü"], "n": [1, 2]}, index=[5, 6])
    write_table(frame, tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    expected = frame.reset_index(drop=True)
    if name == "out.parquet":  # whole numbers come back as narrow as they are
        expected = expected.astype({"n": np.int8})
    pd.testing.assert_frame_equal(read_table(tmp_path / name), expected)


def test_written_with_the_right_delimiter(tmp_path):
    write_table(pd.DataFrame({"a": [1], "b": [2]}), tmp_path / "out.tsv")
    assert (tmp_path / "out.tsv").read_text().split() == ["a", "b", "1", "2"]
    assert "\t" in (tmp_path / "out.tsv").read_text()


def test_unwritable(tmp_path):
    frame = pd.DataFrame({"a": [1]})
    assert "cannot write" in refused(write_table, frame, tmp_path / "no" / "out.csv")
    assert "cannot write" in refused(write_table, frame, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_failed_write_leaves_nothing_behind(tmp_path):
    frame = pd.DataFrame({"a": pd.Series([1, "x", [2]], dtype=object)})
    (tmp_path / "out.parquet").write_text("old")
    assert "as Parquet" in refused(write_table, frame, tmp_path / "out.parquet")
    assert [p.name for p in tmp_path.iterdir()] == ["out.parquet"]
    assert (tmp_path / "out.parquet").read_text() == "old"
