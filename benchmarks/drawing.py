"""How figures look: readable without colour, and trees as pictures.

Methods differ in brightness, line and mark at once, so that they survive greyscale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "dosdt"  # the same picture is the same file
mpl.rcParams["svg.fonttype"] = "none"  # text stays text, and files small
mpl.rcParams["font.size"] = 9

import matplotlib.pyplot as plt  # noqa: E402

from benchmarks.fits import Nodes  # noqa: E402


class Style(NamedTuple):
    """How a method is drawn: dark to light, and by mark and line."""

    color: str
    marker: str
    line: str


STYLES = {
    "dosdt": Style("#111111", "o", "-"),
    "CART": Style("#2f6fb0", "s", "--"),
    "BinOCT": Style("#e08214", "^", ":"),
}
LONGEST = 22  # characters of a question on one line


def panels(count: int, *, columns: int = 2, height: float = 2.6, width: float = 4.2) -> tuple[Any, list[Any]]:
    """Return a figure and so many panels in it."""
    columns = min(columns, count)
    rows = -(-count // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(width * columns, height * rows + 0.3), layout="constrained", squeeze=False
    )
    axes = list(grid.ravel())
    for unused in axes[count:]:
        unused.set_visible(False)
    return figure, axes[:count]


def legend_above(figure: Any, axes: Any) -> None:
    """Put one legend above all panels, from the marks of one or several panels."""
    found: dict[str, Any] = {}
    for one in axes:
        for handle, label in zip(*one.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    longest = max(map(len, found), default=0) + 6
    columns = max(1, min(len(found), int(11 * figure.get_figwidth() / longest)))
    figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns, frameon=False)


def plot(axes: Any, method: str, points: Sequence[tuple[float, float]]) -> None:
    """Draw a method's points in its style; without any it is not in the legend."""
    if not points:
        return
    style = STYLES[method]
    axes.plot(
        [x for x, _ in points],
        [y for _, y in points],
        color=style.color,
        marker=style.marker,
        linestyle=style.line,
        markersize=5,
        label=method,
    )


def wrapped(text: str) -> str:
    """Return a question on at most two lines, broken at a sign or blank where there is one."""
    if len(text) <= LONGEST:
        return text
    breaks = [k + (text[k] != " ") for k in range(1, len(text) - 1) if text[k] in " :-_"]
    middle = min(breaks, key=lambda k: abs(k - len(text) / 2), default=len(text) // 2)
    return f"{text[:middle].rstrip()}\n{text[middle:].lstrip()}"


def draw_tree(axes: Any, nodes: Nodes, names: Sequence[str], classes: Sequence[str], title: str) -> None:
    """Draw a tree: questions in boxes, "yes" to the left; leaves filled by what they predict."""
    places: dict[int, tuple[float, int]] = {}
    width = 0

    def place(number: int, depth: int) -> float:
        nonlocal width
        feature, yes, no, _ = nodes[number]
        if feature < 0:
            x = float(width)
            width += 1
        else:
            x = (place(yes, depth + 1) + place(no, depth + 1)) / 2
        places[number] = x, depth
        return x

    place(0, 0)
    for number, (feature, yes, no, label) in enumerate(nodes):
        if number not in places:
            continue
        x, depth = places[number]
        if feature >= 0:
            for child, answer in ((yes, "yes"), (no, "no")):
                cx, cdepth = places[child]
                axes.plot([x, cx], [-depth, -cdepth], color="0.5", linewidth=1, zorder=1)
                middle = (x + cx) / 2, -(depth + cdepth) / 2
                blank = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
                axes.text(*middle, answer, ha="center", va="center", fontsize=7, bbox=blank, zorder=1.5)
        text = wrapped(names[feature]) if feature >= 0 else classes[label]
        dark = feature < 0 and label == 1
        box = {
            "boxstyle": "round,pad=0.3" if feature >= 0 else "square,pad=0.45",
            "facecolor": "white" if feature >= 0 else ("#404040" if dark else "#e4e4e4"),
            "edgecolor": "0.2",
        }
        color = "white" if dark else "black"
        axes.text(x, -depth, text, ha="center", va="center", fontsize=8, color=color, bbox=box, zorder=2)
    deepest = max(depth for _, depth in places.values())
    axes.set_xlim(-0.7, max(width, 2) - 0.3)
    axes.set_ylim(-deepest - 0.45, 0.45)
    axes.set_axis_off()
    axes.set_title(title, fontsize=9)
