"""The fewest errors for every number of leaves: also the trees that are optimal at no λ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from dosdt.contract import Sketch
from dosdt.hull import Hull
from dosdt.many import ManySearches


class Step(NamedTuple):
    """A tree; if `proved`, none has fewer errors with as many leaves, nor as few with fewer leaves."""

    leaves: int
    errors: Fraction
    sketch: Sketch
    proved: bool


@dataclass(frozen=True)
class Front:
    """Trees from the single leaf on, each with fewer errors than all before.

    `complete_to` is the number of leaves up to which they are all there.
    """

    steps: tuple[Step, ...]
    complete_to: int


def pareto_front(
    searches: ManySearches, most: int, hull: Hull, progress: Callable[[int], None] | None = None
) -> Front:
    """Return the best trees with up to `most` leaves, or as many as the limits allow.

    Parameters
    ----------
    searches : ManySearches
    most : int
    hull : Hull
        What is known already; it says where nothing need be searched.
    progress : callable, optional
        Called with each number of leaves.
    """
    problem = searches.problem
    least_errors = sum(problem.floor) * problem.cost_unit
    known = {tree.leaves: Step(tree.leaves, tree.errors, tree.sketch, True) for tree in hull.optimal}
    steps, leaves = [known[1]], 1
    while leaves < most and steps[-1].errors > least_errors:
        if progress is not None:
            progress(leaves + 1)
        step = known.get(leaves + 1)
        if step is None and _fewest_errors(searches, hull, leaves + 1) < steps[-1].errors:
            solved = searches.within(leaves + 1)
            if solved is not None and solved.errors < steps[-1].errors:
                step = Step(solved.leaves, solved.errors, solved.sketch, solved.proved)
            if solved is None or not solved.proved:
                later = [known[k] for k in sorted(known) if leaves < k <= most]
                return Front(tuple(_descending([*steps, *([] if step is None else [step]), *later])), leaves)
        if step is not None:
            steps.append(step)
        leaves += 1
    return Front(tuple(steps), most)


def _fewest_errors(searches: ManySearches, hull: Hull, leaves: int) -> Fraction:
    """Return a bound on the errors of all trees with so many leaves or fewer, from what is proved of every tree.

    At each λ where it is proved, ``errors >= N·(least objective - λ·leaves)``.
    """
    weight, unit = searches.problem.total_weight, searches.problem.cost_unit
    bound = Fraction(0)
    for corner in hull.corners:
        regularization = max(corner.low, hull.proved_to)
        if corner.high is None or regularization < corner.high:
            bound = max(bound, corner.errors + regularization * weight * (corner.leaves - leaves))
    return ceil(bound / unit) * unit


def _descending(steps: list[Step]) -> list[Step]:
    """Leave out what is no better than something with fewer leaves."""
    kept: list[Step] = []
    for step in sorted(steps, key=lambda step: (step.leaves, step.errors)):
        if not kept or step.errors < kept[-1].errors:
            kept.append(step)
    return kept
