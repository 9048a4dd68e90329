"""From a set of leaves back to a tree that has them."""

from __future__ import annotations

from collections.abc import Iterable

from dosdt.contract import Sketch, SketchNode, leaf_node, split_node
from dosdt.leafset.leaves import Leaf, LeafCache


def sketch_of(key: Iterable[int], cache: LeafCache) -> Sketch:
    """Return a tree with the leaves of a key.

    Any feature that cuts no leaf may be asked first: the tree that the leaves came from, restricted to either
    answer, is a tree for the leaves on that side. With a depth limit leaves are sets of clauses, so a feature
    that stands in all of them is taken, which keeps every leaf at its depth.
    """
    nodes: list[SketchNode | None] = [None]
    stack: list[tuple[int, list[Leaf], frozenset[int]]] = [
        (0, [cache.leaves[code >> 1] for code in key], frozenset())
    ]
    while stack:
        place, leaves, asked = stack.pop()
        if len(leaves) == 1:
            nodes[place] = leaf_node(leaves[0].label)
            continue
        feature, yes, no = cache.separate(leaves, asked)
        nodes[place] = split_node(feature, len(nodes), len(nodes) + 1)
        stack.append((len(nodes), yes, asked | {feature}))
        stack.append((len(nodes) + 1, no, asked | {feature}))
        nodes += [None, None]
    return Sketch(tuple(node for node in nodes if node is not None))
