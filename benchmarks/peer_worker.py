"""One run of one solver on one table; prints what it came to as a line of JSON.

Called by `peers.py` in a fresh process, with the interpreter of the solver's own environment: beside the solver this
file needs numpy only. All solvers are estimators in scikit-learn's manner, so that all are timed,
asked and judged by the same lines.

    python peer_worker.py SOLVER FILE λ SECONDS GIGABYTES [DEPTH]
    python peer_worker.py SOLVER --probe
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import numpy as np
from worker import limit_memory, peak_memory  # beside this file, which is run as a script


class Solver(NamedTuple):
    """How to make an estimator from λ (as text), seconds and a depth, and what to ask it after `fit`."""

    package: str
    estimator: Callable[[str, float, int | None], Any]
    outcome: Callable[[Any], dict[str, Any]]


def dosdt(regularization: str, seconds: float, depth: int | None) -> Any:
    """Return dosdt's classifier; it takes λ as the decimal that was typed."""
    from dosdt import DOSDTClassifier

    return DOSDTClassifier(regularization, algorithm="subproblem", time_limit=seconds, max_depth=depth)


def dosdt_outcome(model: Any) -> dict[str, Any]:
    """Return status, leaves, its own objective, and the work done."""
    return {
        "status": model.status_,
        "proved": model.status_ == "optimal",
        "leaves": model.n_leaves_,
        "reported": float(model.objective_),
        "expansions": model.stats_["expanded"],
        "search_seconds": model.stats_["search_seconds"],
    }


def gosdt(regularization: str, seconds: float, depth: int | None) -> Any:
    """Return GOSDT's classifier, without a depth limit, a guess, or its own lower limit on λ."""
    from gosdt import GOSDTClassifier

    if depth is not None:
        raise ValueError("GOSDT is compared without limits on depth only")
    return GOSDTClassifier(regularization=float(regularization), allow_small_reg=True, time_limit=math.ceil(seconds))


def gosdt_outcome(model: Any) -> dict[str, Any]:
    """Return status and leaves; its objective is in single precision."""
    status = model.result_.status.name.lower()
    leaves, stack = 0, [model.trees_[0].tree]
    while stack:
        node = stack.pop()
        if hasattr(node, "prediction"):
            leaves += 1
        else:
            stack += [node.left_child, node.right_child]
    return {
        "status": {"converged": "optimal", "timeout": "time_limit"}.get(status, status),
        "proved": status == "converged",
        "leaves": leaves,
        "reported": model.result_.model_loss + model.regularization * leaves,
    }


def streed(regularization: str, seconds: float, depth: int | None) -> Any:
    """Return STreeD's classifier; 20 is the largest depth it takes."""
    from pystreed import STreeDClassifier

    if depth is not None:
        return STreeDClassifier("accuracy", max_depth=depth, time_limit=seconds)
    return STreeDClassifier(
        "cost-complex-accuracy", max_depth=20, cost_complexity=float(regularization), time_limit=seconds
    )


def streed_outcome(model: Any) -> dict[str, Any]:
    """Return status and leaves; it reports an accuracy and penalises splits, one fewer than leaves."""
    proved, leaves = model.fit_result.is_optimal(), model.get_n_leaves()
    penalty = model.cost_complexity if model.optimization_task == "cost-complex-accuracy" else 0
    return {
        "status": "optimal" if proved else "time_limit",
        "proved": proved,
        "leaves": leaves,
        "reported": 1 - model.fit_result.score() + penalty * leaves,
    }


def dl85(_regularization: str, seconds: float, depth: int | None) -> Any:
    """Return DL8.5's classifier, which minimises errors within a depth."""
    from pydl85 import DL85Classifier

    class OfBooleans(DL85Classifier):  # type: ignore[misc]
        """Takes a table of booleans as the others do."""

        def fit(self, X: Any, y: Any) -> Any:
            return super().fit(X.astype(int), y)

        def predict(self, X: Any) -> Any:
            return super().predict(X.astype(int))

    return OfBooleans(max_depth=2 if depth is None else depth, min_sup=1, time_limit=math.ceil(seconds))


def dl85_outcome(model: Any) -> dict[str, Any]:
    """Return status and leaves."""
    leaves, stack = 0, [model.tree_]
    while stack:
        node = stack.pop()
        if "feat" in node:
            stack += [node["left"], node["right"]]
        else:
            leaves += 1
    return {
        "status": "time_limit" if model.timeout_ else "optimal",
        "proved": not model.timeout_,
        "leaves": leaves,
    }


SOLVERS = {
    "dosdt": Solver("dosdt", dosdt, dosdt_outcome),
    "GOSDT": Solver("gosdt", gosdt, gosdt_outcome),
    "STreeD": Solver("pystreed", streed, streed_outcome),
    "DL8.5": Solver("pydl8.5", dl85, dl85_outcome),
}


def read(path: str) -> tuple[Any, Any]:
    """Return 0/1 features as booleans, shape (n, p), and labels as 0, 1, ..., shape (n,)."""
    # Not with pandas: its memory would be counted to solvers that do not load it themselves.
    table = np.loadtxt(path, dtype=str, delimiter=";", quotechar='"', comments=None, skiprows=1, ndmin=2)
    features = table[:, :-1]
    if not np.isin(features, ("0", "1")).all():
        raise ValueError(f"{path} has features other than 0 and 1; the tables must be binarised")
    return features == "1", np.unique(table[:, -1], return_inverse=True)[1]


def solve(solver: Solver, X: Any, y: Any, regularization: str, seconds: float, depth: int | None) -> dict[str, Any]:
    """Fit and judge; the clock runs during `fit` only, after all imports."""
    model = solver.estimator(regularization, seconds, depth)
    memory_before = peak_memory()
    start = time.perf_counter()
    try:
        model.fit(X, y)
        outcome = None
    except MemoryError:
        outcome = {"status": "memory_limit", "proved": False}
    measured = {
        "seconds": time.perf_counter() - start,
        "memory": peak_memory(),
        "memory_before": memory_before,
    }
    if outcome is not None:
        return outcome | measured
    return {
        **solver.outcome(model),
        **measured,
        "rows": len(y),
        "errors": int(np.count_nonzero(np.asarray(model.predict(X)) != y)),
    }


def probe(solver: Solver) -> dict[str, Any]:
    """Show that the solver works here; some can be imported beside versions of others that they cannot use."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, bool)
    assert solve(solver, X, X[:, 0].astype(int), "0.1", 5, None)["errors"] == 0
    try:
        return {"version": version(solver.package)}
    except PackageNotFoundError:  # run from its sources, as dosdt may be
        return {"version": getattr(__import__(solver.package), "__version__", "")}


def main(arguments: list[str]) -> None:
    """Print one line of JSON; an error is told in it too."""
    solver = SOLVERS[arguments[0]]
    try:
        if arguments[1] == "--probe":
            answer = probe(solver)
        else:
            path, regularization, seconds, gigabytes, *depth = arguments[1:]
            limit_memory(float(gigabytes))
            answer = solve(solver, *read(path), regularization, float(seconds), int(depth[0]) if depth else None)
    except Exception as error:
        answer = {"error": " ".join(f"{type(error).__name__}: {error}".split())}
    # Solvers print warnings of their own, so this is the last line and not the only one.
    print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
