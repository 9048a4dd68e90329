"""From a model and a table to the page."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from collections.abc import Iterable
from fractions import Fraction
from hashlib import sha256
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from dosdt import __version__
from dosdt.errors import InputError
from dosdt.files import write_atomically
from dosdt.model_file import Model
from dosdt.picture import question
from dosdt.present import exactly
from dosdt.reporting import proved, quality, sections
from dosdt.reporting.assessment import Assessment, assess
from dosdt.reporting.fields import Field, fields_of, nodes_data
from dosdt.reporting.path_data import path_points, read_path
from dosdt.tree import Leaf, Split, Tree
from dosdt.words import evidence, one_line, whole_percent

if TYPE_CHECKING:
    from dosdt.checker.verify import Verdict
    from dosdt.frames import ColumnTable

LARGEST = 2_000  # leaves; a page with more would help nobody


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    title: str | None = None,
    target: str | None = None,
    certificate: str | os.PathLike[str] | None = None,
    sample_weight: Any = None,
    path: Any = None,
) -> str:
    """Return an HTML page about a tree and how it does on a table; it needs no network and holds no rows.

    Parameters
    ----------
    model : DOSDTClassifier or Model
    X : DataFrame or array-like of shape (n, p)
        Rows to judge the tree on; best such that it was not fitted to.
    y : array-like of shape (n,)
        Their labels.
    title : str, optional
        Heading of the page.
    target : str, optional
        Name of the label column; by default that of the model, or of `y`.
    certificate : path, optional
        Written by ``fit(..., certificate=...)``; it is checked against `X` and `y`, and the verdict shown.
    sample_weight : array-like of shape (n,), optional
        For the certificate alone, if the fit had one.
    path : path or sequence, optional
        What ``dosdt path --json`` wrote, or points with ``leaves``, ``errors``, ``low`` and ``high``.
    """
    if target is None and isinstance(getattr(y, "name", None), str):
        target = y.name
    described, table = _described(model, X, target)
    checked = None
    if certificate is not None:
        from dosdt.checker.verify import verify

        checked = verify(certificate, X, y, sample_weight)
    return page(described, table, assess(described.tree, table, y), title=title, checked=checked, path=path)


def write_report(file: str | os.PathLike[str], model: Any, X: Any, y: Any, **options: Any) -> None:
    """Write what `report` returns to a file, which holds either its old content or all of the new."""
    write_atomically(file, report(model, X, y, **options))


def page(
    model: Model,
    table: ColumnTable,
    judged: Assessment,
    *,
    title: str | None = None,
    checked: Verdict | None = None,
    path: Any = None,
) -> str:
    """Return the page about a model on a table of the columns it asks about, with how it does there."""
    if model.tree.n_leaves > LARGEST:
        raise InputError(f"the tree has {model.tree.n_leaves} leaves, more than the {LARGEST} a page can show")
    fields = fields_of(model, table)
    parts = [
        ("tree", "Tree", sections.tree_section(model)),
        ("try", "Try a case", sections.try_section(fields)),
        ("quality", "How good it is", quality.quality_section(model, judged)),
        ("proof", "What is proved", proved.proof_section(model, checked)),
    ]
    if path is not None:
        points = (
            read_path(path, model.training_weight)
            if isinstance(path, str | os.PathLike)
            else path_points(_listed(path))
        )
        parts.append(("path", "Other penalties", proved.path_section(points, model)))
    parts.append(("data", "The data", quality.data_section(model, judged, fields)))
    if title is None:
        title = "A decision tree" if model.target is None else f"A decision tree for {model.target}"
    script = _text("script.js")
    # The page may run this script and nothing else, whatever names and values hold.
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return Template(_text("template.html")).substitute(
        title=escape(one_line(title)),
        lead=sections.lead(model),
        tiles=sections.tiles(model, judged),
        links="".join(f'<li><a href="#{name}">{words}</a></li>' for name, words, _ in parts),
        sections="\n".join(body for _, _, body in parts),
        footer=f"Made by dosdt {__version__}. λ = {escape(exactly(model.regularization))}. This page loads nothing "
        "and holds no rows of the data, only counts, ranges and categories.",
        style=_text("style.css"),
        data=_script_data(_data(model, fields)),
        script=script,
        hash=f"sha256-{digest}",
    )


def _described(model: Any, X: Any, target: str | None) -> tuple[Model, ColumnTable]:
    """Return the model with its name of the label, and the columns it asks about."""
    if isinstance(model, Model):
        import pandas as pd

        from dosdt.frames import column_names
        from dosdt.inputs import table_for

        frame = X if column_names(X) is not None else pd.DataFrame(_matrix(X, model.tree), columns=model.tree.columns)
        if hasattr(frame, "to_pandas"):
            frame = frame.to_pandas()
        return model, table_for(model, frame)
    if not hasattr(model, "to_model"):
        raise InputError(f"there is no report on a {type(model).__name__}; pass a fitted DOSDTClassifier or a Model")
    described = model.to_model(target)
    return described, model.binarizer_.check_columns(X)


def _matrix(X: Any, tree: Tree) -> Any:
    import numpy as np

    values = np.asarray(X)
    if values.ndim != 2 or values.shape[1] != len(tree.columns):
        raise InputError(f"X must have {len(tree.columns)} columns, as the model has; got shape {values.shape}")
    return values


def _listed(path: Any) -> Iterable[Any]:
    points = getattr(path, "points_", path)
    if isinstance(points, dict) or not isinstance(points, Iterable):
        raise InputError(f"path must be a file or a list of points, got {type(path).__name__}")
    return points


def _text(name: str) -> str:
    return (files("dosdt.reporting") / name).read_text(encoding="utf-8")


def _script_data(data: Any) -> str:
    """Return JSON that no name or value can end early."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(model: Model, fields: tuple[Field, ...]) -> dict[str, Any]:
    """Return what the page's script needs: columns, and nodes with what it is to say about them."""
    from dosdt.colours import class_colours

    tree = model.tree
    # Without weights every row weighs 1.
    unit = "weight" if model.search is None or model.search.weighted else "rows"
    colours = class_colours(len(tree.classes))
    nodes = nodes_data(tree, {field.name: place for place, field in enumerate(fields)})
    for node, data in zip(tree.nodes, nodes, strict=True):
        if isinstance(node, Split):
            data["question"] = f"{question(node.rule)}?"
        else:
            data |= _leaf(tree, node, colours, unit)
    return {
        # Categories are chosen by number: HTML does not keep every character as it is.
        "fields": [
            {"name": one_line(field.name), "kind": field.kind, "whole": field.whole, "options": field.options}
            for field in fields
        ],
        "nodes": nodes,
    }


def _leaf(tree: Tree, leaf: Leaf, colours: tuple[str, ...], unit: str) -> dict[str, Any]:
    total = sum(leaf.class_weights, Fraction(0))
    shares = [
        weight / total if total else Fraction(int(place == leaf.label))
        for place, weight in enumerate(leaf.class_weights)
    ]
    return {
        "label": one_line(str(tree.classes[leaf.label])),
        "words": f"{evidence(leaf)} of the training {unit} in this leaf",
        "shares": [
            [one_line(str(label)), whole_percent(share), float(share), colour]
            for label, share, colour in zip(tree.classes, shares, colours, strict=True)
        ],
    }
