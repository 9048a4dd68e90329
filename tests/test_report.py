"""The report without a browser: well-formed, accessible, safe, and right."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from random_trees import long_chain
from report_cases import AGE, CLASSES, COLOUR, COLOURS, FLAG, SERIAL, SIZE, fitted, mixed
from sklearn.metrics import accuracy_score, confusion_matrix

from dosdt import DOSDTClassifier, InputError, Model, report, save_model, write_report
from dosdt.cli import main
from dosdt.frames import column_table
from dosdt.reporting.assessment import assess, training_accuracy, wilson
from dosdt.reporting.fields import fields_of
from dosdt.reporting.path_data import path_points, read_path
from dosdt.reporting.quality import interval, leaf_ways
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree

VOID = {"meta", "link", "input", "br", "img"}
X, Y = mixed()
MODEL = fitted(X, Y)
PAGE = report(MODEL, X, Y)
POINTS = [
    {"leaves": 1, "errors": "90/1", "low": "1/10", "high": None},
    {"leaves": MODEL.n_leaves_, "errors": str(MODEL.tree_.cost), "low": "1/100", "high": "1/10", "proved": False},
]


class Page(HTMLParser):
    """Elements of a page; tags that do not match are an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[tuple[str, ...], str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((tuple(self._open), data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self) -> str:
        return " ".join(data for where, data in self.texts if not {"script", "style"} & set(where))


def test_the_page_is_well_formed_and_accessible() -> None:
    page = Page(report(MODEL, X, Y, path=POINTS))
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert max(Counter(ids).values()) == 1
    for _, attributes in page.elements:
        for name in ("aria-labelledby", "aria-describedby", "for"):
            for wanted in (attributes.get(name) or "").split():
                assert wanted in ids
        if (attributes.get("href") or "").startswith("#"):
            assert (attributes["href"] or "")[1:] in ids
    headings = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(headings))
    for landmark in ("header", "main", "nav", "footer"):
        assert len(page.all(landmark)) == 1
    assert len(page.all("table")) == len(page.all("caption")) >= 5
    assert all(attributes.get("scope") in ("col", "row") for attributes in page.all("th"))
    assert all("aria-label" in a or "aria-hidden" in a for a in page.all("svg"))
    labelled = {attributes.get("for") for attributes in page.all("label")}
    for field in page.all("select") + [a for a in page.all("input") if a.get("type") == "text"]:
        assert field["id"] in labelled
    (html,) = page.all("html")
    assert html["lang"] == "en"
    items = [attributes for _, attributes in page.elements if attributes.get("role") == "treeitem"]
    assert len(items) == len(MODEL.tree_.nodes)
    assert [attributes["tabindex"] for attributes in items] == ["0"] + ["-1"] * (len(items) - 1)


def test_nothing_is_loaded_and_nothing_from_data_is_markup() -> None:
    page = Page(report(MODEL, X, Y, title="<img src=x onerror=alert(3)>", path=POINTS))
    assert [attributes.get("type") for attributes in page.all("script")] == ["application/json", None]
    assert page.all("img") == []
    assert page.all("b") != []  # our own, between conditions
    assert page.all("i") == []
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "#").startswith(("#", "data:,"))
    text = page.text()
    for name in (FLAG, SIZE, SERIAL, AGE, COLOUR, *CLASSES, COLOURS[1], "<img src=x onerror=alert(3)>"):
        assert name in text, name
    (policy,) = [a["content"] for a in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.split("script-src")[1]


def test_the_data_of_the_script_are_those_of_the_tree() -> None:
    (text,) = re.findall(r'<script type="application/json" id="model">(.*?)</script>', PAGE, re.DOTALL)
    data = json.loads(text)
    assert len(data["nodes"]) == len(MODEL.tree_.nodes)
    for node, said in zip(MODEL.tree_.nodes, data["nodes"], strict=True):
        if isinstance(node, Split):
            assert (said["yes"], said["no"]) == (node.yes, node.no)
            assert data["fields"][said["rule"]["column"]]["name"] == node.rule.column
        else:
            assert said["label"] == CLASSES[sorted(range(3), key=CLASSES.__getitem__)[node.label]]
            assert sum(share[2] for share in said["shares"]) == pytest.approx(1)


def test_confusion_and_accuracy_are_right() -> None:
    X2, y2 = mixed(300, seed=9)
    table = MODEL.binarizer_.check_columns(X2)
    judged = assess(MODEL.tree_, table, y2)
    predicted = MODEL.predict(X2)
    assert judged.confusion.tolist() == confusion_matrix(y2, predicted).tolist()
    assert judged.correct / judged.rows == accuracy_score(y2, predicted)
    assert sum(counts.sum() for counts in judged.leaves.values()) == 300
    assert not judged.looks_like_training(MODEL.tree_)
    assert "seem to be the data" not in report(MODEL, X2, y2)
    own = assess(MODEL.tree_, MODEL.binarizer_.check_columns(X), Y)
    assert own.looks_like_training(MODEL.tree_)
    assert "seem to be the data" in PAGE
    assert training_accuracy(MODEL.tree_) == Fraction(own.correct, own.rows)


@pytest.mark.parametrize(
    ("correct", "rows", "low", "high"),
    [(8, 10, 0.490162, 0.943318), (0, 10, 0.0, 0.277533), (10, 10, 0.722467, 1.0), (95, 100, 0.888250, 0.978456)],
)
def test_wilson(correct: int, rows: int, low: float, high: float) -> None:
    assert wilson(correct, rows) == pytest.approx((low, high), abs=1e-6)


def test_wilson_covers() -> None:
    """Of all outcomes of 100 throws, those whose interval holds the truth have about 95 % of the probability."""
    from math import comb

    for p in (0.1, 0.37, 0.8):
        covered = sum(
            comb(100, k) * p**k * (1 - p) ** (100 - k)
            for k in range(101)
            if wilson(k, 100)[0] <= p <= wilson(k, 100)[1]
        )
        assert 0.92 <= covered <= 0.98


def test_intervals_are_rounded_outwards() -> None:
    assert interval(8, 10) == "49.0–94.4\N{NO-BREAK SPACE}%"
    assert interval(10, 10) == "72.2–100.0\N{NO-BREAK SPACE}%"


def test_labels_of_other_types_and_unknown_ones() -> None:
    tree = Tree((Leaf(1, (Fraction(1), Fraction(2)), Fraction(1)),), (0, 1), ("x",))
    table = column_table([[1], [2], [3]])
    assert assess(tree, table, ["1", "0", "1"]).confusion.tolist() == [[0, 1], [0, 2]]
    assert assess(tree, table, [1.0, 0.0, 1.0]).correct == 2
    judged = assess(tree, table, [1, 7, 1])
    assert judged.truths == ("0", "1", "7 (not in training)")
    assert judged.confusion.tolist() == [[0, 0], [0, 2], [0, 1]]
    with pytest.raises(InputError, match=r"labels are missing in 1 rows \(2\)"):
        assess(tree, table, [1, None, 0])
    with pytest.raises(InputError, match="one column of 3 labels"):
        assess(tree, table, [1])


def test_ways_to_leaves() -> None:
    leaf = Leaf(0, (Fraction(1), Fraction(0)), Fraction(0))
    tree = Tree(
        (
            Split(Rule("age", "at_most", 25), 1, 2),
            Split(Rule("age", "at_most", 20), 3, 4),
            Split(Rule("age", "is_missing"), 5, 6),
            leaf,
            Split(Rule("c", "equals", "red"), 7, 8),
            leaf,
            Split(Rule("flag", "is_true"), 9, 10),
            *[leaf] * 4,
        ),
        (0, 1),
        ("age", "c", "flag"),
    )
    ways = leaf_ways(tree, may_miss=True)
    assert ways[3] == ("age ≤ 25", "age ≤ 20")
    assert ways[8] == ("age ≤ 25", "age > 20", "c ≠ red or missing")
    assert ways[5] == ("age > 25 or missing", "age is missing")
    assert ways[10] == ("age > 25 or missing", "age is given", "not flag")
    assert leaf_ways(tree, may_miss=False)[8] == ("age ≤ 25", "age > 20", "c ≠ red")


def test_fields_are_typed() -> None:
    fields = {field.name: field for field in fields_of(MODEL.to_model(), MODEL.binarizer_.check_columns(X))}
    assert {name: field.kind for name, field in fields.items()} == {
        AGE: "number",
        SERIAL: "number",
        FLAG: "flag",
        SIZE: "number",
        COLOUR: "choice",
    }
    assert fields[SERIAL].whole
    assert not fields[AGE].whole
    assert set(fields[COLOUR].options) == set(COLOURS)
    assert fields[AGE].summary == f"20 to 40, median 30; {int(X[AGE].isna().sum())} missing"
    assert sum(fields[SIZE].bars) == len(X)


def test_certificates(tmp_path: Path) -> None:
    fitted(X, Y, certificate=tmp_path / "proof")
    good = Page(report(MODEL, X, Y, certificate=tmp_path / "proof")).text()
    assert "Verified." in good
    assert "recomputed every fact" in good
    shuffled = Page(report(MODEL, X, Y.to_numpy()[::-1], certificate=tmp_path / "proof")).text()
    assert "Refused." in shuffled
    assert "proves nothing about these data" in shuffled
    other = Page(report(fitted(X, Y, "0.05"), X, Y, certificate=tmp_path / "proof")).text()
    assert "of another tree or another λ" in other
    swapped = tuple(
        replace(node, yes=node.no, no=node.yes) if index == 0 and isinstance(node, Split) else node
        for index, node in enumerate(MODEL.tree_.nodes)
    )
    forged = replace(MODEL.to_model(), tree=replace(MODEL.tree_, nodes=swapped))
    assert "another tree with the same objective" in Page(report(forged, X, Y, certificate=tmp_path / "proof")).text()


def test_stopped_searches_say_so() -> None:
    with pytest.warns(Warning, match="before the proof was complete"):
        model = DOSDTClassifier("0.001", binarizer=MODEL.binarizer, evaluation_limit=1).fit(X, Y)
    text = Page(report(model, X, Y)).text()
    assert "Evaluation limit." in text
    assert "could be better by" in text
    assert "proved optimal" not in text


def test_paths(tmp_path: Path) -> None:
    file = tmp_path / "path.json"
    for content in (POINTS, {"points": POINTS, "more": 1}):
        file.write_text(json.dumps(content))
        assert read_path(file) == path_points(POINTS)
        assert "Trees along the path" in report(MODEL, X, Y, path=file)
    assert path_points(POINTS[::-1]) == path_points(POINTS)
    assert path_points(path_points(POINTS)) == path_points(POINTS)

    class Path_:  # noqa: N801
        points_ = path_points(POINTS)

    text = Page(report(MODEL, X, Y, path=Path_())).text()
    assert f"{MODEL.n_leaves_} (this tree)" in text
    assert "1 (this tree)" not in text
    for bad, message in [
        ("", "the file is empty"),
        ("{}", "it is not a path"),
        ("[]", "no points"),
        ('[{"leaves": 0, "errors": "1/1", "low": "0/1", "high": "1/1"}]', r"points\[0\].leaves"),
        ('[{"leaves": 1, "errors": "-1/1", "low": "0/1", "high": "1/1"}]', r"points\[0\].errors"),
        ('[{"leaves": 1, "errors": "1/0", "low": "0/1", "high": "1/1"}]', r"points\[0\].errors"),
        ('[{"leaves": 1, "errors": "1/1", "high": "1/1"}]', r"field 'points\[0\].low' is missing"),
        ('[{"leaves": 1, "errors": 1, "low": 0, "high": 1, "proved": 3}]', r"points\[0\].proved"),
        ("[3]", r"points\[0\]"),
    ]:
        file.write_text(bad)
        with pytest.raises(InputError, match=message):
            read_path(file)
    with pytest.raises(InputError, match="cannot read path file"):
        read_path(tmp_path / "absent")
    with pytest.raises(InputError, match="path must be a file or a list"):
        report(MODEL, X, Y, path=3)


def test_a_path_of_other_data_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "path.json"
    weight = len(Y)
    file.write_text(json.dumps({"training_weight": f"{weight}/1", "points": POINTS}))
    assert "Trees along the path" in report(MODEL, X, Y, path=file)
    file.write_text(json.dumps({"training_weight": f"{weight + 1}/1", "points": POINTS}))
    with pytest.raises(InputError, match=f"of other data: their weight is {weight + 1}, the model's {weight};"):
        report(MODEL, X, Y, path=file)


def test_models_of_all_kinds(tmp_path: Path) -> None:
    model = MODEL.to_model("the <i>label</i>")
    assert report(model, X, Y) == PAGE
    assert "The search" not in report(replace(model, search=None), X, Y)
    arrays = DOSDTClassifier("0.05").fit([[0, 1.5], [1, 2.5]] * 10, [0, 1] * 10)
    page = report(arrays, [[0, 1.5], [1, 2.5]] * 10, [0, 1] * 10)
    assert report(arrays.to_model(), np.array([[0, 1.5], [1, 2.5]] * 10), [0, 1] * 10) == page
    alone = DOSDTClassifier("0.9").fit([[0], [1]] * 10, [0, 1] * 10)
    assert "asks nothing" in report(alone, [[0], [1]] * 10, [0, 1] * 10)
    write_report(tmp_path / "r.html", MODEL, X, Y)
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == PAGE
    with pytest.raises(InputError, match="no report on a dict"):
        report({}, X, Y)
    with pytest.raises(InputError, match="must have 1 columns"):
        report(alone.to_model(), [[0, 1]], [0])


def test_deep_trees_do_not_nest_lists(tmp_path: Path) -> None:
    tree = long_chain(300, "no")
    kinds = ("bool", "int", "float", "text", "float")
    model = Model(
        tree, None, kinds, "category", Fraction(0), Fraction(1), Fraction(1), "optimal", Fraction(1), "subproblem"
    )
    frame = pd.DataFrame({name: [1.0, 2.0] for name in tree.columns})
    page = Page(report(model, frame, [0, 1]))
    assert len(page.all("pre")) == 1
    with pytest.raises(InputError, match="more than the 2000 a page can show"):
        report(replace(model, tree=long_chain(2001, "no")), frame, [0, 1])


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data, page, proof = (str(tmp_path / name) for name in ("m.json", "d.csv", "r.html", "proof"))
    frame = pd.DataFrame({"a": [1, 2, 3, 4] * 5, "c": list("xyxy") * 5})
    frame["label"] = (frame.a <= 2) & (frame.c == "x")
    frame.to_csv(data, index=False)
    assert main(["fit", data, "--model", model, "--certificate", proof, "--quiet"]) == 0
    capsys.readouterr()
    assert main(["report", model, data, "-o", page, "--certificate", proof, "--title", "Mine & yours"]) == 0
    assert capsys.readouterr().out == f"{page}: accuracy 1.000 on 20 rows\n"
    text = Path(page).read_text(encoding="utf-8")
    assert "<title>Mine &amp; yours</title>" in text
    assert "recomputed every fact" in text

    def refusal(*arguments: str) -> str:
        assert main(["report", *arguments]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert len(said.err.splitlines()) == 1
        return said.err

    assert "would overwrite the input" in refusal(model, data, "-o", model)
    assert "there is no model file" in refusal(page + "x", data)
    assert "cannot read path file" in refusal(model, data, "-o", page, "--path", "absent")
    assert "cannot read certificate" in refusal(model, data, "-o", page, "--certificate", "absent")
    frame.drop(columns="label").to_csv(data, index=False)
    assert "lack the label column 'label'" in refusal(model, data, "-o", page)


def test_weighted_models_say_so() -> None:
    weights = [1, 2] * 75
    assert "by weight" in report(fitted(X, Y, sample_weight=weights), X, Y)
    assert "by weight" not in PAGE


def test_saved_models_report_the_same(tmp_path: Path) -> None:
    from dosdt import load_model

    save_model(MODEL.to_model("the <i>label</i>"), tmp_path / "m.json")
    assert report(load_model(tmp_path / "m.json"), X, Y) == PAGE


def test_values_never_seen_do_no_harm() -> None:
    odd: Any = X.copy()
    odd[COLOUR] = "never seen"
    odd[AGE] = np.nan
    assert "missing" in report(MODEL, odd, Y)


def test_a_hostile_model_file_is_only_text() -> None:
    bad = "</script>: <img src=x onerror=alert(1)>, \x00\r\n"
    worse = f"{bad}\ud800"  # which pandas cannot hold
    tree = MODEL.tree_
    renamed = {name: f"{name}{bad}" for name in tree.columns}
    nodes = tuple(
        replace(node, rule=replace(node.rule, column=renamed[node.rule.column])) if isinstance(node, Split) else node
        for node in tree.nodes
    )
    hostile = replace(
        MODEL.to_model(worse),
        tree=Tree(nodes, tuple(f"{label}{worse}" for label in tree.classes), tuple(renamed.values())),
        status=worse,
        algorithm=worse,
        lower_bound=MODEL.lower_bound_ / 2,
    )
    frame = X.rename(columns=renamed)
    frame[renamed[COLOUR]] = [f"{text}{bad}" for text in X[COLOUR]]
    text = report(hostile, frame, [f"{label}{worse}" for label in Y], title=worse)
    text.encode("utf-8")
    page = Page(text)
    assert page.all("img") == []
    assert len(page.all("script")) == 2
    assert "\x00" not in text
