"""All trees near the optimum, dosdt beside TreeFARMS: the same trees, and how long it takes to count them.

The tables are CSV files in the folder that the environment variable DOSDT_DATA names: separated by semicolons,
features 0 or 1, two classes, the label last. TreeFARMS is optional and needs an environment of its own:

    python -m venv treefarms-env && treefarms-env/bin/pip install treefarms
    DOSDT_DATA=folder python -m benchmarks.alternatives --treefarms-python treefarms-env/bin/python

TreeFARMS can leave out *trivial extensions*, splits whose two leaves predict the same. dosdt leaves out *useless*
splits, whose two leaves lose as much as one leaf would: these are the trivial ones and, where a leaf has as many rows
of either class, some that are not trivial only by how that tie is broken (TreeFARMS takes the second class there). So
both are compared with all such splits kept: that is the same set by definition, and trees are compared one by one.
What each counts without them stands beside it.

TreeFARMS takes a share of an objective that may be above the optimum, so that it can list trees beyond the bound:
they are counted beside (*lists*), and left out of the comparison by their exact objectives. It compares in single
precision, so a tree exactly at the bound may be missing. Seconds are those of the count with all such splits, without
reading the table or listing trees.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.common import guarded, header, line, machine, number
from benchmarks.harness import ROOT, call
from benchmarks.peer_runs import add_interpreter
from dosdt.errors import InputError

CASES = (
    ("monk1-train", "0.02", "0.1"),
    ("compas-binary", "0.01", "0.05"),
    ("compas-binary", "0.005", "0.03"),
    ("fico_binary", "0.02", "0.05"),
)
WORKER = Path(__file__).with_name("alternatives_worker.py")
TITLES = [
    "data",
    "λ",
    "within",
    "trees",
    "the same",
    "TreeFARMS lists",
    "without useless",
    "TreeFARMS without trivial",
    "dosdt, s",
    "TreeFARMS, s",
]


def ask(python: str, program: str, case: tuple[str, str, str], most: int, seconds: float) -> dict[str, Any]:
    """Return what a program says about one case; what went wrong is in it too."""
    folder = os.environ.get("DOSDT_DATA")
    if not folder:
        raise InputError("DOSDT_DATA is not set; set it to the folder with the binarised tables")
    path = Path(folder) / f"{case[0]}.csv"
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; correct DOSDT_DATA or name other data")
    own = {"PYTHONPATH": str(ROOT)} if program == "dosdt" else {}
    command = [python, str(WORKER), program, str(path), case[1], case[2], str(most)]
    try:
        return call(command, "", seconds, own)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {seconds:g} s"}


def row(case: tuple[str, str, str], options: argparse.Namespace) -> tuple[str, bool]:
    """Return a line of the table, and whether the programs agree."""
    ours = ask(sys.executable, "dosdt", case, options.most, options.time_limit)
    if "error" in ours:
        raise InputError(f"dosdt on {case[0]}: {ours['error']}")
    theirs: dict[str, Any] = {}
    if options.treefarms_python:
        theirs = ask(options.treefarms_python, "treefarms", case, options.most, options.time_limit)
    same = theirs.get("error", "-")
    if "trees" in theirs:
        same = "yes" if ours["trees"] == theirs["trees"] else f"no, {theirs['trees']:,}"
        if same == "yes" and ours["digest"]:
            same = "yes, every tree" if ours["digest"] == theirs["digest"] else "no, other trees"
    cells = [f"{ours['trees']:,}", same, _count(theirs.get("all"))]
    cells += [f"{ours['fewer']:,}", _count(theirs.get("fewer"))]
    times = [number(ours["seconds"]), number(theirs.get("seconds"))]
    return line([case[0], case[1], f"{100 * float(case[2]):g} %", *cells, *times]), not same.startswith("no")


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def parse(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description="Compare sets of near-optimal trees; see the top of this file.")
    parser.add_argument("cases", nargs="*", metavar="DATA=λ=SHARE", help="default: a few of each kind")
    parser.add_argument("--most", type=int, default=5_000, metavar="N", help="compare up to so many trees one by one")
    parser.add_argument("--time-limit", type=float, default=300.0, metavar="SECONDS", help="per run; default: 300")
    add_interpreter(parser, "TreeFARMS", "treefarms")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Print the table; return 1 if the programs do not agree."""
    options = parse(arguments)
    cases = [tuple(text.split("=")) for text in options.cases] or list(CASES)
    for case in cases:
        if len(case) != 3:
            raise InputError(f"a case is DATA=λ=SHARE, such as compas-binary=0.01=0.05; got {'='.join(case)!r}")
    if not options.treefarms_python:
        print("TreeFARMS is left out; pass --treefarms-python with an interpreter that has it\n")
    print(f"{machine()}.\n\n{header(TITLES, words=3)}")
    agree = True
    for data, penalty, share in cases:
        text, same = row((data, penalty, share), options)
        agree &= same
        print(text, flush=True)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(guarded("alternatives", main, sys.argv[1:]))
