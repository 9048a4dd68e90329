"""``dosdt predict``: the classes of the rows of a table."""

from __future__ import annotations

import sys

from dosdt import options
from dosdt.errors import DataWarning


def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    probabilities: options.Probabilities = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the class of every row of a table."""
    import warnings

    import pandas as pd

    from dosdt.cli import emit
    from dosdt.inputs import check_output, read_data, table_for, text_columns
    from dosdt.model_file import load_model
    from dosdt.present import accuracy
    from dosdt.tables import write_table

    if quiet:
        warnings.simplefilter("ignore", DataWarning)
    fitted = load_model(model)
    if output is not None:
        check_output(output, model, data)
    frame = read_data(data, text=text_columns(fitted))
    table = table_for(fitted, frame)
    answers = pd.DataFrame({"prediction": fitted.tree.predict(table)})
    if probabilities:
        shares = fitted.tree.predict_proba(table)
        for place, label in enumerate(fitted.tree.classes):
            answers[f"probability {label}"] = shares[:, place]
    if output is None:
        emit(answers.to_csv(index=False, lineterminator="\n"))
    else:
        write_table(answers, output)
    if fitted.target in frame.columns and not quiet:
        truth, guess = frame[fitted.target], answers["prediction"]
        # Text in one file and numbers in the other may still say the same.
        right = (truth == guess) | (truth.astype(str) == guess.astype(str))
        if known := int(truth.notna().sum()):
            print(accuracy(int(right[truth.notna()].sum()), known), file=sys.stderr)
