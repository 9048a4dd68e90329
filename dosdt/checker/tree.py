"""What the certified tree costs on the data, and whether it keeps to the limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dosdt.checker.claims import Certificate, Node, Refused
from dosdt.checker.rows import Rows


class Shape(NamedTuple):
    """A tree's cost on the data, in the certificate's unit, and its size."""

    cost: int
    leaves: int
    depth: int


def evaluate(certificate: Certificate, rows: Rows) -> Shape:
    """Return what the tree comes to; `Refused` says what is wrong with it."""
    nodes = certificate.tree
    _check_shape(nodes)
    # Children come after their parents; a node's rows are let go once they are handed on, so that what is kept is
    # never more than the rows.
    here = {0: np.arange(len(rows.features))}
    depth = [0] * len(nodes)
    cost = leaves = 0
    for place, node in enumerate(nodes):
        mine = here.pop(place)
        if node.feature:
            answers = rows.features[mine, node.feature - 1]
            here[node.yes], here[node.no] = mine[answers], mine[~answers]
            depth[node.yes] = depth[node.no] = depth[place] + 1
            continue
        leaves += 1
        numbers = mine.tolist()
        cost += sum(rows.cost[node.label][row] for row in numbers)
        if len(nodes) > 1 and sum(rows.weight[row] for row in numbers) < rows.min_support:
            raise Refused(f"field 'tree[{place}]' is a leaf with less weight than min_support")
    shape = Shape(cost, leaves, max(depth))
    if certificate.max_depth is not None and shape.depth > certificate.max_depth:
        raise Refused(f"field 'tree' is {shape.depth} deep, more than max_depth")
    if certificate.max_leaves is not None and shape.leaves > certificate.max_leaves:
        raise Refused(f"field 'tree' has {shape.leaves} leaves, more than max_leaves")
    return shape


def _check_shape(nodes: Sequence[Node]) -> None:
    """Every node but the first is the child of exactly one that comes before it."""
    has_parent = [False] * len(nodes)
    for place, node in enumerate(nodes):
        for child in (node.yes, node.no) if node.feature else ():
            if not place < child < len(nodes) or has_parent[child]:
                raise Refused(f"field 'tree[{place}]' has child {child}, which is no later node of its own")
            has_parent[child] = True
    if not nodes or not all(has_parent[1:]):
        raise Refused("field 'tree' must be a list of nodes that all hang together")
