"""How a tree was found: what a model file keeps of the search and of the training data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple, Protocol

from dosdt.json_fields import as_fraction, each_in, field_in, integer_in, join, ratio, wrong

MOST_STEPS = 400
_COUNTS = {"rows": 1, "distinct_rows": 1, "features": 0, "evaluated": 0, "workers": 1}  # with the least of each


class Step(NamedTuple):
    """The objective of the best tree, and the bound on all trees, after so many seconds."""

    seconds: float
    incumbent: Fraction
    lower_bound: Fraction


class _Point(Protocol):
    @property
    def seconds(self) -> float: ...
    @property
    def incumbent(self) -> Fraction: ...
    @property
    def lower_bound(self) -> Fraction: ...


@dataclass(frozen=True, slots=True)
class SearchRecord:
    """What is kept of a search.

    Parameters
    ----------
    rows, distinct_rows, features : int
        Of the training data: its rows, those that differ, and the yes/no features there were.
    evaluated : int
        Subsets expanded, or trees evaluated.
    workers : int
        Processes that took part.
    seconds : float
        How long it took.
    weighted : bool
        Whether rows or classes had weights.
    costs : bool
        Whether a cost matrix took the place of the count of errors.
    trace : tuple of Step
        Its course.
    """

    rows: int
    distinct_rows: int
    features: int
    evaluated: int
    workers: int
    seconds: float
    weighted: bool
    costs: bool
    trace: tuple[Step, ...]

    def __post_init__(self) -> None:
        for name, least in _COUNTS.items():
            if getattr(self, name) < least:
                raise wrong(f"search.{name}", f"{least} or more", getattr(self, name))


def steps(trace: Iterable[_Point]) -> tuple[Step, ...]:
    """Return the points of a trace at which something changed, and the last; of very many, some."""
    found: list[Step] = []
    last = None
    for point in trace:
        last = Step(point.seconds, point.incumbent, point.lower_bound)
        if not found or found[-1][1:] != last[1:]:
            found.append(last)
    if last is not None and found[-1] != last:
        found.append(last)
    if len(found) > MOST_STEPS:
        chosen = {round(k * (len(found) - 1) / (MOST_STEPS - 1)) for k in range(MOST_STEPS)}
        found = [found[k] for k in sorted(chosen)]
    return tuple(found)


def record_to_dict(record: SearchRecord) -> dict[str, Any]:
    """Return a record as what JSON can say."""
    trace = [[step.seconds, ratio(step.incumbent), ratio(step.lower_bound)] for step in record.trace]
    return asdict(record) | {"trace": trace}


def record_from_dict(data: object, where: str) -> SearchRecord:
    """Return the record `record_to_dict` described, or say which field is wrong."""
    if not isinstance(data, dict):
        raise wrong(where, "an object", data)
    return SearchRecord(
        **{name: integer_in(data, name, where) for name in _COUNTS},
        seconds=_seconds(field_in(data, "seconds", where), join(where, "seconds")),
        weighted=_truth(data, "weighted", where),
        costs=_truth(data, "costs", where),
        trace=each_in(_step, data, "trace", where),
    )


def _step(data: object, where: str) -> Step:
    if not isinstance(data, list) or len(data) != 3:
        raise wrong(where, "a list of seconds, incumbent and lower bound", data)
    return Step(_seconds(data[0], where), as_fraction(data[1], where), as_fraction(data[2], where))


def _seconds(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e15 or not isfinite(value):
        raise wrong(where, "a number of seconds", value)
    return float(value)


def _truth(data: dict[str, Any], key: str, where: str) -> bool:
    value = field_in(data, key, where)
    if not isinstance(value, bool):
        raise wrong(join(where, key), "true or false", value)
    return value
