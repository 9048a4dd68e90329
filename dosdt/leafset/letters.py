"""What the members of a team write to each other, and what they save: trees as flat arrays, leaves as paths.

A leaf's number means something only to the member that gave it. So a member tells another the path of a leaf once,
when a tree first needs it, and after that trees are nothing but numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import msgpack
import numpy as np
import numpy.typing as npt

from dosdt.errors import InputError

Array = npt.NDArray[Any]

VERSION = 1
_NUMBER = np.dtype("<i4")
_LONG = np.dtype("<i8")
NO_NUMBERS = np.zeros(0, np.int64)


class Lists(NamedTuple):
    """Many short lists of integers as two arrays: how long each is, and all that is in them."""

    sizes: Array
    items: Array

    @property
    def starts(self) -> Array:
        """Where each list starts."""
        return np.cumsum(self.sizes, dtype=np.int64) - self.sizes

    def parted(self, count: int) -> tuple[Lists, Lists]:
        """Return the first so many lists, and the others."""
        end = int(self.sizes[:count].sum())
        return Lists(self.sizes[:count], self.items[:end]), Lists(self.sizes[count:], self.items[end:])

    def picked(self, places: Array) -> Lists:
        """Return the lists at these places, in their order."""
        sizes = self.sizes[places].astype(np.int64)
        ends = np.cumsum(sizes)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - sizes, sizes)
        return Lists(sizes, self.items[np.repeat(self.starts[places], sizes) + within])

    def tuples(self) -> Iterator[tuple[int, ...]]:
        """Go through the lists."""
        items, end = self.items.tolist(), 0
        for size in self.sizes.tolist():
            start, end = end, end + size
            yield tuple(items[start:end])


def lists_of(rows: Sequence[Sequence[int]]) -> Lists:
    """Return lists as arrays."""
    sizes = np.fromiter(map(len, rows), _NUMBER, len(rows))
    return Lists(sizes, np.fromiter(chain.from_iterable(rows), _NUMBER, int(sizes.sum())))


class Header(NamedTuple):
    """What a member tells all others in each step.

    Attributes
    ----------
    sender : int
    limit : int
        Cost that a tree must stay below, as far as the sender knows.
    bound : int, optional
        Smallest bound of the trees that are open there and of those it has sent in this step; None if there are none.
    open : int
        How many trees are open there.
    stop, save : bool
        Whether the sender has been asked for it.
    """

    sender: int
    limit: int
    bound: int | None
    open: int
    stop: bool
    save: bool


class Letter(NamedTuple):
    """A message from one member to another.

    `leaves` are the sender's numbers of the leaves that it mentions for the first time, `paths` lead to them, and
    `trees` are made of the sender's codes. The first of them, `given` in number, are known to be new and only to be
    expanded; the others are at their home. `known` are leaves that the sender has looked at since its last letter or
    of which it knows more than it has said yet, and `leasts` what they cost at the least if they are split. `shown`
    are leaves to be split that stand in these trees, and `outlooks` what is known at the least since the sender
    looked at them, of shape (leaves, 2, 2, features).
    """

    header: Header
    leaves: Array
    paths: Lists
    trees: Lists
    given: int = 0
    known: Array = NO_NUMBERS
    leasts: Sequence[int] = ()
    shown: Array = NO_NUMBERS
    outlooks: Array = NO_NUMBERS


def encode(letter: Letter) -> bytes:
    """Return a letter as bytes."""
    sender, limit, bound, still_open, stop, save = letter.header
    head = (VERSION, sender, _bytes_of(limit), None if bound is None else _bytes_of(bound), still_open, stop, save)
    if not (len(letter.trees.sizes) or len(letter.known)):
        return _packed(head)
    numbers = [_brief(letter.leasts), _brief(letter.outlooks.ravel())]
    arrays = [letter.known, letter.shown, letter.leaves, *letter.paths, *letter.trees]
    return _packed((*head, letter.given, *numbers, *map(_raw, arrays)))


def decode(message: bytes) -> Letter:
    """Return the letter that bytes describe."""
    sender, limit, bound, still_open, stop, save, *rest = _unpacked(message)
    header = Header(sender, _int_of(limit), None if bound is None else _int_of(bound), still_open, stop, save)
    given, leasts, outlooks, *raw = rest or [0, *[b""] * 9]
    known, shown, leaves, *others = map(_array, raw)
    paths, trees = Lists(*others[:2]), Lists(*others[2:])
    found = _whole(outlooks).reshape(len(shown), 2, 2, -1) if len(shown) else NO_NUMBERS
    return Letter(header, leaves, paths, trees, given, known, _whole(leasts).tolist(), shown, found)


def encode_record(paths: Lists, trees: Lists) -> bytes:
    """Return trees as bytes that say all about them; their codes count the paths given."""
    return _packed((VERSION, *map(_raw, paths), *map(_raw, trees)))


def decode_record(content: bytes) -> tuple[Lists, Lists]:
    """Return the paths and the trees of a record."""
    arrays = [_array(raw) for raw in _unpacked(content)]
    return Lists(*arrays[:2]), Lists(*arrays[2:])


def _packed(fields: Iterable[Any]) -> bytes:
    message: bytes = msgpack.packb(tuple(fields))
    return message


def _unpacked(message: bytes) -> list[Any]:
    fields: list[Any] = msgpack.unpackb(message)
    version = fields.pop(0)
    if version != VERSION:
        raise InputError(f"these open trees are of format {version}, and only {VERSION} can be read")
    return fields


def _raw(array: Array) -> bytes:
    return array.astype(_NUMBER, copy=False).tobytes()


def _array(raw: bytes) -> Array:
    return np.frombuffer(raw, _NUMBER).astype(np.int64)


def _brief(numbers: Sequence[int] | Array) -> bytes | list[bytes]:
    """Return numbers as bytes if each fits eight of them, and else each by itself."""
    try:
        return np.array(numbers, _LONG).tobytes()
    except OverflowError:
        return [_bytes_of(number) for number in numbers]


def _whole(brief: bytes | list[bytes]) -> Array:
    if isinstance(brief, bytes):
        return np.frombuffer(brief, _LONG)
    return np.array([_int_of(number) for number in brief], object)


def _bytes_of(number: int) -> bytes:
    # Costs may be longer than any integer that msgpack knows.
    return number.to_bytes((number.bit_length() + 8) // 8, "little", signed=True)


def _int_of(raw: bytes) -> int:
    return int.from_bytes(raw, "little", signed=True)
