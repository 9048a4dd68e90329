"""What runs of several solvers on the same cases come to: rows of a Markdown table, and a summary."""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any, NamedTuple

from benchmarks.common import number
from benchmarks.peer_runs import Case, Run

WORTH_COMPARING = 0.05  # seconds of the faster peer; below, what is measured is mostly overhead


class Ratio(NamedTuple):
    """Seconds of the faster peer over those of dosdt; `sign` is "≥" or "≤" where a limit cut one of them short."""

    value: float
    sign: str
    peer_seconds: float


class Row(NamedTuple):
    """One case: what every solver did, by name, dosdt first."""

    case: Case
    runs: dict[str, Run]

    @property
    def ratio(self) -> Ratio | None:
        """How dosdt compares, or None if nothing can be said."""
        own = self.runs["dosdt"]
        peers = [run for name, run in self.runs.items() if name != "dosdt" and run.seconds > 0]
        finished = [run.seconds for run in peers if run.proved]
        if not own.seconds or not peers or (not finished and not own.proved):
            return None
        sign = ("" if own.proved else "≤") if finished else "≥"
        # Where none finished, the faster one may have been about to when the first of them was stopped.
        seconds = min(finished or [run.seconds for run in peers])
        return Ratio(seconds / own.seconds, sign, seconds)

    @property
    def agrees(self) -> bool:
        """Whether all proved objectives are the same, and none unproved is better."""
        proved = {run.objective for run in self.runs.values() if run.proved}
        others = [run.objective for run in self.runs.values() if run.objective is not None]
        return len(proved) <= 1 and all(min(others) == objective for objective in proved)


def header(names: list[str]) -> str:
    """Return the head of the table."""
    titles = ["data", "λ", "objective", "leaves", *(f"{name}, s" for name in names)]
    titles += ["ratio", "proved", *(f"{name}, MB" for name in names), "expansions", "µs each"]
    return f"| {' | '.join(titles)} |\n|---|---|---|{'---:|' * (len(titles) - 3)}"


def line(row: Row) -> str:
    """Return one row of the table."""
    own, runs, ratio = row.runs["dosdt"], row.runs.values(), row.ratio
    proved = [name for name, run in row.runs.items() if run.proved]
    each = 1e6 * own.search_seconds / own.expansions if own.expansions else None
    cells = [row.case.data, row.case.regularization, objective_cell(row), number(own.leaves)]
    cells += [("> " if run.unfinished else "") + number(run.seconds or None) for run in runs]
    cells += ["-" if ratio is None else f"{ratio.sign} {number(ratio.value)}".strip()]
    cells += ["all" if len(proved) == len(runs) else ", ".join(proved) or "none"]
    cells += [number(round(run.memory / 1e6) or None) for run in runs]
    return f"| {' | '.join([*cells, number(own.expansions), number(each)])} |"


def objective_cell(row: Row) -> str:
    """Return the best objective, and whoever found another or failed."""
    known = [run.objective for run in row.runs.values() if run.objective is not None]
    parts = [f"{min(known)}"] if known else []
    for name, run in row.runs.items():
        if run.objective is None:
            parts.append(f"{name}: {run.status}")
        elif run.objective != min(known):
            parts.append(f"{name}: +{float(run.objective - min(known)):.2g}{', proved' * run.proved}")
    return "; ".join(parts).replace("|", "/")


def summary(rows: list[Row], names: list[str]) -> dict[str, Any]:
    """Return what the table comes to."""
    ratios = [(row, r) for row in rows if (r := row.ratio) and r.peer_seconds >= WORTH_COMPARING]
    least = min(ratios, key=lambda pair: pair[1].value, default=None)
    pairs = [(row.runs["dosdt"], row.runs["GOSDT"]) for row in rows if "GOSDT" in names]
    pairs = [(own, gosdt) for own, gosdt in pairs if own.memory and gosdt.memory]
    return {
        "cases": len(rows),
        "proved": {name: sum(row.runs[name].proved for row in rows) for name in names},
        "compared": len(ratios),
        "at_least": sum(ratio.sign == "≥" for _, ratio in ratios),
        "at_most": sum(ratio.sign == "≤" for _, ratio in ratios),
        "geometric_mean": geometric_mean([ratio.value for _, ratio in ratios]) if ratios else None,
        "smallest": least and least[1].value,
        "smallest_case": least and f"{least[0].case.data} at {least[0].case.regularization}",
        "disagreements": [f"{r.case.data} at {r.case.regularization}" for r in rows if not r.agrees],
        "misreported": [
            f"{name} on {row.case.data} at {row.case.regularization}"
            for row in rows
            for name, run in row.runs.items()
            if not run.consistent
        ],
        "more_memory_than_gosdt": sum(own.memory > gosdt.memory for own, gosdt in pairs),
        "more_memory_in_fit": sum(own.growth > gosdt.growth for own, gosdt in pairs),
    }


def sentences(result: dict[str, Any]) -> str:
    """Return the summary as Markdown."""
    answer = [f"proved: {', '.join(f'{k} {v}' for k, v in result['proved'].items())} of {result['cases']} cases"]
    if result["compared"]:
        answer += [
            f"ratio to the faster peer, over the {result['compared']} cases where it needs {WORTH_COMPARING} s or "
            f"more: geometric mean {number(result['geometric_mean'])}, smallest {number(result['smallest'])} "
            f"({result['smallest_case']}); {result['at_least']} of them are at least what is shown, as no peer "
            f"finished, and {result['at_most']} at most, as dosdt did not"
        ]
    if len(result["proved"]) > 1:
        apart = ", ".join(result["disagreements"])
        answer += [f"objectives differ: {apart}" if apart else "objectives agree everywhere"]
    if result["misreported"]:
        answer += [f"own objective is not that of the tree: {', '.join(result['misreported'])}"]
    if "GOSDT" in result["proved"]:
        answer += [
            f"dosdt's process is larger than GOSDT's in {result['more_memory_than_gosdt']} cases; its `fit` adds "
            f"more to what imports and data take in {result['more_memory_in_fit']}"
        ]
    return "\n".join(f"- {sentence}" for sentence in answer)
