"""What is proved about the tree, and about others; everything from data goes through `escape`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from dosdt.checker.claims import Certificate
from dosdt.checker.verify import Verdict
from dosdt.model_file import Model
from dosdt.present import at_most, counted, exactly, verdict
from dosdt.present import number as decimal
from dosdt.reporting.charts import path_chart, trace_chart
from dosdt.reporting.markup import section, table
from dosdt.reporting.path_data import PathPoint
from dosdt.search_record import SearchRecord
from dosdt.tree import Split, Tree
from dosdt.words import number, one_line


def proof_section(model: Model, checked: Verdict | None) -> str:
    """Return what is proved, the certificate's verdict and the course of the search."""
    tree, record = model.tree, model.search
    weight = number(model.training_weight)
    loss = "loss" if record is not None and record.costs else "errors"
    leaves = f"{tree.n_leaves:,} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    parts = [
        f"<p>The tree was chosen to minimise {loss}/N + λ · leaves. Its objective is {number(tree.cost)}/{weight} + "
        f"{number(model.regularization)} × {leaves} = {escape(exactly(model.objective))}.</p>"
    ]
    parts.append(_statement(model))
    if checked is not None:
        parts.append(_certificate(model, checked))
    if record is not None:
        parts.append(_search(record, model.algorithm))
    body = "".join(parts)
    if record is not None and len(record.trace) > 1 and record.trace[-1].seconds > 0:
        body = f'<div class="columns"><div>{body}</div><div>{_course(record)}</div></div>'
    return section("proof", "What is proved", body)


def _statement(model: Model) -> str:
    words = one_line(verdict(model.status, model.gap))
    head, _, rest = words.partition(": ") if ": " in words else words.partition(", ")
    bound = escape(exactly(model.lower_bound))
    if model.gap:
        saving = at_most(model.gap)
        more = f"Every tree’s objective is at least {bound}, so that another could be better by {saving} at most."
    else:
        more = (
            f"The lower bound on all trees, {bound}, equals its objective. All numbers were compared as fractions, "
            "without rounding."
        )
    said = f"{escape(rest[:1].upper() + rest[1:])}. {more}"
    look = "" if model.gap else "good"
    return f'<div class="verdict {look}"><strong>{escape(head.replace("_", " ").capitalize())}.</strong> {said}</div>'


def _search(record: SearchRecord, algorithm: str) -> str:
    by = "" if record.workers == 1 else f" by {record.workers:,} workers"
    work = counted(record.evaluated, "evaluation")
    return (
        f"<h3>The search</h3><p>{work} in {record.seconds:.3g} seconds{by}, over "
        f"{record.features:,} yes/no features of {record.rows:,} rows, {record.distinct_rows:,} of them distinct "
        f"(algorithm {escape(one_line(algorithm))}).</p>"
    )


def _course(record: SearchRecord) -> str:
    rows = [[f"{step.seconds:.4g}", decimal(step.incumbent), decimal(step.lower_bound)] for step in record.trace]
    numbers = table("Course of the search", ["seconds", "best objective", "lower bound"], rows)
    return (
        f'<figure><div class="scroll">{trace_chart(record.trace)}</div><figcaption>The best tree so far (solid) and '
        "the bound that no tree is below (dashed); where they meet, the proof is complete.</figcaption></figure>"
        f'<details class="screen"><summary>These numbers as a table</summary>{numbers}</details>'
    )


def _certificate(model: Model, checked: Verdict) -> str:
    fits = bool(checked) and checked.objective == model.objective and checked.certificate is not None
    fits = fits and checked.certificate.regularization == model.regularization  # type: ignore[union-attr]
    same = fits and same_tree(model.tree, checked.certificate)  # type: ignore[arg-type]
    words = one_line(str(checked))
    if not checked:
        more = "This certificate proves nothing about these data."
    elif same:
        more = "A checker that shares no code with the search recomputed every fact from these data."
    elif fits:
        more = "It is the proof for another tree with the same objective."
    else:
        more = "But it is of another tree or another λ than this page."
    head, _, rest = words.partition(": ")
    look = "good" if same else "bad" if not fits else ""
    return (
        f'<h3>Certificate</h3><div class="verdict {look}"><strong>{escape(head.capitalize())}.</strong> '
        f"{escape(rest[:1].upper() + rest[1:])}. {more}</div>"
    )


def same_tree(tree: Tree, certificate: Certificate) -> bool:
    """Say whether a certificate's tree asks the same questions and gives the same answers."""
    waiting = [(0, 0)]
    while waiting:
        index, other = waiting.pop()
        node, claimed = tree.nodes[index], certificate.tree[other]
        if isinstance(node, Split):
            if not claimed.feature or certificate.features[claimed.feature - 1] != node.rule:
                return False
            waiting += [(node.yes, claimed.yes), (node.no, claimed.no)]
        elif claimed.feature or certificate.classes[claimed.label] != tree.classes[node.label]:
            return False
    return True


def path_section(points: Sequence[PathPoint], model: Model) -> str:
    """Return the trade-off between leaves and errors over all λ."""
    rows = []
    for point in points:
        own = " (this tree)" if point.is_of(model.tree) else ""
        high = "∞" if point.high is None else _short(point.high)
        rows.append([f"{point.leaves:,}{own}", number(point.errors), _short(point.low), high, _yes(point.proved)])
    heads = ["leaves", "errors", "λ from", "λ to", "proved"]
    return section(
        "path",
        "Other penalties",
        "<p>A larger λ asks for fewer leaves, a smaller one for fewer errors. These are the trees that are optimal "
        "for some λ, each with the λ for which it is.</p>"
        f'<div class="columns"><figure class="scroll">{path_chart(points, model.tree)}</figure>'
        f"<div>{table('Trees along the path', heads, rows)}</div></div>",
    )


def _short(value: Fraction) -> str:
    exact = str(value)
    return exact if len(exact) <= 14 else decimal(value)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
