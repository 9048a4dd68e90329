"""When a search stops, and what the stop is called."""

from __future__ import annotations

import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import psutil
import pytest

from dosdt.errors import InputError
from dosdt.limits import Limits, Status, Watch, parse_gap, parse_limits, parse_memory


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (None, None),
        (2_000_000_000, 2_000_000_000),
        (np.int64(4096), 4096),
        (2e9, 2_000_000_000),
        (1e17, 10**17),
        ("4096", 4096),
        ("4096B", 4096),
        ("2k", 2048),
        ("2K", 2048),
        ("3M", 3 * 2**20),
        ("1500 MB", 1500 * 2**20),
        ("1.5GiB", 3 * 2**29),
        (" 2g ", 2**31),
        ("1T", 2**40),
    ],
)
def test_memory(text: Any, size: int | None) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    "text", ["", "G", "2X", "2GG", "-1", -5, 0, "0", 0.0, True, float("nan"), float("inf"), "1e9", "2,5G", []]
)
def test_no_memory(text: Any) -> None:
    with pytest.raises(
        InputError, match="memory_limit must be a number of bytes or a text such as '2G', got"
    ) as error:
        parse_memory(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "gap"),
    [(0, 0), (0.05, Fraction(1, 20)), ("0.05", Fraction(1, 20)), ("1/3", Fraction(1, 3)), (np.float64(0.1), "1/10")],
)
def test_gaps_are_exact(given: Any, gap: Any) -> None:
    assert parse_gap(given) == Fraction(gap)
    assert parse_limits(None, None, None, given) == Limits(relative_gap=given) == Limits(relative_gap=Fraction(gap))


@pytest.mark.parametrize("given", [1, -0.01, "5%", "", None, True, float("nan"), "1.0", 2, "much", []])
def test_no_gap(given: Any) -> None:
    with pytest.raises(
        InputError, match="^relative_gap must be a number from 0 to less than 1, such as 0.05"
    ) as error:
        parse_limits(None, None, None, given)
    assert "\n" not in str(error.value)


def test_limits_as_people_write_them() -> None:
    assert parse_limits("1.5", "2k", np.int64(7), 0) == Limits(1.5, 2048, 7)
    assert parse_limits(10**20, None, 0, "0") == Limits(10.0**9, None, 0)


def test_what_is_wanted_is_just_enough() -> None:
    """A bound of `wanted` closes the gap, and one less does not."""
    for gap in (Fraction(0), Fraction(1, 20), Fraction(1, 3), Fraction(999, 1000)):
        limits = Limits(relative_gap=gap)
        for cost in (1, 2, 19, 20, 21, 10**30 + 7):
            wanted = limits.wanted(cost)
            assert Fraction(cost - wanted, cost) <= gap < Fraction(cost - wanted + 1, cost)


def test_status_is_its_name() -> None:
    assert [status.value for status in Status] == [
        "optimal",
        "gap_reached",
        "time_limit",
        "memory_limit",
        "evaluation_limit",
        "interrupted",
    ]
    assert Status("optimal") is Status.OPTIMAL
    assert Status.OPTIMAL == "optimal"


def test_verdicts() -> None:
    assert Watch(Limits()).verdict(10**9) is None
    assert Watch(Limits(seconds=3600, evaluations=5, memory=2**60)).verdict(4) is None
    assert Watch(Limits(seconds=3600, evaluations=5)).verdict(5) is Status.EVALUATION_LIMIT
    assert Watch(Limits(evaluations=0)).verdict(0) is Status.EVALUATION_LIMIT
    assert Watch(Limits(seconds=0)).verdict(0) is Status.TIME_LIMIT
    assert Watch(Limits(memory=1)).verdict(0) is Status.MEMORY_LIMIT
    assert Watch(Limits(memory=psutil.Process().memory_info().rss * 100)).verdict(0) is None


