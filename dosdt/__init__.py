"""Provably optimal sparse decision trees.

`DOSDTClassifier` fits in scikit-learn's manner; the `dosdt` command does the same from the shell. Names are
loaded when they are first used, so importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dosdt import datasets
    from dosdt.alternatives import Alternatives, find_alternatives
    from dosdt.binarizer import Binarizer
    from dosdt.checker.verify import Verdict, verify
    from dosdt.classifier import DOSDTClassifier
    from dosdt.cross_validation import DOSDTClassifierCV
    from dosdt.errors import DOSDTError, InputError
    from dosdt.explain import Explanation
    from dosdt.model_file import Model, load_model, save_model
    from dosdt.path import DOSDTPath
    from dosdt.path_plot import plot_path
    from dosdt.plotting import plot_tree
    from dosdt.problem import Problem
    from dosdt.reporting.page import report, write_report
    from dosdt.rules import Rule
    from dosdt.solver import solve
    from dosdt.tree import Leaf, Split, Tree

__version__ = "0.1.0"

_HOME = {
    "Alternatives": "dosdt.alternatives",
    "Binarizer": "dosdt.binarizer",
    "DOSDTClassifier": "dosdt.classifier",
    "DOSDTClassifierCV": "dosdt.cross_validation",
    "DOSDTError": "dosdt.errors",
    "DOSDTPath": "dosdt.path",
    "Explanation": "dosdt.explain",
    "InputError": "dosdt.errors",
    "Leaf": "dosdt.tree",
    "Model": "dosdt.model_file",
    "Problem": "dosdt.problem",
    "Rule": "dosdt.rules",
    "Split": "dosdt.tree",
    "Tree": "dosdt.tree",
    "Verdict": "dosdt.checker.verify",
    "datasets": "",
    "find_alternatives": "dosdt.alternatives",
    "load_model": "dosdt.model_file",
    "plot_path": "dosdt.path_plot",
    "plot_tree": "dosdt.plotting",
    "report": "dosdt.reporting.page",
    "save_model": "dosdt.model_file",
    "solve": "dosdt.solver",
    "verify": "dosdt.checker.verify",
    "write_report": "dosdt.reporting.page",
}
__all__ = [
    "Alternatives",
    "Binarizer",
    "DOSDTClassifier",
    "DOSDTClassifierCV",
    "DOSDTError",
    "DOSDTPath",
    "Explanation",
    "InputError",
    "Leaf",
    "Model",
    "Problem",
    "Rule",
    "Split",
    "Tree",
    "Verdict",
    "datasets",
    "find_alternatives",
    "load_model",
    "plot_path",
    "plot_tree",
    "report",
    "save_model",
    "solve",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dosdt' has no attribute {name!r}")
    home = _HOME[name]
    value = getattr(import_module(home), name) if home else import_module(f"dosdt.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
