"""Facts: what is proved of subsets, in terms that any process understands and that outlive it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgpack

from dosdt.errors import InputError
from dosdt.numbers import natural, whole
from dosdt.subproblem.subsets import Path

VERSION = 1


class Fact(NamedTuple):
    """No tree for a subset costs less than `lower`, in the prices of `dosdt.penalty`."""

    path: Path
    depth: int | None
    leaves: int | None
    lower: int


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
