"""``dosdt demo``: what it does, on two small data sets."""

from __future__ import annotations

import sys


def demo() -> None:
    """Fit two small data sets and compare with CART."""
    from dosdt.cli import emit
    from dosdt.demo import run

    run(emit, verbose=sys.stderr is not None and sys.stderr.isatty())
