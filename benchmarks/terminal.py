"""A picture of a terminal in which a command has really run: ``python -m benchmarks.terminal``.

The command gets a terminal of its own, and what that shows in the end is drawn as SVG, with no font from the network.
"""

from __future__ import annotations

import argparse
import fcntl
import io
import os
import re
import shlex
import struct
import subprocess
import sys
import termios
from itertools import groupby
from pathlib import Path
from typing import Any

import pyte
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
COMMAND = "dosdt fit tic-tac-toe --regularization 0.01"
_ROWS = 200
_FONTS = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, Liberation Mono, monospace"
_COLORS = {"brown": "yellow", "brightblack": "bright_black"}
"""What pyte and rich call by different names."""


class _Screen(pyte.Screen):  # type: ignore[misc]
    """A terminal that shows faint text as grey."""

    def select_graphic_rendition(self, *attributes: int, **options: Any) -> None:
        super().select_graphic_rendition(*(90 if number == 2 else number for number in attributes), **options)


def shown(command: str, columns: int) -> list[Text]:
    """Run a `dosdt` command in a terminal of so many columns; return its lines at the end, coloured."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")}
    environment |= {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
    words = [sys.executable, "-m", *shlex.split(command)]
    screen = _Screen(columns, _ROWS)
    stream = pyte.ByteStream(screen)
    with subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as run:
        os.close(theirs)
        while True:
            try:
                block = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not block:
                break
            stream.feed(block)
    os.close(ours)
    if run.returncode:
        raise SystemExit("\n".join(line.rstrip() for line in screen.display).strip())
    return [_line(screen.buffer[row], columns) for row in range(screen.cursor.y)]


def _line(cells: Any, columns: int) -> Text:
    text = Text(no_wrap=True)
    for style, alike in groupby((cells[place] for place in range(columns)), _style):
        text.append("".join(cell.data for cell in alike), style)
    text.rstrip()
    return text


def _style(cell: Any) -> str:
    color = "" if cell.fg == "default" else _COLORS.get(cell.fg, cell.fg)
    return f"{'bold ' if cell.bold else ''}{color}".strip()


def picture(command: str, columns: int = 80) -> str:
    """Return the SVG of a terminal in which a command has run."""
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    prompt = Text("$ ", "bright_black").append(command, "bold")
    for line in (prompt, *shown(command, columns)):
        console.print(line)
    svg = console.export_svg(title="dosdt", unique_id="terminal")
    # rich asks a server for its font; the widths of all texts are given, so that any monospaced one will do.
    svg = re.sub(r"\s*@font-face \{.*?\}\n", "\n", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: (?:Fira Code, monospace|arial)", f"font-family: {_FONTS}", svg)
    return re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)


def main() -> None:
    """Draw the picture of the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", default=COMMAND)
    parser.add_argument("--columns", type=int, default=80)
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "terminal.svg")
    options = parser.parse_args()
    options.output.write_text(picture(options.command, options.columns), encoding="utf-8")


if __name__ == "__main__":
    main()
