"""How much memory a worker may use, and what it does when that is short."""

from __future__ import annotations

from collections.abc import Callable

import psutil

_SHORT = 0.85
_OF_WHAT_IS_FREE = 0.8


class Memory:
    """Watches the memory of this process.

    Parameters
    ----------
    limit : int, optional
        Bytes for all that share it; None is what this process uses and most of its share of what is free.
    sharing : int
        How many processes share it.
    """

    def __init__(self, limit: int | None, sharing: int = 1) -> None:
        self._process = psutil.Process()
        free = _OF_WHAT_IS_FREE * psutil.virtual_memory().available
        self._limit = int(self._used() + free / sharing) if limit is None else limit // sharing

    def is_over(self, spare: Callable[[], None]) -> bool:
        """Say whether the limit is passed; call `spare` when it is near."""
        used = self._used()
        if used >= _SHORT * self._limit:
            spare()
        return used >= self._limit

    def _used(self) -> int:
        return int(self._process.memory_info().rss)
