"""Shell completion, through the scripts that shells load."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import dosdt
from dosdt import completion
from dosdt.leafset.policies import POLICIES
from dosdt.solver import ALGORITHMS, SWITCHES

ROOT = Path(dosdt.__file__).parents[1]
HEAVY = ("numpy", "pandas", "sklearn", "pyarrow", "ray", "matplotlib", "gmpy2")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A folder of its own, with `dosdt` on the path and two tables."""
    program = tmp_path / "bin" / "dosdt"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m dosdt "$@"\n')
    program.chmod(0o755)
    (tmp_path / "winners.csv").write_text("age,height,a name,label\n1,2,3,4\n")
    (tmp_path / "other.csv").write_text("a;b;c\n1;2;3\n")
    return {name: value for name, value in os.environ.items() if not name.startswith(("_TYPER", "DOSDT", "COMP"))} | {
        "PYTHONPATH": str(ROOT),
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }


def bash(script: str, environment: dict[str, str]) -> str:
    # Two commands, so that the shell stays: it is looked for among the parents.
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\ntrue"],
        env=environment,
        cwd=environment["HOME"],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


# Each command line ends where Tab is pressed; the script loads completion as an interactive bash would.
TAB = """
eval "$(dosdt --show-completion)"
function tab() {
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=()
    "$(complete -p dosdt | sed 's/.*-F \\([^ ]*\\) .*/\\1/')" dosdt "${COMP_WORDS[$COMP_CWORD]}"
    IFS=' '; echo "${COMPREPLY[*]}"
}
"""
LINES: dict[tuple[str, ...], str] = {
    ("dosdt", "fi"): "fit",
    ("dosdt", "fit", "win"): "wine winners.csv",
    ("dosdt", "fit", "oth"): "",  # the shell itself knows files
    ("dosdt", "fit", "wine", "--algorithm", ""): "subproblem leafset",
    ("dosdt", "fit", "wine", "--policy", "l"): "lower_bound lifo",
    ("dosdt", "fit", "wine", "--without", "s"): "similarity",
    ("dosdt", "fit", "wine", "--algorithm", "leafset", "--without", "leaf"): "leaf_permutation leaf_cache",
    ("dosdt", "fit", "wine", "--thresholds", "q"): "quantile",
    ("dosdt", "fit", "winners.csv", "--target", ""): "age height label",
    ("dosdt", "fit", "other.csv", "--weights", ""): "a b c",
    ("dosdt", "show", "model.json", "--format", "p"): "python",
    ("dosdt", "resume", "search.dosdt", "--time-"): "--time-limit",
    ("dosdt", "fit", "wine", "--model", ""): "",
}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash(environment: dict[str, str]) -> None:
    calls = "\n".join("tab " + " ".join(f"'{word}'" for word in line) for line in LINES)
    said = bash(TAB + calls, environment).splitlines()
    assert dict(zip(LINES, said, strict=True)) == LINES


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_it_installs_itself(environment: dict[str, str]) -> None:
    assert "bash completion installed" in bash("dosdt --install-completion", environment)
    assert "dosdt.sh" in (Path(environment["HOME"]) / ".bashrc").read_text()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells(shell: str, environment: dict[str, str]) -> None:
    """What their scripts ask for; where a shell is installed, it also reads the script."""
    shown = bash("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION=1 dosdt --show-completion " + shell, environment)
    assert f"complete_{shell}" in shown
    ask = f"_TYPER_COMPLETE_FISH_ACTION=get-args _DOSDT_COMPLETE=complete_{shell} _TYPER_COMPLETE_ARGS="
    offered = bash(f"{ask}'dosdt fit wine --algorithm lea' dosdt", environment)
    assert "leafset" in offered
    assert "over sets of leaves" in offered
    if shutil.which(shell):
        subprocess.run([shell, "-n", "/dev/stdin"], input=shown, text=True, check=True)


def test_nothing_heavy_is_imported(environment: dict[str, str]) -> None:
    code = (
        "import atexit, sys; from dosdt.cli import main;"
        f"atexit.register(lambda: print([name for name in {HEAVY!r} if name in sys.modules]));"
        "main()"
    )
    asked = {"_DOSDT_COMPLETE": "complete_bash", "COMP_WORDS": "dosdt fit win", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | asked, cwd=environment["HOME"], capture_output=True, text=True
    )
    assert done.stdout.split("\n")[:2] == ["wine", "winners.csv"]
    assert done.stdout.strip().endswith("[]")


def test_what_is_offered_is_what_there_is() -> None:
    assert tuple(completion.ALGORITHMS) == ALGORITHMS
    assert tuple(completion.POLICIES) == tuple(POLICIES)
    assert SWITCHES["subproblem"] == completion.SUBPROBLEM_BOUNDS
