"""Pictures of trees: tidy, legible, the same in SVG and in matplotlib, and safe whatever the names are."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from random_trees import COLUMNS, long_chain, random_tree
from report_cases import fitted, mixed
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from dosdt import DOSDTClassifier, InputError, Leaf, Split, Tree, export, load_model, plot_tree, save_model
from dosdt.cli import main
from dosdt.colours import class_colours, contrast, ink_on, luminance
from dosdt.layout import Box, Layout, arrange
from dosdt.picture import MOST_LINES, node_weights, picture_of, text_width, wrapped

mpl.use("Agg")
SVG = "{http://www.w3.org/2000/svg}"


def rows_of(tree: Tree, layout: Layout) -> dict[int, list[Box]]:
    depth = {0: 0}
    rows: dict[int, list[Box]] = defaultdict(list)
    for index, node in enumerate(tree.nodes):
        rows[depth[index]].append(layout.boxes[index])
        if isinstance(node, Split):
            depth[node.yes] = depth[node.no] = depth[index] + 1
    return rows


def test_layout_of_random_trees() -> None:
    rng = random.Random(2)
    for _ in range(150):
        tree = random_tree(rng, rng.randint(0, 25), shape=rng.choice(["any", "any", "yes", "zigzag"]))
        sizes = [(rng.uniform(1, 30), rng.uniform(1, 9)) for _ in tree.nodes]
        layout = arrange(tree, sizes, gap=2.0, row_gap=3.0)
        rows = rows_of(tree, layout)
        for row in rows.values():
            row.sort()
            for left, right in pairwise(row):
                assert right.x - right.width / 2 >= left.x + left.width / 2 + 2 - 1e-9
        for depth in range(1, len(rows)):
            below = max(box.y + box.height for box in rows[depth - 1])
            assert all(box.y == pytest.approx(below + 3) for box in rows[depth])
        assert min(box.x - box.width / 2 for box in layout.boxes) == pytest.approx(0)
        assert max(box.x + box.width / 2 for box in layout.boxes) == pytest.approx(layout.width)
        assert max(box.y + box.height for box in layout.boxes) == pytest.approx(layout.height)
        for index, node in enumerate(tree.nodes):
            if isinstance(node, Split):
                yes, no = layout.boxes[node.yes].x, layout.boxes[node.no].x
                assert yes < no
                assert layout.boxes[index].x == pytest.approx((yes + no) / 2)


def subtree(tree: Tree, root: int) -> set[int]:
    found, waiting = set(), [root]
    while waiting:
        index = waiting.pop()
        found.add(index)
        node = tree.nodes[index]
        waiting += [node.yes, node.no] if isinstance(node, Split) else []
    return found


def test_layout_is_tight() -> None:
    """The two sides of every split touch somewhere: no room is given away."""
    rng = random.Random(4)
    for _ in range(30):
        tree = random_tree(rng, 12)
        sizes = [(rng.uniform(1, 30), 1.0) for _ in tree.nodes]
        boxes = arrange(tree, sizes, gap=2.0, row_gap=3.0).boxes
        for node in tree.nodes:
            if isinstance(node, Split):
                sides = [[boxes[i] for i in subtree(tree, child)] for child in (node.yes, node.no)]
                least = min(
                    b.x - b.width / 2 - a.x - a.width / 2
                    for a in sides[0]
                    for b in sides[1]
                    if a.y == pytest.approx(b.y)
                )
                assert least == pytest.approx(2.0)


@pytest.mark.parametrize("side", ["yes", "no", "zigzag"])
def test_very_deep_trees(side: str) -> None:
    tree = long_chain(3000, side)
    picture = picture_of(tree, size=10)
    assert len(picture.layout.boxes) == 6001
    assert len(ElementTree.fromstring(export.to_svg(tree)).findall(f".//{SVG}g")) >= 6001


def test_lines_fit_and_lose_nothing() -> None:
    rng = random.Random(1)
    for _ in range(300):
        words = "".join(rng.choice("abcdefgWM _-:.≤=1樹") for _ in range(rng.randint(1, 90)))
        lines = wrapped(words, 80.0, 10.0, False, text_width)
        assert len(lines) <= MOST_LINES
        assert all(text_width(line, 10.0, False) <= 80.0 for line in lines)
        if lines[-1].endswith("…"):
            assert words.replace(" ", "").startswith("".join(lines)[:-1].replace(" ", ""))
        else:
            assert "".join(lines).replace(" ", "") == words.replace(" ", "")
    assert wrapped("a long column name ≤ 3.72", 100.0, 10.0, False, text_width)[-1].endswith("≤ 3.72")


def test_estimated_widths_are_not_less_than_those_of_a_wide_font() -> None:
    from dosdt.plotting import _measure

    true = _measure()
    rng = random.Random(0)
    for _ in range(100):
        text = "".join(chr(rng.randint(33, 126)) for _ in range(rng.randint(5, 40)))
        for bold in (False, True):
            assert text_width(text, 10, bold) >= 0.985 * true(text, 10, bold)
            assert text_width(text, 10, bold) <= 1.3 * true(text, 10, bold)


def seen_without(colour: str, matrix: list[list[float]]) -> float:
    """Return the luminance of a colour for an eye without one kind of cones."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    seen = [sum(a * b for a, b in zip(row, linear, strict=True)) for row in matrix]
    return 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]


