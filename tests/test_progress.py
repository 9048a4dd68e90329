"""The log of a search where it is read: on terminals of several widths, in pipes and in files."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from random_problems import random_problem

import dosdt
from dosdt.cli import main
from dosdt.panel import folded
from dosdt.solver import ALGORITHMS, TracePoint, solve

pyte = pytest.importorskip("pyte")

ROOT = Path(dosdt.__file__).parents[1]
ROWS = 60


class Seen(NamedTuple):
    """What a terminal shows at the end, and the live lines that it showed before."""

    lines: list[str]
    live: list[str]
    raw: bytes


def on_terminal(*arguments: object, columns: int, **variables: str) -> Seen:
    """Run the command with a terminal as stdout and stderr, and look at it all the time."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | variables
    command = [sys.executable, "-m", "dosdt", *map(str, arguments)]
    screen = pyte.HistoryScreen(columns, ROWS, history=1000)
    stream = pyte.ByteStream(screen)
    live: list[str] = []
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as run:
        os.close(theirs)
        raw = b""
        for block in blocks(ours):
            raw += block
            stream.feed(block)
            live += [line.rstrip() for line in screen.display if line[0] in "|/-\\" and line[1:2] == " "]
    os.close(ours)
    assert run.returncode == 0, screen.display
    above = ["".join(row[x].data for x in range(columns)) for row in screen.history.top]
    lines = [line.rstrip() for line in (*above, *screen.display)]
    while lines and not lines[-1]:
        lines.pop()
    return Seen(lines, live, raw)


