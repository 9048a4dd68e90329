"""What the page begins with: the tree, and a case to try; everything from data goes through `escape`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from dosdt.colours import class_colours
from dosdt.export import MAX_NESTING, to_text
from dosdt.model_file import Model
from dosdt.picture import question
from dosdt.present import at_most, percent
from dosdt.present import number as decimal
from dosdt.reporting.assessment import Assessment
from dosdt.reporting.fields import Field
from dosdt.reporting.markup import section
from dosdt.reporting.quality import interval
from dosdt.svg import tree_svg
from dosdt.tree import Leaf, Tree
from dosdt.words import evidence, one_line


def lead(model: Model) -> str:
    """Return what the page is about in a sentence."""
    leaves = "One leaf" if model.tree.n_leaves == 1 else f"{model.tree.n_leaves:,} leaves"
    if not model.gap:
        return f"{leaves}, proved optimal: no allowed tree over these features is better."
    return f"{leaves}; no allowed tree over these features is better by more than {at_most(model.gap)}."


def tiles(model: Model, judged: Assessment) -> str:
    """Return the few numbers that matter most."""
    share = Fraction(judged.correct, judged.rows)
    status = "optimal" if not model.gap else one_line(model.status).replace("_", " ")
    found = [
        ("Accuracy on these data", percent(share), f"95 % interval {interval(judged.correct, judged.rows)}"),
        ("Proof", escape(status), "gap 0" if not model.gap else f"gap at most {at_most(model.gap)}"),
        ("Objective", decimal(model.objective), _equals(model.objective)),
        ("Leaves", f"{model.tree.n_leaves:,}", f"depth {model.tree.depth:,}"),
        ("Rows", f"{judged.rows:,}", f"{len(model.tree.columns):,} columns, {_used(model.tree)} used"),
    ]
    body = "".join(
        f'<div><dt>{name}</dt><dd><span class="value">{value}</span><br><span class="more">{more}</span></dd></div>'
        for name, value, more in found
    )
    return f'<dl class="tiles">{body}</dl>'


def tree_section(model: Model) -> str:
    """Return the tree drawn, and in words."""
    tree = model.tree
    drawn = tree_svg(tree, style="", interactive=True)
    colours = class_colours(len(tree.classes))
    legend = "".join(
        f'<li><span class="swatch" style="background:{colour}"></span>{escape(one_line(str(label)))}</li>'
        for label, colour in zip(tree.classes, colours, strict=True)
    )
    return section(
        "tree",
        "The tree",
        '<p class="hint screen">Point at a node to see the way to it. With the keyboard: Tab into the tree, then the '
        "arrow keys; down goes to the yes side.</p>"
        '<button type="button" class="fitting screen" aria-pressed="false" hidden>Fit the tree to the page</button>'
        f'<figure><div class="treebox">{drawn}</div><figcaption><ul class="legend" aria-label="Classes">{legend}</ul>'
        "Counts and bars are those of the training data; a bar shows the share of each class.</figcaption></figure>"
        f'<details class="words"><summary>The tree in words</summary>{tree_words(tree)}</details>',
    )


def tree_words(tree: Tree) -> str:
    """Return the tree as lists within lists."""
    if tree.depth > MAX_NESTING:
        return f"<pre>{escape(to_text(tree))}</pre>"
    parts: list[str] = []
    waiting: list[int | str] = ["</li></ul>", 0, "<ul><li>"]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            parts.append(item)
            continue
        node = tree.nodes[item]
        if isinstance(node, Leaf):
            label = escape(one_line(str(tree.classes[node.label])))
            parts.append(f"predict <strong>{label}</strong> ({evidence(node)})")
            continue
        asked = escape(question(node.rule))
        parts.append(f"{asked}?")
        waiting += ["</li></ul>", node.no, "</li><li>no: ", node.yes, "<ul><li>yes: "]
    return "".join(parts)


def try_section(fields: Sequence[Field]) -> str:
    """Return the form for one case."""
    if not fields:
        return section("try", "Try a case", "<p>This tree asks nothing: its answer is always the same.</p>")
    inputs = "".join(_input(field, place) for place, field in enumerate(fields))
    return section(
        "try",
        "Try a case",
        '<div class="try"><form id="case" autocomplete="off" aria-label="One case">'
        f'{inputs}<button type="reset">Typical values</button></form>'
        '<div class="answer" id="answer" role="status" aria-live="polite"></div></div>'
        "<noscript><p>The form needs JavaScript; the rest of the page does not.</p></noscript>",
    )


def _input(field: Field, place: int) -> str:
    name, hint = (
        escape(one_line(field.name)),
        f'<div class="hint" id="hint{place}">{escape(one_line(field.summary))}</div>',
    )
    fault = f'<div class="fault" id="fault{place}"></div>'
    common = f'id="value{place}" name="value{place}" aria-describedby="hint{place} fault{place}"'
    if field.kind == "flag" and not field.missing:
        checked = " checked" if field.start == "yes" else ""
        return (
            f'<div class="field"><label class="check named"><input type="checkbox" {common}{checked}> {name}</label>'
            f"{hint}{fault}</div>"
        )
    label = f'<label for="value{place}">{name}</label>'
    if field.kind == "number":
        control = f'<input type="text" inputmode="decimal" {common} value="{escape(field.start)}">'
        if field.missing:
            control += (
                f' <label class="check"><input type="checkbox" name="missing{place}"> missing'
                f"<span hidden> ({name})</span></label>"
            )
        return f'<div class="field">{label}{control}{hint}{fault}</div>'
    if field.kind == "flag":
        options = "".join(_option(text, text, text == field.start) for text in ("yes", "no", "missing"))
    else:
        options = "".join(_option(str(k), text, text == field.start) for k, text in enumerate(field.options))
        options += '<option data-other="">(another value)</option>'
        options += '<option data-missing="">(missing)</option>' if field.missing else ""
    return f'<div class="field">{label}<select {common}>{options}</select>{hint}{fault}</div>'


def _option(value: str, text: str, chosen: bool) -> str:
    selected = " selected" if chosen else ""
    return f'<option value="{value}"{selected}>{escape(one_line(text)) or "(empty)"}</option>'


def _used(tree: Tree) -> int:
    return len({rule.column for rule in tree.used_rules})


def _equals(value: Fraction) -> str:
    exact = str(value)
    return f"= {exact}" if len(exact) <= 24 and value.denominator != 1 else "exact"