def test_classes_are_told_apart_without_colour() -> None:
    deuteranopia = [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]
    protanopia = [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]
    for count in range(1, 13):
        colours = class_colours(count)
        assert len(colours) == count
        assert all(contrast(colour, ink_on(colour)) >= 4.5 for colour in colours)
        for dark, light in pairwise(colours):
            assert luminance(light) > luminance(dark)
            if count <= 5:
                assert contrast(dark, light) >= 1.35
            for eye in (deuteranopia, protanopia):
                assert seen_without(light, eye) > seen_without(dark, eye)
    assert contrast(*class_colours(2)) >= 3


def test_weights_of_nodes_add_up() -> None:
    tree = random_tree(random.Random(8), 12)
    weights = node_weights(tree)
    for index, node in enumerate(tree.nodes):
        if isinstance(node, Split):
            assert weights[index] == tuple(map(sum, zip(weights[node.yes], weights[node.no], strict=True)))
    assert sum(weights[0]) == sum(sum(leaf.class_weights) for leaf in tree.leaves)


def test_bars_show_the_shares() -> None:
    leaf = Leaf(0, (Fraction(3), Fraction(0), Fraction(1)), Fraction(1))
    card = picture_of(Tree((leaf,), ("a", "b", "c"), ("x",)), size=10).cards[0]
    assert card.segments == [(0, 0.0, 0.75), (2, 0.75, 1.0)]
    nothing = Leaf(0, (Fraction(0), Fraction(0)), Fraction(0))
    assert not picture_of(Tree((nothing,), (0, 1), ("x",)), size=10).cards[0].bar


def test_svg_is_a_document_with_text() -> None:
    rng = random.Random(6)
    for _ in range(20):
        tree = random_tree(rng, rng.randint(0, 15))
        root = ElementTree.fromstring(export.to_svg(tree, title='A "tree" & <more>'))
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert root[0].tag == f"{SVG}title"
        assert root[0].text == 'A "tree" & <more>'
        text = [element.text or "" for element in root.iter(f"{SVG}text")]
        assert text.count("yes") == text.count("no") == tree.n_leaves - 1
        assert sum(" of " in line for line in text) >= tree.n_leaves
        style = root.find(f"{SVG}style")
        assert style is not None
        assert "prefers-color-scheme:dark" in (style.text or "")
        source = export.to_svg(tree)
        assert not re.search(r"href|url\(|<image|<script", source)
        assert source == export.to_svg(tree)


