"""How often a search on Ray is looked at: messages take time that workers on the same machine could use."""

from __future__ import annotations

_SHORTEST, _LONGEST = 0.1, 0.5
_PART = 50


def pause_after(seconds: float) -> float:
    """Return the seconds until the next look at a search that has taken so long."""
    return min(max(_SHORTEST, seconds / _PART), _LONGEST)
