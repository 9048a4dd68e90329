"""A folder of generated tables, as DOSDT_DATA names one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a gate with one wrong row, of three features and 25 rows, and MONK-like rows; return where results go."""
    folder = tmp_path / "tables"
    folder.mkdir()
    rows = [(a, b, c, a & (b | c)) for a, b, c in product((0, 1), repeat=3)] * 3 + [(0, 0, 1, 1)]
    text = "".join(";".join(map(str, row)) + "\n" for row in rows)
    for name in ("gate", "compas-binary"):
        (folder / f"{name}.csv").write_text(f"a<1;b;c;label\n{text}")
    monkeypatch.setenv("DOSDT_DATA", str(folder))
    return tmp_path / "results"
