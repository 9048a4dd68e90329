"""``dosdt alternatives``: how many trees are nearly as good as the best, what they ask, and the first of them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dosdt import options
from dosdt.commands.groups import Features, Task
from dosdt.errors import DataWarning, InputError

if TYPE_CHECKING:
    from dosdt.alternatives import Alternatives, Use
    from dosdt.rashomon.rounds import Progress

_TREES = "The trees"
_LONGEST = 40  # characters of a name in a table
_MOST = 15  # names in a list

Within = Annotated[
    str | None,
    typer.Option(
        "--within",
        metavar="EXTRA",
        help="How much larger than the optimum an objective may be: 0.01, or 5% of it (the default).",
        rich_help_panel=_TREES,
    ),
]
Best = Annotated[
    int | None,
    typer.Option(
        "--best",
        metavar="K",
        help="Instead: the K best, with all that tie with the last.",
        rich_help_panel=_TREES,
    ),
]
MaxListed = Annotated[
    int,
    typer.Option(
        "--max-listed", metavar="N", help="Show at most so many trees, the best first.", rich_help_panel=_TREES
    ),
]
UselessSplits = Annotated[
    bool,
    typer.Option(
        "--useless-splits", help="Count trees with splits into two leaves that save nothing.", rich_help_panel=_TREES
    ),
]


def alternatives(
    data: options.Data,
    *,
    within: Within = None,
    best: Best = None,
    max_listed: MaxListed = 3,
    useless_splits: UselessSplits = False,
    regularization: options.Regularization = "0.01",
    task: Task,
    time_limit: options.TimeLimit = None,
    memory_limit: options.MemoryLimit = None,
    features: Features,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Count all trees that are nearly as good as the best, and see what they ask."""
    import warnings

    from dosdt.alternatives import parse_within
    from dosdt.limits import check_whole, parse_limits

    # What cannot be right is refused before any long work begins.
    if within is not None:
        parse_within(within)
        if best is not None:
            raise InputError("pass --within or --best, not both")
    check_whole("best", best, least=1)
    if max_listed < 0:
        raise InputError(f"--max-listed must be a whole number, 0 or more, got {max_listed}")
    seconds = parse_limits(time_limit, memory_limit, None, 0).seconds
    if quiet:
        warnings.simplefilter("ignore", DataWarning)
    wanted = task.named()
    table = features.table(data, task)

    from sklearn.exceptions import ConvergenceWarning

    from dosdt.classifier import DOSDTClassifier
    from dosdt.cli import emit

    verbose = not quiet and not as_json and sys.stderr is not None and sys.stderr.isatty()
    classifier = DOSDTClassifier(
        regularization,
        time_limit=time_limit,
        memory_limit=memory_limit,
        binarizer=features.binarizer(table.y.name),
        verbose=verbose,
        **wanted,
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what is not optimal is found out below
        classifier.fit(table.X, table.y, sample_weight=table.weights)
    with _progress(verbose) as report:
        found = classifier.alternatives(
            within,
            best=best,
            useless_splits=useless_splits,
            time_limit=None if seconds is None else max(0.0, seconds - (time.perf_counter() - start)),
            memory_limit=memory_limit,
            report=report,
        )
    emit((to_json if as_json else to_text)(found, max_listed, time.perf_counter() - start))


def to_text(found: Alternatives, most: int, seconds: float) -> str:
    """Return a set of trees as people want to read it: their number, what they ask, and the first of them."""
    from dosdt.export import to_text as drawn
    from dosdt.present import exactly

    count = f"{found.count:,} {'tree' if found.count == 1 else 'trees'}"
    lines = [
        ("optimum", exactly(found.optimum)),
        ("up to", exactly(found.bound)),
        ("trees", f"{count if found.complete else 'at least ' + count}, {_optimal(found.n_optimal)}"),
        ("leaves", ", ".join(f"{leaves}: {trees:,}" for leaves, trees in found.by_leaves.items())),
        ("search", f"{found.subsets:,} subsets of the rows in {seconds:.2f} s"),
    ]
    if not found.complete:
        asked = "the number of trees asked for" if found.asked is None else exactly(found.asked)
        lines.insert(0, ("status", f"{found.status}: counted up to a smaller objective than {asked}"))
    parts = ["".join(f"{name:<12}{text}\n" for name, text in lines)]
    if len(found.columns) != len(found.features):
        parts.append(_uses("columns", found.columns))
    parts.append(_uses("features", found.features))
    shown = min(most, found.count)
    for number in range(shown):
        tree, objective = found[number]
        title = f"{number + 1}. objective {exactly(objective)}, {tree.n_leaves} leaves\n"
        parts.append(title.replace(" 1 leaves", " 1 leaf") + drawn(tree))
    if shown < found.count:
        parts.append(f"{shown:,} of {count} shown; --max-listed N shows more\n")
    return "\n".join(parts)


def to_json(found: Alternatives, most: int, seconds: float) -> str:
    """Return the same as one JSON object; exact numbers are ``"num/den"``."""
    from dosdt.model_file import nodes_to_list
    from dosdt.present import ratio

    def used(uses: tuple[Use, ...]) -> list[dict[str, Any]]:
        return [{"name": use.name, "trees": use.trees, "share": float(use.share)} for use in uses]

    result = {
        "status": found.status,
        "trees": found.count,
        "optimum": ratio(found.optimum),
        "optimum_float": float(found.optimum),
        "bound": ratio(found.bound),
        "bound_float": float(found.bound),
        "optimal_trees": found.n_optimal,
        "by_leaves": found.by_leaves,
        "columns": used(found.columns),
        "features": used(found.features),
        "subsets": found.subsets,
        "seconds": seconds,
        "classes": list(found.problem.classes),
        "listed": [
            {"objective": ratio(one.objective), "leaves": one.tree.n_leaves, "nodes": nodes_to_list(one.tree)}
            for one in (found[number] for number in range(min(most, found.count)))
        ],
    }
    return json.dumps(result) + "\n"


def _optimal(number: int) -> str:
    return "one of them optimal" if number == 1 else f"{number:,} of them optimal"


def _uses(what: str, uses: tuple[Use, ...]) -> str:
    """Return what is in all trees, in some with the share, and in none."""
    from dosdt.present import percent

    everywhere = [use.name for use in uses if use.share == 1]
    nowhere = [use.name for use in uses if not use.trees]
    some = sorted((use for use in uses if 0 < use.share < 1), key=lambda use: -use.trees)
    text = f"{what} in all trees: {_listed(everywhere)}\n"
    if some:
        width = max(len(_short(use.name)) for use in some[:_MOST])
        text += f"{what} in some:\n"
        for use in some[:_MOST]:
            text += f"  {_short(use.name):<{width}}  {percent(use.share):>8}  {use.trees:,}\n"
        if len(some) > _MOST:
            text += f"  and {len(some) - _MOST} more\n"
    return text + f"{what} in none: {_listed(nowhere)}\n"


def _listed(names: list[str]) -> str:
    from dosdt.words import one_line

    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return one_line(", ".join(names[:_MOST])) + more if names else "-"


def _short(name: str) -> str:
    from dosdt.words import one_line

    name = one_line(name)
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


@contextmanager
def _progress(show: bool) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows on the terminal how far a count is."""
    if not show:
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def line(point: Progress) -> Text:
        bound = f"up to {float(Fraction(point.bound)):.5f}"
        return Text(f"{point.seconds:.1f} s  {bound}  {point.doing}: {point.done:,}", no_wrap=True)

    with Live(console=Console(stderr=True, highlight=False), refresh_per_second=8, transient=True) as live:
        yield lambda point: live.update(line(point))
