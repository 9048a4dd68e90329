"""One count of near-optimal trees by one program; prints what it came to as a line of JSON.

Called by `alternatives.py` in a fresh process, with the interpreter of the program's own environment.

    python alternatives_worker.py {dosdt,treefarms} FILE λ SHARE MOST
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple


class Count(NamedTuple):
    """Seconds, trees within the bound, trees that the program lists, and a function that lists those within it."""

    seconds: float
    trees: int
    all: int
    listed: Callable[[], Iterable[Any]]


def dosdt(path: str, penalty: str, share: str, trivial: bool) -> Count:
    """Count with dosdt."""
    import numpy as np

    from dosdt import Problem, find_alternatives
    from dosdt.tree import Leaf

    table = np.loadtxt(path, dtype=str, delimiter=";", quotechar='"', comments=None, skiprows=1, ndmin=2)
    start = time.perf_counter()
    problem = Problem.from_arrays(table[:, :-1] == "1", table[:, -1], penalty)
    found = find_alternatives(problem, within=f"{Fraction(share) * 100}%", useless_splits=trivial)
    seconds = time.perf_counter() - start

    def nested(tree: Any, place: int = 0) -> Any:
        node = tree.nodes[place]
        if isinstance(node, Leaf):
            return None
        return int(node.rule.column[1:]), nested(tree, node.yes), nested(tree, node.no)

    return Count(seconds, found.count, found.count, lambda: (nested(one.tree) for one in found))


def treefarms(path: str, penalty: str, share: str, trivial: bool) -> Count:
    """Count with TreeFARMS; it groups trees by errors and leaves, from which their exact objectives follow."""
    import pandas as pd
    from treefarms import TREEFARMS

    table = pd.read_csv(path, sep=";")
    model = TREEFARMS(
        {
            "regularization": float(penalty),
            "rashomon_bound_multiplier": float(share),
            "rashomon_ignore_trivial_extensions": not trivial,
        }
    )
    start = time.perf_counter()
    model.fit(table.iloc[:, :-1], table.iloc[:, -1])
    seconds = time.perf_counter() - start

    def nested(node: Any) -> Any:
        if "prediction" in node:
            return None
        return node["feature"], nested(node["true"]), nested(node["false"])

    groups = model.model_set.available_metrics
    sizes = [model.model_set.storage[place]["count"] for place in groups["metric_pointers"]]
    objectives = [
        Fraction(int(errors), len(table)) + Fraction(penalty) * int(leaves)
        for _, errors, leaves in groups["metric_values"]
    ]
    bound = min(objectives) * (1 + Fraction(share))
    inside = [objective <= bound for objective, size in zip(objectives, sizes, strict=True) for _ in range(size)]
    places = [k for k, fits in enumerate(inside) if fits]
    return Count(
        seconds,
        len(places),
        len(inside),
        lambda: (nested(model.model_set.get_tree_at_idx_raw(k)) for k in places),
    )


def main(arguments: list[str]) -> None:
    """Print one line of JSON; an error is told in it too."""
    program, path, penalty, share, most = arguments
    count = {"dosdt": dosdt, "treefarms": treefarms}[program]
    try:
        fewer, found = count(path, penalty, share, False), count(path, penalty, share, True)
        answer: dict[str, Any] = {"trees": found.trees, "all": found.all, "fewer": fewer.trees}
        answer |= {"seconds": found.seconds, "digest": ""}
        if found.trees <= int(most):
            text = "\n".join(sorted(map(repr, found.listed())))
            answer["digest"] = hashlib.sha256(text.encode()).hexdigest()
    except Exception as error:
        answer = {"error": " ".join(f"{type(error).__name__}: {error}".split())}
    # Programs print lines of their own, so this is the last and not the only one.
    print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
