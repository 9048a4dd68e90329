"""When to stop before the proof is complete, and what a stop is called."""

from __future__ import annotations

import re
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import ceil
from numbers import Integral
from types import FrameType, TracebackType
from typing import Any

import psutil

from dosdt.errors import InputError
from dosdt.exact import exact

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Status(str, Enum):
    """How a search ended: `OPTIMAL` and `GAP_REACHED` when all that was asked for is proved, else what stopped it."""

    OPTIMAL = "optimal"
    GAP_REACHED = "gap_reached"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    EVALUATION_LIMIT = "evaluation_limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Limits:
    """What a search may use, and how much it has to prove; None means no limit.

    Attributes
    ----------
    seconds : float, optional
    memory : int, optional
        Resident memory of the whole process, in bytes; None is what it uses already and 80 % of what is free.
    evaluations : int, optional
        Looked at after every few hundred evaluations, which is how far a search may go beyond it.
    relative_gap : Fraction, or a number or text that is taken exactly
        Enough is proved when no tree is better than the one found by more than this share of its objective.
    """

    seconds: float | None = None
    memory: int | None = None
    evaluations: int | None = None
    relative_gap: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relative_gap", parse_gap(self.relative_gap))  # 0.05 is a twentieth

    def wanted(self, cost: int) -> int:
        """Return what a tree must cost less than to matter once one of this cost is known.

        It is also the least bound that is enough: ``(cost - bound)/cost <= relative_gap`` from here on.
        """
        return ceil(cost * (1 - self.relative_gap))


def parse_limits(time_limit: Any, memory_limit: Any, evaluation_limit: Any, relative_gap: Any) -> Limits:
    """Return the limits that a person has given, or say which of them cannot be one."""
    seconds = None if time_limit is None else float(min(exact(time_limit, "time_limit"), Fraction(10**9)))
    if seconds is not None and seconds < 0:
        raise InputError(f"time_limit must not be negative, got {time_limit!r}")
    check_whole("evaluation_limit", evaluation_limit, least=0)
    return Limits(seconds, parse_memory(memory_limit), evaluation_limit, relative_gap)


def parse_gap(value: Any) -> Fraction:
    """Return a share of the objective, exactly, from 0.05, "0.05" or "1/20"."""
    with suppress(InputError):
        if 0 <= (gap := exact(value, "relative_gap")) < 1:
            return gap
    raise InputError(f"relative_gap must be a number from 0 to less than 1, such as 0.05 for 5 %, got {value!r}")


def check_whole(option: str, value: object, least: int) -> None:
    """Refuse what is neither None nor a whole number from `least` on."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least):
        raise InputError(f"{option} must be a whole number, {least} or more, got {value!r}")


def parse_memory(value: int | float | str | None) -> int | None:
    """Return a number of bytes from 2000000000, "2G" or "1500 MB"."""
    if value is None:
        return None
    text = f"{value:f}" if isinstance(value, float) else str(value)  # as text, 1e16 has no digits to read
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    if match is None or isinstance(value, bool) or not 0 < float(match[1]) < 2**60:
        raise InputError(f"memory_limit must be a number of bytes or a text such as '2G', got {value!r}")
    return int(float(match[1]) * _UNITS[match[2].lower()])


class Watch:
    """Looks at the clock, the memory and Ctrl-C while a search runs; use it as a context manager.

    The first Ctrl-C asks for a stop that leaves an answer; a second one raises KeyboardInterrupt. None is lost:
    whether there was one is known for certain, by `interrupted`, after the watch has ended.
    """

    _SECONDS_BETWEEN_MEMORY_CHECKS = 0.1
    _SHORT = 0.85

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process = psutil.Process()
        self._start = time.perf_counter()
        self._memory = limits.memory or int(self._process.memory_info().rss + 0.8 * psutil.virtual_memory().available)
        self._next_memory_check = 0.0
        self.memory_is_short = False
        self.interrupted = False
        self._previous_handler: Any = None

    @property
    def seconds(self) -> float:
        """Seconds since the watch was made."""
        return time.perf_counter() - self._start

    def verdict(self, evaluated: int) -> Status | None:
        """Return why to stop now, or None."""
        if self.interrupted:
            return Status.INTERRUPTED
        if self._limits.evaluations is not None and evaluated >= self._limits.evaluations:
            return Status.EVALUATION_LIMIT
        seconds = self.seconds
        if self._limits.seconds is not None and seconds >= self._limits.seconds:
            return Status.TIME_LIMIT
        if seconds >= self._next_memory_check:
            self._next_memory_check = seconds + self._SECONDS_BETWEEN_MEMORY_CHECKS
            used = self._process.memory_info().rss
            self.memory_is_short = used >= self._SHORT * self._memory
            if used >= self._memory:
                return Status.MEMORY_LIMIT
        return None

    def __enter__(self) -> Watch:
        # Signals reach the main thread only; elsewhere Ctrl-C is the caller's business. So is it where a handler
        # is not Python's (None), since that could not be put back.
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is not None:
            self._previous_handler = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous_handler is not None:
            signal.signal(signal.SIGINT, self._previous_handler)
        if error is not None and self.interrupted and not isinstance(error, KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)  # there will be no answer that could tell of it

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
