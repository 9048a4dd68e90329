"""The commands of `dosdt`, one module each; options that several take are in `dosdt.commands.groups`.

Heavy imports wait until a command runs, so that ``dosdt --help`` and completion answer at once.
"""

from __future__ import annotations

import typer

from dosdt.commands.alternatives import alternatives
from dosdt.commands.datasets import datasets
from dosdt.commands.demo import demo
from dosdt.commands.explain import explain
from dosdt.commands.fit import fit
from dosdt.commands.groups import flat
from dosdt.commands.path import path
from dosdt.commands.predict import predict
from dosdt.commands.report import report
from dosdt.commands.resume import resume
from dosdt.commands.show import show
from dosdt.commands.verify import verify


def register(app: typer.Typer) -> None:
    """Add the commands to an app, in the order of its help."""
    for command in (
        fit,
        resume,
        path,
        alternatives,
        predict,
        explain,
        show,
        report,
        verify,
        datasets,
        demo,
    ):
        app.command()(flat(command))