def test_memory_is_not_asked_for_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(Limits(memory=2**60))
    asked = []

    def memory_info() -> Any:
        asked.append(1)
        return psutil.Process().memory_info()

    monkeypatch.setattr(watch, "_process", type("Process", (), {"memory_info": staticmethod(memory_info)}))
    monkeypatch.setattr(Watch, "_SECONDS_BETWEEN_MEMORY_CHECKS", 3600)
    assert [watch.verdict(0) for _ in range(100)] == [None] * 100
    assert len(asked) == 1


@pytest.fixture(autouse=True)
def _ordinary_ctrl_c() -> Iterator[None]:
    """Ctrl-C as in a terminal, also where a shell has started the tests in the background and has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_interrupt_asks_and_the_second_insists() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Watch(Limits(seconds=0, evaluations=0)) as watch:
        assert signal.getsignal(signal.SIGINT) is not before
        signal.raise_signal(signal.SIGINT)
        assert watch.verdict(0) is Status.INTERRUPTED  # whatever else has been reached
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_beside_an_error_reaches_the_caller() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as raised, Watch(Limits()):
        signal.raise_signal(signal.SIGINT)
        raise RuntimeError("no more paper")
    assert isinstance(raised.value.__context__, RuntimeError)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_could_not_be_put_back_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(signal, "getsignal", lambda number: None)
        with Watch(Limits()):
            patch.undo()
            assert signal.getsignal(signal.SIGINT) is before
    assert signal.getsignal(signal.SIGINT) is before


def test_watches_may_be_nested() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Watch(Limits()) as outer:
        with Watch(Limits()) as inner:
            signal.raise_signal(signal.SIGINT)
        assert inner.verdict(0) is Status.INTERRUPTED
        assert outer.verdict(0) is None
        signal.raise_signal(signal.SIGINT)
        assert outer.verdict(0) is Status.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is before


def test_signals_are_left_alone_outside_the_main_thread() -> None:
    before, seen = signal.getsignal(signal.SIGINT), []

    def look() -> None:
        with Watch(Limits()) as watch:
            seen.append(signal.getsignal(signal.SIGINT))
            seen.append(watch.verdict(0))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before, None]
    assert signal.getsignal(signal.SIGINT) is before


IMPATIENT = """
import random, signal
from dosdt import Problem, solve
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = random.Random(0)
problem = Problem.from_arrays(
    [[rng.randrange(2) for _ in range(14)] for _ in range(300)], [rng.randrange(2) for _ in range(300)], "0.0005"
)
before = signal.getsignal(signal.SIGINT)
def twice(point):
    signal.raise_signal(signal.SIGINT)
    print("once", flush=True)
    signal.raise_signal(signal.SIGINT)
    print("twice", flush=True)
try:
    solve(problem, report=twice)
finally:
    print(signal.getsignal(signal.SIGINT) is before, flush=True)
"""


def test_a_second_interrupt_ends_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", IMPATIENT], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["once", "True"]
    assert done.stderr.strip().endswith("KeyboardInterrupt")
    assert done.returncode != 0


LISTENING = """
import random, signal
from dosdt import Problem, solve
rng = random.Random(0)
problem = Problem.from_arrays(
    [[rng.randrange(2) for _ in range(5)] for _ in range(40)], [rng.randrange(2) for _ in range(40)], "0.02"
)
solve(problem)
# A signal is let in only where it is looked for, and the next one comes after this one was heard.
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
while True:
    print("ready", flush=True)
    heard = "status"
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        while solve(problem).status != "interrupted":
            pass
    except KeyboardInterrupt:
        heard = "exception"
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    print(heard, flush=True)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs signals as POSIX has them")
def test_no_interrupt_vanishes() -> None:
    """At any moment of many short searches, the last of each included."""
    rng, heard = random.Random(0), []
    with subprocess.Popen([sys.executable, "-c", LISTENING], stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdout is not None
        try:
            for _ in range(100):
                assert process.stdout.readline() == b"ready\n"
                time.sleep(rng.random() / 200)
                process.send_signal(signal.SIGINT)
                assert select.select([process.stdout], [], [], 20)[0], "an interrupt was lost"
                heard.append(process.stdout.readline().decode().strip())
        finally:
            process.kill()
    assert set(heard) <= {"status", "exception"}
    assert "status" in heard
