"""``dosdt report``: a page about a saved model and how it does on a table."""

from __future__ import annotations

from typing import Annotated

import typer

from dosdt import options
from dosdt.errors import InputError

Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the page.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")]
CertificateFile = Annotated[
    str | None,
    typer.Option("--certificate", metavar="FILE", help="Check this certificate on DATA, and show the verdict."),
]
PathFile = Annotated[
    str | None, typer.Option("--path", metavar="FILE", help="Show this path over λ, written by 'dosdt path --json'.")
]


def report(
    model: options.ModelFile,
    data: options.Data,
    output: Output = "report.html",
    title: Title = None,
    certificate: CertificateFile = None,
    path: PathFile = None,
) -> None:
    """Write one self-contained HTML page: the tree, a case to try, how good it is, what is proved."""
    from dosdt.cli import emit
    from dosdt.files import write_atomically
    from dosdt.inputs import check_output, read_data, table_for, text_columns
    from dosdt.model_file import load_model
    from dosdt.present import accuracy
    from dosdt.reporting.assessment import assess
    from dosdt.reporting.page import page

    fitted = load_model(model)
    check_output(output, *(given for given in (model, data, certificate, path) if given is not None))
    frame = read_data(data, text=text_columns(fitted))
    target = str(frame.columns[-1]) if fitted.target is None else fitted.target
    if target not in frame.columns:
        raise InputError(f"the data lack the label column {target!r}; a report needs it to judge the tree")
    table, labels = table_for(fitted, frame), frame[target]
    checked = None
    if certificate is not None:
        from dosdt.checker.verify import verify_table

        checked = verify_table(certificate, frame)
    judged = assess(fitted.tree, table, labels)
    write_atomically(output, page(fitted, table, judged, title=title, checked=checked, path=path))
    emit(f"{output}: {accuracy(judged.correct, judged.rows)}\n")
