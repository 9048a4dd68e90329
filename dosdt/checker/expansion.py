"""The one rule by which facts follow, and checking that each does.

*Expand.* Every tree for a subset is a leaf or splits it by some feature. So no tree costs less than a bound if the
leaf does not and, for every split, the two sides together do not: each side costs at least what counting says
(`dosdt.checker.counting`) or an earlier fact about the same rows. Some tree of least cost never uses an excluded
split, so those need no proof. Where leaves are limited, every way to share them between the sides must be covered.
A fact holds for the rows it names under its limits on depth and leaves, hence also under tighter ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from itertools import groupby
from typing import NamedTuple

import numpy as np

from dosdt.checker.claims import Fact, Refused, shown
from dosdt.checker.counting import Counting, Counts
from dosdt.checker.subsets import Subsets
from dosdt.threads import one_thread

Limits = tuple[int | None, int | None]
"""Depth and leaves that a tree may have at most; None is no limit."""
FEW = 100
"""Up to here, finding the libraries whose threads are to be limited takes longer than checking."""


class Gap(NamedTuple):
    """A split that counting alone does not show to be too dear for one of several subsets.

    `yes` and `no` are what counting says of its sides, `yes_leaves` and `no_leaves` what they may have of the leaves.
    """

    subset: int
    feature: int
    yes_leaves: int | None
    no_leaves: int | None
    yes: int
    no: int


def gaps(counts: Counts, places: Sequence[int], limits: Limits, bounds: Sequence[int]) -> Iterator[Gap]:
    """Give the splits of counted subsets, all under the same limits, whose sides are not shown to reach the bounds.

    Parameters
    ----------
    counts : Counts
    places : sequence of int
        Which of the counted subsets.
    limits : pair of int or None
        Most questions on a path, 1 or more, and most leaves, 2 or more, of a tree for them.
    bounds : sequence of int
        What is to be reached, one for each of `places`; no more than the subset costs as a leaf.
    """
    depth, leaves = limits
    chosen = np.asarray(places)
    wanted = np.array(bounds, dtype=counts.yes[0].dtype)[:, None]
    for share in range(1 if leaves is None else leaves - 1):
        other = share if leaves is None else leaves - 2 - share
        yes = counts.yes[_splits(depth, leaves, share)][chosen]
        no = counts.no[_splits(depth, leaves, other)][chosen]
        for k, feature in zip(*map(np.ndarray.tolist, np.nonzero(yes + no < wanted)), strict=True):
            left, right = (None, None) if leaves is None else (share + 1, other + 1)
            yield Gap(places[k], feature + 1, left, right, int(yes[k, feature]), int(no[k, feature]))


def _splits(depth: int | None, leaves: int | None, share: int) -> int:
    """Return how many splits a child's tree may have on a path: none, one or, for any more, two."""
    return min(2, 2 if depth is None else depth - 1, 2 if leaves is None else share)


def check_facts(facts: Sequence[Fact], counting: Counting, names: Sequence[str]) -> None:
    """Check every fact in order; `Refused` names the first one that does not follow.

    Parameters
    ----------
    facts : sequence of Fact
        Each cites earlier ones only, which is known from reading them.
    counting : Counting
    names : sequence of M str
        The features, for messages.
    """
    subsets = Subsets(counting.features)
    with one_thread() if len(facts) > FEW else nullcontext():
        for start in range(0, len(facts), counting.batch):
            _check_batch(facts, range(start, min(start + counting.batch, len(facts))), counting, subsets, names)


def _check_batch(
    facts: Sequence[Fact], batch: range, counting: Counting, subsets: Subsets, names: Sequence[str]
) -> None:
    rows = [subsets.at(facts[i].path) for i in batch]
    limited = any(facts[i].depth is not None or facts[i].leaves is not None for i in batch)
    counts = counting.count([subsets.rows(subset) for subset in rows], limited=limited)
    faults: dict[int, str] = {}
    sound: list[int] = []
    for k, i in enumerate(batch):
        fact = facts[i]
        if counts.leaf[k] < fact.bound:
            faults[i] = f"as one leaf its rows cost {shown(counts.leaf[k])}, less than {shown(fact.bound)}"
        elif fact.leaves is not None and fact.leaves > counting.n_distinct:
            faults[i] = "it limits leaves to more than there are rows"
        elif fault := _citation_fault(facts, i, rows[k], subsets):
            faults[i] = fault
        else:
            sound.append(k)

    def sortable(k: int) -> tuple[int, int]:
        fact = facts[batch[k]]
        return (-1 if fact.depth is None else fact.depth, -1 if fact.leaves is None else fact.leaves)

    cited: dict[int, dict[int, list[Fact]]] = {}
    for _, group in groupby(sorted(sound, key=sortable), key=sortable):
        places = list(group)
        first = facts[batch[places[0]]]
        bounds = [facts[batch[k]].bound for k in places]
        for gap in gaps(counts, places, (first.depth, first.leaves), bounds):
            i = batch[gap.subset]
            if i in faults:
                continue
            if i not in cited:
                cited[i] = _by_side(facts, facts[i])
            yes = max(gap.yes, _best(cited[i].get(gap.feature, ()), gap.yes_leaves))
            no = max(gap.no, _best(cited[i].get(-gap.feature, ()), gap.no_leaves))
            if yes + no < (bound := facts[i].bound):
                name = names[gap.feature - 1]
                faults[i] = (
                    f"split by {name!r} its rows are only shown to cost {shown(yes)} + {shown(no)}, "
                    f"less than {shown(bound)}"
                )
    if faults:
        worst = min(faults)
        raise Refused(f"fact {worst + 1} does not follow: {faults[worst]}")


def _citation_fault(facts: Sequence[Fact], i: int, subset: int, subsets: Subsets) -> str | None:
    """Say what is wrong with a fact's citations, if anything."""
    fact = facts[i]
    for side, number in fact.cites:
        cited = facts[number - 1]
        if subsets.side(subset, side) != subsets.at(cited.path):
            return f"it cites fact {number}, which is about other rows"
        if cited.depth is not None and (fact.depth is None or cited.depth < fact.depth - 1):
            return f"it cites fact {number}, which holds for less deep trees only"
    return None


def _by_side(facts: Sequence[Fact], fact: Fact) -> dict[int, list[Fact]]:
    """Return the facts that a fact cites, by the side they are about."""
    cited: dict[int, list[Fact]] = {}
    for side, number in fact.cites:
        cited.setdefault(side, []).append(facts[number - 1])
    return cited


def _best(cited: Sequence[Fact], leaves: int | None) -> int:
    """Return the best bound that facts about a side give when its tree may have so many leaves."""
    return max((fact.bound for fact in cited if _covers(fact.leaves, leaves)), default=0)


def _covers(limit: int | None, leaves: int | None) -> bool:
    return limit is None or (leaves is not None and limit >= leaves)
