"""What every search must keep to, however it works."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from dosdt.contract import Budget
from dosdt.limits import Limits, Status
from dosdt.solver import Answer

every_limit = pytest.mark.parametrize(
    ("limits", "status"),
    [
        (Limits(seconds=0.0), Status.TIME_LIMIT),
        (Limits(evaluations=300), Status.EVALUATION_LIMIT),
        (Limits(memory=1), Status.MEMORY_LIMIT),
    ],
)


def check_stopped(answer: Answer, status: Status, optimum: Fraction) -> None:
    """The answer says why the search stopped, and its bound holds."""
    assert answer.status is status
    assert answer.lower_bound <= optimum <= answer.objective
    assert answer.gap > 0


def check_trace(answer: Answer) -> None:
    """The trace of an optimal answer only ever improves, and ends with the answer."""
    for earlier, later in pairwise(answer.trace):
        assert earlier.seconds <= later.seconds
        assert earlier.evaluated <= later.evaluated
        assert earlier.incumbent >= later.incumbent
        assert earlier.lower_bound <= later.lower_bound
    assert answer.trace[-1].lower_bound == answer.trace[-1].incumbent == answer.objective


def solve_by_messages(searches: Sequence[Any], seed: int) -> int:
    """Return the cost of the best tree that searches find which share nothing but messages."""
    rng = random.Random(seed)
    cursors = [0] * len(searches)
    best = searches[0].best
    messages = [searches[0].encode(searches[0].root())]
    while messages:
        who = rng.randrange(len(searches))
        search = searches[who]
        search.tighten(None, best.cost)
        task = search.decode(messages.pop(rng.randrange(len(messages))))
        result = search.run(task, Budget(expansions=rng.randint(1, 5)))
        if result.best is not None and result.best.cost < best.cost:
            best = result.best
        messages += [search.encode(survivor) for survivor in result.survivors]
        facts, cursors[who] = search.facts_since(cursors[who])
        for other in searches:
            if other is not search:
                other.absorb(facts)
    cost: int = best.cost
    return cost
