"""The tour keeps its word: its scripts print what it shows, its code stands in them, and the notebook runs."""

from __future__ import annotations

import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from test_readme import ROOT, blocks, in_consoles, run

EXAMPLES = ROOT / "examples"
# In a test so many rows will do, of which what depends on their number is not compared. On a slow machine two workers
# would start Ray, which has tests of its own.
SMALL = {"million_rows.py": ["--rows", "20000"], "cluster.py": ["--workers", "1"]}
# Which of several optimal trees is shown, how long it took and how many facts the proof has, may change.
UNCERTAIN = re.compile(r"seconds |search |workers |proof |because |there |would be |shares ")
LABELLED = re.compile(r"[a-z][a-z ]{0,10}  +\S| +\d+ +\d+ +\d")


def certain(text: str) -> list[str]:
    return [line for line in text.splitlines() if LABELLED.match(line) and not UNCERTAIN.match(line)]


def labels(text: str) -> list[str]:
    return [line.split("  ")[0] for line in text.splitlines() if LABELLED.match(line)]


def python(arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    script = ROOT / arguments[0]
    small = SMALL.get(script.name, [])
    monkeypatch.setattr(sys, "argv", [str(script), *arguments[1:], *small])
    monkeypatch.setattr(sys, "path", [str(EXAMPLES), *sys.path])
    capsys.readouterr()
    runpy.run_path(str(script), run_name="__main__")
    return capsys.readouterr().out


def test_commands_print_what_the_tour_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = set()
    for line, printed in in_consoles("docs/TOUR.md"):
        words = shlex.split(line)
        if words[0] == "dosdt":
            code, out, err = run(line)
            assert code == 0, err
            shown = certain(printed) or printed.splitlines()
            assert set(shown) <= set(out.splitlines()), line
        else:
            out = python(words[1:], monkeypatch, capsys)
            compared = labels if "million" in words[1] else certain
            assert compared(out) == compared(printed) != [], line
        ran.add(words[1])
    assert {f"examples/{script.name}" for script in EXAMPLES.glob("*.py")} - ran == {"examples/made_up.py"}
    assert (tmp_path / "tour" / "recidivism.html").read_text().startswith("<!doctype html>")


def test_code_stands_in_the_scripts() -> None:
    scripts = {script.name: script.read_text(encoding="utf-8") for script in EXAMPLES.glob("*.py")}
    found = blocks("python", "docs/TOUR.md")
    assert found
    for block in found:
        assert any(block in dedent_all(text) for text in scripts.values()), block


def dedent_all(text: str) -> str:
    """Return a script and, after it, its functions' bodies without their indentation."""
    bodies = re.findall(r"(?:^(?:    .*)?\n)+", text, re.MULTILINE)
    return text + "\n".join(dedent(body) for body in bodies)


def test_notebook_runs_and_says_what_is_stored(tmp_path: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    for script in EXAMPLES.glob("*.py"):
        shutil.copy(script, tmp_path)
    stored = nbformat.read(EXAMPLES / "recidivism.ipynb", as_version=4)
    ours = nbformat.from_dict(stored)
    fresh = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.source) for cell in ours.cells if cell.cell_type == "code"]
    )
    # The kernel need not find the package installed.
    fresh.cells[0].source = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + fresh.cells[0].source
    client = nbclient.NotebookClient(
        fresh, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    told = [certain_outputs(cell) for cell in stored.cells if cell.cell_type == "code"]
    assert [certain_outputs(cell) for cell in fresh.cells] == told
    assert any("optimal" in text for texts in told for text in texts)
    kinds = {kind for cell in fresh.cells for output in cell.outputs for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds
    assert (tmp_path / "tour" / "recidivism.html").exists()


def certain_outputs(cell: object) -> list[str]:
    """Return what a cell printed or answered, without tables, pictures and what may differ between optimal trees."""
    texts = []
    for output in cell.outputs:  # type: ignore[attr-defined]
        assert output.output_type != "error", output
        if output.output_type == "stream" and output.name == "stdout":
            # What is printed may come in one piece or in several.
            texts += [line for line in output.text.splitlines() if line and not UNCERTAIN.match(line)]
        elif set(output.get("data", {})) == {"text/plain"}:
            texts.append(output.data["text/plain"])
    return [re.sub(r"\(\d+ facts\)", "", text) for text in texts]
