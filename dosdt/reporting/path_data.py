"""The path over λ as the report takes it: what ``dosdt path --json`` writes, or a list in Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from dosdt.errors import InputError
from dosdt.exact import exact
from dosdt.json_fields import field_in, integer_in, join, parse, wrong
from dosdt.tree import Tree


class PathPoint(NamedTuple):
    """A tree that is optimal for λ from `low` to `high` (None: however large), with its errors in training."""

    leaves: int
    errors: Fraction
    low: Fraction
    high: Fraction | None
    proved: bool

    def is_of(self, tree: Tree) -> bool:
        """Say whether a tree has as many leaves and errors."""
        return self.leaves == tree.n_leaves and self.errors == tree.cost


def read_path(path: str | os.PathLike[str], training_weight: Fraction | None = None) -> tuple[PathPoint, ...]:
    """Read the points from a JSON file: a list of them, or an object with the list ``points``.

    A file that says that its training data weigh something else than `training_weight` is of other data.
    """
    name = repr(os.fspath(path))
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
        raise InputError(f"cannot read path file {name}: {getattr(error, 'strerror', None) or error}") from error
    try:
        content = parse(data, "path")
        points = content.get("points") if isinstance(content, dict) else content
        if not isinstance(points, list):
            raise InputError("it is not a path; write one with 'dosdt path --json'")
        if training_weight is not None and isinstance(content, dict) and "training_weight" in content:
            weight = exact(content["training_weight"], "field 'training_weight'")
            if weight != training_weight:
                raise InputError(
                    f"it is of other data: their weight is {weight}, the model's {training_weight}; "
                    "run 'dosdt path' on the data that the model was fitted on"
                )
        return path_points(points)
    except InputError as error:
        raise InputError(f"path file {name}: {error}") from error


def path_points(points: Iterable[Any]) -> tuple[PathPoint, ...]:
    """Return points given as mappings or as objects with the same attributes, from few leaves to many."""
    found = [_point(point, f"points[{place}]") for place, point in enumerate(points)]
    if not found:
        raise InputError("the path has no points")
    return tuple(sorted(found, key=lambda point: point.leaves))


def _point(point: Any, where: str) -> PathPoint:
    names = ("leaves", "errors", "low", "high")
    if not isinstance(point, dict):
        if not all(hasattr(point, name) for name in names):
            raise wrong(where, f"an object with {', '.join(names)}", point)
        point = {name: getattr(point, name) for name in (*names, "proved") if hasattr(point, name)}
    leaves = integer_in(point, "leaves", where)
    if leaves < 1:
        raise wrong(join(where, "leaves"), "1 or more", leaves)
    high = field_in(point, "high", where)
    proved = point.get("proved", True)
    if not isinstance(proved, bool):
        raise wrong(join(where, "proved"), "true or false", proved)
    return PathPoint(
        leaves,
        _number(point, "errors", where),
        _number(point, "low", where),
        None if high is None else _number(point, "high", where),
        proved,
    )


def _number(point: dict[str, Any], key: str, where: str) -> Fraction:
    value = exact(field_in(point, key, where), f"field {join(where, key)!r}")
    if value < 0:
        raise wrong(join(where, key), "0 or more", value)
    return value
