"""Lower bounds that come from elsewhere: another process, or a search of the same data under other terms."""

from __future__ import annotations

from typing import NamedTuple

from dosdt.bitvectors import RowSet
from dosdt.subproblem.subsets import Subset


class _Told(NamedTuple):
    depth: int | None
    leaves: int | None
    lower: int


class Hearsay:
    """Bounds on subsets, found by their rows: they hold wherever no more depth and leaves are allowed."""

    def __init__(self) -> None:
        self._bounds: dict[RowSet, list[_Told]] = {}

    def __len__(self) -> int:
        return len(self._bounds)

    def add(self, subset: Subset, lower: int) -> None:
        """Take in that no tree for a subset costs less than `lower`."""
        told = self._bounds.setdefault(subset.rows, [])
        # What says no more than the new bound can go.
        told[:] = [old for old in told if old.lower > lower or not _holds(subset, old.depth, old.leaves)]
        told.append(_Told(subset.depth, subset.leaves, lower))

    def bound(self, subset: Subset) -> int:
        """Return the best bound that holds for a subset; 0 if there is none."""
        told = self._bounds.get(subset.rows, ())
        return max((bound.lower for bound in told if _holds(bound, subset.depth, subset.leaves)), default=0)


def _holds(proved: _Told | Subset, depth: int | None, leaves: int | None) -> bool:
    """Say whether what is proved under one set of limits holds under another: where no more is allowed."""
    return (proved.depth is None or (depth is not None and depth <= proved.depth)) and (
        proved.leaves is None or (leaves is not None and leaves <= proved.leaves)
    )
