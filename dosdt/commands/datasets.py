"""``dosdt datasets``: what can be fitted by name."""

from __future__ import annotations

from dosdt import options


def datasets(as_json: options.Json = False) -> None:
    """List the data sets that can be fitted by name."""
    from dosdt.cli import emit
    from dosdt.datasets import available
    from dosdt.present import datasets_json, datasets_text

    emit(datasets_json(available()) if as_json else datasets_text(available()))
