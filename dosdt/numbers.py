"""Whole numbers of any size in messages: msgpack holds 64 bits."""

from __future__ import annotations


def natural(number: int) -> int | bytes:
    """Return a whole number as msgpack can hold it: as bytes if it has more than 63 bits."""
    number = int(number)
    return number if -(2**63) <= number < 2**63 else number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


def whole(number: int | bytes) -> int:
    """Return the number that `natural` has packed."""
    return int.from_bytes(number, "big", signed=True) if isinstance(number, bytes) else number
