"""Facts: what is proved of subsets, in terms that any process understands and that outlive it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgpack
import numpy as np

from dosdt.errors import InputError
from dosdt.subproblem.ghosts import Array
from dosdt.subproblem.letters import array_in, array_out
from dosdt.subproblem.subsets import UNLIMITED, Batch, Path, Subsets

VERSION = 2


class Fact(NamedTuple):
    """No tree for a subset costs less than `lower`, in the prices of `dosdt.penalty`."""

    path: Path
    depth: int | None
    leaves: int | None
    lower: int


class Facts(NamedTuple):
    """Many facts.

    Attributes
    ----------
    paths : int array of shape (n, longest)
        What leads to each subset, and zeros.
    depth, leaves : int32 arrays of shape (n,)
        What a tree may have, `UNLIMITED` where that is not limited.
    lower : integer array of shape (n,)
    """

    paths: Array
    depth: Array
    leaves: Array
    lower: Array

    def part(self, chosen: Any) -> Facts:
        """Return some of them."""
        return Facts(*(array[chosen] for array in self))

    def subsets(self, subsets: Subsets) -> Batch:
        """Return the subsets that they are about."""
        if self.paths.size and int(np.abs(self.paths).max()) > subsets.m:
            raise InputError(f"facts are about other data: they name a feature beyond the {subsets.m} there are")
        return Batch(subsets.at(self.paths), self.depth, self.leaves)


def together(facts: Sequence[Fact]) -> Facts:
    """Return some facts as many."""
    longest = max((len(fact.path) for fact in facts), default=0)
    paths = np.array([fact.path + (0,) * (longest - len(fact.path)) for fact in facts], np.int32)
    depth, leaves = (
        np.array([UNLIMITED if limit is None else limit for limit in limits], np.int32)
        for limits in ([fact.depth for fact in facts], [fact.leaves for fact in facts])
    )
    lower = np.array([fact.lower for fact in facts], object)
    return Facts(paths.reshape(len(facts), longest), depth, leaves, lower)


def joined(parts: Sequence[Facts]) -> Facts:
    """Return all facts of several lists of them."""
    if not parts:
        return together([])
    longest = max(part.paths.shape[1] for part in parts)
    paths = [np.pad(part.paths, ((0, 0), (0, longest - part.paths.shape[1]))) for part in parts]
    return Facts(np.concatenate(paths), *(np.concatenate([part[k] for part in parts]) for k in (1, 2, 3)))


def pack_facts(facts: Facts) -> bytes:
    """Return facts as bytes."""
    paths = facts.paths[:, (facts.paths != 0).any(axis=0)]
    content: bytes = msgpack.packb([VERSION, paths.ravel(), *facts[1:]], default=array_out)
    return content


def facts_in(contents: Iterable[bytes]) -> Facts:
    """Return the facts that some bytes hold."""
    parts = []
    for content in contents:
        version, *arrays = msgpack.unpackb(content, ext_hook=array_in)
        if version != VERSION:
            raise InputError(f"facts are of version {version}, not {VERSION}; use the dosdt that has written them")
        paths, depth, leaves, lower = arrays
        parts.append(Facts(paths.reshape(len(depth), -1 if len(depth) else 0), depth, leaves, lower))
    return joined(parts)
