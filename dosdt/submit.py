"""``dosdt submit``: the same as ``dosdt fit``, but on a Ray cluster, through the Jobs API of its head node.

The job needs dosdt installed on the cluster. What can be seen to be wrong from here is refused before anything is
sent; all else is what `fit` says there.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from dosdt.errors import InputError

LARGEST_UPLOAD = 200 * 10**6  # bytes; Ray keeps what is uploaded in the memory of the head node
_FILES = ("model", "certificate")
_PARQUET = (".parquet", ".pq")

Address = Annotated[
    str,
    typer.Option(
        "--address", metavar="URL", help="Dashboard of the head node: http://HEAD:8265.", show_default=False
    ),
]
OnCluster = Annotated[
    bool, typer.Option("--on-cluster", help="DATA is a path on the cluster; else a local file is uploaded.")
]


def register(app: typer.Typer) -> None:
    """Add the command to an app that has `fit`, whose arguments it takes."""
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}
    app.command(context_settings=settings, options_metavar="DATA [OPTIONS] [OPTIONS OF FIT]")(submit)


def submit(context: typer.Context, address: Address, on_cluster: OnCluster = False) -> None:
    """Fit on a Ray cluster; takes all that 'dosdt fit' takes. Ctrl-C stops the job."""
    from dosdt.cli import emit
    from dosdt.inputs import check_output
    from dosdt.submit_client import connect, run

    call = fit_call(context.args)
    for path in call.outputs.values():
        check_output(path, call.data)
    if len({os.path.realpath(path) for path in call.outputs.values()}) < len(call.outputs):
        raise InputError(f"{call.outputs['model']!r} cannot hold both the model and the certificate")
    with tempfile.TemporaryDirectory(prefix="dosdt-") as folder:
        data = call.data if on_cluster else upload(call.data, Path(folder))
        client = connect(address)
        files = run(client, fit_command(data, call.options), tuple(call.outputs), folder, quiet=call.quiet)
    from dosdt.files import write_atomically
    from dosdt.submit_job import RESULT

    for name, path in call.outputs.items():
        write_atomically(path, files[name])
    emit(files[RESULT].decode("utf-8", errors="replace"))


@dataclass(frozen=True)
class FitCall:
    """Arguments of `fit`, understood.

    Parameters
    ----------
    data : str
        A path or a name.
    outputs : mapping of {"model", "certificate"} to str
        Where they are to be written, here.
    options : tuple of str
        All other options that were given, each one word.
    quiet : bool
    """

    data: str
    outputs: Mapping[str, str]
    options: tuple[str, ...]
    quiet: bool


def fit_call(arguments: Sequence[str]) -> FitCall:
    """Read arguments as `fit` does, so that it is the same command with the same errors."""
    from dosdt.cli import app

    command: Any = typer.main.get_command(app)
    command = command.commands["fit"]
    context = command.make_context("dosdt fit", list(arguments))
    given: dict[str, Any] = context.params
    options: list[str] = []
    for parameter in command.params:
        if parameter.name == "data" or parameter.name in _FILES or parameter.name not in given:
            continue
        if context.get_parameter_source(parameter.name).name == "COMMANDLINE":
            options += _words(parameter.opts[0], given[parameter.name])
    # The processes of the search find the cluster that the job runs on by themselves.
    if given.get("workers") is not None and "ray_address" in given and given["ray_address"] is None:
        options.append("--ray-address=auto")
    if given.get("log_file") is not None:
        raise InputError("--log-file would be written on the cluster; the log comes on stderr: add 2> FILE")
    outputs = {name: given[name] for name in _FILES if given.get(name) is not None}
    return FitCall(given["data"], outputs, tuple(options), bool(given.get("quiet")))


def _words(flag: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [flag] if value else []
    values = value if isinstance(value, list | tuple) else [value]
    return [f"{flag}={one}" for one in values]  # one word: a value may begin with a minus


def fit_command(data: str, options: Sequence[str]) -> list[str]:
    """Return the command that fits there; nothing in `data` is taken for an option."""
    return ["fit", *options, "--", data]


def entrypoint(marker: str, names: Collection[str], command: Sequence[str]) -> str:
    """Return the line that the cluster's shell is to run."""
    return shlex.join(["python", "-m", "dosdt.submit_job", marker, ",".join(names), *command])


def upload(data: str, folder: Path) -> str:
    """Copy a file, or a folder of Parquet files, to what is sent with the job; return what it is called there."""
    source = Path(data)
    if not source.exists():
        from dosdt import datasets

        if data in (info.name for info in datasets.available()):
            return data
        raise InputError(
            f"there is no file {data!r} and no data set of that name; for a path on the cluster pass --on-cluster"
        )
    files = [source]
    if source.is_dir():
        files = sorted(part for part in source.iterdir() if part.suffix.lower() in _PARQUET)
        if not files:
            raise InputError(f"{data!r} is a folder without .parquet files; pass a file")
    size = sum(file.stat().st_size for file in files)
    if size > LARGEST_UPLOAD:
        raise InputError(
            f"{data!r} has {size / 10**6:.0f} MB, more than the {LARGEST_UPLOAD // 10**6} MB that go with a job; "
            "put it where the cluster can read it and pass that path with --on-cluster"
        )
    name = source.resolve().name
    target = folder / "data"  # in a folder of its own, so that no name means anything to Ray
    try:
        if source.is_dir():
            target /= name
        target.mkdir(parents=True)
        for file in files:
            shutil.copyfile(file, target / file.name)
    except OSError as error:
        raise InputError(f"cannot read {data!r}: {error.strerror or error}") from error
    return f"data/{name}" if source.is_dir() else f"data/{source.name}"


def tell(line: str) -> None:
    """Write a line to stderr; that nobody reads it is no error."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)
