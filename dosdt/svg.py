"""A tree as SVG: self-contained, text as text, light or dark as the reader's screen is."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from dosdt.colours import class_colours, ink_on
from dosdt.picture import BAR, LEADING, PAD, RADIUS, Card, Picture, picture_of
from dosdt.tree import Tree

SIZE = 14.0
MARGIN = 10.0
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif"
# What lies outside the boxes is grey that reads on white and on black: nobody knows what the picture is put on.
STYLE = """
.dosdt-tree{--box:#f2f5f9;--line:#7d8894;--ink:#14202c;max-width:none}
@media (prefers-color-scheme:dark){.dosdt-tree{--box:#232b35;--ink:#eef2f6}}
.dosdt-tree text{fill:var(--ink)}
.dosdt-tree .dosdt-answer{fill:#747b82}
.dosdt-tree .dosdt-box{fill:var(--box);stroke:var(--line)}
.dosdt-tree .dosdt-edge{fill:none;stroke:var(--line);stroke-width:1.5}
"""


def tree_svg(
    tree: Tree,
    *,
    class_names: Sequence[Any] | None = None,
    title: str | None = None,
    label: str = "all",
    precision: int | None = None,
    style: str = STYLE,
    interactive: bool = False,
) -> str:
    """Return the tree as an ``<svg>`` element.

    Parameters
    ----------
    tree : Tree
    class_names, label, precision
        As in `dosdt.picture.picture_of`.
    title : str, optional
        What a screen reader calls the picture.
    style : str
        CSS to put into it.
    interactive : bool
        Make it a tree whose nodes can be focused, for a page with a script, instead of one image.
    """
    picture = picture_of(tree, size=SIZE, class_names=class_names, label=label, precision=precision)
    leaves = "1 leaf" if tree.n_leaves == 1 else f"{tree.n_leaves} leaves"
    name = escape(title or f"Decision tree with {leaves}")
    width, height = picture.layout.width + 2 * MARGIN, picture.layout.height + 2 * MARGIN
    role = f'role="tree" aria-label="{name}"' if interactive else 'role="img"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="dosdt-tree" viewBox="{-MARGIN:g} {-MARGIN:g} {width:.7g} '
        f'{height:.7g}" width="{width:.7g}" height="{height:.7g}" {role} font-family="{FONT}" font-size="{SIZE:g}" '
        'text-anchor="middle">'
    ]
    if not interactive:
        parts.append(f"<title>{name}</title>")
    if style:
        parts.append(f"<style>{style}</style>")
    hidden = ' aria-hidden="true"' if interactive else ""
    parts.append(f"<g{hidden}>")
    parts += [_edge(picture, *edge) for edge in picture.edges]
    parts.append("</g>")
    places = _places(picture) if interactive else {}
    parts += [_node(picture, index, places.get(index)) for index in _reading_order(picture)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def bar_svg(
    segments: Sequence[tuple[int, float, float]],
    colours: Sequence[str],
    x: float,
    y: float,
    width: float,
    height: float,
) -> str:
    """Return a stacked bar of class shares, a hair's breadth free between classes; segments are class, from, to."""
    parts = []
    for place, start, end in segments:
        left = x + width * start
        wide = max(width * (end - start) - (0.8 if end < 1 else 0), 0.4)
        parts.append(
            f'<rect x="{left:.2f}" y="{y:.2f}" width="{wide:.2f}" height="{height:.2f}" fill="{colours[place]}"/>'
        )
    return "".join(parts)


def _edge(picture: Picture, parent: int, child: int, answer: str) -> str:
    upper, lower = picture.layout.boxes[parent], picture.layout.boxes[child]
    bend, radius = picture.bend(child), 8.0
    side = -1 if lower.x < upper.x else 1
    radius = min(radius, abs(lower.x - upper.x) / 2)
    path = (
        f"M{upper.x:.2f} {upper.y + upper.height:.2f}V{bend - radius:.2f}"
        f"q0 {radius:.2f} {side * radius:.2f} {radius:.2f}"
        f"H{lower.x - side * radius:.2f}q{side * radius:.2f} 0 {side * radius:.2f} {radius:.2f}V{lower.y:.2f}"
    )
    anchor = "end" if answer == "yes" else "start"
    x = lower.x + (-6 if answer == "yes" else 6)
    return (
        f'<g data-edge="{child}"><path class="dosdt-edge" d="{path}"/><text class="dosdt-answer" x="{x:.2f}" '
        f'y="{lower.y - 6:.2f}" text-anchor="{anchor}" font-size="12">{answer}</text></g>'
    )


def _node(picture: Picture, index: int, place: tuple[int, int] | None) -> str:
    card, box = picture.cards[index], picture.layout.boxes[index]
    colours = class_colours(len(picture.names))
    fill = None if card.label is None else colours[card.label]
    left, ink = box.x - box.width / 2, "" if fill is None else f' style="fill:{ink_on(fill)}"'
    parts = [
        f'<rect class="dosdt-box" x="{left:.2f}" y="{box.y:.2f}" width="{box.width:.2f}" height="{box.height:.2f}" '
        f'rx="{RADIUS * SIZE:g}"' + (f' style="fill:{fill}"/>' if fill else "/>"),
    ]
    y = box.y + 0.7 * PAD * SIZE
    for line in card.lines:
        look = (' font-weight="600"' if line.bold else "") + (
            f' font-size="{line.size:.4g}"' if line.size != SIZE else ""
        )
        baseline = y + (LEADING - 1) / 2 * line.size + 0.8 * line.size
        parts.append(f'<text x="{box.x:.2f}" y="{baseline:.2f}"{look}{ink}>{escape(line.text)}</text>')
        y += LEADING * line.size
    if card.bar:
        inner, top = box.width - 2 * PAD * SIZE, y + 0.3 * SIZE
        parts.append(_frame(card, left + PAD * SIZE, top, inner, BAR * SIZE, colours, fill))
    words = escape(card.words)
    if place is None:
        return f"<g>{''.join(parts)}<title>{words}</title></g>" if _cut(card) else f"<g>{''.join(parts)}</g>"
    level, nth = place
    return (
        f'<g class="dosdt-node" data-node="{index}" role="treeitem" tabindex="{-1 if index else 0}" '
        f'aria-level="{level}" aria-posinset="{nth}" aria-setsize="{2 if index else 1}" '
        f'aria-label="{words}">{"".join(parts)}<title>{words}</title></g>'
    )


def _frame(
    card: Card, x: float, y: float, width: float, height: float, colours: Sequence[str], fill: str | None
) -> str:
    """Return the bar of a node; on a coloured leaf it stands in a frame of its own."""
    ink = "var(--line)" if fill is None else ink_on(fill)
    frame = (
        f'<rect x="{x - 1:.2f}" y="{y - 1:.2f}" width="{width + 2:.2f}" height="{height + 2:.2f}" rx="1.5" '
        f'style="fill:{ink}"/>'
    )
    return frame + bar_svg(card.segments, colours, x, y, width, height)


def _cut(card: Card) -> bool:
    return any(line.text.endswith("…") for line in card.lines)


def _reading_order(picture: Picture) -> list[int]:
    """Return the nodes as a reader meets them: a split, all of its yes side, then its no side."""
    children: dict[int, list[int]] = {}
    for parent, child, _ in picture.edges:
        children.setdefault(parent, []).append(child)
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children.get(order[-1], []))
    return order


def _places(picture: Picture) -> dict[int, tuple[int, int]]:
    """Return the level of every node from 1, and which child it is: 1 for yes and for the root, 2 for no."""
    places = {0: (1, 1)}
    for parent, child, answer in picture.edges:  # parents come before their children
        places[child] = places[parent][0] + 1, 1 if answer == "yes" else 2
    return places
