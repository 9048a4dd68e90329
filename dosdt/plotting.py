"""A tree on matplotlib's axes, in the manner of scikit-learn's `plot_tree`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dosdt.colours import INK, class_colours, ink_on
from dosdt.errors import InputError
from dosdt.picture import BAR, LEADING, PAD, RADIUS, Measure, Picture, picture_of
from dosdt.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

_LARGEST = 10.0  # points; a small tree is not blown up


def plot_tree(
    model: Any,
    *,
    ax: Axes | None = None,
    class_names: Sequence[Any] | None = None,
    label: str = "all",
    filled: bool = True,
    precision: int | None = None,
    fontsize: float | None = None,
) -> list[Text]:
    """Draw a tree; rows that answer yes go to the left.

    Parameters
    ----------
    model : DOSDTClassifier, Model or Tree
        Fitted.
    ax : matplotlib Axes, optional
        Where to draw; by default the current axes. They are cleared of ticks and frame.
    class_names : sequence of str, shape (n_classes,), optional
        Instead of the labels themselves, in sorted order of the labels.
    label : {"all", "leaves", "none"}, default="all"
        Which nodes show the training weight that reaches them, with a bar of class shares.
    filled : bool, default=True
        Fill leaves with the colour of the class they predict.
    precision : int, optional
        Digits after the point of thresholds; by default they are shown as they are.
    fontsize : float, optional
        In points; by default the largest, up to 10, with which the tree fits the axes. With a larger one texts do not
        fit their boxes: make the figure larger, too.

    Returns
    -------
    list of matplotlib Text
        The texts of the nodes.
    """
    import matplotlib.pyplot as plt

    tree = tree_in(model)
    ax = plt.gca() if ax is None else ax
    picture = picture_of(
        tree, size=10.0, measure=_measure(), class_names=class_names, label=label, precision=precision
    )
    ax.set_axis_off()
    fits = _fitting(ax, picture, None if fontsize is None else fontsize / picture.size)
    fontsize = fits * picture.size if fontsize is None else fontsize
    _draw_edges(ax, picture, fontsize)
    return [text for index in range(len(tree.nodes)) for text in _draw_node(ax, picture, index, fontsize, filled)]


def tree_in(model: Any) -> Tree:
    """Return the tree of a fitted classifier or a model."""
    if isinstance(model, Tree):
        return model
    if hasattr(model, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model, "tree_")
    tree = getattr(model, "tree_", getattr(model, "tree", None))
    if not isinstance(tree, Tree):
        raise InputError(
            f"there is no tree in a {type(model).__name__}; pass a fitted DOSDTClassifier, a Model or a Tree"
        )
    return tree


def _measure() -> Measure:
    """Return how wide matplotlib makes a text, in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    def width(text: str, size: float, bold: bool) -> float:
        font = FontProperties(size=size, weight="bold" if bold else "normal")
        return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0])

    return width


def _fitting(ax: Axes, picture: Picture, wanted: float | None) -> float:
    """Let the axes show the picture in their middle; return how many points one of its units then has.

    That is as many as fit, but not more than `wanted`.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()  # only then do the axes have their size
    extent, margin = ax.get_window_extent(), 4.0
    width, height = picture.layout.width, picture.layout.height
    across, down = 72.0 / figure.dpi * extent.width, 72.0 / figure.dpi * extent.height
    fits = min(across / (width + 2 * margin), down / (height + 2 * margin))
    scale = min(fits, _LARGEST / picture.size if wanted is None else wanted)
    ax.set_xlim(width / 2 - across / scale / 2, width / 2 + across / scale / 2)
    ax.set_ylim(height / 2 + down / scale / 2, height / 2 - down / scale / 2)
    ax.set_aspect("equal", adjustable="box")
    return scale


def _draw_edges(ax: Axes, picture: Picture, fontsize: float) -> None:
    for parent, child, answer in picture.edges:
        upper, lower = picture.layout.boxes[parent], picture.layout.boxes[child]
        bend = picture.bend(child)
        ax.plot(
            [upper.x, upper.x, lower.x, lower.x],
            [upper.y + upper.height, bend, bend, lower.y],
            color="0.5",
            linewidth=0.1 * fontsize,
            solid_joinstyle="round",
            zorder=1,
        )
        side = -1 if answer == "yes" else 1
        ax.text(
            lower.x + side * 0.4 * picture.size,
            lower.y - 0.4 * picture.size,
            answer,
            ha="right" if side < 0 else "left",
            va="baseline",
            fontsize=0.85 * fontsize,
            color="0.35",
            zorder=2,
        )


def _draw_node(ax: Axes, picture: Picture, index: int, fontsize: float, filled: bool) -> list[Text]:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    card, box, em = picture.cards[index], picture.layout.boxes[index], picture.size
    colours = class_colours(len(picture.names))
    fill = colours[card.label] if filled and card.label is not None else "#f4f6f9"
    ink = ink_on(fill) if card.label is not None else INK
    left = box.x - box.width / 2
    rounded = FancyBboxPatch(
        (left, box.y),
        box.width,
        box.height,
        boxstyle=f"round,pad=0,rounding_size={RADIUS * em}",
        facecolor=fill,
        edgecolor="0.45",
        linewidth=0.08 * fontsize,
        zorder=3,
    )
    ax.add_patch(rounded)
    y = box.y + 0.7 * PAD * em
    texts = []
    for line in card.lines:
        baseline = y + (LEADING - 1) / 2 * line.size + 0.8 * line.size
        texts.append(
            ax.text(
                box.x,
                baseline,
                line.text,
                ha="center",
                va="baseline",
                fontsize=fontsize * line.size / em,
                fontweight="bold" if line.bold else "normal",
                color=ink,
                parse_math=False,
                zorder=5,
            )
        )
        y += LEADING * line.size
    if card.bar:
        x, width, top = left + PAD * em, box.width - 2 * PAD * em, y + 0.3 * em
        for place, start, end in card.segments:
            corner = (x + width * start, top)
            ax.add_patch(
                Rectangle(corner, width * (end - start), BAR * em, facecolor=colours[place], linewidth=0, zorder=4)
            )
        ax.add_patch(
            Rectangle((x, top), width, BAR * em, fill=False, edgecolor=ink, linewidth=0.05 * fontsize, zorder=5)
        )
    return texts
