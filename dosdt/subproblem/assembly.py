"""Putting the best tree together from nodes that are at home with different members of a team."""

from __future__ import annotations

from collections.abc import Mapping

from dosdt.contract import Sketch, SketchNode, leaf_node, split_node
from dosdt.subproblem.graph import NOBODY, Graph
from dosdt.subproblem.rebuild import best_split, best_tree, counted
from dosdt.subproblem.terms import Terms

Splits = dict[str, int]
"""The feature asked at each place of a tree that is no leaf; a place is the answers that lead to it, such as "yn"."""


def outline(
    graph: Graph,
    node: int,
    place: str,
    terms: Terms,
    splits: Splits,
    orders: list[list[tuple[str, int]]],
) -> None:
    """Note the splits of a node's best tree that are known here, and what to ask of which member for the rest."""
    stack = [(place, node)]
    while stack:
        place, node = stack.pop()
        if (split := best_split(graph, node)) is None:
            continue
        share, feature = split
        splits[place] = feature
        rest = int(graph.leaves[node]) - 2 - share
        for answer, allowed, side in (("y", share, feature), ("n", rest, feature + graph.m)):
            used = int(graph.uppers[node, : allowed + 1, side].argmin())
            kid = int(graph.kids[node, used, side])
            if kid >= 0:
                stack.append((place + answer, kid))
            elif kid < NOBODY:
                assert graph.ghosts is not None
                member, far = graph.ghosts.member[-2 - kid], graph.ghosts.node[-2 - kid]
                orders[int(member)].append((place + answer, int(far)))
            elif not (child := terms.subsets.child(graph.subset(node), side, used)).is_leaf:
                alone = counted(graph, terms.subsets.only(child), terms.counter)
                _note(best_tree(alone, 0, terms.subsets, terms.counter), place + answer, splits)


def assembled(splits: Mapping[str, int]) -> Sketch:
    """Return the tree with these splits; labels are not set."""
    nodes: list[SketchNode] = [leaf_node(0)]
    stack = [(0, "")]
    while stack:
        number, place = stack.pop()
        if place in splits:
            nodes[number] = split_node(splits[place], len(nodes), len(nodes) + 1)
            stack += [(len(nodes), place + "y"), (len(nodes) + 1, place + "n")]
            nodes += [leaf_node(0), leaf_node(0)]
    return Sketch(tuple(nodes))


def _note(sketch: Sketch, place: str, splits: Splits) -> None:
    stack = [(0, place)]
    while stack:
        number, place = stack.pop()
        node = sketch.nodes[number]
        if node.feature >= 0:
            splits[place] = node.feature
            stack += [(node.yes, place + "y"), (node.no, place + "n")]
