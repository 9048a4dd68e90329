"""The arguments and options of the `dosdt` command, and what its help says about them."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from dosdt import completion

_PROBLEM, _LIMITS, _SEARCH, _FEATURES, _OUTPUT = "The problem", "Limits", "The search", "Features", "Output"


def _argument(metavar: str, text: str, offer: Any = None) -> Any:
    return typer.Argument(metavar=metavar, help=text, show_default=False, autocompletion=offer)


def _option(flag: str, panel: str, text: str, metavar: str | None = None, offer: Any = None) -> Any:
    return typer.Option(flag, help=text, metavar=metavar, rich_help_panel=panel, autocompletion=offer)


Data = Annotated[
    str, _argument("DATA", "CSV, TSV or Parquet file, or a name from 'dosdt datasets'.", completion.data)
]
ModelFile = Annotated[str, _argument("MODEL", "File written by 'dosdt fit --model'.")]
CertificateFile = Annotated[str, _argument("CERTIFICATE", "File written by 'dosdt fit --certificate'.")]

Target = Annotated[
    str | None,
    _option("--target", _PROBLEM, "Label column; the last one unless told.", "COL", completion.columns),
]
Regularization = Annotated[
    str, _option("--regularization", _PROBLEM, "Penalty per leaf, taken exactly; 1/200 works too.", "λ")
]
ClassWeight = Annotated[
    str | None,
    _option("--class-weight", _PROBLEM, "Make all classes weigh the same.", "balanced", completion.words("balanced")),
]
CostMatrix = Annotated[
    str | None,
    _option(
        "--cost-matrix",
        _PROBLEM,
        "Cost of true class (row) taken for another (column): '[[0,1],[5,0]]'.",
        "JSON",
    ),
]
Weights = Annotated[
    str | None, _option("--weights", _PROBLEM, "Column of row weights, no feature.", "COL", completion.columns)
]

MaxDepth = Annotated[int | None, _option("--max-depth", _LIMITS, "Most questions on a path.", "N")]
MaxLeaves = Annotated[int | None, _option("--max-leaves", _LIMITS, "Most leaves.", "N")]
MinSupport = Annotated[str | None, _option("--min-support", _LIMITS, "Least training weight of a leaf.", "N")]
TimeLimit = Annotated[str | None, _option("--time-limit", _LIMITS, "Stop the search then.", "SECONDS")]
MemoryLimit = Annotated[
    str | None, _option("--memory-limit", _LIMITS, "Stop at so much memory, such as 2G.", "BYTES")
]
EvaluationLimit = Annotated[
    int | None, _option("--evaluation-limit", _LIMITS, "Stop after so many evaluations, or a few more.", "N")
]
RelativeGap = Annotated[
    str, _option("--relative-gap", _LIMITS, "Stop when no tree can be better by more than this share.", "GAP")
]

Algorithm = Annotated[
    str,
    _option(
        "--algorithm",
        _SEARCH,
        "subproblem, or the paper's search, leafset.",
        "NAME",
        completion.words(**completion.ALGORITHMS),
    ),
]
Policy = Annotated[
    str,
    _option(
        "--policy",
        _SEARCH,
        "What leafset expands next: curiosity, objective, lower_bound, entropy, gini, fifo or lifo.",
        "NAME",
        completion.words(*completion.POLICIES),
    ),
]
Without = Annotated[
    list[str] | None,
    _option(
        "--without",
        _SEARCH,
        "Switch a bound or cache off, for experiments; repeatable.",
        "BOUND",
        completion.bounds,
    ),
]
Workers = Annotated[
    int | None,
    _option("--workers", _SEARCH, "Processes to search with, on Ray; -1 is one for each CPU.", "N"),
]
RayAddress = Annotated[
    str | None, _option("--ray-address", _SEARCH, "Ray cluster to search on: auto, host:port or ray://...", "ADDR")
]
SaveCheckpoint = Annotated[
    str | None, _option("--checkpoint", _OUTPUT, "Keep what is known here, for 'dosdt resume'.", "FILE")
]
CheckpointSeconds = Annotated[
    float, _option("--checkpoint-seconds", _OUTPUT, "How often to write the checkpoint.", "SECONDS")
]
CheckpointArgument = Annotated[str, _argument("CHECKPOINT", "File written by 'dosdt fit --checkpoint'.")]
ColdStart = Annotated[bool, _option("--cold-start", _SEARCH, "Do not start leafset from CART's tree.")]

Categories = Annotated[
    list[str] | None,
    _option("--categories", _FEATURES, "Column whose numbers are only names; repeatable.", "COL", completion.columns),
]
Drop = Annotated[
    list[str] | None,
    _option("--drop", _FEATURES, "Column to leave out, such as an id; repeatable.", "COL", completion.columns),
]
Missing = Annotated[
    str,
    _option(
        "--missing",
        _FEATURES,
        "Take missing values as an error or a category.",
        "NAME",
        completion.words(**completion.MISSING),
    ),
]
Thresholds = Annotated[
    str | None,
    _option(
        "--thresholds",
        _FEATURES,
        "Where numbers are cut: auto, all, quantile, or reference (a boosted model's choice).",
        "NAME",
        completion.words(**completion.THRESHOLDS),
    ),
]
MaxCategories = Annotated[
    int, _option("--max-categories", _FEATURES, "Refuse a column with more names than this.", "K")
]
MaxThresholds = Annotated[int | None, _option("--max-thresholds", _FEATURES, "Cuts per column, by quantile.", "K")]

SaveModel = Annotated[str | None, _option("--model", _OUTPUT, "Save the tree, as JSON.", "FILE")]
SaveCertificate = Annotated[
    str | None, _option("--certificate", _OUTPUT, "Save the proof, for 'dosdt verify'.", "FILE")
]
Output = Annotated[str | None, _option("--output", _OUTPUT, "Write CSV, TSV or Parquet here, not to stdout.", "FILE")]
Probabilities = Annotated[bool, _option("--probabilities", _OUTPUT, "Add one column per class.")]
Format = Annotated[
    str, _option("--format", _OUTPUT, "text, svg, dot, json, python or sql.", "NAME", completion.formats)
]
LogFile = Annotated[
    str | None, _option("--log-file", _OUTPUT, "Add the log of the search to this file, also if quiet.", "FILE")
]
Json = Annotated[bool, _option("--json", _OUTPUT, "Print JSON.")]
Quiet = Annotated[bool, _option("--quiet", _OUTPUT, "No log and nothing else on stderr but errors.")]
Version = Annotated[bool, typer.Option("--version", help="Print the version.")]

_NAMES = re.compile(
    r"\b(n_jobs|min_regularization|front_leaves|max_depth|max_leaves|min_support|time_limit|memory_limit|evaluation_limit|relative_gap|class_weight|checkpoint_seconds|ray_address"
    r"|cost_matrix|max_categories|max_thresholds|(?:thresholds|missing)(?==| must)|(?:within|best)(?= must)"
    r"|(?:regularization|algorithm|policy)(?= must))\b(?:=\"?(\w+)\"?)?"
)


def in_flags(message: str) -> str:
    """Write the options in a message as the command line does: ``--missing category``.

    What stands in quotes is the user's own and stays as it is.
    """
    message = re.sub(r"\bcategories=\[('[^']*')\]", r"--categories \1", message)
    message = re.sub(r"(column ('[^']*') .*\bdrop) the column$", r"\1 it with --drop \2", message)
    message = message.replace("or name another target", "or name another label with --target")
    parts = re.split(r"('[^']*')", message)
    parts[::2] = [_NAMES.sub(_flag, part) for part in parts[::2]]
    return "".join(parts)


def _flag(match: re.Match[str]) -> str:
    if match[1] == "n_jobs":
        return "--workers"
    if match[1] == "front_leaves":
        return "--front"
    flag = "--" + match[1].replace("_", "-")
    return flag if match[2] is None else f"{flag} {match[2]}"
