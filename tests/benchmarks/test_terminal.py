"""The picture of a terminal, in miniature."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dosdt

pytest.importorskip("pyte")
from benchmarks import terminal

ROOT = Path(dosdt.__file__).parents[1]


def words(svg: str) -> str:
    texts = ("".join(element.itertext()) for element in ElementTree.fromstring(svg).iter() if "text" in element.tag)
    return " ".join(texts).replace("\xa0", " ")


def check(svg: str) -> None:
    """It needs nothing from elsewhere."""
    assert re.findall(r"https?://[^\"' ]*", svg) == ["http://www.w3.org/2000/svg"]
    assert "@font-face" not in svg
    assert "url(http" not in svg


def test_a_command_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    svg = terminal.picture("dosdt fit monk1 --regularization 0.02", columns=80)
    check(svg)
    shown = words(svg)
    assert "$ dosdt fit monk1 --regularization 0.02" in re.sub(r" +", " ", shown)
    for part in ("432 rows", "incumbent", "optimal: proved", "jacket_color = red", "predict 1"):
        assert part in shown


def test_a_command_that_fails_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    with pytest.raises(SystemExit, match="there is no file 'nothing.csv'"):
        terminal.picture("dosdt fit nothing.csv")


def test_the_picture_of_the_documents() -> None:
    svg = (ROOT / "docs" / "terminal.svg").read_text(encoding="utf-8")
    check(svg)
    assert terminal.COMMAND.split()[2] in words(svg)
