"""Open trees as records that outlive a team."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dosdt.leafset.leaves import LeafCache, Path
from dosdt.leafset.letters import Lists, decode_record, encode_record, lists_of
from dosdt.leafset.queue import Key
from dosdt.team import REGIONS, Post, Record

_RECORDS = 64
"""So many of each member, that the members of another team, maybe a larger one, get their fair share."""


def records_of(keys: Sequence[Key], post: Post, leaves: LeafCache) -> list[Record]:
    """Return a member's trees as records, which have every leaf as its path.

    They may be told to any member: the records of all members are evenly shared out among the regions.
    """
    trees, paths = lists_of(keys), lists_of([leaf.path for leaf in leaves.leaves])
    count = min(_RECORDS, len(keys))
    records = []
    for part in range(count):
        # Promising trees come first, so each record takes some from everywhere.
        sizes, codes = trees.picked(np.arange(part, len(keys), count))
        is_used = np.zeros(len(paths.sizes), np.bool_)
        is_used[codes >> 1] = True
        places = np.cumsum(is_used) - 1
        content = encode_record(
            paths.picked(np.flatnonzero(is_used)), Lists(sizes, 2 * places[codes >> 1] + (codes & 1))
        )
        records.append(Record((part * post.size + post.number) * REGIONS // (count * post.size), content))
    return records


def trees_of(contents: Iterable[bytes], leaves: LeafCache) -> Iterator[Lists]:
    """Go through the contents of records: the trees of each, in codes of one's own."""
    known: dict[Path, int] = {}  # regions share most of their leaves
    for content in contents:
        paths, (sizes, codes) = decode_record(content)
        own = []
        for path in paths.tuples():
            index = known.get(path)
            if index is None:
                index = known[path] = leaves.at(path).index
            own.append(index)
        yield Lists(sizes, 2 * np.array(own, np.int64)[codes >> 1] + (codes & 1))
