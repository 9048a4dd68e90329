"""What the scheduler and its workers hand each other."""

from __future__ import annotations

from typing import Any, NamedTuple

from dosdt.contract import Solution
from dosdt.plan import Plan


class Orders(NamedTuple):
    """What a worker needs to know to take its place in a team.

    Attributes
    ----------
    epoch : int
        The number of the team; a new one whenever its members change.
    number : int
        Which member this is.
    shares : list of float
        How much of the work each member takes.
    workers, shards : list of actor handles
    shards_since : int
        The number of this list of shards; a new one whenever a shard is replaced.
    scheduler : actor handle
    plan : Plan
    limit : int
        Cost that a tree must stay below to be of interest.
    recall : bool
        Whether to begin with what the shards hold.
    memory : (int or None, int)
        Bytes that all workers of this node may use, None for most of what is free, and how many workers there are.
    """

    epoch: int
    number: int
    shares: list[float]
    workers: list[Any]
    shards: list[Any]
    shards_since: int
    scheduler: Any
    plan: Plan
    limit: int
    recall: bool
    memory: tuple[int | None, int]


class Report(NamedTuple):
    """What a worker says of itself, some ten times a second."""

    epoch: int
    number: int
    step: int
    expanded: int
    evaluated: int
    open: int
    cached: int
    lower_bound: int
    best: Solution | None
    busy: float
    cpu: float
    waited: float
    saving: float
    messages: int
    written: int
    over_memory: bool
    statistics: dict[str, int]


def generation(epoch: int, step: int) -> int:
    """Return the number of what a team saves in a step, which grows from save to save."""
    return (epoch << 32) + step


def epoch_of(number: int) -> int:
    """Return the team that a generation is of."""
    return number >> 32
