"""A team within one process: the smallest runtime for members, and what tests and projections are made with."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dosdt.team import Member


class Step(NamedTuple):
    """What one step took of each member: seconds, expansions, and bytes written to others."""

    seconds: list[float]
    expanded: list[int]
    written: list[int]


def run(members: Sequence[Member], watch: Callable[[int], None] | None = None) -> list[Step]:
    """Take all members through their steps until they are finished; `watch` is called with the number of each."""
    inboxes: list[list[bytes]] = [[] for _ in members]
    steps: list[Step] = []
    while not all(member.finished for member in members):
        assert not any(member.finished for member in members), "members must finish together"
        outboxes, seconds, expanded = [], [], []
        for member, inbox in zip(members, inboxes, strict=True):
            start, before = time.thread_time(), member.expanded
            outboxes.append(member.step(inbox))
            seconds.append(time.thread_time() - start)
            expanded.append(member.expanded - before)
        written = [
            sum(len(letter) for to, letter in enumerate(outbox) if to != sender)
            for sender, outbox in enumerate(outboxes)
        ]
        steps.append(Step(seconds, expanded, written))
        inboxes = [list(letters) for letters in zip(*outboxes, strict=True)]
        if watch is not None:
            watch(len(steps))
    return steps
