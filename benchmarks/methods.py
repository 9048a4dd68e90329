"""The methods as work for `harness.run`: each takes a case and says what its tree comes to, in the same words.

A case names its data as `data.load` says, λ as ``regularization`` (text), and the limits ``seconds`` and
``gigabytes``. ``proved`` is what the method claims: of its objective, over the trees that it looks at.
"""

from __future__ import annotations

import time
from fractions import Fraction
from math import isfinite
from typing import Any

from benchmarks import fits
from benchmarks.data import load
from benchmarks.worker import peak_memory

Case = dict[str, Any]
Record = dict[str, Any]


def dosdt(case: Case) -> Record:
    """Search by one of our algorithms; ``without`` names bounds to do without."""
    from dosdt.contract import Constraints
    from dosdt.limits import Limits
    from dosdt.problem import Problem
    from dosdt.solver import SWITCHES, solve

    train, test = load(case)
    start = time.perf_counter()
    problem = Problem.from_arrays(train.features, train.labels, case["regularization"])
    reduced = time.perf_counter() - start
    algorithm = case.get("algorithm", "subproblem")
    memory_before = peak_memory()
    answer = solve(
        problem,
        algorithm=algorithm,
        constraints=Constraints(max_depth=case.get("max_depth"), max_leaves=case.get("max_leaves")),
        limits=Limits(seconds=case["seconds"], memory=int(1e9 * case["gigabytes"])),
        policy=case.get("policy", "curiosity"),
        bounds=[name for name in SWITCHES[algorithm] if name not in case.get("without", ())],
        warm_start=case.get("warm_start", False),
    )
    columns = [column.source for column in problem.columns]
    nodes = [(columns[node.feature] if node.feature >= 0 else -1, *node[1:]) for node in answer.sketch.nodes]
    judged = fits.judged(nodes, train, test, case["regularization"])
    if Fraction(judged["objective"]) != answer.objective:
        raise ValueError(f"the tree costs {judged['objective']}, not {answer.objective}")
    return {
        "method": f"dosdt, {algorithm}",
        "status": answer.status.value,
        "proved": answer.status.value == "optimal",
        "seconds": answer.stats["search_seconds"],
        "reduce_seconds": reduced,
        "seconds_to_best": answer.stats["seconds_to_best"],
        "memory_before": memory_before,
        "evaluated": answer.stats["evaluated"],
        "evaluated_to_best": answer.stats["evaluated_to_best"],
        "lower_bound": str(answer.lower_bound),
        "trace": [[point.seconds, float(point.incumbent), float(point.lower_bound)] for point in answer.trace],
        **judged,
    }


def cart(case: Case) -> Record:
    """Grow CART's tree, with the authors' settings for λ or, given ``max_leaves``, with so many leaves."""
    from benchmarks.baselines.cart import fit, settings

    train, test = load(case)
    regularization = case.get("regularization")
    if (leaves := case.get("max_leaves")) is not None:
        parameters: dict[str, Any] | None = {"max_leaf_nodes": leaves}
    else:
        parameters = settings(Fraction(str(regularization)), len(train.labels))
    start = time.perf_counter()
    nodes = fit(train, parameters)
    seconds = time.perf_counter() - start
    return {
        "method": "CART",
        "status": "greedy",
        "proved": False,
        "seconds": seconds,
        **fits.judged(nodes, train, test, regularization),
    }


def binoct(case: Case) -> Record:
    """Solve BinOCT of ``max_depth`` or, given λ, regularised BinOCT."""
    from benchmarks.baselines.binoct import solve

    train, test = load(case)
    regularization = case.get("regularization")
    penalty = None if regularization is None else Fraction(regularization)
    found = solve(train, case["max_depth"], penalty, case["seconds"], threads=case.get("threads", 1))
    rows = len(train.labels)
    record = {
        "method": "BinOCT" if penalty is None else "regularised BinOCT",
        "status": found.status,
        "proved": found.status == "optimal",
        "seconds": found.seconds,
        "lower_bound": found.bound / rows if isfinite(found.bound) else None,
        "trace": [
            [seconds, best / rows, bound / rows]
            for seconds, best, bound in found.trace
            if isfinite(best) and isfinite(bound)  # HiGHS starts from infinity, which JSON does not have
        ],
    }
    if found.nodes is None:
        return record | {"status": f"{found.status}, no tree"}
    judged = fits.judged(found.nodes, train, test, regularization)
    assert found.objective is not None
    cost = judged["errors"] + (float(penalty * rows) * judged["leaves"] if penalty is not None else 0)
    if cost > found.objective + 1e-3:  # labels of leaves may be better than the program's tolerances let them be
        raise ValueError(f"HiGHS says {found.objective}, but its tree costs {cost}")
    # HiGHS stops trees at its limit, not at the last improvement.
    best = next(seconds for seconds, value, _ in found.trace if value <= found.objective + 1e-6)
    return record | {"seconds_to_best": best} | judged
