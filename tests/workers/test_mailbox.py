"""Letters wait for their step, whoever is early."""

from __future__ import annotations

import threading

import pytest

from dosdt.workers.mailbox import CalledOff, Mailbox


def test_letters_are_collected_in_the_order_of_their_senders() -> None:
    box = Mailbox()
    box.deliver(1, 0, 1, b"b")
    box.deliver(1, 1, 0, b"early")
    box.deliver(1, 0, 0, b"a")
    assert box.collect(1, 0, range(2)) == [b"a", b"b"]
    box.deliver(1, 1, 1, b"late")
    assert box.collect(1, 1, range(2)) == [b"early", b"late"]


def test_who_collects_waits() -> None:
    box = Mailbox()
    got: list[list[bytes]] = []
    reader = threading.Thread(target=lambda: got.append(box.collect(1, 0, range(1))))
    reader.start()
    box.deliver(1, 0, 0, b"x")
    reader.join(30)
    assert got == [[b"x"]]


def test_a_team_that_is_called_off_waits_no_more() -> None:
    box = Mailbox()
    ended: list[bool] = []

    def read() -> None:
        with pytest.raises(CalledOff):
            box.collect(1, 0, range(2))
        ended.append(True)

    reader = threading.Thread(target=read)
    reader.start()
    box.deliver(1, 0, 0, b"x")
    box.call_off(1)
    reader.join(30)
    assert ended == [True]
    # The next team is not disturbed by what is left of the last one.
    box.deliver(1, 0, 1, b"stray")
    box.deliver(2, 0, 0, b"y")
    assert box.collect(2, 0, range(1)) == [b"y"]
    with pytest.raises(CalledOff):
        box.collect(1, 0, range(1))
