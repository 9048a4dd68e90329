"""The benchmark scripts run, on built-in data and on a folder of tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import dosdt
from dosdt.problem import Problem
from dosdt.solver import solve

ROOT = Path(dosdt.__file__).parents[1]


def run_script(name: str, *arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DOSDT_")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    if folder is not None:
        environment["DOSDT_DATA"] = str(folder)
    # Scaling is a script: its workers on Ray know nothing of this package.
    start = [str(ROOT / "benchmarks" / "scaling.py")] if name == "scaling" else ["-m", f"benchmarks.{name}"]
    command = [sys.executable, *start, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8", check=False)


def records(run: subprocess.CompletedProcess[str]) -> list[dict[str, str]]:
    """The rows of the first table, by column; the line above it names the machine."""
    machine, table = run.stdout.split("\n\n")[:2]
    assert "cores" in machine
    header, rule, *rows = table.splitlines()
    assert len(cells(header)) == len(cells(rule))
    return [dict(zip(cells(header), cells(row), strict=True)) for row in rows]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_built_in_data() -> None:
    run = run_script("leafset", "monk3", "--regularization", "0.02")
    assert (run.returncode, run.stderr) == (0, "")
    (row,) = records(run)
    assert list(row.values())[:5] == ["monk3", "0.02", "optimal", "79/900", "3"]
    cold, warm = map(int, row["evaluated, cold / warm"].split(" / "))
    assert cold > 0
    assert warm <= cold


def test_a_folder_and_a_limit(tmp_path: Path) -> None:
    rows = "".join(f"{a};{b};{c};{a ^ b ^ c}\n" for a in (0, 1) for b in (0, 1) for c in (0, 1))
    (tmp_path / "parity.csv").write_text(f"a;b;c;label\n{rows}")
    run = run_script("leafset", "parity", "--regularization", "0.01", "--time-limit", "0", folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    row = cells(run.stdout.splitlines()[-1])
    assert row[2] == "time_limit"
    assert "at least" in row[3]


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    run = run_script("leafset", "nothing", folder=tmp_path)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("leafset: error: there is no file")
    assert len(run.stderr.splitlines()) == 1


def test_peers_without_peers(tmp_path: Path) -> None:
    rows = [(a, b, c, a & (b | c)) for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3 + [(0, 0, 1, 1)]
    text = "".join(";".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "gate.csv").write_text(f'"a<1";b;c;label\n{text}')
    output, numbers = tmp_path / "table.md", tmp_path / "numbers.json"
    penalties = ("0.04", "0.01")
    options = [option for penalty in penalties for option in ("--regularization", penalty)]
    run = run_script("peers", "gate", *options, "--output", str(output), "--json", str(numbers), folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert output.read_text(encoding="utf-8") == run.stdout
    assert "GOSDT left out; pass --gosdt-python" in run.stdout
    assert "STreeD left out; pass --streed-python" in run.stdout
    assert "- proved: dosdt 2 of 2 cases" in run.stdout

    header, _, *table = [line for line in run.stdout.splitlines() if line.startswith("|")]
    columns = cells(header)
    printed = [dict(zip(columns, cells(line), strict=True)) for line in table]
    recorded = json.loads(numbers.read_text(encoding="utf-8"))["runs"]
    assert [row["λ"] for row in printed] == list(penalties)
    for penalty, row, record in zip(penalties, printed, recorded, strict=True):
        answer = solve(Problem.from_arrays([row[:3] for row in rows], [row[3] for row in rows], penalty))
        assert row["objective"] == record["objective"] == str(answer.objective)
        assert row["leaves"] == str(answer.sketch.n_leaves)
        assert (row["proved"], row["ratio"]) == ("all", "-")
        assert record["expansions"] == answer.stats["expanded"]


def test_peers_name_what_is_missing(tmp_path: Path) -> None:
    for folder, words in ((None, "DOSDT_DATA is not set"), (tmp_path, "there is no file")):
        run = run_script("peers", "nothing", folder=folder)
        assert (run.returncode, run.stdout) == (2, "")
        assert run.stderr.startswith(f"peers: error: {words}")
        assert len(run.stderr.splitlines()) == 1


def test_peers_go_on_without_one_that_cannot_run(tmp_path: Path) -> None:
    (tmp_path / "gate.csv").write_text("a;b;label\n0;0;0\n1;0;1\n")
    absent = str(tmp_path / "python")
    run = run_script("peers", "gate", "--regularization", "0.1", "--gosdt-python", absent, folder=tmp_path)
    assert run.returncode == 0
    assert f"GOSDT left out; cannot run {absent}" in run.stdout
    assert "- proved: dosdt 1 of 1 cases" in run.stdout


def test_rows(tmp_path: Path) -> None:
    rows = [(a, b, c, "yes" if a & (b | c) else "no") for a in (0, 1) for b in (0, 1) for c in (0, 1)] * 3
    rows.append((0, 0, 1, "yes"))
    text = "".join(",".join(map(str, row)) + "\n" for row in rows)
    (tmp_path / "gate.csv").write_text(f"a,b,c,label\n{text}")
    run = run_script("rows", "gate", "--times", "1", "20", "--regularization", "0.01", folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    once, often = records(run)
    assert (once["rows"], often["rows"]) == ("25", "500")
    answer = solve(Problem.from_arrays([row[:3] for row in rows], [row[3] for row in rows], "0.01"))
    for row in (once, often):
        assert row["objective"] == str(answer.objective)
        assert row["expansions"] == str(answer.stats["expanded"])
        assert int(row["rows a second"].replace(",", "")) > 0
    assert "proved objectives are equal" in run.stdout


def test_rows_without_a_proof() -> None:
    run = run_script("rows", "--times", "1", "--time-limit", "0")
    assert run.returncode == 1
    assert "(time_limit)" in records(run)[0]["objective"]
    assert "none is proved" in run.stdout


def test_width() -> None:
    run = run_script("width", "--thresholds", "10", "15", "--rows", "200", "--max-depth", "3")
    assert (run.returncode, run.stderr) == (0, "")
    few, more = records(run)
    assert (few["columns"], more["columns"]) == ("10", "15")
    assert (few["status"], few["gap, %"]) == ("optimal", "0.000")
    assert int(few["distinct rows"]) <= int(more["distinct rows"]) <= 200
    assert int(few["expansions"]) > 0


def test_all_ways_of_counting_agree() -> None:
    run = run_script("counting", "monk3")
    assert (run.returncode, run.stderr) == (0, "")
    table = records(run)
    assert [row["questions"] for row in table] == ["0", "2", "4"]
    assert all(float(row["all grandchildren"]) > 0 for row in table)


def test_scaling_is_measured_and_projected(tmp_path: Path) -> None:
    out = tmp_path / "scaling.json"
    options = ["--data", "noise-300x8", "--regularization", "0.01", "--workers", "2", "--project"]
    run = run_script("scaling", *options, "--most-recorded", "4", "--json", str(out))
    assert run.returncode == 0, run.stderr
    results = json.loads(out.read_text())
    one, two = results["measured"]
    assert (one["workers"], two["workers"]) == (1, 2)
    assert one["objective"] == two["objective"]
    projected = results["projected"]
    assert [point["workers"] for point in projected] == [2**k for k in range(11)]
    assert [point["recorded"] for point in projected] == [True] * 3 + [False] * 8
    # What Ray's workers did is what real members did in one process, unless a busy machine made them change places.
    if two["teams"] == 1:
        assert two["expanded"] == round(projected[1]["inflation"] * one["expanded"])


def test_leaf_sets_scale_in_the_same_script() -> None:
    run = run_script(
        "scaling", "--data", "noise-200x7", "--regularization", "0.02", "--algorithm", "leafset", "--project"
    )
    assert run.returncode == 0, run.stderr
    assert "| 1,024 | projected |" in run.stdout


def test_near_optimal_trees_without_the_peer(tmp_path: Path) -> None:
    rows = "".join(f"{a};{b};{c};{int(a == b)}\n" for a in (0, 1) for b in (0, 1) for c in (0, 1))
    (tmp_path / "equal.csv").write_text(f"a;b;c;label\n{rows}")
    run = run_script("alternatives", "equal=0.01=0.25", folder=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert "TreeFARMS is left out" in run.stdout
    # Two trees ask about a and b, in either order; a fifth leaf costs 0.01, and c saves nothing anywhere.
    row = cells(run.stdout.splitlines()[-1])
    assert row[:7] == ["equal", "0.01", "25 %", str(2 + 2 * 4), "-", "-", "2"]
    run = run_script("alternatives", "equal=0.01", folder=tmp_path)
    assert (run.returncode, run.stderr.count("\n")) == (2, 1)
