"""Tables as a new user has them: each gives a good result, or one line that says what to do."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pytest

from dosdt.cli import main
from dosdt.errors import DataWarning, InputError
from dosdt.tables import read_table

RNG = random.Random(1)
AGES = [RNG.randrange(18, 81) for _ in range(60)]
COLOURS = [RNG.choice(["red", "blue", "green"]) for _ in AGES]
LABELS = [int(age < 40 or colour == "red") for age, colour in zip(AGES, COLOURS, strict=True)]


def csv(*columns: tuple[str, list[Any]], delimiter: str = ",") -> str:
    """Write columns as they are, with their names."""
    rows = zip(*(values for _, values in columns), strict=True)
    names = delimiter.join(name for name, _ in columns)
    return "\n".join([names, *(delimiter.join(map(str, row)) for row in rows)]) + "\n"


AGE, COLOUR, LABEL = ("age", AGES), ("colour", COLOURS), ("label", LABELS)
PLAIN = csv(AGE, COLOUR, LABEL)


class Fitted(NamedTuple):
    code: int
    out: str
    notes: list[str]
    error: str


class Fit:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder, self._capsys = folder, capsys

    def __call__(self, content: str | bytes, *options: str, name: str = "table.csv") -> Fitted:
        path = self._folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self._capsys.readouterr()
        code = main(["fit", str(path), "--json", "--regularization", "0.03", *options])
        out, err = self._capsys.readouterr()
        lines = err.splitlines()
        notes = [line.removeprefix("dosdt: note: ") for line in lines if line.startswith("dosdt: note: ")]
        errors = [line.removeprefix("dosdt: error: ") for line in lines if line.startswith("dosdt: error: ")]
        assert len(notes) + len(errors) == len(lines)
        assert (code == 2) == (len(errors) == 1)
        if errors:
            assert len(lines) == 1, "a refusal is one line"
            assert out == ""
        return Fitted(code, out, notes, errors[0] if errors else "")


@pytest.fixture
def fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fit:
    return Fit(tmp_path, capsys)


def outcome(run: Fitted) -> Any:
    """What a fit came to, without times."""
    import json

    found = json.loads(run.out)
    return {name: found[name] for name in ("objective", "errors", "leaves", "features", "rows", "status")}


SAME = {
    "byte order mark": "\ufeff" + PLAIN,
    "Windows": PLAIN.replace("\n", "\r\n"),
    "old Macintosh": PLAIN.replace("\n", "\r"),
    "semicolons": PLAIN.replace(",", ";"),
    "Excel's first line": "sep=;\n" + PLAIN.replace(",", ";"),
    "names with spaces": PLAIN.replace("age,colour", ' age in years , "favourite colour"', 1),
    "names with line ends": PLAIN.replace("age,colour", 'age,"favourite\ncolour"', 1),
    "trailing delimiter": PLAIN.replace("\n", ",\n"),
    "blank lines": PLAIN.replace("\n", "\n\n"),
    "yes and no": csv(AGE, COLOUR, ("label", ["yes" if label else "no" for label in LABELS])),
    "TRUE and FALSE": csv(AGE, COLOUR, ("label", ["TRUE" if label else "FALSE" for label in LABELS])),
}


@pytest.mark.parametrize("content", SAME.values(), ids=SAME)
def test_no_matter(fit: Fit, content: str) -> None:
    run = fit(content)
    assert run.notes == []
    assert outcome(run) == outcome(fit(PLAIN))


TOLD = {
    "row numbers without a name": (csv(("", [*range(60)]), AGE, COLOUR, LABEL), "column 1, '', numbers the rows"),
    "row numbers of pandas": (
        csv(("Unnamed: 0", RNG.sample(range(60), 60)), AGE, COLOUR, LABEL),
        "column 1, 'Unnamed: 0', numbers the rows and is left out",
    ),
    "spaces after commas": (
        csv(AGE, (" colour", [f" {colour}" for colour in COLOURS]), LABEL),
        f"column 'colour': spaces around values are left out, as in ' {COLOURS[0]}' (row 1)",
    ),
    "spaces after some labels": (
        csv(AGE, COLOUR, ("label", [f"{'yes' if label else 'no'}{' ' * (k % 2)}" for k, label in enumerate(LABELS)])),
        "column 'label': spaces around values are left out",
    ),
    "thousands": (csv(("age", [f'"{age},000"' for age in AGES]), COLOUR, LABEL), f"'{AGES[0]},000' read as"),
    "decimal commas": (
        csv(("age", [f"{age},5" for age in AGES]), COLOUR, LABEL, delimiter=";"),
        f"column 'age' holds numbers, with '{AGES[0]},5' read as {AGES[0]}.5",
    ),
    "currency": (csv(("age", [f'"${age},000.50"' for age in AGES]), COLOUR, LABEL), "000.50' read as"),
    "percent": (csv(("age", [f"{age}%" for age in AGES]), COLOUR, LABEL), f"'{AGES[0]}%' read as {AGES[0]}"),
    "no header": (PLAIN.replace("age,colour,label", "45,red,1"), "the first line is taken for the names"),
}


@pytest.mark.parametrize(("content", "told"), TOLD.values(), ids=TOLD)
def test_read_as_meant_and_told(fit: Fit, content: str, told: str) -> None:
    run = fit(content)
    assert len(run.notes) == 1
    assert told in run.notes[0]
    assert outcome(run) == outcome(fit(PLAIN))
    quiet = fit(content, "--quiet")
    assert (quiet.notes, outcome(quiet)) == ([], outcome(run))


DOUBTED = {
    "label first": (
        csv(LABEL, AGE, COLOUR),
        "the label is 'colour', the last column; if it is 'label', pass --target label",
    ),
    "classes in two cases": (
        csv(AGE, ("label", [("Yes", "yes")[k % 2] if label else "no" for k, label in enumerate(LABELS)])),
        "classes",
    ),
    "customer id": (csv(("customer_id", [*range(700, 760)]), COLOUR, LABEL), "pass --drop customer_id"),
    "times": (csv(("when", [f"12:{age % 40:02d}" for age in AGES]), LABEL), "holds dates or times, taken as names"),
    "units": (csv(("mass", [f"{age % 40} kg" for age in AGES]), LABEL), "leave 'kg' out to ask for ranges"),
}


@pytest.mark.parametrize(("content", "doubt"), DOUBTED.values(), ids=DOUBTED)
def test_taken_as_it_is_and_told(fit: Fit, content: str, doubt: str) -> None:
    run = fit(content)
    assert run.code == 0
    assert len(run.notes) == 1
    assert doubt in run.notes[0]


def with_odd(odd: str) -> str:
    return csv(("age", [odd if k % 7 == 0 else age for k, age in enumerate(AGES)]), LABEL)


REFUSED: dict[str, tuple[str | bytes, str]] = {
    **{
        f"{odd} among numbers": (
            with_odd(odd),
            f"column 'age' holds numbers except {odd!r} (row 1); correct it, leave it empty if it is missing, or "
            "pass --categories 'age' to keep it as text",
        )
        for odd in ("?", "-", "None", "unknown", ">70", "(26)")
    },
    "a row of totals": (PLAIN + "Total,,30\n", "column 'age' holds numbers except 'Total' (row 61)"),
    "thousands or decimals": (
        csv(("age", [f"{age},000" for age in AGES]), LABEL, delimiter=";"),
        f"column 'age' holds '{AGES[0]},000', which may be {AGES[0]}000 or {AGES[0]}; write its numbers without",
    ),
    "too long to be told apart": (
        csv(("key", [10**20 + age for age in AGES]), LABEL),
        f"such as {10**20 + AGES[0]} (row 1); put a letter before them if they are names, or drop it with --drop",
    ),
    "infinity": (with_odd("inf"), "column 'age' holds infinity"),
    "beyond all floats": (with_odd("1" * 400), "column 'age' holds infinity"),
    "names of rows": (
        csv(("id", [f"C-{k:05d}" for k in range(60)]), LABEL),
        "one for each row; what only names the rows says nothing of others: drop it with --drop 'id'",
    ),
    "dates": (
        csv(("when", [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in [*range(55), *range(5)]]), LABEL),
        "group them, turn them into numbers or drop it with --drop 'when'",
    ),
    "no class is left to tell": (csv(AGE, ("label", [1] * 60)), "has only one class, 1"),
    "labels missing": (csv(AGE, ("label", [*LABELS[:-1], ""])), "in 1 rows (60); drop them or give them a label"),
    "the label is first": (
        csv(LABEL, ("score", [*range(0, 180, 3)])),
        "hardly classes; name the label with --target",
    ),
    "continuous": (csv(LABEL, ("score", [age + 0.5 for age in AGES])), "or name another label with --target"),
    "constant": (csv(("a", [1] * 60), LABEL), "no feature is left"),
    "two of a name": (csv(AGE, AGE, LABEL), "duplicate column names: 'age'; rename or drop them"),
    "no name": (csv(("", COLOURS), LABEL), "has no name for column 1; name it or remove the column"),
    "a title": ("My report\n\n" + PLAIN, "begins with a line of one field, but has 3 in row 1; remove lines before"),
    "a comment": ("# exported\n" + PLAIN, "begins with a line of one field"),
    "delimiters after rows only": (
        "age,colour,label\n" + PLAIN.split("\n", 1)[1].replace("\n", ",\n"),
        "has a ',' at the end of row 1 but not of the header; remove the one or add the other",
    ),
    "spaces between columns": (PLAIN.replace(",", " "), "separated by commas, semicolons, tabs or bars"),
    "latin-1": (
        PLAIN.replace("red", "rötlich").encode("latin-1"),
        "save it as UTF-8, which spreadsheets call CSV UTF-8",
    ),
    "UTF-16": (PLAIN.encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
    "Excel": (b"PK\x03\x04" + bytes(50), "is an Excel workbook or a zip file; save the table as CSV UTF-8"),
    "gzip": (b"\x1f\x8b" + bytes(50), "is compressed; unpack it first"),
    "JSON": ('[{"a": 1, "b": 2}, {"a": 2, "b": 3}]\n', "holds JSON; pass a table as CSV or Parquet"),
}


@pytest.mark.parametrize(("content", "fault"), REFUSED.values(), ids=REFUSED)
def test_one_line_says_what_to_do(fit: Fit, content: str | bytes, fault: str) -> None:
    assert fault in fit(content).error


def test_columns_can_be_dropped(fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = csv(("id", [f"C-{k}" for k in range(60)]), AGE, COLOUR, LABEL)
    model, proof = str(tmp_path / "model.json"), str(tmp_path / "proof")
    run = fit(wide, "--drop", "id", "--model", model, "--certificate", proof)
    assert outcome(run) == outcome(fit(PLAIN, name="plain.csv"))
    # What was left out may be there, and need not.
    for name in ("table.csv", "plain.csv"):
        assert main(["verify", proof, str(tmp_path / name)]) == 0
        assert main(["predict", model, str(tmp_path / name), "--output", str(tmp_path / "out.csv")]) == 0
        assert capsys.readouterr().err.startswith("accuracy ")
    assert "--drop names 'di'; the columns are 'id', 'age'" in fit(wide, "--drop", "di").error
    assert (
        "column 'label' cannot be dropped: it is the target"
        in fit(wide, "--drop", "label", "--target", "label").error
    )
    # Where trees are compared, as where one is fitted.
    for command in ("path", "alternatives"):
        capsys.readouterr()
        found = []
        for name, drop in (("table.csv", ["--drop", "id"]), ("plain.csv", [])):
            assert main([command, str(tmp_path / name), "--json", "--quiet", *drop]) == 0
            found.append(json.loads(capsys.readouterr().out) | {"seconds": None, "stats": None})
        assert found[0] == found[1]


def test_the_same_reading_later(fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model of numbers that were written for people meets others, and plain ones."""
    model, other = str(tmp_path / "model.json"), tmp_path / "other.csv"
    proof = str(tmp_path / "proof")
    written = csv(("age", [f'"{age},000"' for age in AGES]), COLOUR, LABEL)
    assert fit(written, "--model", model, "--certificate", proof).code == 0
    for content in (written, written.replace('"', "").replace(",000,", "000,")):
        (tmp_path / "data.csv").write_text(content)
        assert main(["verify", proof, str(tmp_path / "data.csv")]) == 0
    for ages in (["25000", "75000"], ['"25,000"', '"75,000"'], ["25000.0", '"75,000.00"']):
        other.write_text(csv(("age", ages), ("colour", ["blue", " blue"])))
        capsys.readouterr()
        assert main(["predict", model, str(other), "--quiet"]) == 0
        assert capsys.readouterr() == ("prediction\n1\n0\n", "")


