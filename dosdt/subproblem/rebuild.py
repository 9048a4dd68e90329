"""From bounds back to a tree: the best one that the graph knows for a node."""

from __future__ import annotations

import numpy as np

from dosdt.contract import Sketch, SketchNode, leaf_node, split_node
from dosdt.subproblem.counts import Counter
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.subsets import Batch, Subsets


def best_tree(graph: Graph, node: int, subsets: Subsets, counter: Counter) -> Sketch:
    """Return the tree behind the upper bound of a node; labels are not set.

    A child that is no node, or no longer, has its bound from counting alone, so counting again finds its tree.
    """
    nodes: list[SketchNode] = [leaf_node(0)]
    stack: list[tuple[int, Graph, int]] = [(0, graph, node)]
    while stack:
        place, known, number = stack.pop()
        if (split := best_split(known, number)) is None:
            continue
        share, feature = split
        nodes[place] = split_node(feature, len(nodes), len(nodes) + 1)
        subset = known.subset(number)
        rest = int(known.leaves[number]) - 2 - share
        for allowed, side in ((share, feature), (rest, feature + known.m)):
            # The bound may be that of a tree with fewer leaves than allowed.
            bounds = known.uppers[number, : allowed + 1, side]
            used = int(bounds.argmin())
            kid = int(known.kids[number, used, side])
            if kid >= 0:
                stack.append((len(nodes), known, kid))
            elif not (child := subsets.child(subset, side, used)).is_leaf:
                stack.append((len(nodes), counted(known, subsets.only(child), counter), 0))
            nodes.append(leaf_node(0))
    return Sketch(tuple(nodes))


def best_split(graph: Graph, node: int) -> tuple[int, int] | None:
    """Return share and feature of the best candidate, or None if a leaf is as good."""
    costs = graph.candidates(graph.uppers[node, None], graph.leaves[node, None])[0]
    position = int(costs.argmin())
    if costs.flat[position] >= graph.leaf[node]:
        return None
    share, feature = np.unravel_index(position, costs.shape)
    return int(share), int(feature)


def counted(like: Graph, subset: Batch, counter: Counter) -> Graph:
    """Return a graph with just one node."""
    graph = Graph(like.m, subset.words.shape[1], like.shares, counter.integer, counter.never, None)
    graph.start(subset, counter.count(counter.rows_of(subset.words)), ())
    return graph
