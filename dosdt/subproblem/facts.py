"""The TreeCache of the subproblem search: what is proved about subsets, and never expires."""

from __future__ import annotations

from typing import Any, NamedTuple

from dosdt.subproblem.frame import Frame, Key, Path, Place


class Known(NamedTuple):
    """A subset costs at least `lower` and at most `upper`, by splitting it at `best` or, if None, as a leaf."""

    lower: int
    upper: int
    best: Place | None


class Facts:
    """A map from subsets to what is known of them; new facts only ever narrow old ones.

    Parameters
    ----------
    use : bool
        False tells the search nothing of what was recorded, to see what that is worth.
    log : bool
        Whether to keep what is recorded, in order, for other searches.
    """

    def __init__(self, *, use: bool = True, log: bool = False) -> None:
        self._known: dict[Any, Known] = {}
        self._use = use
        self.log: list[tuple[Path, int | None, int | None, Known]] | None = [] if log else None

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Key) -> Known | None:
        """Return what is known of a subset, or None."""
        return self._known.get(key) if self._use else None

    def tree(self, key: Key) -> Known | None:
        """Return what is known of a subset whose tree is wanted, in any case."""
        return self._known.get(key)

    def record(self, frame: Frame) -> Known:
        """Keep what a frame says of its subset; return all that is known of it."""
        subset = frame.subset
        found = Known(frame.lower, frame.upper, frame.best)
        known, news = self._merge(subset.key, found)
        if news and self.log is not None:
            self.log.append((subset.path, subset.depth, subset.leaves, known))
        return known if self._use else found

    def absorb(self, key: Key, known: Known) -> None:
        """Take in a fact from elsewhere."""
        self._merge(key, known)

    def _merge(self, key: Key, new: Known) -> tuple[Known, bool]:
        old = self._known.get(key)
        if old is None:
            known = new
        else:
            upper, best = (old.upper, old.best) if old.upper <= new.upper else (new.upper, new.best)
            known = Known(max(old.lower, new.lower), upper, best)
            if known == old:
                return old, False
        self._known[key] = known
        return known, True
