"""Letters of teams of all sizes: each gets to whom it is for, in few messages."""

from __future__ import annotations

import threading
from functools import partial
from math import sqrt

import pytest

from dosdt.workers.carrier import SMALL, Carrier, Square
from dosdt.workers.mailbox import Mailbox

STEPS = 3


def exchange(size: int) -> tuple[list[list[list[bytes]]], list[Carrier]]:
    """Return what each member collects in each step, each in a thread of its own, and the carriers."""
    boxes = [Mailbox() for _ in range(size)]
    carriers: list[Carrier] = []
    collected: list[list[list[bytes]]] = [[] for _ in range(size)]

    def hand_over(sender: int, to: int, place: int, content: bytes) -> None:
        assert to != sender
        boxes[to].deliver(1, place, sender, content)

    def live(number: int) -> None:
        for step in range(STEPS):
            carriers[number].send(step, [f"{step}: {number} to {to}".encode() for to in range(size)])
            collected[number].append(carriers[number].collect(step))

    carriers += [Carrier(number, size, boxes[number], 1, partial(hand_over, number)) for number in range(size)]
    threads = [threading.Thread(target=live, args=(number,), daemon=True) for number in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return collected, carriers


@pytest.mark.parametrize("size", [1, 2, 3, SMALL, *range(SMALL + 1, 28), 50, 101])
def test_every_letter_arrives(size: int) -> None:
    collected, carriers = exchange(size)
    for number in range(size):
        assert collected[number] == [
            [f"{step}: {sender} to {number}".encode() for sender in range(size)] for step in range(STEPS)
        ]
    most = max(carrier.messages for carrier in carriers) / STEPS
    assert most <= (size - 1 if size <= SMALL else 2 * sqrt(size) + 2)


def test_somebody_hands_on_every_letter_once() -> None:
    for size in range(1, 200):
        square = Square(size)
        for member in range(size):
            for column in range(square.columns):
                way = square.by_way_of(member, column)
                assert way in square.column(column)
                assert member in square.senders_by_way_of(way)
        assert sorted(to for column in range(square.columns) for to in square.column(column)) == list(range(size))
