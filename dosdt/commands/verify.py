"""``dosdt verify``: whether a certificate proves what it says."""

from __future__ import annotations

import typer

from dosdt import options


def verify(certificate: options.CertificateFile, data: options.Data) -> None:
    """Check a certificate against the data, without searching; exit code 1 if it proves nothing."""
    from dosdt.checker.verify import verify_table
    from dosdt.cli import emit
    from dosdt.inputs import read_data

    verdict = verify_table(certificate, read_data(data))
    emit(f"{verdict}\n")
    if not verdict:
        raise typer.Exit(1)
