"""The `dosdt` command: reads the command line, calls the library, writes what it says.

A result ends with exit code 0, a certificate that is refused with 1, and bad input with 2 and one line on stderr.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from dosdt import __version__, options
from dosdt.commands import register as register_commands
from dosdt.errors import DataWarning, InputError
from dosdt.submit import register as register_submit

app = typer.Typer(
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # what is not bad input is a bug, and shows as Python shows it
    rich_markup_mode="rich",
)
# click's base of all usage errors, wherever typer keeps its click.
_UsageError: type[Any] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


@app.callback(invoke_without_command=True)
def dosdt(context: typer.Context, version: options.Version = False) -> None:
    """Provably optimal sparse decision trees: least errors/N + λ·leaves."""
    if version:
        emit(f"dosdt {__version__}\n")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


register_commands(app)
register_submit(app)


def emit(text: str) -> None:
    """Write to stdout at once; a reader that has had enough, such as `head`, is no error."""
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        _silence_stdout()
        raise typer.Exit(0) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # an old terminal gets \u2514 for └ rather than a traceback
            stream.reconfigure(errors="backslashreplace")
    arguments = None if argv is None else list(argv)
    notes: list[str] = []
    try:
        with _taking_notes(notes):
            code = typer.main.get_command(app).main(arguments, prog_name="dosdt", standalone_mode=False)
    except InputError as error:
        return _refuse(options.in_flags(str(error)))
    except OSError as error:  # reading files ends in an InputError, so this is the output: a full disk
        _silence_stdout()
        return _refuse(f"cannot write the output: {error.strerror or error}; choose another place")
    except typer.Abort:
        return 130
    except _UsageError as error:
        see = f"; see '{error.ctx.command_path} --help'" if getattr(error, "ctx", None) else ""
        return _refuse(error.format_message().rstrip(".") + see)
    for text in dict.fromkeys(notes):  # after the answer, where they are seen, and not beside a refusal
        print(f"dosdt: note: {text}", file=sys.stderr)
    return code if isinstance(code, int) else 0


@contextmanager
def _taking_notes(notes: list[str]) -> Iterator[None]:
    """Collect what is said of the data; all other warnings go their way."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, DataWarning):
                notes.append(str(message))
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", DataWarning)
        yield


def _refuse(message: str) -> int:
    line = " ".join(part.strip() for part in message.splitlines())
    print(f"dosdt: error: {line}", file=sys.stderr)
    return 2


def _silence_stdout() -> None:
    """Keep Python from trying again to write what is left when it ends, and complaining."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
