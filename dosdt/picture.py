"""A tree as a picture, whatever draws it: what stands in every node, in lines that fit, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple
from unicodedata import combining, east_asian_width

from dosdt.errors import InputError
from dosdt.layout import Layout, arrange
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree, plain
from dosdt.words import evidence, number, one_line

LABELS = ("all", "leaves", "none")
WIDEST, MOST_LINES = 13.0, 3
"""Of a question: its width in em, and how many lines it may take; what is left is cut off."""
LEADING, PAD, BAR, RADIUS = 1.3, 0.65, 0.5, 0.5
"""In em: height of a line, margin within a node, height of a bar of shares, radius of corners."""
SMALL = 0.85

Measure = Callable[[str, float, bool], float]
"""Width of a text of some size, bold or not, in the unit of the size."""

# Widths in em of DejaVu Sans, rounded up. It is the widest of the fonts that browsers choose for plain text, so
# that what fits in it fits.
_WIDTHS = {
    0.3: "'IJijl",
    0.35: " ,./:;\\|",
    0.4: "()-[]ft",
    0.45: "!r",
    0.5: '"*_`',
    0.55: "?csz",
    0.6: "FLkvxy",
    0.7: "ABCKRVXZ",
    0.75: "NU",
    0.8: "&DGHOQ",
    0.85: "#+<=>^w~≤",
    0.9: "M",
    1.0: "%@Wm…",
}
_WIDTH = {character: width for width, characters in _WIDTHS.items() for character in characters}


class Line(NamedTuple):
    """A line of text in a node, and its size."""

    text: str
    size: float
    bold: bool


@dataclass(frozen=True)
class Card:
    """What stands in a node.

    Parameters
    ----------
    lines : tuple of Line
    weights : tuple of Fraction, one per class
        Training weight that reaches the node.
    label : int or None
        The class a leaf predicts.
    words : str
        The same in one line, complete.
    bar : bool
        Whether the class shares are drawn.
    """

    lines: tuple[Line, ...]
    weights: tuple[Fraction, ...]
    label: int | None
    words: str
    bar: bool

    @property
    def segments(self) -> list[tuple[int, float, float]]:
        """The classes there, each with the part of the bar that is its share: class, from, to."""
        total, past = sum(self.weights, Fraction(0)), Fraction(0)
        found = []
        for place, weight in enumerate(self.weights):
            if weight:
                found.append((place, float(past / total), float((past + weight) / total)))
                past += weight
        return found


@dataclass(frozen=True)
class Picture:
    """A tree laid out: a card and a box for every node, in node order; `size` is that of the text."""

    tree: Tree
    cards: tuple[Card, ...]
    layout: Layout
    size: float
    names: tuple[str, ...]

    @property
    def edges(self) -> list[tuple[int, int, str]]:
        """Every edge: parent, child, answer."""
        return [
            (index, child, answer)
            for index, node in enumerate(self.tree.nodes)
            if isinstance(node, Split)
            for child, answer in ((node.yes, "yes"), (node.no, "no"))
        ]

    def bend(self, child: int) -> float:
        """Return the height at which the edge to a child runs sideways: between the rows."""
        return self.layout.boxes[child].y - 1.7 * self.size


def picture_of(
    tree: Tree,
    *,
    size: float,
    measure: Measure | None = None,
    class_names: Sequence[Any] | None = None,
    label: str = "all",
    precision: int | None = None,
) -> Picture:
    """Lay a tree out.

    Parameters
    ----------
    tree : Tree
    size : float
        Of the text, in any unit, which is then that of all boxes.
    measure : callable, optional
        How wide a text is; by default as in a wide font.
    class_names : sequence of n_classes, optional
        Instead of `tree.classes`.
    label : {"all", "leaves", "none"}
        Which nodes show counts and class shares.
    precision : int, optional
        Digits after the point of thresholds; by default they are shown as they are.
    """
    if label not in LABELS:
        raise InputError(f"label must be one of {', '.join(LABELS)}; got {label!r}")
    if precision is not None and (isinstance(precision, bool) or not isinstance(precision, int) or precision < 0):
        raise InputError(f"precision must be a whole number, 0 or more, got {precision!r}")
    names = tuple(one_line(str(plain(name))) for name in (tree.classes if class_names is None else class_names))
    if len(names) != len(tree.classes):
        raise InputError(f"class_names has {len(names)} names for {len(tree.classes)} classes")
    measure = measure or text_width
    weights = node_weights(tree)
    cards = []
    for index, node in enumerate(tree.nodes):
        is_leaf = isinstance(node, Leaf)
        told = label == "all" or (label == "leaves" and is_leaf)
        total = sum(weights[index], Fraction(0))
        if isinstance(node, Leaf):
            head, count = names[node.label], evidence(node)
            words = f"predict {head}: {count}"
        else:
            head, count = question(node.rule, precision), f"n = {number(total)}"
            words = f"{head}? {count}"
        lines = [Line(text, size, is_leaf) for text in wrapped(head, size * WIDEST, size, is_leaf, measure)]
        if told:
            lines.append(Line(count, size * SMALL, False))
        place = node.label if isinstance(node, Leaf) else None
        cards.append(Card(tuple(lines), weights[index], place, words, told and total > 0))
    sizes = [_card_size(card, size, measure) for card in cards]
    return Picture(tree, tuple(cards), arrange(tree, sizes, gap=1.1 * size, row_gap=3 * size), size, names)


def node_weights(tree: Tree) -> list[tuple[Fraction, ...]]:
    """Return the training weight of every class at every node."""
    weights: list[tuple[Fraction, ...]] = [()] * len(tree.nodes)
    for index in reversed(range(len(tree.nodes))):
        node = tree.nodes[index]
        if isinstance(node, Leaf):
            weights[index] = node.class_weights
        else:
            weights[index] = tuple(a + b for a, b in zip(weights[node.yes], weights[node.no], strict=True))
    return weights


def question(rule: Rule, precision: int | None = None) -> str:
    """Return a rule as pictures show it."""
    if rule.kind != "at_most":
        return one_line(str(rule))
    value = plain(rule.value)
    if precision is not None and isinstance(value, float):
        value = f"{value:.{precision}f}"
    return one_line(f"{rule.column} ≤ {value}")


def text_width(text: str, size: float, bold: bool) -> float:
    """Return an upper estimate of the width of a text in the fonts that browsers choose."""
    return sum(map(_em, text)) * size * (1.12 if bold else 1.0)


def _em(character: str) -> float:
    if combining(character):
        return 0.0
    wide = east_asian_width(character) in "WF"
    return _WIDTH.get(character, 1.05 if wide else 0.65 if character.isascii() else 0.8)


def wrapped(text: str, widest: float, size: float, bold: bool, measure: Measure) -> list[str]:
    """Break a text into lines, after blanks and signs where there are some; what three lines do not hold is cut."""
    lines: list[str] = []
    rest = text.strip() or text
    while rest and len(lines) < MOST_LINES:
        fitting = len(rest)
        if measure(rest, size, bold) > widest:
            low, high = 1, len(rest)  # the longest beginning that fits
            while low < high:
                middle = (low + high + 1) // 2
                low, high = (middle, high) if measure(rest[:middle], size, bold) <= widest else (low, middle - 1)
            breaks = [k for k in range(low // 3 + 1, low + 1) if _breaks(rest, k)]
            fitting = max(breaks, default=low)
        lines.append(rest[:fitting].rstrip())
        rest = rest[fitting:].lstrip()
    if rest:
        last = lines[-1]
        while last and measure(f"{last}…", size, bold) > widest:
            last = last[:-1]
        lines[-1] = f"{last}…"
    return lines or [""]


def _breaks(text: str, place: int) -> bool:
    """Say whether a line may end before a place; a sign and its value stay together."""
    if text[:place].endswith(("≤", "≤ ", " =", " = ")):
        return False
    return text[place - 1] in " -_/:.," or text[place : place + 1] == " "


def _card_size(card: Card, size: float, measure: Measure) -> tuple[float, float]:
    text = max(measure(*line) for line in card.lines)
    height = sum(line.size for line in card.lines) * LEADING + (BAR + 0.3) * size * card.bar
    return max(text, 4.5 * size) + 2 * PAD * size, height + 1.4 * PAD * size
