"""A path as people and programs want to read it; nothing here computes or prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dosdt.present import STOPPED, number, percent, ratio

if TYPE_CHECKING:
    from dosdt.cross_validation import DOSDTClassifierCV
    from dosdt.path import DOSDTPath


def path_text(path: DOSDTPath, scored: DOSDTClassifierCV | None = None) -> str:
    """Return what was found and proved, and all trade-offs as one table.

    Parameters
    ----------
    path : DOSDTPath
    scored : DOSDTClassifierCV, optional
        Fitted with one λ for each point of the path.
    """
    stats = path.stats_
    lines = [
        ("status", _verdict(path)),
        (
            "search",
            f"{stats['searches']:,} searches, {stats['evaluated']:,} evaluations over {stats['features']:,} yes/no "
            f"features in {stats['seconds']:.2f} s",
        ),
    ]
    if path.front_proved_to_ is not None:
        lines.append(("front", f"fewest errors for each number of leaves up to {path.front_proved_to_:,}, proved"))
    if scored is not None:
        lines.append(("chosen", _choice(scored)))
    head = "".join(f"{name:<12}{text}\n" for name, text in lines)
    return f"{head}\n{_table(path, scored)}"


def path_json(path: DOSDTPath, scored: DOSDTClassifierCV | None = None) -> str:
    """Return a path as one JSON object; exact numbers are ``"num/den"``, infinity is null."""
    from dosdt.export import to_text

    result: dict[str, Any] = {
        "status": path.status_,
        "complete": path.is_complete_,
        **_both("min_regularization", path.points_[-1].low),
        **_both("proved_down_to", path.proved_down_to_),
        "training_weight": ratio(path.problem_.total_weight),
        "rows": path.problem_.n_samples,
        "distinct_rows": path.stats_["distinct_rows"],
        "features": path.stats_["features"],
        "searches": path.stats_["searches"],
        "evaluated": path.stats_["evaluated"],
        "seconds": path.stats_["seconds"],
        "points": [
            {
                "leaves": point.leaves,
                **_both("errors", point.errors),
                **_both("low", point.low),
                **_both("high", point.high),
                "proved": point.proved,
                "depth": point.tree.depth,
                "tree": to_text(point.tree),
            }
            for point in path.points_
        ],
        "front": None,
        "front_proved_to": path.front_proved_to_,
        "cross_validation": None if scored is None else _cv(scored),
    }
    if path.front_ is not None:
        result["front"] = [
            {
                "leaves": point.leaves,
                **_both("errors", point.errors),
                "proved": point.proved,
                "depth": point.tree.depth,
                "tree": to_text(point.tree),
            }
            for point in path.front_
        ]
    return json.dumps(result) + "\n"


def path_rows(path: DOSDTPath, scored: DOSDTClassifierCV | None = None) -> list[dict[str, Any]]:
    """Return the trade-offs as rows of a table: leaves, errors, λ, and scores; None where there is none."""
    rows: dict[int, dict[str, Any]] = {}
    for step in path.front_ or []:
        rows[step.leaves] = {"leaves": step.leaves, "errors": step.errors, "proved": step.proved}
    for place, point in enumerate(path.points_):
        rows[point.leaves] = {
            "leaves": point.leaves,
            "errors": point.errors,
            "proved": point.proved,
            "low": point.low,
            "high": point.high,
        }
        if scored is not None:
            results = scored.cv_results_
            rows[point.leaves] |= {
                "score": float(results["mean_test_score"][place]),
                "standard_error": float(results["std_error"][place]),
                "chosen": place == scored.best_index_,
            }
    names = ["leaves", "errors", "proved", "low", "high"]
    if scored is not None:
        names += ["score", "standard_error", "chosen"]
    return [{name: rows[leaves].get(name) for name in names} for leaves in sorted(rows)]


def _table(path: DOSDTPath, scored: DOSDTClassifierCV | None) -> str:
    weight, costs = path.problem_.total_weight, path.cost_matrix is not None
    header = ["leaves", "cost" if costs else "errors", "per weight" if costs else "", "optimal for λ"]
    header += [] if scored is None else [scored.scoring if isinstance(scored.scoring, str) else "score", ""]
    table = [header]
    for row in path_rows(path, scored):
        share = number(row["errors"] / weight, 4) if costs else percent(row["errors"] / weight)
        line = [f"{row['leaves']:,}", number(row["errors"]), share, _interval(row)]
        if scored is not None:
            line += ["", ""] if row["score"] is None else [f"{row['score']:.4f} ± {row['standard_error']:.4f}"]
            line += ["← chosen" if row["chosen"] else ""]
        table.append([*line, "" if row["proved"] else "not proved"])
    return _aligned(table, right=3)


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None:
        return "none"
    low = number(row["low"], 4)
    return f"{low} and more" if row["high"] is None else f"{low} to {number(row['high'], 4)}"


def _aligned(table: Sequence[Sequence[str]], right: int) -> str:
    """Return a table as text, its first columns to the right and the others to the left."""
    widths = [max((len(row[k]) for row in table if k < len(row)), default=0) for k in range(max(map(len, table)))]
    lines = []
    for row in table:
        cells = [cell.rjust(widths[k]) if k < right else cell.ljust(widths[k]) for k, cell in enumerate(row)]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _verdict(path: DOSDTPath) -> str:
    proved = number(path.proved_down_to_)
    if path.points_[-1].proved:
        stop = "" if path.status_ == "optimal" else f"{path.status_}: {STOPPED[path.status_]}, but "
        kind = "optimal: proved" if not stop else f"{stop}the path is proved"
        return f"{kind} for every λ from {proved} on"
    return f"{path.status_}: {STOPPED[path.status_]}; proved only for λ from {proved} on"


def _choice(scored: DOSDTClassifierCV) -> str:
    rule = "the simplest within one standard error of the best" if scored.rule == "one_se" else "the best"
    leaves = "1 leaf" if scored.n_leaves_ == 1 else f"{scored.n_leaves_:,} leaves"
    return f"λ = {number(scored.best_regularization_)} with {leaves}: {rule} in {scored.n_splits_} folds"


def _cv(scored: DOSDTClassifierCV) -> dict[str, Any]:
    results = scored.cv_results_
    return {
        "folds": scored.n_splits_,
        "rule": scored.rule,
        **_both("best_regularization", scored.best_regularization_),
        "best_index": scored.best_index_,
        "best_score": scored.best_score_,
        "leaves": scored.n_leaves_,
        "status": scored.status_,
        "regularizations": [ratio(entry["regularization"]) for entry in results["params"]],
        "mean_score": results["mean_test_score"].tolist(),
        "standard_error": results["std_error"].tolist(),
        "mean_leaves": results["mean_leaves"].tolist(),
    }


def _both(name: str, value: Fraction | None) -> dict[str, Any]:
    """Return a number exactly and as a float, both null for infinity."""
    return {name: None if value is None else ratio(value), f"{name}_float": _float(value)}


def _float(value: Fraction | None) -> float | None:
    try:
        return None if value is None else float(value)
    except OverflowError:  # JSON has no infinity
        return None
