"""When to stop before the proof is complete, and what a stop is called."""

from __future__ import annotations

import re
import signal
import threading
import time
from dataclasses import dataclass
from enum import Enum
from types import FrameType, TracebackType
from typing import Any

import psutil

from dosdt.errors import InputError

_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


class Status(str, Enum):
    """How a search ended; only `OPTIMAL` is a proof."""

    OPTIMAL = "optimal"
    TIME_LIMIT = "time_limit"
    MEMORY_LIMIT = "memory_limit"
    EVALUATION_LIMIT = "evaluation_limit"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Limits:
    """What a search may use; None means no limit.

    Attributes
    ----------
    seconds : float, optional
    memory : int, optional
        Resident memory of the whole process, in bytes; None is what it uses already and 80 % of what is free.
    evaluations : int, optional
    """

    seconds: float | None = None
    memory: int | None = None
    evaluations: int | None = None


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

    The first Ctrl-C asks for a stop that leaves an answer; a second one raises KeyboardInterrupt.
    """

    _SECONDS_BETWEEN_MEMORY_CHECKS = 0.1

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process = psutil.Process()
        self._start = time.perf_counter()
        self._memory = limits.memory
        if self._memory is None:
            self._memory = int(self._process.memory_info().rss + 0.8 * psutil.virtual_memory().available)
        self._next_memory_check = 0.0
        self._interrupted = False
        self._previous_handler: Any = None

    @property
    def seconds(self) -> float:
        """Seconds since the watch was made."""
        return time.perf_counter() - self._start

    def verdict(self, evaluated: int) -> Status | None:
        """Return why to stop now, or None."""
        if self._interrupted:
            return Status.INTERRUPTED
        if self._limits.evaluations is not None and evaluated >= self._limits.evaluations:
            return Status.EVALUATION_LIMIT
        seconds = self.seconds
        if self._limits.seconds is not None and seconds >= self._limits.seconds:
            return Status.TIME_LIMIT
        if seconds >= self._next_memory_check:
            self._next_memory_check = seconds + self._SECONDS_BETWEEN_MEMORY_CHECKS
            if self._memory is not None and self._process.memory_info().rss >= self._memory:
                return Status.MEMORY_LIMIT
        return None

    def __enter__(self) -> Watch:
        # Signals reach the main thread only; elsewhere Ctrl-C is the caller's business.
        if threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGINT, self._on_interrupt)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._previous_handler is not None:
            signal.signal(signal.SIGINT, self._previous_handler)

    def _on_interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True
