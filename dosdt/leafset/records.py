"""Open trees as records that outlive a team: one for each region that has any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dosdt.leafset.homes import Homes
from dosdt.leafset.leaves import LeafCache, Path
from dosdt.leafset.letters import Lists, decode_record, encode_record, lists_of
from dosdt.leafset.queue import Key
from dosdt.team import Record


def records_of(keys: Sequence[Key], homes: Homes, leaves: LeafCache) -> list[Record]:
    """Return trees as records, which have every leaf as its path."""
    if not keys:
        return []
    regions = homes.regions(lists_of(keys))
    order = np.argsort(regions, kind="stable")
    trees = lists_of([keys[place] for place in order.tolist()])
    found, firsts = np.unique(regions[order], return_index=True)
    ends = [*firsts.tolist()[1:], len(keys)]
    starts = [*trees.starts.tolist(), len(trees.items)]
    records = []
    for region, first, end in zip(found.tolist(), firsts.tolist(), ends, strict=True):
        codes = trees.items[starts[first] : starts[end]]
        used, places = np.unique(codes >> 1, return_inverse=True)
        paths = lists_of([leaves.leaves[index].path for index in used.tolist()])
        records.append(Record(region, encode_record(paths, Lists(trees.sizes[first:end], 2 * places + (codes & 1)))))
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
