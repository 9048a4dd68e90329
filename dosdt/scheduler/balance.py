"""How much of the work each worker gets."""

from __future__ import annotations

from collections.abc import Sequence

_LEAST = 0.1
"""A worker may turn out faster than it seemed, so none is left without work."""


def fair_shares(shares: Sequence[float], busy: Sequence[float]) -> list[float]:
    """Return shares under which all would have been busy for the same time.

    Parameters
    ----------
    shares : sequence of float
        What each worker had.
    busy : sequence of float
        Seconds that this took each of them.
    """
    most = max(busy, default=0.0)
    if most <= 0:
        return [1.0] * len(shares)
    speeds = [share / max(seconds, most / 100) for share, seconds in zip(shares, busy, strict=True)]
    mean = sum(speeds) / len(speeds)
    return [max(speed / mean, _LEAST) for speed in speeds]


def imbalance(busy: Sequence[float]) -> float:
    """Return how many times as long as on average the busiest worker was busy."""
    total = sum(busy)
    return max(busy) * len(busy) / total if total > 0 else 1.0
