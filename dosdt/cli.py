"""The `dosdt` command: reads the command line, calls the library, writes what it says.

A result ends with exit code 0, a certificate that is refused with 1, and bad input with 2 and one line on stderr.
Heavy imports wait until a command runs, so that ``dosdt --help`` answers at once.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import typer

from dosdt import __version__, options
from dosdt.alternatives_command import register as register_alternatives
from dosdt.errors import InputError
from dosdt.explain_command import register as register_explain
from dosdt.path_command import register as register_path
from dosdt.report_command import register as register_report
from dosdt.submit import register as register_submit

app = typer.Typer(
    add_completion=False,
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


@app.command()
def fit(
    data: options.Data,
    target: options.Target = None,
    regularization: options.Regularization = "0.01",
    class_weight: options.ClassWeight = None,
    cost_matrix: options.CostMatrix = None,
    weights: options.Weights = None,
    max_depth: options.MaxDepth = None,
    max_leaves: options.MaxLeaves = None,
    min_support: options.MinSupport = None,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    evaluation_limit: options.EvaluationLimit = None,
    relative_gap: options.RelativeGap = "0",
    algorithm: options.Algorithm = "subproblem",
    policy: options.Policy = "curiosity",
    without: options.Without = None,
    cold_start: options.ColdStart = False,
    workers: options.Workers = None,
    ray_address: options.RayAddress = None,
    categories: options.Categories = None,
    max_categories: options.MaxCategories = 50,
    missing: options.Missing = "error",
    thresholds: options.Thresholds = None,
    max_thresholds: options.MaxThresholds = None,
    model: options.SaveModel = None,
    certificate: options.SaveCertificate = None,
    checkpoint: options.SaveCheckpoint = None,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the optimal tree and prove it; Ctrl-C keeps the best so far."""
    from dosdt.inputs import bounds_without, check_outputs, is_large, parse_costs, training_data

    check_outputs(data, model=model, certificate=certificate, checkpoint=checkpoint)
    costs = None if cost_matrix is None else parse_costs(cost_matrix)
    bounds = bounds_without(without or [], algorithm)
    named = categories or []
    large = certificate is None and is_large(data)
    table = None if large else training_data(data, target=target, weights=weights, text=named)

    from sklearn.exceptions import ConvergenceWarning

    from dosdt.binarizer import Binarizer
    from dosdt.classifier import DOSDTClassifier
    from dosdt.export import to_text
    from dosdt.model_file import save_model
    from dosdt.present import result_json, summary

    classifier = DOSDTClassifier(
        regularization,
        algorithm=algorithm,
        max_depth=max_depth,
        max_leaves=max_leaves,
        min_support=min_support,
        time_limit=time_limit,
        memory_limit=memory_limit,
        evaluation_limit=evaluation_limit,
        relative_gap=relative_gap,
        policy=policy,
        bounds=bounds,
        warm_start=not cold_start,
        class_weight=class_weight,
        cost_matrix=costs,
        binarizer=Binarizer(
            thresholds=thresholds or ("auto" if max_thresholds is None else "quantile"),
            max_thresholds=max_thresholds,
            missing=missing,
            categories=[name for name in named if name != (target if table is None else table.y.name)],
            max_categories=max_categories,
        ),
        n_jobs=workers,
        ray_address=ray_address,
        verbose=not quiet and not as_json and _on_terminal(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
        keeping: dict[str, Any] = {"checkpoint": checkpoint, "checkpoint_seconds": checkpoint_seconds}
        if table is None:
            classifier.fit_parquet(data, target, weights=weights, **keeping)
        else:
            target = str(table.y.name)
            classifier.fit(table.X, table.y, sample_weight=table.weights, certificate=certificate, **keeping)
    if model is not None:
        save_model(classifier.to_model(target), model)
    emit(result_json(classifier) if as_json else f"{summary(classifier)}\n{to_text(classifier.tree_)}")


@app.command()
def resume(
    checkpoint: options.CheckpointArgument,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    evaluation_limit: options.EvaluationLimit = None,
    relative_gap: options.RelativeGap = "0",
    workers: options.Workers = None,
    ray_address: options.RayAddress = None,
    model: options.SaveModel = None,
    certificate: options.SaveCertificate = None,
    checkpoint_seconds: options.CheckpointSeconds = 30.0,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Go on with a search from its checkpoint; the data are not needed."""
    from dosdt.export import to_text
    from dosdt.inputs import check_outputs
    from dosdt.model_file import save_model
    from dosdt.present import result_json, summary
    from dosdt.resuming import resume as go_on

    check_outputs(checkpoint, model=model, certificate=certificate)
    classifier, target = go_on(
        checkpoint,
        n_jobs=workers,
        ray_address=ray_address,
        time_limit=time_limit,
        memory_limit=memory_limit,
        evaluation_limit=evaluation_limit,
        relative_gap=relative_gap,
        certificate=certificate,
        checkpoint_seconds=checkpoint_seconds,
        verbose=not quiet and not as_json and _on_terminal(),
    )
    if model is not None:
        save_model(classifier.to_model(target), model)
    emit(result_json(classifier) if as_json else f"{summary(classifier)}\n{to_text(classifier.tree_)}")


@app.command()
def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    probabilities: options.Probabilities = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict the class of every row of a table."""
    import pandas as pd

    from dosdt.inputs import check_output, read_data, table_for
    from dosdt.model_file import load_model
    from dosdt.present import accuracy
    from dosdt.tables import write_table

    fitted = load_model(model)
    if output is not None:
        check_output(output, model, data)
    frame = read_data(data)
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


@app.command()
def show(model: options.ModelFile, form: options.Format = "text") -> None:
    """Show a saved tree, or translate it."""
    from dosdt.model_file import load_model
    from dosdt.present import model_text

    emit(model_text(load_model(model), form))


@app.command()
def verify(certificate: options.CertificateFile, data: options.Data) -> None:
    """Check a certificate against the data, without searching; exit code 1 if it proves nothing."""
    from dosdt.checker.verify import verify_table
    from dosdt.inputs import read_data

    verdict = verify_table(certificate, read_data(data))
    emit(f"{verdict}\n")
    if not verdict:
        raise typer.Exit(1)


@app.command()
def datasets(as_json: options.Json = False) -> None:
    """List the data sets that can be fitted by name."""
    from dosdt.datasets import available
    from dosdt.present import datasets_json, datasets_text

    emit(datasets_json(available()) if as_json else datasets_text(available()))


@app.command()
def demo() -> None:
    """Fit two small data sets and compare with CART."""
    from dosdt.demo import run

    run(emit, verbose=_on_terminal())


register_path(app)
register_report(app)
register_submit(app)
register_alternatives(app)
register_explain(app)


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
    try:
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
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    line = " ".join(part.strip() for part in message.splitlines())
    print(f"dosdt: error: {line}", file=sys.stderr)
    return 2


def _silence_stdout() -> None:
    """Keep Python from trying again to write what is left when it ends, and complaining."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
