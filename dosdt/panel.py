"""The answer on a terminal: a frame with the verdict and the tree. In pipes it is plain text."""

from __future__ import annotations

import re
import sys
from textwrap import wrap
from typing import TYPE_CHECKING

from dosdt.export import to_text
from dosdt.present import summary

if TYPE_CHECKING:
    from rich.console import Console
    from rich.panel import Panel
    from rich.text import Text

    from dosdt.classifier import DOSDTClassifier

_PROVED = ("optimal", "gap_reached")
_LEAF = re.compile(r"(?P<lead>.*?)(?P<answer>predict .*?)(?P<evidence>   \(.*\))?$")
_EVIDENCE = re.compile(r"   \([^()]*\)$")
_LEAD = re.compile(r"(?:[│ ]  )*(?:[├└]─ (?:yes|no): )?")
_NARROWEST = 40


def result_text(model: DOSDTClassifier) -> str:
    """Return what was found: framed if stdout is a terminal, else as plain text."""
    if sys.stdout is not None and sys.stdout.isatty():
        from rich.console import Console

        console = Console(highlight=False)
        if not console.is_dumb_terminal and console.width >= _NARROWEST:
            with console.capture() as captured:
                console.print(panel(model, console))
            return captured.get()
    return f"{summary(model)}\n{to_text(model.tree_)}"


def panel(model: DOSDTClassifier, console: Console) -> Panel:
    """Return the verdict and the tree in a frame no wider than the terminal."""
    from rich.panel import Panel
    from rich.text import Text

    width = console.width - 4  # what is left within the frame
    text = Text()
    for line in summary(model).splitlines():
        name, said = line[:12], line[12:]
        for place, part in enumerate(wrap(said, max(width - 12, 20)) or [""]):
            text.append(name if place == 0 else " " * 12, "dim").append(part + "\n", _style(name, model))
    text.append("\n")
    for line in to_text(model.tree_).splitlines():
        for place, part in enumerate(folded(line, width)):
            _add_node(text, part, first=place == 0)
    text.rstrip()
    proved = model.status_ in _PROVED
    return Panel(text, title=f"[bold]{model.status_}[/]", border_style="green" if proved else "yellow", expand=False)


def folded(line: str, width: int) -> list[str]:
    """Return a line of a tree in pieces no wider than `width`; the branches beside it go on."""
    if len(line) <= width:
        return [line]
    match = _LEAD.match(line)
    lead = match[0] if match else ""
    if width - len(lead) < 12:  # no room to fold into: let the frame do it
        return [line]
    beside = re.sub("[a-z:─]", " ", lead.replace("├", "│").replace("└", " "))
    # What a leaf rests on stays together.
    said = _EVIDENCE.sub(lambda evidence: " " + evidence[0].strip().replace(" ", "\0"), line[len(lead) :])
    first, *others = (part.replace("\0", " ") for part in wrap(said, width - len(lead), break_on_hyphens=False))
    return [lead + first, *(beside + part for part in others)]


def _style(name: str, model: DOSDTClassifier) -> str:
    if name.startswith("status"):
        return "bold green" if model.status_ in _PROVED else "bold yellow"
    return ""


def _add_node(text: Text, line: str, *, first: bool) -> None:
    """Append a node: what it predicts stands out, and what it rests on steps back."""
    leaf = _LEAF.match(line) if first else None
    if leaf is None:
        text.append(line + "\n")
        return
    text.append(leaf["lead"]).append(leaf["answer"], "bold cyan").append((leaf["evidence"] or "") + "\n", "dim")
