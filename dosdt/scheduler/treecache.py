"""A shard of the TreeCache: what members have saved of some regions, so that it outlives them.

It is an append-only log with an index by region. What it holds are bytes to it; who reads them knows what they say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dosdt.team import Record


class TreeCacheShard:
    """The log of one shard.

    Facts that hold for ever are added to those there are. Where what is saved is all there is to know (`whole`), it
    counts once all members have saved in the same step, which is when somebody calls `commit`; earlier records go
    then.
    """

    def __init__(self) -> None:
        self._log: list[Record] = []
        self._index: defaultdict[int, list[int]] = defaultdict(list)
        self._waiting: dict[int, list[Record]] = {}
        self.n_bytes = 0

    def __len__(self) -> int:
        return len(self._log)

    def append(self, generation: int, records: Iterable[tuple[int, bytes]], whole: bool) -> None:
        """Add records; those of a whole wait until their generation is committed."""
        kept = [Record(*record) for record in records]
        if whole:
            self._waiting.setdefault(generation, []).extend(kept)
        else:
            self._add(kept)

    def commit(self, generation: int) -> None:
        """Let a generation take the place of all that were before; it must be newer than the last one."""
        if generation not in self._waiting:
            raise ValueError(f"nothing of generation {generation} is here")  # none of it, or no more
        self._log, self.n_bytes = [], 0
        self._index.clear()
        self._add(self._waiting.pop(generation))
        self._waiting = {number: records for number, records in self._waiting.items() if number > generation}

    def read(self, regions: Iterable[int] | None = None) -> list[Record]:
        """Return the records of some regions, oldest first; None is all of them."""
        if regions is None:
            return list(self._log)
        return [self._log[place] for region in regions for place in self._index.get(region, ())]

    def _add(self, records: Iterable[Record]) -> None:
        for record in records:
            self._index[record.region].append(len(self._log))
            self._log.append(record)
            self.n_bytes += len(record.content)
