"""Where the nodes of a tree stand: tidy and without overlaps, whatever their sizes.

The two sides of a split are pushed together until their outlines are a gap apart, and the split stands midway above
its children. All nodes of one depth share a row, so that the depth of a node can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dosdt.tree import Split, Tree


class Box(NamedTuple):
    """A rectangle: middle, upper edge (y grows downwards), width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Layout:
    """A box for every node, in node order, and the size of the whole."""

    boxes: tuple[Box, ...]
    width: float
    height: float


class _Outline:
    """How far a subtree reaches to the left and to the right of its root, the deepest row first.

    All numbers are to be read plus `shift`, so that a subtree moves in one step.
    """

    __slots__ = ("left", "right", "shift")

    def __init__(self) -> None:
        self.left: list[float] = []
        self.right: list[float] = []
        self.shift = 0.0

    def under(self, width: float) -> None:
        """Put a root of that width on top, at 0."""
        self.left.append(-width / 2 - self.shift)
        self.right.append(width / 2 - self.shift)


def arrange(tree: Tree, sizes: Sequence[tuple[float, float]], *, gap: float, row_gap: float) -> Layout:
    """Place nodes of the given sizes, (width, height) each.

    Parameters
    ----------
    tree : Tree
    sizes : sequence of (width, height), one per node
    gap : float
        Least distance between neighbours in a row.
    row_gap : float
        Distance between rows.
    """
    outlines: dict[int, _Outline] = {}
    apart = [0.0] * len(tree.nodes)  # between the children of a split
    for index in reversed(range(len(tree.nodes))):  # children come after their parents
        node = tree.nodes[index]
        outline = _Outline()
        if isinstance(node, Split):
            outline, apart[index] = _joined(outlines.pop(node.yes), outlines.pop(node.no), gap)
        outline.under(sizes[index][0])
        outlines[index] = outline

    middle, row = [0.0] * len(tree.nodes), [0] * len(tree.nodes)
    middle[0] = -min(outlines[0].left) - outlines[0].shift
    for index, node in enumerate(tree.nodes):
        if isinstance(node, Split):
            row[node.yes] = row[node.no] = row[index] + 1
            middle[node.yes] = middle[index] - apart[index] / 2
            middle[node.no] = middle[index] + apart[index] / 2
    heights = [0.0] * (max(row) + 1)
    for index, (_, height) in enumerate(sizes):
        heights[row[index]] = max(heights[row[index]], height)
    tops = [0.0]
    for height in heights:
        tops.append(tops[-1] + height + row_gap)
    boxes = tuple(Box(middle[i], tops[row[i]], *sizes[i]) for i in range(len(sizes)))
    return Layout(boxes, max(box.x + box.width / 2 for box in boxes), tops[-1] - row_gap)


def _joined(yes: _Outline, no: _Outline, gap: float) -> tuple[_Outline, float]:
    """Return the outline of both sides, and how far apart their roots are; takes as long as the lower is high."""
    common = min(len(yes.left), len(no.left))
    apart = max(yes.right[-k] + yes.shift - no.left[-k] - no.shift for k in range(1, common + 1)) + gap
    yes.shift -= apart / 2
    no.shift += apart / 2
    if len(yes.left) >= len(no.left):
        yes.right[-common:] = [x + no.shift - yes.shift for x in no.right[-common:]]
        return yes, apart
    no.left[-common:] = [x + yes.shift - no.shift for x in yes.left[-common:]]
    return no, apart
