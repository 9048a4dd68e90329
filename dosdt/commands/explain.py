"""``dosdt explain``: why a saved tree says what it says about one row, and what would change that."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dosdt import options
from dosdt.errors import InputError

Row = Annotated[int, typer.Option("--row", metavar="N", help="Which row of DATA, counted from 1 without the header.")]


def explain(model: options.ModelFile, data: options.Data, row: Row = 1, as_json: options.Json = False) -> None:
    """Say why one row gets its class, and the smallest changes that would change it."""
    from dosdt.cli import emit
    from dosdt.inputs import read_data, text_columns
    from dosdt.model_file import load_model

    fitted = load_model(model)
    frame = read_data(data, text=text_columns(fitted))
    if not 1 <= row <= len(frame):
        raise InputError(f"--row must be from 1 to {len(frame)}, the number of rows, got {row}")
    found = fitted.explain(frame.iloc[[row - 1]])
    emit(json.dumps(found.to_dict()) + "\n" if as_json else str(found))
