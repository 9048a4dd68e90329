"""Facts: what is proved of subsets, in terms that any process understands and that outlive it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgpack
import numpy as np

from dosdt.errors import InputError
from dosdt.numbers import natural, whole
from dosdt.subproblem.subsets import UNLIMITED, Batch, Path, Subsets

VERSION = 1


class Fact(NamedTuple):
    """No tree for a subset costs less than `lower`, in the prices of `dosdt.penalty`."""

    path: Path
    depth: int | None
    leaves: int | None
    lower: int


def subsets_of(facts: Sequence[Fact], subsets: Subsets) -> Batch:
    """Return the subsets that facts are about."""
    longest = max((len(fact.path) for fact in facts), default=0)
    paths = np.array([fact.path + (0,) * (longest - len(fact.path)) for fact in facts], np.int32)
    depth, leaves = (
        np.array([UNLIMITED if limit is None else limit for limit in limits], np.int32)
        for limits in ([fact.depth for fact in facts], [fact.leaves for fact in facts])
    )
    return Batch(subsets.at(paths.reshape(len(facts), longest)), depth, leaves)


def pack_facts(facts: Iterable[Fact]) -> bytes:
    """Return facts as bytes."""
    plain = [[fact.path, fact.depth, fact.leaves, natural(fact.lower)] for fact in facts]
    content: bytes = msgpack.packb([VERSION, plain])
    return content


def facts_in(contents: Iterable[bytes]) -> Iterator[Fact]:
    """Return the facts that some bytes hold."""
    for content in contents:
        version, facts = msgpack.unpackb(content)
        if version != VERSION:
            raise InputError(f"facts are of version {version}, not {VERSION}; use the dosdt that has written them")
        for path, depth, leaves, lower in facts:
            yield Fact(tuple(path), depth, leaves, whole(lower))
