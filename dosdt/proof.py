"""Choosing, from all that a search has proved, the facts that a bound on the whole problem rests on.

Subsets are taken from the largest to the smallest: when one is reached, all that need it have said how much. What
counting shows by itself is not cited; of two sides that would do one is enough; and nothing is claimed beyond what
is needed. What is left open is asked of the checker's own functions, so that what is chosen here follows there.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
from gmpy2 import popcount

from dosdt.bitvectors import RowSet, pack, unpack
from dosdt.checker.claims import Fact
from dosdt.checker.counting import Counting, Counts
from dosdt.checker.expansion import FEW, Gap, Limits, gaps
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.threads import one_thread


class Prover(Protocol):
    """What is asked of a search that has run."""

    expanded: int

    def known(self, row_set: RowSet, depth: int | None, leaves: int | None) -> int:
        """Return the best bound recorded for a subset, 0 if there is none."""
        ...

    def prove(
        self, path: tuple[int, ...], depth: int | None, leaves: int | None, expansions: int | None = None
    ) -> None:
        """Solve a subset again."""
        ...


class Unproved(Exception):  # noqa: N818 - an outcome, not a fault
    """What is known does not show as much of a subset as was recorded; `bound` is what it shows."""

    def __init__(self, row_set: RowSet, limits: Limits, bound: int) -> None:
        super().__init__(f"of a subset of {popcount(row_set)} rows only {bound} follows")
        self.row_set, self.limits, self.bound = row_set, limits, bound


@dataclass
class _Place:
    """A subset that is needed: the way there, the bound needed under each limits, and what is cited for it.

    A citation is a side of a split and limits, and the bound that a fact about the rows there must have.
    """

    path: tuple[int, ...]
    needed: dict[Limits, int] = field(default_factory=dict)
    cites: dict[Limits, dict[tuple[int, Limits], int]] = field(default_factory=dict)

    def serving(self, limits: Limits, bound: int) -> Limits | None:
        """Return the limits of a fact that is needed anyway and shows the bound, if there is one."""
        return next((loose for loose, most in self.needed.items() if most >= bound and _cover(loose, limits)), None)

    def settle(self) -> None:
        """Drop what another fact about the same rows shows, under looser limits."""
        for limits, bound in list(self.needed.items()):
            del self.needed[limits]
            if self.serving(limits, bound) is None:
                self.needed[limits] = bound


class _Side(NamedTuple):
    """One side of a split: what counting shows of it, and the limits of facts that would serve, loosest first."""

    side: int
    row_set: RowSet
    shown: int
    limits: list[Limits]


class Proof:
    """A proof that no tree for the whole problem costs less than a bound.

    Parameters
    ----------
    problem : Problem
    search : Prover
        It has recorded the bound, and all that it rests on unless it was forgotten.
    min_support : int
        Least weight of a leaf, in the problem's unit.
    expansions : int, optional
        How much may be spent on proving again what was forgotten; None is no limit.
    """

    def __init__(self, problem: Problem, search: Prover, min_support: int, expansions: int | None = None) -> None:
        prices = Prices(problem)
        self._search = search
        self._last = None if expansions is None else search.expanded + expansions
        self._n_rows = problem.n_rows
        self._columns = [pack(problem.features[:, j]) for j in range(problem.n_columns)]
        self._counting = Counting(problem.features, problem.cost, problem.weight, min_support, prices.a, prices.b)
        self._places: dict[RowSet, _Place] = {}
        self._heap: list[tuple[int, int, RowSet]] = []
        self._at_most: dict[tuple[RowSet, Limits], int] = {}

    def facts(self, depth: int | None, leaves: int | None, bound: int) -> tuple[Fact, ...]:
        """Return the facts that show the bound, the one about the whole problem last."""
        self._places, self._heap = {}, []
        self._need((), pack(np.ones(self._n_rows, np.bool_)), (depth, leaves), bound)
        with ExitStack() as threads:
            few = True
            while self._heap:
                self._expand(list(self._largest()))
                if few and len(self._places) > FEW:
                    few = False
                    threads.enter_context(one_thread())
        return self._numbered()

    def weaken(self, unproved: Unproved) -> None:
        """From now on take for known of a subset no more than what follows."""
        self._at_most[unproved.row_set, unproved.limits] = unproved.bound

    def _need(self, path: tuple[int, ...], row_set: RowSet, limits: Limits, bound: int) -> None:
        place = self._places.get(row_set)
        if place is None:
            place = self._places[row_set] = _Place(path)
            heapq.heappush(self._heap, (-popcount(row_set), len(self._places), row_set))
        place.needed[limits] = max(bound, place.needed.get(limits, 0))

    def _largest(self) -> Iterator[tuple[RowSet, _Place]]:
        """Give some of the largest subsets left; as all are of one size, none of them is part of another."""
        size = self._heap[0][0]
        for _ in range(self._counting.batch):
            if not self._heap or self._heap[0][0] != size:
                return
            row_set = heapq.heappop(self._heap)[2]
            place = self._places[row_set]
            place.settle()
            yield row_set, place

    def _expand(self, batch: Sequence[tuple[RowSet, _Place]]) -> None:
        """Cite what the facts that are needed of some subsets rest on."""
        limited = any(limits != (None, None) for _, place in batch for limits in place.needed)
        counts = self._counting.count([self._rows(row_set) for row_set, _ in batch], limited=limited)
        wanted = [(limits, k) for k, (_, place) in enumerate(batch) for limits in place.needed]
        wanted.sort(key=lambda item: (_sortable(item[0]), item[1]))
        for limits, group in groupby(wanted, key=lambda item: item[0]):
            numbers = [k for _, k in group]
            bounds = [batch[k][1].needed[limits] for k in numbers]
            for k, bound in zip(numbers, bounds, strict=True):
                batch[k][1].cites[limits] = {}
                if counts.leaf[k] < bound:
                    raise Unproved(batch[k][0], limits, counts.leaf[k])
            for gap in gaps(counts, numbers, limits, bounds):
                row_set, place = batch[gap.subset]
                if not self._close(row_set, place, limits, gap):
                    raise Unproved(row_set, limits, self._follows(row_set, place, limits, counts, gap.subset))

    def _close(self, row_set: RowSet, place: _Place, limits: Limits, gap: Gap) -> bool:
        """Cite facts that show that a split reaches the bound; return whether that is known at all."""
        bound = place.needed[limits]
        sides = self._sides(row_set, limits, gap)
        for side, other in (sides, sides[::-1]):
            for served in side.limits:
                needed = self._places.get(side.row_set)
                if needed is not None and (loose := needed.serving(served, bound - other.shown)) is not None:
                    place.cites[limits][side.side, loose] = bound - other.shown
                    return True
        known = [self._known(side, bound - other.shown) for side, other in (sides, sides[::-1])]
        if known[0][1] + known[1][1] < bound and self._prove_again(place.path, sides):
            known = [self._known(side, bound - other.shown) for side, other in (sides, sides[::-1])]
        enough = [k for k in (0, 1) if known[k][1] + sides[1 - k].shown >= bound]
        if enough:
            # Of two that would do, the one that is needed anyway, or else the larger: fewest facts are needed so.
            k = min(enough, key=lambda k: (sides[k].row_set not in self._places, -popcount(sides[k].row_set)))
            self._cite(place, limits, sides[k], known[k][0], bound - sides[1 - k].shown)
            return True
        if known[0][1] + known[1][1] < bound:
            return False
        self._cite(place, limits, sides[0], known[0][0], known[0][1])
        self._cite(place, limits, sides[1], known[1][0], bound - known[0][1])
        return True

    def _cite(self, place: _Place, limits: Limits, side: _Side, about: Limits, bound: int) -> None:
        self._need((*place.path, side.side), side.row_set, about, bound)
        cites = place.cites[limits]
        cites[side.side, about] = max(bound, cites.get((side.side, about), 0))

    def _sides(self, row_set: RowSet, limits: Limits, gap: Gap) -> tuple[_Side, _Side]:
        inside = row_set & self._columns[gap.feature - 1]
        depth = None if limits[0] is None else limits[0] - 1

        def allowed(leaves: int | None) -> list[Limits]:
            if depth == 0 or leaves == 1:
                return []  # counting says all there is to know
            if leaves is None or limits[1] is None:
                return [(depth, None)]
            return [(depth, most) for most in range(limits[1] - 1, leaves - 1, -1)]

        return (
            _Side(gap.feature, inside, gap.yes, allowed(gap.yes_leaves)),
            _Side(-gap.feature, row_set ^ inside, gap.no, allowed(gap.no_leaves)),
        )

    def _known(self, side: _Side, bound: int) -> tuple[Limits, int]:
        """Return the loosest limits under which the bound is known, else those of the best one, and what is known."""
        best_limits: Limits = (None, None)
        best = side.shown
        for limits in side.limits:
            known = self._search.known(side.row_set, *limits)
            known = min(known, self._at_most.get((side.row_set, limits), known))
            if known > best:
                best, best_limits = known, limits
                if known >= bound:
                    break
        return best_limits, best

    def _prove_again(self, path: tuple[int, ...], sides: Sequence[_Side]) -> bool:
        for side in sides:
            for limits in side.limits[-1:]:
                if self._last is not None and self._search.expanded >= self._last:
                    return False
                left = None if self._last is None else self._last - self._search.expanded
                self._search.prove((*path, side.side), *limits, left)
        return True

    def _follows(self, row_set: RowSet, place: _Place, limits: Limits, counts: Counts, k: int) -> int:
        """Return the largest bound on a counted subset that what is known shows."""
        bound = place.needed[limits]
        sums = [
            sum(self._known(side, bound)[1] for side in self._sides(row_set, limits, gap))
            for gap in gaps(counts, [k], limits, [bound])
        ]
        return min(sums)

    def _rows(self, row_set: RowSet) -> npt.NDArray[np.intp]:
        return np.flatnonzero(unpack(row_set, self._n_rows)[self._counting.relevant])

    def _numbered(self) -> tuple[Fact, ...]:
        """Return the facts with what they cite before them: smaller subsets come first."""
        chosen = [(row_set, limits) for row_set, place in self._places.items() for limits in place.needed]
        chosen.sort(key=lambda item: (popcount(item[0]), self._places[item[0]].path, _sortable(item[1])))
        number = {item: k for k, item in enumerate(chosen, 1)}
        facts = []
        for row_set, limits in chosen:
            place = self._places[row_set]
            cites = set()
            for (side, about), bound in place.cites[limits].items():
                inside = row_set & self._columns[abs(side) - 1]
                rows = inside if side > 0 else row_set ^ inside
                serving = self._places[rows].serving(about, bound)
                assert serving is not None
                cites.add((side, number[rows, serving]))
            facts.append(Fact(place.path, *limits, place.needed[limits], tuple(sorted(cites))))
        return tuple(facts)


def _cover(loose: Limits, limits: Limits) -> bool:
    """Say whether what holds under loose limits holds under others."""
    return all(
        most is None or (least is not None and most >= least) for most, least in zip(loose, limits, strict=True)
    )


def _sortable(limits: Limits) -> tuple[int, int]:
    depth, leaves = limits
    return -1 if depth is None else depth, -1 if leaves is None else leaves
