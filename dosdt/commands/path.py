"""``dosdt path``: every optimal trade-off between leaves and errors, and the λ that cross-validation chooses."""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from typing import Annotated, Any

import typer

from dosdt import options
from dosdt.commands.groups import Features, Task
from dosdt.errors import DataWarning, InputError

_SEED = 0  # of the shuffle before the folds: files are often sorted

MinRegularization = Annotated[
    str,
    typer.Option(
        "--min-regularization",
        help="The smallest λ of interest; the smaller, the harder.",
        metavar="λ",
        rich_help_panel="The problem",
    ),
]
FrontLeaves = Annotated[
    int | None,
    typer.Option(
        "--front",
        help="Also the fewest errors for each number of leaves up to this.",
        metavar="N",
        rich_help_panel="The problem",
    ),
]
Folds = Annotated[
    int | None,
    typer.Option("--cv", help="Choose λ by so many folds.", metavar="FOLDS", rich_help_panel="Choosing λ"),
]
ChoiceRule = Annotated[
    str,
    typer.Option(
        "--rule",
        help="one_se: the simplest tree within one standard error of the best score; or best.",
        metavar="NAME",
        rich_help_panel="Choosing λ",
    ),
]
Scoring = Annotated[
    str,
    typer.Option("--scoring", help="scikit-learn's name of a score.", metavar="NAME", rich_help_panel="Choosing λ"),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", help="Folds to run at the same time; -1 uses every CPU.", metavar="N", rich_help_panel="Choosing λ"
    ),
]
Plot = Annotated[
    str | None,
    typer.Option("--plot", help="Draw it: PNG, SVG or PDF.", metavar="FILE", rich_help_panel="Output"),
]
SaveChosen = Annotated[
    str | None,
    typer.Option(
        "--model", help="Save the tree that --cv chooses, as JSON.", metavar="FILE", rich_help_panel="Output"
    ),
]
Table = Annotated[
    str | None,
    typer.Option(
        "--output", help="Write the table as CSV, TSV or Parquet, too.", metavar="FILE", rich_help_panel="Output"
    ),
]


def path(
    data: options.Data,
    *,
    min_regularization: MinRegularization = "0.001",
    front: FrontLeaves = None,
    task: Task,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    evaluation_limit: options.EvaluationLimit = None,
    cv: Folds = None,
    rule: ChoiceRule = "one_se",
    scoring: Scoring = "accuracy",
    jobs: Jobs = None,
    features: Features,
    model: SaveChosen = None,
    plot: Plot = None,
    output: Table = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the optimal trees for all λ, and with --cv the λ to take; Ctrl-C keeps what is proved."""
    from dosdt.inputs import check_outputs

    if model is not None and cv is None:
        raise InputError("--model saves the tree that --cv chooses; pass --cv 5, or use 'dosdt fit' with your own λ")
    check_outputs(data, model=model, plot=plot, table=output)
    if plot is not None:
        from dosdt.path_plot import plot_format

        plot_format(plot)
    if quiet:
        warnings.simplefilter("ignore", DataWarning)
    wanted = task.named()
    table = features.table(data, task)

    from sklearn.exceptions import ConvergenceWarning

    from dosdt.cli import emit
    from dosdt.model_file import save_model
    from dosdt.path import DOSDTPath
    from dosdt.path_text import path_json, path_text

    shared: dict[str, Any] = {
        **wanted,
        "time_limit": time_limit,
        "memory_limit": memory_limit,
        "evaluation_limit": evaluation_limit,
        "binarizer": features.binarizer(table.y.name),
        "verbose": not quiet and not as_json and sys.stderr is not None and sys.stderr.isatty(),
    }
    if cv is not None:
        chooser = _chooser(cv, rule, scoring, jobs, table.y, shared)  # first: it refuses what cannot be right
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says it
        warnings.filterwarnings("ignore", "The least populated class")  # a fold may do without
        found = DOSDTPath(min_regularization, front_leaves=front, **shared).fit(table.X, table.y, table.weights)
        scored = None
        if cv is not None and found.status_ != "interrupted":
            from dosdt.choosing import middles

            chooser.regularizations = middles(found.points_)
            with suppress(KeyboardInterrupt):  # the path is worth showing all the same
                scored = chooser.fit(table.X, table.y, table.weights)
    if model is not None and scored is not None:
        save_model(scored.to_model(str(table.y.name)), model)
    if plot is not None:
        from dosdt.path_plot import save_path_plot

        save_path_plot(found, plot)
    if output is not None:
        _write_rows(found, scored, output)
    emit(path_json(found, scored) if as_json else path_text(found, scored) + _tree(scored))
    if cv is not None and scored is None:
        print("dosdt: Ctrl-C came before all folds were done, so no λ was chosen", file=sys.stderr)
        raise typer.Exit(130)


def _chooser(cv: int, rule: str, scoring: str, jobs: int | None, y: Any, shared: dict[str, Any]) -> Any:
    from sklearn.metrics import get_scorer_names
    from sklearn.model_selection import StratifiedKFold

    from dosdt.choosing import RULES
    from dosdt.cross_validation import DOSDTClassifierCV

    if rule not in RULES:
        raise InputError(f"--rule must be one of {', '.join(RULES)}; got {rule!r}")
    if scoring not in get_scorer_names():
        raise InputError(f"--scoring must be one of scikit-learn's scores, such as accuracy; got {scoring!r}")
    largest = int(y.value_counts().max())
    if not 2 <= cv <= largest:
        raise InputError(f"--cv must be from 2 to {largest}, the rows of the most frequent class; got {cv}")
    if jobs == 0:
        raise InputError("--jobs must not be 0; pass 1 or more, or -1 for every CPU")
    folds = StratifiedKFold(cv, shuffle=True, random_state=_SEED)
    return DOSDTClassifierCV(cv=folds, rule=rule, scoring=scoring, n_jobs=jobs, **shared)


def _write_rows(found: Any, scored: Any, output: str) -> None:
    import pandas as pd

    from dosdt.path_text import path_rows
    from dosdt.tables import write_table

    frame = pd.DataFrame(path_rows(found, scored))
    for name in ("errors", "low", "high"):  # exactly, as text
        frame[name] = [None if value is None or value != value else str(value) for value in frame[name]]
    write_table(frame, output)


def _tree(scored: Any) -> str:
    from dosdt.export import to_text

    return "" if scored is None else "\n" + to_text(scored.tree_)
