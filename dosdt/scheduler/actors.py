"""Actors on Ray: how a class becomes one, and how much room there is for them."""

from __future__ import annotations

from typing import Any

import ray


def actor_kind(kind: type, **options: Any) -> Any:
    """Return a class whose objects are actors."""
    remote: Any = ray.remote
    return remote(**options)(kind)


def cpus() -> int:
    """Return how many CPUs the cluster has now."""
    resources: Any = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return max(1, int(resources.get("CPU", 1)))
