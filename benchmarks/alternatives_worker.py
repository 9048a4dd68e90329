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
from typing import Any


def dosdt(path: str, penalty: str, share: str, trivial: bool) -> tuple[float, int, Callable[[], Iterable[Any]]]:
    """Count with dosdt: seconds, trees, and a function that lists them."""
    from fractions import Fraction

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

    return seconds, found.count, lambda: (nested(one.tree) for one in found)


def treefarms(path: str, penalty: str, share: str, trivial: bool) -> tuple[float, int, Callable[[], Iterable[Any]]]:
    """Count with TreeFARMS."""
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

    count = model.get_tree_count()
    return seconds, count, lambda: (nested(model.model_set.get_tree_at_idx_raw(k)) for k in range(count))


def main(arguments: list[str]) -> None:
    """Print one line of JSON; an error is told in it too."""
    program, path, penalty, share, most = arguments
    count = {"dosdt": dosdt, "treefarms": treefarms}[program]
    try:
        _, fewer, _ = count(path, penalty, share, False)
        seconds, trees, listed = count(path, penalty, share, True)
        answer: dict[str, Any] = {"trees": trees, "fewer": fewer, "seconds": seconds, "digest": ""}
        if trees <= int(most):
            text = "\n".join(sorted(map(repr, listed())))
            answer["digest"] = hashlib.sha256(text.encode()).hexdigest()
    except Exception as error:
        answer = {"error": " ".join(f"{type(error).__name__}: {error}".split())}
    # Programs print lines of their own, so this is the last and not the only one.
    print("\n" + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
