"""Results as people and programs want to read them; nothing here computes or prints."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dosdt.errors import InputError

if TYPE_CHECKING:
    from dosdt.classifier import DOSDTClassifier
    from dosdt.datasets import DatasetInfo
    from dosdt.model_file import Model

FORMATS = ("text", "svg", "dot", "json", "python", "sql")
_LONGEST_FRACTION = 32  # characters; beyond that a fraction tells a person nothing
STOPPED = {
    "time_limit": "the time ran out",
    "memory_limit": "the memory ran out",
    "evaluation_limit": "the evaluations allowed are used up",
    "interrupted": "Ctrl-C came",
}


def result_json(model: DOSDTClassifier) -> str:
    """Return a fit as one JSON object; exact numbers are ``"num/den"``."""
    tree, stats = model.tree_, model.stats_
    result: dict[str, Any] = {
        "status": model.status_,
        "objective": ratio(model.objective_),
        "objective_float": _float(model.objective_),
        "lower_bound": ratio(model.lower_bound_),
        "lower_bound_float": _float(model.lower_bound_),
        "gap": _float(model.gap_),
        "errors": _whole_or_ratio(tree.cost),
        "training_weight": _whole_or_ratio(model.problem_.total_weight),
        "leaves": model.n_leaves_,
        "depth": tree.depth,
        "evaluated": stats["evaluated"],
        "workers": stats["workers"],
        "seconds": stats["seconds"],
        "algorithm": model.algorithm,
        "regularization": ratio(model.problem_.regularization),
        "rows": model.problem_.n_samples,
        "distinct_rows": stats["distinct_rows"],
        "features": stats["features"],
    }
    return json.dumps(result) + "\n"


def summary(model: DOSDTClassifier) -> str:
    """Return what was found and proved, a few lines."""
    tree, stats = model.tree_, model.stats_
    lines = [
        ("status", verdict(model.status_, model.gap_)),
        ("objective", exactly(model.objective_)),
    ]
    if model.gap_:
        more = f"; a better tree could save at most {at_most(model.gap_)}"
        lines.append(("lower bound", exactly(model.lower_bound_) + more))
    lines += [
        _loss(model),
        ("leaves", f"{model.n_leaves_:,} (depth {tree.depth:,})"),
        (
            "search",
            f"{counted(stats['evaluated'], 'evaluation')} over {counted(stats['features'], 'yes/no feature')} "
            f"in {stats['seconds']:.2f} s{_by(stats)}",
        ),
    ]
    if "certified_facts" in stats:
        bound = stats["certified_lower_bound"]
        # Of what a stopped search had forgotten, not all can be proved again.
        less = f", which only show {exactly(bound)} or more" if bound < model.lower_bound_ else ""
        lines.append(("certificate", counted(stats["certified_facts"], "fact") + less))
    return "".join(f"{name:<12}{text}\n" for name, text in lines)


def _by(stats: dict[str, Any]) -> str:
    """Return who did it, if there were several, and what it took to bring them together."""
    if stats["workers"] == 1:
        return ""
    return f" by {stats['workers']} workers ({stats['start_up_seconds']:.1f} s to start them)"


def model_text(model: Model, form: str) -> str:
    """Return a model in one of `FORMATS`."""
    from dosdt import export
    from dosdt.model_file import model_to_dict

    if form == "text":
        text = export.to_text(model.tree, regularization=model.regularization)
        bound = f"; lower bound {exactly(model.lower_bound)}" if model.gap else ""
        return f"{text}{verdict(model.status, model.gap)}{bound}\n"
    if form == "svg":
        return export.to_svg(model.tree)
    if form == "dot":
        return export.to_dot(model.tree)
    if form == "json":
        return json.dumps(model_to_dict(model), indent=1) + "\n"
    if form == "python":
        return export.to_python(model.tree)
    if form == "sql":
        return export.to_sql(model.tree) + "\n"
    raise InputError(f"--format must be one of {', '.join(FORMATS)}; got {form!r}")


def datasets_text(infos: Iterable[DatasetInfo]) -> str:
    """Return data sets as a table."""
    rows = [("name", "rows", "columns", "source", "what it is")]
    rows += [(info.name, _count(info.rows), _count(info.columns), info.source, info.description) for info in infos]
    name, n, p, source = (max(len(row[k]) for row in rows) for k in range(4))
    return "".join(f"{row[0]:<{name}}  {row[1]:>{n}}  {row[2]:>{p}}  {row[3]:<{source}}  {row[4]}\n" for row in rows)


def datasets_json(infos: Iterable[DatasetInfo]) -> str:
    """Return data sets as a JSON list of objects."""
    return json.dumps([asdict(info) for info in infos], indent=1) + "\n"


def accuracy(correct: int, rows: int) -> str:
    """Return ``accuracy 0.681 on 6,907 rows``; 1.000 is a promise, not a rounding."""
    share = f"{correct / rows:.3f}"
    return f"accuracy {'0.999' if share == '1.000' and correct < rows else share} on {counted(rows, 'row')}"


def percent(share: Fraction) -> str:
    """Return a share as ``33.1 %``; 0 % and 100 % are promises, not roundings."""
    text = f"{float(100 * share):.1f}"
    if text == "0.0" and share > 0:
        return "< 0.1 %"
    if text == "100.0" and share < 1:
        return "> 99.9 %"
    return f"{text.removesuffix('.0') if share in (0, 1) else text} %"


def at_most(share: Fraction) -> str:
    """Return a share as ``2.35 %``, three digits, rounded up: what is proved must hold for the number shown, too."""
    rounded = Context(prec=3, rounding=ROUND_CEILING).divide(
        Decimal(100 * share.numerator), Decimal(share.denominator)
    )
    return f"{rounded.normalize():f} %"


def number(value: Fraction, digits: int = 6) -> str:
    """Return a number to so many digits, whole numbers in full; Decimal, as floats end at 1.8e308."""
    if value.denominator == 1:
        return f"{value.numerator:,}"
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.{digits}g}"


def ratio(value: Fraction) -> str:
    """Return a fraction as ``num/den``, also if it is whole."""
    return f"{value.numerator}/{value.denominator}"


def verdict(status: str, gap: Fraction) -> str:
    """Return what a status and a gap mean, in words."""
    if status == "gap_reached":
        return f"gap_reached: within {at_most(gap)} of optimal, proved"
    if gap:
        return f"{status}: {STOPPED.get(status, 'stopped')} before the proof was complete"
    proved = "no allowed tree over these features is better"
    return f"optimal: proved, {proved}" if status == "optimal" else f"{status}, but after the proof: {proved}"


def exactly(value: Fraction) -> str:
    """Return ``0.374868 = 258921/690700``, or less where the fraction says nothing to a person."""
    exact = str(value)
    if value.denominator == 1 or len(exact) > _LONGEST_FRACTION:
        return number(value)
    return f"{number(value)} = {exact}"


def _loss(model: DOSDTClassifier) -> tuple[str, str]:
    cost, weight = model.tree_.cost, model.problem_.total_weight
    if model.cost_matrix is not None:
        return "cost", f"{number(cost)}, {number(cost / weight, 4)} per unit of weight"
    of = f"{number(cost)} of {number(weight)} ({percent(cost / weight)})"
    if weight != model.problem_.n_samples or model.class_weight is not None:
        of += ", weighted"
    return "errors", of


def _float(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:  # JSON has no infinity
        return None


def _whole_or_ratio(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else ratio(value)


def _count(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"


def counted(count: int, thing: str) -> str:
    """Return ``1 row`` or ``2 rows``."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
