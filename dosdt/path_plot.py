"""A picture of the path: errors against leaves, and the λ at which each tree is optimal."""

from __future__ import annotations

import os
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any

from dosdt.errors import InputError
from dosdt.files import replacing

if TYPE_CHECKING:
    from dosdt.path import DOSDTPath

FORMATS = ("png", "svg", "pdf")
_SIZE = (10.0, 4.2)  # inches
_DARK, _GREY = "#1f4e79", "#8a8a8a"  # apart in greyscale, too
_LABELS_APART = 0.045  # of the height


def plot_path(path: DOSDTPath, axes: Any = None) -> Any:
    """Draw errors against leaves, and beside it the leaves of the optimal tree for every λ.

    Filled markers are trees that are optimal at some λ, hollow ones those of the front that are optimal at none; what
    is not proved is dashed.

    Parameters
    ----------
    path : DOSDTPath
        Fitted.
    axes : pair of matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Figure
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(path, "points_")
    if axes is None:
        _matplotlib()
        import matplotlib.pyplot as plt

        _, axes = plt.subplots(1, 2, figsize=_SIZE, layout="constrained")
    left, right = axes
    _trade_offs(path, left)
    _intervals(path, right)
    return left.figure


def save_path_plot(path: DOSDTPath, file: str | os.PathLike[str]) -> None:
    """Write the picture as PNG, SVG or PDF, by the file's name, without a display."""
    form = plot_format(file)
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    FigureCanvasAgg(figure)
    plot_path(path, figure.subplots(1, 2))
    with replacing(file) as temporary:
        # No date: the same path gives the same file.
        figure.savefig(temporary, format=form, dpi=150, metadata={} if form == "png" else {_DATES[form]: None})


_DATES = {"svg": "Date", "pdf": "CreationDate"}


def plot_format(file: str | os.PathLike[str]) -> str:
    """Return the format that a file's name asks for, or say why it cannot be written."""
    _matplotlib()
    form = os.path.splitext(os.fspath(file))[1].lower().removeprefix(".")
    if form not in FORMATS:
        raise InputError(f"the plot {os.fspath(file)!r} must end in .{', .'.join(FORMATS)}; rename it")
    return form


def _matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("a plot needs matplotlib, which is not installed; run: pip install matplotlib") from None


def _trade_offs(path: DOSDTPath, axes: Any) -> None:
    weight = path.problem_.total_weight
    costs = path.cost_matrix is not None

    def height(errors: Fraction) -> float:
        return float(errors / weight) * (1 if costs else 100)

    corners = [(point.leaves, height(point.errors)) for point in path.points_]
    front = [] if path.front_ is None else [(p.leaves, height(p.errors), p.proved) for p in path.front_]
    if path.front_proved_to_ is not None:
        known = [(leaves, errors) for leaves, errors, _ in front if leaves <= path.front_proved_to_]
        leaves, errors = _columns([*known, (path.front_proved_to_, known[-1][1])])
        axes.step(leaves, errors, where="post", color=_GREY, linewidth=1, label="fewest for so many leaves", zorder=1)
        for shown, colour in ((True, _GREY), (False, "#c8c8c8")):
            others = [point for point in front if point[:2] not in corners and point[2] == shown]
            axes.plot(*_columns(others), "o", color=colour, markerfacecolor="white", markersize=5, zorder=5)
    for one, other, point in zip(corners, corners[1:], path.points_, strict=False):
        style = "-" if point.low >= path.proved_down_to_ else "--"
        axes.plot(*zip(one, other, strict=True), style, color=_DARK, linewidth=1.8, zorder=3)
    proved = [corner for corner, point in zip(corners, path.points_, strict=True) if point.proved]
    unproved = [corner for corner in corners if corner not in proved]
    above = {"zorder": 4, "clip_on": False}
    axes.plot(*_columns(proved), "o", color=_DARK, markersize=7, label="optimal for some λ", **above)
    if unproved:
        kind = {"color": _DARK, "markerfacecolor": "white", "markeredgewidth": 1.5, "markersize": 8}
        axes.plot(*_columns(unproved), "D", **kind, label="best known, not proved", **above)
    axes.set_xlabel("leaves")
    axes.set_ylabel("training cost per unit of weight" if costs else "training errors, %")
    axes.set_title("Trade-off between leaves and " + ("cost" if costs else "errors"))
    axes.set_ylim(bottom=0)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.legend(frameon=False)
    _plain(axes)


def _intervals(path: DOSDTPath, axes: Any) -> None:
    """Draw one level for each tree: as long as its interval on a logarithmic axis."""
    points = path.points_
    ends = [float(end) for point in points for end in (point.low, point.high) if end]
    least, most = (min(ends), max(ends)) if ends else (0.1, 1.0)
    left, right = (least / 2 if not points[-1].low else least), 4 * most
    top = points[-1].leaves * 1.12 + 0.3
    labelled = -inf
    for place, point in enumerate(points):
        low, high = float(point.low) or left, right if point.high is None else float(point.high)
        style = {"color": _DARK, "linewidth": 1.8}
        proved = max(low, float(path.proved_down_to_))
        if proved < high:
            axes.plot([proved, high], [point.leaves] * 2, "-", **style)
        if low < proved:
            axes.plot([low, min(proved, high)], [point.leaves] * 2, "--", **style)
        if place + 1 < len(points):
            axes.plot([low, low], [point.leaves, points[place + 1].leaves], ":", color=_GREY, linewidth=1)
        if point.leaves - labelled >= _LABELS_APART * top:  # what would be written over another is left out
            labelled = float(point.leaves)
            text = "1 leaf" if point.leaves == 1 else f"{point.leaves} leaves"
            at, offset = (high, (6, -3)) if point.high is not None else (low, (6, 4))
            axes.annotate(text, (at, point.leaves), offset, textcoords="offset points", fontsize=9)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0, top)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("penalty per leaf, λ")
    axes.set_ylabel("leaves of the optimal tree")
    axes.set_title("Which tree is optimal for which λ")
    _plain(axes)


def _columns(rows: Any) -> tuple[list[Any], list[Any]]:
    return [row[0] for row in rows], [row[1] for row in rows]


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#e4e4e4", linewidth=0.6)
    axes.set_axisbelow(True)
