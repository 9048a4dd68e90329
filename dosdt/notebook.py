"""A fitted tree in a notebook: the picture, and below it what is proved."""

from __future__ import annotations

from fractions import Fraction
from html import escape

from dosdt.present import exactly, verdict
from dosdt.svg import tree_svg
from dosdt.tree import Tree

LARGEST = 200  # leaves; a larger picture helps nobody and slows the notebook down


def model_html(tree: Tree, status: str, objective: Fraction, gap: Fraction) -> str:
    """Return an HTML fragment; it has a ground of its own, since the notebook's theme need not be the screen's."""
    from dosdt.export import to_text

    leaves = f"{tree.n_leaves:,} {'leaf' if tree.n_leaves == 1 else 'leaves'}"
    line = f"{verdict(status, gap)} · objective {exactly(objective)} · {leaves}, depth {tree.depth:,}"
    body = tree_svg(tree) if tree.n_leaves <= LARGEST else f"<pre>{escape(to_text(tree)[:20_000])}</pre>"
    return (
        "<style>.dosdt-model{background:#fff;color:#14202c;border:1px solid #7d8894;border-radius:8px;"
        "padding:8px 12px;overflow-x:auto;font:14px system-ui,sans-serif}"
        "@media (prefers-color-scheme:dark){.dosdt-model{background:#12171d;color:#eef2f6}}</style>"
        f'<div class="dosdt-model">{body}<p style="margin:.5em 0 0">{escape(line)}</p></div>'
    )
