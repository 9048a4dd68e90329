"""``dosdt fit --certificate`` and ``dosdt verify``, from their arguments to their exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from dosdt.cli import main

ROWS = [(a, c, k) for a in (1, 2, 3, 4) for c in ("red", "blue") for k in (0, 1)]
HEADER = "weight,a,label,colour,noise\n"
LINES = [f"{1 + k},{a},{'yes' if a <= 2 and c == 'red' else 'no'},{c},{k}\n" for a, c, k in ROWS]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(HEADER + "".join(LINES))
    return "data.csv"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_fit_and_verify(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--target", "label", "--weights", "weight", "--regularization", "0.05", "--certificate", "proof")
    code, out, err = run(capsys, "fit", data, *options, "--quiet")
    assert (code, err) == (0, "")
    assert "\ncertificate " in out
    code, out, err = run(capsys, "verify", "proof", data)
    assert (code, err) == (0, "")
    assert out.startswith("verified: objective 3/20 is optimal (")
    assert out.endswith((" facts)\n", " fact)\n"))


def test_other_rows_are_refused(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "fit", data, "--target", "label", "--certificate", "proof", "--quiet")[0] == 0
    Path("less.csv").write_text(HEADER + "".join(LINES[1:]))
    assert run(capsys, "verify", "proof", "less.csv") == (
        1,
        "refused: field 'fingerprint' is not that of these data: rows, labels or weights differ\n",
        "",
    )
    Path("fewer.csv").write_text("".join(line.split(",", 1)[1] for line in [HEADER, *LINES]))
    code, out, _ = run(capsys, "verify", "proof", "fewer.csv")
    assert (code, out) == (1, "refused: field 'columns' names 'weight', which the data lack\n")
    content = Path("proof").read_bytes()
    Path("proof").write_bytes(content[:-100])
    assert run(capsys, "verify", "proof", data)[:2] == (
        1,
        "refused: the file ends in the middle: it was cut off, or claims more than it holds\n",
    )


def test_data_sets_by_name_and_other_models(data: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(capsys, "fit", "monk1", "--regularization", "0.02", "--certificate", "proof", "--model", "model")[0] == 0
    )
    code, out, _ = run(capsys, "verify", "proof", "monk1")
    assert code == 0
    assert out.startswith("verified: objective 7/50 is optimal (")
    assert run(capsys, "verify", "model", "monk1")[:2] == (
        1,
        "refused: the file is not a dosdt certificate; write one with 'dosdt fit --certificate'\n",
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["verify", "none", "data.csv"], "cannot read certificate 'none': No such file or directory"),
        (["verify", "data.csv", "none"], "there is no file 'none' and no data set of that name"),
        (["verify", "data.csv"], "Missing argument 'DATA'"),
        (["fit", "data.csv", "--certificate", "no/where"], "cannot write 'no/where': there is no folder 'no'"),
        (["fit", "data.csv", "--certificate", "data.csv"], "'data.csv' would overwrite the input"),
        (
            ["fit", "data.csv", "--certificate", "x", "--model", "./x"],
            "cannot hold both the model and the certificate",
        ),
        (
            ["fit", "data.csv", "--certificate", "x", "--algorithm", "leafset"],
            "a certificate needs algorithm=\"subproblem\", not 'leafset'",
        ),
    ],
)
def test_bad_input(arguments: list[str], message: str, data: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
    assert not Path("x").exists()
