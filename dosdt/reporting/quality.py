"""How good the tree is, and on which data; everything from data goes through `escape`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape
from math import ceil, floor

from dosdt.model_file import Model
from dosdt.picture import node_weights, question
from dosdt.present import percent
from dosdt.reporting.assessment import Assessment, training_accuracy, wilson
from dosdt.reporting.charts import sparkline
from dosdt.reporting.fields import Field
from dosdt.reporting.markup import section, table
from dosdt.rules import Rule
from dosdt.tree import Leaf, Split, Tree, plain
from dosdt.words import one_line, whole_percent


def quality_section(model: Model, judged: Assessment) -> str:
    """Return accuracy, confusion matrix and how every leaf does."""
    parts = []
    if judged.looks_like_training(model.tree):
        parts.append(
            "<p>Every leaf has as many rows of each class here as in training, so these seem to be the data that the "
            "tree was fitted to. How well it does on new rows is another matter: give data it has not seen to find "
            "out.</p>"
        )
    record = model.search
    weighted = " (by weight)" if record is not None and record.weighted else ""
    here = percent(Fraction(judged.correct, judged.rows))
    rows = [
        ["this tree, these data", here, interval(judged.correct, judged.rows)],
        ["always the largest class, these data", percent(Fraction(judged.largest(), judged.rows)), ""],
        [f"this tree, in training{weighted}", percent(training_accuracy(model.tree)), ""],
    ]
    parts.append(f'<div class="columns"><div>{table("Accuracy", ["", "accuracy", "95 % interval"], rows)}')
    parts.append(
        '<p class="note">The interval is Wilson’s: in 95 of 100 samples of this size it holds the accuracy on all '
        "rows of this kind, if these are a random sample that the tree was not fitted to.</p></div>"
    )
    parts.append(f"<div>{_confusion(model.tree, judged)}</div></div>")
    parts.append(_leaf_table(model, judged))
    return section("quality", "How good it is", "".join(parts))


def _confusion(tree: Tree, judged: Assessment) -> str:
    names = [escape(one_line(str(label))) for label in tree.classes]
    totals = judged.confusion.sum(axis=1)
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    rows = []
    for place, truth in enumerate(judged.truths):
        total = int(totals[place])
        cells = "".join(
            f'<td class="cell{" right" if place == k else ""}" style="--depth:{count / (total or 1):.3f}">'
            f"{count:,}</td>"
            for k, count in enumerate(judged.confusion[place].tolist())
        )
        found = percent(Fraction(int(judged.confusion[place, place]), total)) if place < len(names) and total else "–"
        rows.append(f'<tr><th scope="row">{escape(truth)}</th>{cells}<td>{total:,}</td><td>{found}</td></tr>')
    columns = judged.confusion.sum(axis=0)
    right = [
        percent(Fraction(int(judged.confusion[k, k]), int(columns[k]))) if columns[k] else "–"
        for k in range(len(names))
    ]
    last = "".join(f"<td>{text}</td>" for text in right)
    return (
        '<div class="scroll"><table class="confusion"><caption>Confusion matrix: rows by label, columns by answer'
        f'</caption><thead><tr><th scope="col">label</th>{head}<th scope="col">rows</th>'
        f'<th scope="col">recall</th></tr></thead><tbody>{"".join(rows)}</tbody>'
        f'<tfoot><tr><th scope="row">precision</th>{last}<td></td><td></td></tr></tfoot></table></div>'
    )


def _leaf_table(model: Model, judged: Assessment) -> str:
    tree = model.tree
    ways = leaf_ways(tree, may_miss=model.missing == "category")
    rows = []
    for index, counts in judged.leaves.items():
        leaf = tree.nodes[index]
        assert isinstance(leaf, Leaf)
        total, right = int(counts.sum()), int(counts[leaf.label])
        here = f"{percent(Fraction(right, total))}" if total else "–"
        trained = whole_percent(leaf.class_weights[leaf.label] / (sum(leaf.class_weights, Fraction(0)) or 1))
        label = escape(one_line(str(tree.classes[leaf.label])))
        way = " <b>and</b> ".join(escape(condition) for condition in ways[index]) or "always"
        rows.append([way, label, f"{total:,}", here, trained])
    heads = ["if", "predict", "rows here", "right here", "right in training"]
    body = table("Every leaf as a rule", heads, rows, words=1, look="rules")
    return body if len(rows) <= 12 else f"<details><summary>Every leaf as a rule</summary>{body}</details>"


def leaf_ways(tree: Tree, *, may_miss: bool) -> dict[int, tuple[str, ...]]:
    """Return the conditions that lead to every leaf, by node number; a missing value answers no to most questions."""
    ways: dict[int, tuple[str, ...]] = {0: ()}
    given: dict[int, frozenset[str]] = {0: frozenset() if may_miss else frozenset(tree.columns)}
    for index, node in enumerate(tree.nodes):
        if isinstance(node, Split):
            way, known = ways.pop(index), given.pop(index)
            rule, more = node.rule, known | {node.rule.column}
            asks_gap = rule.kind == "is_missing"
            ways[node.yes], given[node.yes] = (*way, question(rule)), known if asks_gap else more
            ways[node.no], given[node.no] = (*way, _denied(rule, rule.column in known)), more if asks_gap else known
    return ways


def _denied(rule: Rule, given: bool) -> str:
    """Return what holds where a rule answers no; unless a value is given, it may be missing."""
    if rule.kind == "is_missing":
        return one_line(f"{rule.column} is given")
    if rule.kind == "is_true":
        return one_line(f"not {rule.column}")
    sign = ">" if rule.kind == "at_most" else "≠"
    return one_line(f"{rule.column} {sign} {plain(rule.value)}") + ("" if given else " or missing")


def data_section(model: Model, judged: Assessment, fields: Sequence[Field]) -> str:
    """Return what the data hold."""
    totals = judged.confusion.sum(axis=1)
    trained = node_weights(model.tree)[0]
    whole = sum(trained, Fraction(0))
    shares = []
    for place, truth in enumerate(judged.truths):
        before = percent(trained[place] / whole) if place < len(trained) and whole else "–"
        count = int(totals[place])
        shares.append([escape(truth), f"{count:,}", percent(Fraction(count, judged.rows)), before])
    columns = [
        [escape(one_line(field.name)), sparkline(field.bars), escape(one_line(field.summary))] for field in fields
    ]
    label = "the label" if model.target is None else f"the label, {escape(one_line(model.target))}"
    n_columns = f"{len(model.tree.columns):,} columns"
    parts = [
        f"<p>{judged.rows:,} rows and {n_columns}, of which the tree asks about {len(fields):,}.</p>",
        '<div class="columns"><div>',
        table(f"Classes of {label}", ["class", "rows here", "share here", "share in training"], shares),
        "</div><div>",
    ]
    if columns:
        parts.append(table("Columns the tree asks about", ["column", "", "in these data"], columns, words=2))
    parts.append("</div></div>")
    return section("data", "The data", "".join(parts))


def interval(correct: int, rows: int) -> str:
    """Return Wilson's interval in per cent, rounded outwards."""
    low, high = wilson(correct, rows)
    return f"{floor(1000 * low) / 10:.1f}–{ceil(1000 * high) / 10:.1f}\N{NO-BREAK SPACE}%"
