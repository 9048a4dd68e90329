"""How figures look: readable without colour, and trees as pictures.

Methods differ in brightness, line and mark at once, so that they survive greyscale.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import matplotlib as mpl

mpl.use("Agg")
mpl.rcParams["svg.hashsalt"] = "dosdt"  # the same picture is the same file
mpl.rcParams["svg.fonttype"] = "none"  # text stays text, and files small
mpl.rcParams["font.size"] = 9

import matplotlib.pyplot as plt  # noqa: E402

from benchmarks.fits import Nodes  # noqa: E402
from dosdt import Leaf, Rule, Split, Tree, plot_tree  # noqa: E402


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


def draw_tree(axes: Any, nodes: Nodes, names: Sequence[str], classes: Sequence[str], title: str) -> None:
    """Draw a tree: questions in boxes, "yes" to the left; leaves filled by what they predict."""
    nothing = tuple(Fraction(0) for _ in classes)
    tree = Tree(
        tuple(
            Split(Rule(names[feature], "is_true"), yes, no) if feature >= 0 else Leaf(label, nothing, Fraction(0))
            for feature, yes, no, label in nodes
        ),
        tuple(classes),
        tuple(names),
    )
    plot_tree(tree, ax=axes, label="none")
    axes.set_title(title, fontsize=9)
