"""The report in a real browser: Chromium without a window, as Debian packages it."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from random_trees import random_tree
from report_cases import AGE, BIG, COLOUR, COLOURS, FLAG, SERIAL, SIZE, fitted, mixed

from dosdt import DOSDTClassifier, datasets, export, report
from dosdt.reporting.fields import fields_of

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
X, Y = mixed()
MODEL = fitted(X, Y)
FIELDS = fields_of(MODEL.to_model(), MODEL.binarizer_.check_columns(X))
PLACE = {field.name: place for place, field in enumerate(FIELDS)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=FLAGS)  # with a new, empty profile
        yield running
        running.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    board = datasets.load("tic-tac-toe")
    wide = DOSDTClassifier("0.02").fit(board.X, board.y)
    points = [
        {"leaves": 1, "errors": 90, "low": "1/10", "high": None},
        {"leaves": 4, "errors": 9, "low": 0, "high": "1/10"},
    ]
    pages = {"mixed": report(MODEL, X, Y, path=points), "wide": report(wide, board.X, board.y)}
    for name, page in pages.items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in pages}


class Watched:
    """A page that notes what it loads and complains about."""

    def __init__(self, context: Any, file: Path) -> None:
        self.page = context.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on(
            "console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        self.page.on("dialog", lambda dialog: self.complaints.append("a dialog"))
        self.url = file.as_uri()
        self.page.goto(self.url)


@pytest.fixture
def opened(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Give a function that opens a report; in the end it must have loaded nothing else and not complained."""
    contexts, watched = [], []

    def go(name: str = "mixed", **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        watched.append(Watched(context, files[name]))
        return watched[-1].page

    yield go
    for one in watched:
        assert one.complaints == []
        assert [url for url in one.requests if url != "data:,"] == [one.url]
    for context in contexts:
        context.close()


def lit(page: Any, name: str = "lit") -> list[int]:
    return page.eval_on_selector_all(f"[data-node].{name}", "all => all.map(g => Number(g.dataset.node))")  # type: ignore[no-any-return]


def way_to(index: int) -> list[int]:
    parents = {
        child: i for i, node in enumerate(MODEL.tree_.nodes) if hasattr(node, "yes") for child in (node.yes, node.no)
    }
    way = [index]
    while way[0] in parents:
        way.insert(0, parents[way[0]])
    return way


def test_pointing_lights_the_way(opened: Any) -> None:
    page = opened()
    for index in range(len(MODEL.tree_.nodes)):
        page.hover(f'[data-node="{index}"]')
        assert sorted(lit(page)) == sorted(way_to(index))
        edges = page.eval_on_selector_all("[data-edge].lit", "all => all.map(g => Number(g.dataset.edge))")
        assert sorted(edges) == sorted(way_to(index)[1:])
    page.hover("h1")
    assert lit(page) == []


def fill(page: Any, case: dict[str, Any]) -> None:
    """Enter a case as a person does."""
    for name, value in case.items():
        place = PLACE[name]
        missing = value is None or value != value
        if name == COLOUR:
            page.select_option(f"#value{place}", label="(missing)" if missing else (value or "(empty)"))
        elif name == FLAG:
            page.select_option(f"#value{place}", "yes" if value else "no")
        else:
            page.set_checked(f"[name=missing{place}]", missing)
            if not missing:
                page.fill(f"#value{place}", str(value))


def answers(cases: list[dict[str, Any]]) -> tuple[list[str], list[int]]:
    """Return the model's own answers, and the leaves they come from."""
    frame = pd.DataFrame(cases).astype({SERIAL: "int64", FLAG: bool, COLOUR: object})
    leaves = MODEL.tree_.apply(MODEL.binarizer_.check_columns(frame))
    return MODEL.predict(frame).tolist(), leaves.tolist()


def random_case(rng: random.Random) -> dict[str, Any]:
    return {
        FLAG: rng.random() < 0.5,
        SIZE: rng.choice([rng.gauss(0, 1), round(rng.gauss(0, 1), 2), float(X[SIZE].iloc[rng.randrange(len(X))])]),
        COLOUR: rng.choice([*COLOURS, None]),
        AGE: rng.choice([math.nan, 20.0, 25.0, 30.0, 35.0, rng.uniform(0, 60)]),
        SERIAL: BIG + rng.randint(-2, 8),
    }


def test_typed_cases_get_the_answers_of_the_model(opened: Any) -> None:
    page = opened()
    rng = random.Random(5)
    cases = [random_case(rng) for _ in range(25)]
    expected, leaves = answers(cases)
    for case, label, leaf in zip(cases, expected, leaves, strict=True):
        fill(page, case)
        assert page.inner_text("#label") == label
        assert sorted(lit(page, "way")) == sorted(way_to(leaf))


ENTER = """cases => cases.map((values) => {
  const form = document.getElementById("case");
  values.forEach(([missing, text], place) => {
    const input = form.elements["value" + place];
    const gone = form.elements["missing" + place];
    if (gone) gone.checked = missing;
    if (input.options) input.selectedIndex = [...input.options].findIndex((option) => missing
      ? option.textContent.includes("missing") : option.textContent === (text || "(empty)"));
    else if (!missing) input.value = text;
  });
  form.dispatchEvent(new Event("input"));
  const way = [...document.querySelectorAll("[data-node].way")].map((g) => Number(g.dataset.node));
  return [document.getElementById("label").textContent, Math.max(...way)];
})"""


def test_hundreds_of_cases(opened: Any) -> None:
    page = opened()
    rng = random.Random(7)
    cases = [random_case(rng) for _ in range(500)]
    entered = [[_entry(case[field.name]) for field in FIELDS] for case in cases]
    expected, leaves = answers(cases)
    assert page.evaluate(ENTER, entered) == [[label, leaf] for label, leaf in zip(expected, leaves, strict=True)]
    assert len(set(leaves)) == MODEL.n_leaves_


def _entry(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [False, "yes" if value else "no"]
    return [True, ""] if value is None or value != value else [False, str(value)]


def test_thresholds_themselves(opened: Any) -> None:
    """At a threshold and next to it, also where a float cannot tell the difference."""
    page = opened()
    rng = random.Random(6)
    rules = [rule for rule in MODEL.tree_.used_rules if rule.kind == "at_most"]
    assert {rule.column for rule in rules} >= {SIZE, SERIAL}
    for rule in rules:
        value: Any = rule.value
        near = (
            [value - 1, value, value + 1]
            if isinstance(value, int)
            else [np.nextafter(value, -9), value, np.nextafter(value, 9)]
        )
        for given in near:
            for _ in range(2):
                case = random_case(rng) | {rule.column: int(given) if rule.column == SERIAL else float(given)}
                fill(page, case)
                assert page.inner_text("#label") == answers([case])[0][0]


def test_words_for_what_is_no_number(opened: Any) -> None:
    page = opened()
    place = PLACE[SIZE]
    for text in ("", "abc", "1e999", "1_0", "--3"):
        page.fill(f"#value{place}", text)
        assert page.get_attribute(f"#value{place}", "aria-invalid") == "true"
        assert "needs a number" in page.inner_text("#answer")
        assert lit(page, "way") == []
    for text in ("+1.5", " 2 ", "1e2", "-.5", "3."):
        page.fill(f"#value{place}", text)
        assert page.get_attribute(f"#value{place}", "aria-invalid") == "false"
        assert page.inner_text("#label")
    page.click("button[type=reset]")
    page.wait_for_function("place => document.getElementById('value' + place).value !== '3.'", arg=place)
    assert page.inner_text("#label")


def test_by_keyboard_alone(opened: Any) -> None:
    page = opened()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    node = "document.activeElement.dataset.node"
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate(node) is not None:
            break
    assert page.evaluate(node) == "0"
    root = MODEL.tree_.nodes[0]
    assert lit(page) == [0]
    page.keyboard.press("ArrowDown")
    assert page.evaluate(node) == str(root.yes)  # type: ignore[union-attr]
    assert sorted(lit(page)) == sorted([0, root.yes])  # type: ignore[union-attr]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(node) == str(root.no)  # type: ignore[union-attr]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(node) == str(root.no)  # type: ignore[union-attr]
    page.keyboard.press("ArrowUp")
    assert page.evaluate(node) == "0"
    reached = {0}
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "End", "ArrowLeft", "ArrowUp", "ArrowRight", "Home"):
        page.keyboard.press(key)
        reached.add(int(page.evaluate(node)))
        assert page.evaluate("getComputedStyle(document.activeElement.querySelector('rect')).strokeWidth") == "5px"
    assert len(reached) >= 6
    page.keyboard.press("Tab")  # out of the tree in one step
    assert page.evaluate(node) is None
    assert lit(page) == []
    for _ in range(5):
        if page.evaluate("document.activeElement.id") == "value0":
            break
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "value0"
    before = page.inner_text("#answer")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # its value is missing
    assert page.inner_text("#answer") != before
    assert page.is_disabled("#value0")


@pytest.mark.parametrize("name", ["mixed", "wide"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_the_page_never_scrolls_sideways(opened: Any, name: str, width: int) -> None:
    page = opened(name, viewport={"width": width, "height": 740})
    for once in (False, True):
        if once:
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width == 360:
        assert page.evaluate("(b => b.scrollWidth > b.clientWidth)(document.querySelector('.treebox'))")
        page.click(".fitting")
        assert page.get_attribute(".fitting", "aria-pressed") == "true"
        assert page.evaluate("(b => b.scrollWidth <= b.clientWidth)(document.querySelector('.treebox'))")


CONTRASTS = """() => {
  const parts = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const ground = (at) => {
    for (; at; at = at.parentElement) {
      const box = at.closest("svg") && at.matches("[data-node]") && at.querySelector("rect");
      const own = parts(box ? getComputedStyle(box).fill : getComputedStyle(at).backgroundColor);
      if (own.length === 3 || own[3] === 1) return own;
    }
    return null;
  };
  const found = [];
  for (const at of document.querySelectorAll("body *")) {
    if (["SCRIPT", "STYLE", "title", "NOSCRIPT"].includes(at.tagName)) continue;
    const text = [...at.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || !at.getClientRects().length) continue;
    const style = getComputedStyle(at);
    const ink = parts(at.closest("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(at))].sort((p, q) => q - p);
    found.push([(a + 0.05) / (b + 0.05), text.slice(0, 40), at.tagName]);
  }
  return found;
}"""


@pytest.mark.parametrize("name", ["mixed", "wide"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_can_be_read(opened: Any, name: str, scheme: str) -> None:
    page = opened(name, color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found = page.evaluate(CONTRASTS)
    assert len(found) > 80
    assert [one for one in found if one[0] < 4.5] == []
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, ground.strip("rgb()").split(","))) < 200) == (scheme == "dark")


def test_on_paper(opened: Any) -> None:
    page = opened(color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("#try")
    assert not page.is_visible("nav")
    assert page.is_visible(".dosdt-tree")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.eval_on_selector_all("details:not([open])", "all => all.length") == 0
    assert page.is_visible(".words ul")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.eval_on_selector_all("details[open]", "all => all.length") == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_all_but_the_form_is_there(opened: Any) -> None:
    page = opened(java_script_enabled=False)
    assert page.locator("table caption").count() >= 5
    assert page.locator("[role=treeitem]").count() == len(MODEL.tree_.nodes)
    assert "needs JavaScript" in page.inner_text("#try")


def test_screen_readers_find_their_way(opened: Any) -> None:
    page = opened()
    assert page.get_by_role("tree").count() == 1
    assert page.get_by_role("treeitem").count() == len(MODEL.tree_.nodes)
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("navigation", name="Sections").count() == 1
    assert page.get_by_role("status").count() == 1
    assert page.get_by_role("table", name="Confusion matrix: rows by label, columns by answer").count() == 1
    for name in PLACE:
        assert page.get_by_label(name, exact=True).count() == 1, name


def test_texts_fit_their_boxes(browser: Any) -> None:
    page = browser.new_page()
    rng = random.Random(1)
    for _ in range(12):
        tree = random_tree(rng, 12)
        page.set_content(export.to_svg(tree))
        outside = page.evaluate(
            """() => [...document.querySelectorAll("svg > g")].filter((g) => g.querySelector("rect")).flatMap((g) => {
                const box = g.querySelector("rect").getBBox();
                return [...g.querySelectorAll("text")].filter((text) => {
                  const own = text.getBBox();
                  return own.x < box.x || own.x + own.width > box.x + box.width
                    || own.y < box.y - 1 || own.y + own.height > box.y + box.height + 1;
                }).map((text) => text.textContent);
            })"""
        )
        assert outside == []
    page.close()
