"""Two small data sets, each with its optimal tree and what the usual greedy algorithm finds instead."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dosdt.present import percent, summary


@dataclass(frozen=True)
class Example:
    """A data set and how to fit it; `story` says what to look at."""

    data: str
    regularization: str
    thresholds: str
    story: str


EXAMPLES = (
    Example(
        "monk1",
        "0.01",
        "auto",
        "MONK's problem 1: all 432 robots. One is in class 1 if its head has the shape of its body,\n"
        "or if its jacket is red. A shape alone says nothing, which misleads greedy algorithms.",
    ),
    Example(
        "wine",
        "0.02",
        "auto",
        "Wine: 13 chemical measurements of 178 wines. From which of three cultivars?",
    ),
)
_SECONDS = 15.0  # a slow machine gets an honest "time_limit" and not a long wait


def run(write: Callable[[str], None], *, verbose: bool) -> None:
    """Fit the examples and write about them."""
    write("dosdt finds the decision tree of the least  errors/N + regularization × leaves,  and proves it.\n")
    for example in EXAMPLES:
        write(f"\n{example.story}\n\n$ {_command(example)}\n")
        write(_fit(example, verbose))
    write(
        "\nYour own data (CSV, TSV or Parquet):  dosdt fit data.csv --model tree.json\n"
        "More data sets and all options:       dosdt datasets,  dosdt fit --help\n"
    )


def _command(example: Example) -> str:
    thresholds = "" if example.thresholds == "auto" else f" --thresholds {example.thresholds}"
    return f"dosdt fit {example.data} --regularization {example.regularization}{thresholds}"


def _fit(example: Example, verbose: bool) -> str:
    from sklearn.tree import DecisionTreeClassifier

    from dosdt import datasets
    from dosdt.binarizer import Binarizer
    from dosdt.classifier import DOSDTClassifier
    from dosdt.export import to_text

    data = datasets.load(example.data)
    model = DOSDTClassifier(
        example.regularization,
        binarizer=Binarizer(thresholds=example.thresholds),
        time_limit=_SECONDS,
        verbose=verbose,
    ).fit(data.X, data.y)
    # CART may ask every question there is, also those that the thresholds above leave out.
    questions = Binarizer(thresholds="all").fit_transform(data.X)
    cart = DecisionTreeClassifier(max_leaf_nodes=max(2, model.n_leaves_), random_state=0).fit(questions, data.y)
    ours, theirs = (
        percent(Fraction(int((guess == data.y).sum()), len(data.y)))
        for guess in (model.predict(data.X), cart.predict(questions))
    )
    return (
        f"{summary(model)}\n{to_text(model.tree_)}\n"
        f"Right on these {len(data.y)} rows with {model.n_leaves_} leaves: this tree {ours}, CART {theirs}.\n"
    )
