"""All optimal trade-offs between leaves and errors, with the λ between which each is optimal.

A tree costs ``errors/N + λ·leaves``, a line in λ, and the least cost is the lower envelope of all these lines. Two
trees that are optimal at two λ meet at a λ in between. If no tree is better there, the envelope has just that corner;
else the better tree splits the question in two. So every corner is proved by a search at exactly that λ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from dosdt.contract import Constraints, Sketch, leaf_node
from dosdt.many import ManySearches, Solved
from dosdt.problem import Problem
from dosdt.sketches import prune

STEP = Fraction(1, 2)
"""From one λ to the next: the large ones are solved first, so that a stop leaves all that lies above some λ."""


class Corner(NamedTuple):
    """A tree with the λ from `low` to `high` at which no known tree is better; `high` is None for infinity."""

    leaves: int
    errors: Fraction
    low: Fraction
    high: Fraction | None
    sketch: Sketch


@dataclass(frozen=True)
class Hull:
    """The known trade-offs.

    Attributes
    ----------
    corners : tuple of Corner
        From the single leaf on; their intervals join, and the last ends at the least λ asked for.
    proved_to : Fraction
        At this and every larger λ no tree at all is better than these.
    optimal : tuple of Solved
        Trees that are proved optimal at some λ above 0: none with so many leaves has fewer errors, and none with
        fewer leaves as few.
    """

    corners: tuple[Corner, ...]
    proved_to: Fraction
    optimal: tuple[Solved, ...]


def trace(
    searches: ManySearches, least: Fraction, progress: Callable[[Fraction, Fraction], None] | None = None
) -> Hull:
    """Return the trade-offs from infinite λ down to `least`, or as far as the limits allow.

    Parameters
    ----------
    searches : ManySearches
    least : Fraction
        The smallest λ of interest.
    progress : callable, optional
        Called with the λ down to which all is proved, and the one at which a search begins.
    """
    problem, weight = searches.problem, searches.problem.total_weight
    single = single_leaf(problem)
    avoidable = single.errors - sum(problem.floor) * problem.cost_unit
    # A second leaf saves no more than this.
    proved_to = max(least, avoidable / weight)
    left, known = single, [single]
    # Below this λ leaves cost less than any error, however many there are: nothing changes on the way to `least`.
    last_step = searches.unit / (2 * problem.n_rows)

    def search(regularization: Fraction) -> Solved | None:
        if progress is not None:
            progress(proved_to, regularization)
        solved = searches.at(regularization)
        if solved is not None:
            known.append(solved)
        return solved if solved is not None and solved.proved else None

    while proved_to > least:
        following = proved_to * STEP
        ahead = search(max(following, least) if following > last_step else least)
        waiting = [ahead]  # the nearest last, each optimal at its own λ
        while waiting and (right := waiting[-1]) is not None:
            ends = right.regularization, proved_to
            # If they meet at either end, one of the two is optimal all the way.
            if right.leaves != left.leaves and (corner := _meeting(left, right, weight)) not in ends:
                between = search(corner)
                if between is None:
                    break
                if between.objective < _objective(right, corner, weight):
                    waiting.append(between)
                    continue
            left, proved_to = right, right.regularization
            searches.forget_above(proved_to)
            waiting.pop()
        if waiting:
            break
    optimal = [tree for tree in known if tree is single or (tree.proved and tree.regularization > 0)]
    return Hull(envelope(known, least, weight), proved_to, tuple(optimal))


def single_leaf(problem: Problem) -> Solved:
    """Return the tree that asks nothing: optimal at every λ that is large enough."""
    sketch = prune(problem, Sketch((leaf_node(0),)), Constraints()).sketch
    errors = min(map(sum, problem.cost)) * problem.cost_unit
    return Solved(
        problem.regularization, errors / problem.total_weight + problem.regularization, errors, sketch, True
    )


def envelope(trees: Iterable[Solved], least: Fraction, weight: Fraction) -> tuple[Corner, ...]:
    """Return the trees that are the best of these at more than one λ above `least`, by leaves."""
    chosen: list[tuple[Solved, Fraction | None]] = []  # each with the λ from which downwards it is best
    for tree in sorted(trees, key=lambda tree: (tree.leaves, tree.errors)):
        high = None
        while chosen:
            last, since = chosen[-1]
            if tree.errors >= last.errors:  # no better with as many leaves, or more
                break
            high = _meeting(last, tree, weight)
            if since is None or high < since:
                break
            chosen.pop()
        if not chosen or (high is not None and high > least):
            chosen.append((tree, high))
    lows = [high for _, high in chosen[1:]] + [least]
    return tuple(
        Corner(tree.leaves, tree.errors, low if low is not None else least, high, tree.sketch)
        for (tree, high), low in zip(chosen, lows, strict=True)
    )


def _meeting(few: Solved, many: Solved, weight: Fraction) -> Fraction:
    """Return the λ at which two trees cost the same."""
    return (few.errors - many.errors) / (weight * (many.leaves - few.leaves))


def _objective(tree: Solved, regularization: Fraction, weight: Fraction) -> Fraction:
    return tree.errors / weight + regularization * tree.leaves
