"""Pieces of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def section(name: str, title: str, body: str) -> str:
    """Return a section with its heading, which names it."""
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>\n{body}</section>'


def table(
    caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 0, look: str = ""
) -> str:
    """Return a table; the first column heads its rows, and the next `words` hold words. Cells are HTML."""
    found = ["".join(_cell(cell, k, words) for k, cell in enumerate(row)) for row in rows]
    head = "".join(f'<th scope="col"{_words(k, words)}>{text}</th>' for k, text in enumerate(heads))
    body = "".join(f"<tr>{row}</tr>" for row in found)
    return (
        f'<div class="scroll"><table class="{look}"><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _words(column: int, words: int) -> str:
    return ' class="words"' if column <= words else ""


def _cell(cell: str, column: int, words: int) -> str:
    return f'<th scope="row">{cell}</th>' if not column else f"<td{_words(column, words)}>{cell}</td>"
