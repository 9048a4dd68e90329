"""A member whose second step goes on until it is told of a limit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dosdt.contract import Constraints
from dosdt.plan import Plan
from dosdt.team import Post

_GUARD_SECONDS = 60.0


@dataclass(frozen=True)
class WaitingPlan(Plan):
    """Makes such members; each touches a file named by its number in `folder` when it begins to wait."""

    folder: str = ""

    def member(self, problem: Any, post: Post, limit: int) -> Any:
        return WaitingMember(post, limit, Path(self.folder))


def waiting_plan(folder: Path) -> WaitingPlan:
    return WaitingPlan("subproblem", Constraints(), (), folder=str(folder))


class WaitingMember:
    """Its bound is the limit it was told during its second step, and 0 if it was told none."""

    def __init__(self, post: Post, limit: int, folder: Path) -> None:
        self._post, self._folder = post, folder
        self.limit = limit
        self.expanded = self.evaluated = self.open = self.cached = 0
        self.best = None
        self.finished = self._in_step = False
        self._told: int | None = None

    def step(self, inbox: Sequence[bytes]) -> list[bytes]:
        self.evaluated += 1
        if self.evaluated == 2:
            self._in_step = True
            (self._folder / str(self._post.number)).touch()
            until = time.monotonic() + _GUARD_SECONDS
            while self._told is None and time.monotonic() < until:
                pass  # at work, as a real step would be
            self._in_step, self.finished = False, True
        return [b"."] * self._post.size

    def tighten(self, limit: int) -> None:
        if self._in_step:
            self._told = limit

    def lower_bound(self) -> int:
        return self._told or 0

    def stop(self) -> None:
        pass

    def save(self) -> None:
        pass

    def saved(self) -> None:
        return None

    def recall(self, contents: Iterable[bytes]) -> None:
        pass

    def spare_memory(self) -> None:
        pass

    def statistics(self) -> dict[str, int]:
        return {}