def blocks(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            block = os.read(descriptor, 4096)
        except OSError:  # the other side is closed
            return
        if not block:
            return
        yield block


@pytest.fixture
def hard(tmp_path: Path) -> Path:
    """A table whose proof takes far longer than any test; the names are long."""
    rng = np.random.default_rng(7)
    names = [f"a rather long name of a measurement, number {j}" for j in range(25)]
    table = pd.DataFrame(rng.integers(0, 2, (400, 26)), columns=[*names, "label"])
    path = tmp_path / "hard.csv"
    table.to_csv(path, index=False)
    return path


def numbers(line: str) -> list[str]:
    return line[1:].split()


def test_80_columns(hard: Path) -> None:
    seen = on_terminal("fit", hard, "--regularization", "0.005", "--time-limit", "0.7", columns=80)
    header = next(k for k, line in enumerate(seen.lines) if "incumbent" in line)
    assert seen.lines[header].split() == ["time", "expanded", "open", "cached", "incumbent", "leaves", "bound", "gap"]
    end = next(k for k, line in enumerate(seen.lines) if line.startswith("╭"))
    log = seen.lines[header + 1 : end]
    assert len(log) >= 2
    for line in log:
        assert line[0] in " *+="
        assert len(numbers(line)) == 8
        assert len(line) == len(seen.lines[header])
    # It was alive, in the same columns, and is gone.
    assert seen.live
    assert all(len(line) == len(seen.lines[header]) for line in seen.live)
    assert not any(line.startswith(("|", "/", "-", "\\")) for line in seen.lines)
    # The answer stands in a frame, whole.
    frame = seen.lines[end:]
    assert len({len(line) for line in frame}) == 1
    assert len(frame[0]) <= 80
    assert "time_limit" in frame[0]
    assert all(line[0] in "│╭╰" and line[-1] in "│╮╯" for line in frame)
    assert b"\x1b[?25h" in seen.raw, "the cursor is back"


@pytest.mark.parametrize("columns", [45, 30])
def test_a_narrow_terminal(hard: Path, columns: int) -> None:
    seen = on_terminal("fit", hard, "--regularization", "0.005", "--time-limit", "0.5", columns=columns)
    header = next(k for k, line in enumerate(seen.lines) if "incumbent" in line)
    names = seen.lines[header].split()
    assert {"time", "incumbent", "gap"} <= set(names)
    log = [line for line in seen.lines[header + 1 :] if re.search(r"\d%$", line)]
    assert len(log) >= 2
    assert all(len(numbers(line)) == len(names) for line in log)
    assert seen.live
    framed = any(line.startswith("╭") for line in seen.lines)
    assert framed == (columns >= 40)


@pytest.mark.parametrize(
    ("options", "variables"),
    [(["--quiet"], {}), (["--json"], {}), ([], {"TERM": "dumb"})],
    ids=["quiet", "json", "dumb"],
)
def test_nothing_that_moves(hard: Path, options: list[str], variables: dict[str, str]) -> None:
    seen = on_terminal(
        "fit", hard, "--regularization", "0.005", "--time-limit", "0.2", *options, columns=100, **variables
    )
    assert not seen.live
    if "--json" in options:
        assert seen.raw.count(b"\n") == 1
        assert seen.raw.startswith(b"{")
    else:
        assert any("incumbent" in line for line in seen.lines) == (not options)
    if variables:
        assert b"\x1b" not in seen.raw


def test_log_file(hard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, checkpoint = tmp_path / "run.log", tmp_path / "search.dosdt"
    common: list[Any] = ["--quiet", "--log-file", log]
    assert (
        main(
            [
                *map(
                    str,
                    [
                        "fit",
                        hard,
                        *common,
                        "--regularization",
                        "0.0005",
                        "--time-limit",
                        "1.3",
                        "--checkpoint",
                        checkpoint,
                        "--json",
                    ],
                )
            ]
        )
        == 0
    )
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")
    first = log.read_text()
    assert first.startswith(f"dosdt {dosdt.__version__}, 20")
    assert first.splitlines()[1] == "400 rows, 400 distinct, 25 yes/no features, 2 classes, regularization 1/2000"
    assert "\x1b" not in first
    # Going on goes on in the same file.
    assert main([*map(str, ["resume", checkpoint, *common, "--time-limit", "0.3"])]) == 0
    both = log.read_text()
    assert both.startswith(first)
    assert both.count("dosdt ") == both.count("incumbent") == 2


def test_a_log_file_takes_nobodys_place(hard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def refused(*options: object) -> str:
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        assert main(["fit", str(hard), *map(str, options)]) == 2
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        return err

    assert "would overwrite the input" in refused("--log-file", hard)
    both = tmp_path / "both"
    assert "cannot hold both the model and the log" in refused("--model", both, "--log-file", both)
    assert "cannot hold both the checkpoint and the log" in refused("--checkpoint", both, "--log-file", both)
    assert "there is no folder" in refused("--log-file", tmp_path / "no" / "log")
    assert "--policy must be one of" in refused("--log-file", tmp_path / "log", "--policy", "luck")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_ends_the_log_and_not_the_search(hard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", str(hard), "--time-limit", "0.1", "--quiet", "--log-file", "/dev/full"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("status      time_limit")
    assert err == "dosdt: the log file ends here: No space left on device\n"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_who_looks_sees_every_better_tree_with_its_leaves(algorithm: str) -> None:
    """And the search takes the same course."""
    for seed in range(40):
        given = random_problem(seed)
        problem = given.problem
        seen: list[TracePoint] = []
        watched, unwatched = (
            solve(problem, algorithm=algorithm, warm_start=False, report=report) for report in (seen.append, None)
        )
        assert watched.objective == unwatched.objective == given.optimum()
        assert watched.stats["evaluated"] == unwatched.stats["evaluated"]
        assert (seen[-1].leaves, seen[-1].incumbent) == (watched.sketch.n_leaves, watched.objective)
        assert {point.incumbent for point in watched.trace} == {point.incumbent for point in seen}
        for point in seen:
            assert point.leaves is not None
            errors = (point.incumbent - point.leaves * problem.regularization) * problem.total_weight
            assert errors >= 0
            if given.weights is None and given.costs is None:
                assert errors.denominator == 1, "so many leaves, and a whole number of errors"


@pytest.mark.parametrize("width", [26, 30, 40, 60, 200])
def test_long_lines_of_a_tree_fold_beside_their_branches(width: int) -> None:
    words = "a column with a long name, in which there is much to read = yes"
    for lead in ("", "├─ yes: ", "│  └─ no: ", "   ├─ yes: "):
        parts = folded(lead + words, width)
        assert all(len(part) <= width for part in parts)
        assert parts[0].startswith(lead)
        beside = lead.replace("├─ yes:", "│      ").replace("└─ no:", "      ")
        assert all(part.startswith(beside) for part in parts[1:])
        assert " ".join([parts[0][len(lead) :], *(part[len(beside) :] for part in parts[1:])]) == words
    leaf = folded("│  ├─ yes: predict a class with a long name   (40 of 156, 71 %)", max(width, 30))
    assert leaf[-1].endswith("(40 of 156, 71 %)")
