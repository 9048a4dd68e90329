"""Runs all experiments, one after the other, each in a process of its own, and says how it went.

    python -m benchmarks            # within an hour on two cores
    python -m benchmarks --full     # with the paper's limits: 30 minutes a run
    python -m benchmarks --only trees --only traces

Peers other than CART and BinOCT take part if `--peers` names a folder with environments `gosdt`, `streed` and `dl85`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks import results
from benchmarks.common import guarded, header, line, machine
from benchmarks.data import available
from benchmarks.harness import ROOT
from dosdt.files import write_atomically

HARD = ["compas-binary=0.005", "compas-binary=0.001", "monk1-train=0.01", "tic-tac-toe=0.03"]
"""Data sets, each with λ, on which bounds and policies differ."""
QUICK = {
    "searchspace": [],
    "mistakes": [],
    "accuracy": ["--time-limit", "20", "--jobs", "2"],
    "traces": ["--time-limit", "40"],
    "scalability": ["--time-limit", "30", "--repeat", "3"],
    "ablation": [*HARD, "--time-limit", "10"],
    "policies": [*HARD, "--time-limit", "20"],
    "trees": ["--time-limit", "90"],
    "crossvalidation": ["--time-limit", "10", "--jobs", "2", "--depths", "2", "3", "--binoct-folds", "3"],
    "depths": ["--time-limit", "10"],
    "peers": ["--time-limit", "10", "--stop-after", "7"],
}
"""Options of every experiment for an hour in all; their pages say what was cut short."""
FULL = {
    "searchspace": [],
    "mistakes": [],
    "accuracy": ["--time-limit", "1800"],
    "traces": ["--time-limit", "1800"],
    "scalability": ["--time-limit", "1800", "--repeat", "3"],
    "ablation": [*HARD, "--time-limit", "1800"],
    "policies": [*HARD, "--time-limit", "1800"],
    "trees": ["--time-limit", "1800"],
    "crossvalidation": ["--time-limit", "1800"],
    "depths": ["--time-limit", "1800"],
    "peers": ["--time-limit", "1800", "--repeat", "3"],
}
PEERS = {"peers": ("gosdt", "streed"), "depths": ("streed", "dl85")}
"""Which environments of `--peers` an experiment can use."""
SCALING = ["--data", "noise-2000x25", "--regularization", "0.004", "--workers", "2", "--project"]
SCRIPT = ROOT / "benchmarks" / "scaling.py"


def command(name: str, options: argparse.Namespace) -> list[str]:
    """Return how to run one experiment."""
    folder = Path(options.results)
    if name == "scaling":
        return [sys.executable, str(SCRIPT), *SCALING, "--json", str(folder / "scaling.json")]
    given = list((FULL if options.full else QUICK)[name])
    there = available()[0]
    given = [word for word in given if "=" not in word or word.partition("=")[0] in there]
    if name == "peers":
        given += ["--output", str(folder / "peers.md"), "--json", str(folder / "peers.json")]
    else:
        given += ["--results", options.results]
    if options.full:
        given += ["--memory-limit", f"{memory():.0f}"]
    for peer in PEERS.get(name, ()):
        python = Path(options.peers) / peer / "bin" / "python"
        if python.exists():
            given += [f"--{peer}-python", str(python)]
    return [sys.executable, "-m", f"benchmarks.{name}", *given]


def memory() -> float:
    """Return the gigabytes that this machine can spare for one run."""
    import psutil

    return max(1.0, 0.8 * psutil.virtual_memory().total / 1e9)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="benchmarks", description="Run all experiments.")
    parser.add_argument("--full", action="store_true", help="the paper's limits: 30 minutes a run; takes days")
    parser.add_argument("--only", action="append", choices=[*QUICK, "scaling"], metavar="NAME", help="repeatable")
    parser.add_argument("--results", default=results.FOLDER, metavar="FOLDER", help=f"default: {results.FOLDER}")
    parser.add_argument("--peers", default=".peers", metavar="FOLDER", help="environments of other solvers")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run the experiments; return 1 if one of them failed."""
    options = parse(arguments)
    folder = results.make_folder(options.results)
    missing = available()[1]
    where = f"{machine()}. {missing}".strip()
    print(f"{where}\n", flush=True)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    rows, worst = [], 0
    for name in options.only or [*QUICK, "scaling"]:
        start = time.monotonic()
        if name in PEERS and "DOSDT_DATA" not in os.environ:
            rows.append(line([name, "left out, it needs DOSDT_DATA", "0"]))
            continue
        with open(folder / f"{name}.log", "w", encoding="utf-8") as log:
            done = subprocess.run(command(name, options), stdout=log, stderr=log, env=environment, check=False)
        code = done.returncode
        rows.append(line([name, "done" if code == 0 else f"exit code {code}, see {name}.log", _minutes(start)]))
        print(rows[-1], flush=True)
        worst = max(worst, min(code, 1) if code >= 0 else 1)
    page = "\n".join([where, "", header(["experiment", "how it went", "minutes"], words=2), *rows])
    write_atomically(folder / "README.md", page + "\n")
    return worst


def _minutes(start: float) -> str:
    return f"{(time.monotonic() - start) / 60:.1f}"


if __name__ == "__main__":
    sys.exit(guarded("benchmarks", main, sys.argv[1:]))