def test_svg_by_class_names_and_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = mixed()
    model = fitted(X, y)
    save_model(model.to_model(), tmp_path / "m.json")
    assert main(["show", str(tmp_path / "m.json"), "--format", "svg"]) == 0
    assert capsys.readouterr().out == export.to_svg(model.tree_)
    named = export.to_svg(model.tree_, class_names=["first", "second", "third"])
    assert "first" in named
    with pytest.raises(InputError, match="class_names has 1 names for 3 classes"):
        export.to_svg(model.tree_, class_names=["first"])


@pytest.mark.parametrize("shape", [(9, 5), (3, 3), (14, 3)])
def test_plotted_texts_stay_in_their_boxes(shape: tuple[float, float]) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.patches import FancyBboxPatch

    tree = random_tree(random.Random(3), 9)
    figure, axes = plt.subplots(figsize=shape, dpi=300)  # in whole pixels, tiny texts are wider
    texts = plot_tree(tree, ax=axes)
    figure.canvas.draw()
    patches = [patch for patch in axes.patches if isinstance(patch, FancyBboxPatch)]
    boxes = [patch.get_window_extent() for patch in patches]
    assert len(boxes) == len(tree.nodes)
    for text in texts:
        extent = text.get_window_extent()
        around = [
            box
            for box in boxes
            if box.x0 - 0.5 <= extent.x0
            and extent.x1 <= box.x1 + 0.5
            and box.y0 - 0.5 <= extent.y0
            and extent.y1 <= box.y1 + 0.5
        ]
        assert len(around) == 1, text.get_text()
    area = axes.get_window_extent()
    assert all(area.x0 - 1 <= box.x0 and box.x1 <= area.x1 + 1 and area.y0 - 1 <= box.y0 for box in boxes)
    plt.close(figure)


def test_plot_tree_takes_what_holds_a_tree(tmp_path: Path) -> None:
    import matplotlib.pyplot as plt

    X, y = mixed()
    model = fitted(X, y)
    save_model(model.to_model(), tmp_path / "m.json")
    plt.figure()
    said = [
        [text.get_text() for text in plot_tree(given)]
        for given in (model, model.tree_, load_model(tmp_path / "m.json"))
    ]
    assert said[0] == said[1] == said[2]
    assert "n = 150" in said[0]
    bare = [text.get_text() for text in plot_tree(model, label="none", fontsize=7, filled=False)]
    assert not any(" of " in text or "n =" in text for text in bare)
    leaves = [text.get_text() for text in plot_tree(model, label="leaves", class_names="abc", precision=1)]
    assert sum(" of " in text for text in leaves) == model.n_leaves_
    assert not any("n =" in text for text in leaves)
    assert {"a", "b", "c"} <= set(leaves)
    assert any(text.endswith("≤ -0.1") for text in leaves)
    plt.close("all")
    with pytest.raises(NotFittedError):
        plot_tree(DOSDTClassifier())
    with pytest.raises(InputError, match="there is no tree in a dict"):
        plot_tree({})
    with pytest.raises(InputError, match="label must be one of all, leaves, none; got 'root'"):
        plot_tree(model, label="root")
    with pytest.raises(InputError, match="precision must be a whole number"):
        plot_tree(model, precision=-1)


def test_notebooks_show_the_tree() -> None:
    X, y = mixed()
    model = DOSDTClassifier()
    assert "sk-container" in model._repr_html_()
    assert "sk-container" in model._repr_mimebundle_()["text/html"]
    fit = fitted(X, y)
    page = fit._repr_html_()
    assert "<svg" in page
    assert "optimal: proved" in page
    assert "<script>" not in page
    assert fit._repr_mimebundle_()["text/html"] == page == fit.to_model()._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in fit._repr_mimebundle_()
        assert not hasattr(fit, "_repr_html_")


def test_names_of_columns_are_in_the_picture() -> None:
    tree = random_tree(random.Random(5), 12)
    words = " ".join(card.words for card in picture_of(tree, size=10).cards)
    assert "\n" not in words
    assert sum(name in words for name in COLUMNS if "\n" not in name) >= 3
