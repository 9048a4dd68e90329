"""What a search is doing, as it goes: on stderr, with a live last line on a terminal, and in a log file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from typing import IO, TYPE_CHECKING, Protocol

from dosdt import __version__
from dosdt.log_lines import Events, Lines
from dosdt.problem import Problem
from dosdt.solver import TracePoint

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Report = Callable[[TracePoint], None]

STYLES = {"*": "bold green", "+": "cyan", "=": "bold green", "@": "magenta", "!": "bold red", " ": ""}
"""How a terminal shows a line, by its mark."""


class Place(Protocol):
    """Somewhere the course of a search is shown."""

    def line(self, point: TracePoint, mark: str) -> None:
        """Show a point that stays."""
        ...

    def live(self, point: TracePoint) -> None:
        """Show a point until the next one comes."""
        ...


@contextmanager
def progress(
    show: bool,
    problem: Problem,
    *,
    algorithm: str = "subproblem",
    team: bool = False,
    log_file: str | os.PathLike[str] | None = None,
    console: Console | None = None,
) -> Iterator[Report | None]:
    """Give a function that shows the state of a search, or None if nobody wants to know.

    Parameters
    ----------
    show : bool
        Whether to write to stderr.
    problem : Problem
    algorithm : {"subproblem", "leafset"}
    team : bool
        Whether several processes may take part.
    log_file : path, optional
        File to which the same lines are added.
    console : rich.console.Console, optional
        A terminal to show it on in place of stderr.
    """
    work = "expanded" if algorithm == "subproblem" else "evaluated"
    intro = (
        f"{problem.n_samples:,} rows, {problem.n_rows:,} distinct, {problem.n_columns:,} yes/no features, "
        f"{len(problem.classes):,} classes, regularization {problem.regularization}"
    )
    places: list[Place] = []  # where nothing is said before the search has begun: it may be refused
    with ExitStack() as stack:
        if log_file is not None:
            begun = f"dosdt {__version__}, {datetime.now().astimezone():%Y-%m-%d %H:%M:%S %z}"
            add = stack.enter_context(_LogFile(log_file))
            places.append(_Plain(add, Lines(work, team=team), [begun, intro]))
        if show and sys.stderr is not None:
            console = console or _terminal()
            if console is None:
                places.append(_Plain(_tell, Lines(work, team=team), [intro]))
            else:
                screen = _Screen(console, Lines(work, team=team, width=console.width - 1), intro)
                places.append(stack.enter_context(screen.drawn()))
        if not places:
            yield None
            return
        events, latest = Events(), None

        def report(point: TracePoint, last: bool = False) -> None:
            nonlocal latest
            latest = point
            mark = events.mark(point, last=last)
            for place in places:
                if mark is not None:
                    place.line(point, mark)
                place.live(point)

        yield report
        if latest is not None:
            report(latest, last=True)


def _tell(text: str) -> None:
    """Write a line to stderr; that nobody reads it any more is no error."""
    with suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


class _LogFile:
    """A file to which lines are added, each of which is there at once; use it as a context manager.

    It is opened for the first line, so that a search that is refused leaves no empty file. When the disk is full the
    log ends, and not the search.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._file: IO[str] | None = None
        self._ended = False

    def __enter__(self) -> _LogFile:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with suppress(OSError):
                self._file.close()

    def __call__(self, text: str) -> None:
        """Add a line."""
        if self._ended:
            return
        try:
            if self._file is None:
                self._file = open(self._path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115
            self._file.write(f"{text}\n")
        except OSError as error:
            self._ended = True
            _tell(f"dosdt: the log file ends here: {error.strerror or error}")


class _Plain:
    """Lines without anything else, for pipes and files."""

    def __init__(self, write: Callable[[str], None], lines: Lines, intro: list[str]) -> None:
        self._write, self._lines = write, lines
        self._intro = [*intro, lines.legend()]

    def line(self, point: TracePoint, mark: str) -> None:
        for text in (*self._intro, *self._lines.next(point, mark)):
            self._write(text)
        self._intro = []

    def live(self, point: TracePoint) -> None:
        pass


class _Screen:
    """A terminal: lines scroll up, and the last one is alive."""

    def __init__(self, console: Console, lines: Lines, intro: str) -> None:
        self._console, self._lines = console, lines
        self._intro = [intro, lines.legend()]
        self._latest: tuple[TracePoint, float] | None = None

    @contextmanager
    def drawn(self) -> Iterator[_Screen]:
        """Draw until the block ends; the live line goes then."""
        from rich.live import Live

        with Live(
            console=self._console,
            refresh_per_second=4,
            transient=True,
            get_renderable=self._now,
            vertical_overflow="visible",
        ):
            yield self

    def line(self, point: TracePoint, mark: str) -> None:
        for text in self._intro:
            self._console.print(text, markup=False, style="dim")
        self._intro = []
        for text in self._lines.next(point, mark):
            style = "bold" if text == self._lines.header() else STYLES[mark]
            self._console.print(_one_line(text, style))

    def live(self, point: TracePoint) -> None:
        self._latest = point, time.perf_counter()

    def _now(self) -> Text:
        """Return the last line; its clock goes on while nothing is heard, as when a team is being formed."""
        if self._latest is None:
            return _one_line("", "")
        (point, since), now = self._latest, time.perf_counter()
        text = self._lines.line(point._replace(seconds=point.seconds + now - since), "|/-\\"[int(4 * now) % 4])
        if point.remaining_log10 is not None:
            text += f"   at most 10^{point.remaining_log10:,} left"
        return _one_line(text, "dim")


def _terminal() -> Console | None:
    """Return the terminal behind stderr, if there is one that can redraw a line."""
    if not sys.stderr.isatty():
        return None
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    return None if console.is_dumb_terminal else console


def _one_line(text: str, style: str) -> Text:
    """Return text that is cut off rather than wrapped: a line that wraps could not be redrawn in place."""
    from rich.text import Text

    return Text(text, style=style, no_wrap=True, overflow="crop")
