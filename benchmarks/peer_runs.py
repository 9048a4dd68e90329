"""Runs other solvers with interpreters of their own, and says what came of each.

Imports nothing large: on Linux a process starts with its parent's peak memory as its own, so a parent with numpy
loaded would hide what a small solver needs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, call

WORKER = Path(__file__).with_name("peer_worker.py")
_PROBE_SECONDS = 120.0


@dataclass(frozen=True)
class Solver:
    """A solver that was seen to work: its name, the interpreter to run it with, and its version."""

    name: str
    python: str
    version: str


@dataclass(frozen=True)
class Case:
    """A table and λ, as it was typed, and the most questions on a path if there is a limit."""

    data: str
    path: Path
    regularization: str
    max_depth: int | None = None


@dataclass(frozen=True)
class Run:
    """What one solver did with one case.

    Attributes
    ----------
    status : str
        ``optimal``, ``time_limit``, ..., ``killed`` if it did not heed the limit, or an error in words.
    proved : bool
        Whether the solver says that its tree is optimal.
    seconds : float
        Of `fit`; for a killed process, the limit; 0 after an error.
    objective : Fraction or None
        ``errors/N + λ·leaves``, exactly, from the tree's predictions and leaves.
    reported : float or None
        What the solver itself takes the objective to be.
    memory, memory_before : int
        Peak resident bytes of the process after `fit`, and before it; 0 where the system does not tell.
    expansions, search_seconds : number
        dosdt's count of subsets expanded, and the seconds they took; 0 for the others.
    """

    status: str
    proved: bool = False
    seconds: float = 0.0
    objective: Fraction | None = None
    leaves: int | None = None
    reported: float | None = None
    memory: int = 0
    memory_before: int = 0
    expansions: int = 0
    search_seconds: float = 0.0

    @property
    def unfinished(self) -> bool:
        """Whether it ran for `seconds` and would have needed more."""
        return not self.proved and self.seconds > 0

    @property
    def growth(self) -> int:
        """Bytes that `fit` added to the peak."""
        return self.memory - self.memory_before

    @property
    def consistent(self) -> bool:
        """Whether the solver's own objective is that of its tree, within what single precision can tell."""
        if self.objective is None or self.reported is None:
            return True
        return abs(float(self.objective) - self.reported) < 1e-5


def add_interpreter(parser: argparse.ArgumentParser, name: str, option: str) -> None:
    """Let a script be told which interpreter can import a solver."""
    variable = f"DOSDT_{option.upper()}_PYTHON"
    parser.add_argument(
        f"--{option}-python",
        default=os.environ.get(variable),
        metavar="PATH",
        help=f"interpreter that can import {name}; default: ${variable}",
    )


def find(name: str, python: str | None, option: str) -> Solver | str:
    """Return the solver if that interpreter can run it, else why not."""
    if not python:
        return f"left out; pass {option} with the interpreter of an environment that has it"
    try:
        answer = _work(python, [name, "--probe"], _PROBE_SECONDS)
    except subprocess.TimeoutExpired:
        return f"left out; {python} does not answer"
    except OSError as error:
        return f"left out; cannot run {python}: {error.strerror or error}"
    if "error" in answer:
        return f"left out; {python} cannot run it: {answer['error']}"
    return Solver(name, python, answer["version"])


def run(solver: Solver, case: Case, seconds: float, gigabytes: float) -> Run:
    """Run a solver on a case; one that does not heed the limit of time is killed some time after."""
    arguments = [solver.name, str(case.path), case.regularization, str(seconds), str(gigabytes)]
    if case.max_depth is not None:
        arguments.append(str(case.max_depth))
    try:
        answer = _work(solver.python, arguments, 1.5 * seconds + 60)
    except subprocess.TimeoutExpired:
        return Run("killed", seconds=seconds)
    if "error" in answer:
        return Run(answer["error"])
    if "errors" not in answer:
        return Run(**answer)
    errors, rows = answer.pop("errors"), answer.pop("rows")
    objective = Fraction(errors, rows) + Fraction(case.regularization) * answer["leaves"]
    return Run(objective=objective, **answer)


def _work(python: str, arguments: list[str], seconds: float) -> dict[str, Any]:
    own = {"PYTHONPATH": str(ROOT)} if arguments[0] == "dosdt" else {}
    return call([python, str(WORKER), *arguments], "", seconds, own)
