"""What the members of a team write to each other, as bytes: msgpack with a version, arrays as they are in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgpack
import numpy as np

from dosdt.errors import InputError
from dosdt.numbers import natural, whole
from dosdt.subproblem.ghosts import Array

VERSION = 1


class Heading(NamedTuple):
    """What a member says to all others in every step.

    Attributes
    ----------
    limit : int
        Cost that a tree must stay below to be of interest.
    root : (int, int) or None
        Bounds on the whole problem in the search's prices, from the member that is its home.
    stop, save, short : bool
        Whether to finish, whether to save what is known, whether memory is short.
    sums : list of int
        Numbers that are added up over all members; what they count depends on the step.
    """

    limit: int
    root: tuple[int, int] | None
    stop: bool
    save: bool
    short: bool
    sums: list[int]


def write(heading: Heading, body: Any) -> bytes:
    """Return a letter."""
    root = heading.root and tuple(map(natural, heading.root))
    letter: bytes = msgpack.packb([VERSION, (natural(heading.limit), root, *heading[2:]), body], default=array_out)
    return letter


def read(letter: bytes) -> tuple[Heading, Any]:
    """Return the heading and the body of a letter."""
    version, heading, body = msgpack.unpackb(letter, strict_map_key=False, ext_hook=array_in)
    if version != VERSION:
        raise InputError(f"a worker runs another version of dosdt ({version}, not {VERSION}); install the same one")
    limit, root, *rest = heading
    return Heading(whole(limit), root and (whole(root[0]), whole(root[1])), *rest), body


def array_out(value: Any) -> Any:
    """Return an array of whole numbers as msgpack can hold it."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return msgpack.ExtType(1, msgpack.packb([natural(number) for number in value.tolist()]))
        code = value.dtype.str.encode()
        return msgpack.ExtType(2, bytes([len(code)]) + code + value.tobytes())
    raise TypeError(f"cannot send {type(value).__name__}")


def array_in(kind: int, data: bytes) -> Array:
    """Return the array that `array_out` has packed."""
    if kind == 1:
        numbers: Sequence[Any] = msgpack.unpackb(data)
        array = np.empty(len(numbers), object)
        array[:] = [whole(number) for number in numbers]
        return array
    size = 1 + data[0]
    return np.frombuffer(data, np.dtype(data[1:size].decode()), offset=size)
