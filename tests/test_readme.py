"""The README keeps its word: its example runs as printed, and so do its commands."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import dosdt
from dosdt import bounds
from dosdt.cli import main
from dosdt.datasets import available

ROOT = Path(dosdt.__file__).parents[1]
DOCUMENTS = (
    "README.md",
    "docs/ARCHITECTURE.md",
    "docs/CERTIFICATE.md",
    "docs/EXPERIMENTS.md",
    "docs/PERFORMANCE.md",
    "docs/SCALING.md",
    "docs/TOUR.md",
    "benchmarks/README.md",
    "cluster/README.md",
)
# What a search finds is certain; which of several optimal trees, how many it saw and how fast, is not.
CERTAIN = ("status", "objective", "errors", "accuracy", "optimum", "up to", "trees", "columns", "predicts")


class Command(NamedTuple):
    """A command line of the README with what is printed below it."""

    line: str
    printed: str


def read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(language: str, document: str = "README.md") -> list[str]:
    """Return a document's fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(document), re.MULTILINE | re.DOTALL)


def in_consoles(document: str) -> Iterator[Command]:
    """Give every command that a document shows with what it prints."""
    for block in blocks("console", document):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, printed = part.partition("\n")
            yield Command(line, printed)


def commands() -> Iterator[Command]:
    """Give every `dosdt` command of the README: those in consoles, and those quoted in a sentence."""
    yield from in_consoles("README.md")
    prose = re.sub(r"^```.*?^```$", "", read("README.md"), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`(dosdt [a-z][^`]*)`", prose):
        yield Command(line, "")


def run(line: str) -> tuple[int, str, str]:
    """Run a command; return its exit code, stdout and stderr."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(shlex.split(line)[1:])
    return code, out.getvalue(), err.getvalue()


def certain(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(CERTAIN)]


def test_example_prints_what_the_readme_says() -> None:
    (example,) = blocks("python")
    assert len(example.split("\n")) <= 8  # a person reads it at a glance
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(example, "README.md", "exec"), {})
    assert out.getvalue() == blocks("text")[0]


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DOSDT_DATA", raising=False)
    offline = {info.name for info in available() if info.source != "openml"}
    ran = 0
    for line, printed in commands():
        words = shlex.split(line)
        assert words[0] == "dosdt"
        code, out, err = run(line)
        if words[1] in ("fit", "path", "alternatives") and words[2] not in offline:
            # The reader's own file: the command is understood, and all it lacks is the file.
            assert code == 2
            assert err.startswith(f"dosdt: error: there is no file {words[2]!r}")
            continue
        assert code == 0, err
        assert certain(out + err) == certain(printed)
        if words[1] == "show" and "sql" in words:
            assert out.startswith("CASE WHEN ")
            assert out.endswith('END AS "prediction"\n')
        ran += 1
    assert ran >= 3


def test_options_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")  # in a narrow terminal the help cuts names off
    helps = "".join(
        run(f"dosdt {command} --help")[1]
        for command in ("", "fit", "path", "alternatives", "explain", "predict", "show", "report", "resume", "submit")
    )
    # The benchmarks are scripts with options of their own.
    lines = [line for line in read("README.md").splitlines() if "benchmarks" not in line]
    for flag in set(re.findall(r"--[a-z][a-z-]+", "\n".join(lines))):
        assert flag in helps, flag


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", read(document)):
        if not target.startswith("https://"):
            assert ((ROOT / document).parent / target).exists(), target


def test_modules_named_in_the_architecture_exist() -> None:
    text = read("docs/ARCHITECTURE.md")
    for name in set(re.findall(r"\b((?:[a-z_]+/)*[a-z_]+\.py)\b", text)):
        assert (ROOT / "dosdt" / name).exists() or (ROOT / name).exists(), name
    for name in set(re.findall(r"`bounds\.(\w+)`", text)) - {"py"}:
        assert callable(getattr(bounds, name, None)), name
    for switch in bounds.SWITCHES:
        assert f"`{switch}`" in text, switch
