"""``dosdt show``: a saved tree, in whichever form."""

from __future__ import annotations

from dosdt import options


def show(model: options.ModelFile, form: options.Format = "text") -> None:
    """Show a saved tree, or translate it."""
    from dosdt.cli import emit
    from dosdt.model_file import load_model
    from dosdt.present import model_text

    emit(model_text(load_model(model), form))