def test_names_stay_names_in_a_part_of_the_table(
    fit: Fit, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two currencies are names; where only one of them occurs, its values are the same names."""
    prices = ["$5" if label else "€5" for label in LABELS]
    model, part = str(tmp_path / "model.json"), tmp_path / "part.csv"
    assert fit(csv(("price", prices), AGE, LABEL), "--model", model).code == 0
    part.write_text(csv(("price", ["$5"] * 3), ("age", [1, 2, 3])))
    capsys.readouterr()
    assert main(["predict", model, str(part)]) == 0
    assert capsys.readouterr() == ("prediction\n1\n1\n1\n", "")
    assert main(["explain", model, str(part)]) == 0
    assert "price = €5 instead of $5" in capsys.readouterr().out
    part.write_text(csv(("price", ["$5"] * 3), ("age", [1, 2, 3]), ("label", [1, 1, 0])))
    assert main(["report", model, str(part), "--output", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out.endswith("accuracy 0.667 on 3 rows\n")


def test_python_hears_of_it_as_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"1,000",x\n,y\n" 2,500 ",NA \n')
    with pytest.warns(DataWarning, match="column 'a' holds numbers") as told:
        frame = read_table(path)
    assert len(told) == 3, "and of the spaces, twice"
    assert frame["a"].tolist()[::2] == [1000, 2500]
    assert pd.isna(frame["a"][1])
    assert frame["b"].tolist()[:2] == ["x", "y"]
    assert pd.isna(frame["b"][2])
    path.write_text("a;b\n1,000;x\n2,500;y\n")
    with pytest.raises(InputError, match="column 'a' holds '1,000', which may be 1000 or 1;"):
        read_table(path)
