"""One wave of the search: from a node down to all that must be known next, and back up with what was learnt.

To prove that a node costs `need` or more, *every* candidate that might cost less must be refuted, on either side. So
nothing is gained by looking at one candidate after another: a wave asks for all of them at once, on one side each,
and goes on below the children that are nodes already. What it ends at is counted in a few large batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dosdt.subproblem.ghosts import Array, Ids
from dosdt.subproblem.graph import NOBODY, Graph

_AT_ONCE = 3
"""How many children of one chain a wave asks for, about."""


class Wanted(NamedTuple):
    """Children that should become nodes: of which node, with which share of its leaves, on which side (0 to 2M-1)."""

    node: Ids
    share: Ids
    side: Ids


class Wave(NamedTuple):
    """The nodes passed on the way down, from the first to the last, and the children wanted."""

    levels: list[Ids]
    wanted: Wanted


class _Sides(NamedTuple):
    """The same side of many candidates: bounds, and the node or -1."""

    lower: Array
    upper: Array
    kid: Array


class Level(NamedTuple):
    """One level of a wave: what is asked of children that are nodes, and which others are wanted.

    Attributes
    ----------
    asked : Wanted
        Children that are nodes, here or elsewhere.
    kid : int array of shape (n,)
        The nodes of `asked`, as in `Graph.kids`.
    room : integer array of shape (n,)
        What each of them must be proved to cost, to be of no interest.
    wanted : Wanted
        Children that should become nodes.
    """

    asked: Wanted
    kid: Ids
    room: Array
    wanted: Wanted


def look(graph: Graph, front: Ids, need: Array, *, curious: bool = True) -> Level:
    """Find, for some nodes, which children must be known better to prove that each costs `need` or more.

    A `curious` wave looks first into sides that nobody has looked into. Where such sides are forgotten again, that
    would never end.
    """
    need = np.minimum(need, graph.upper[front])
    lowers, leaves = graph.lowers[front], graph.leaves[front]
    at, share, feature = np.nonzero(graph.candidates(lowers, leaves) < need[:, None, None])
    node = front[at]
    rest = leaves[at] - 2 - share
    yes, no = _sides(graph, node, share, feature), _sides(graph, node, rest, feature + graph.m)
    second = _second(yes, no, curious)
    kid = np.where(second, no.kid, yes.kid)
    room = need[at] - np.where(second, yes.lower, no.lower)
    children = Wanted(node, np.where(second, rest, share), np.where(second, feature + graph.m, feature))
    old = kid != NOBODY
    new = ~old
    new[_put_off(graph, node, share, feature, new)] = False
    return Level(_part(children, old), kid[old], room[old], _part(children, new))


def look_for_tree(graph: Graph, front: Ids) -> Level:
    """Find what is not known yet of some nodes' best trees."""
    costs = graph.candidates(graph.uppers[front], graph.leaves[front]).reshape(len(front), graph.shares * graph.m)
    split = costs.min(axis=1) < graph.leaf[front]
    node = front[split]
    share, feature = np.unravel_index(costs[split].argmin(axis=1), (graph.shares, graph.m))
    rest = graph.leaves[node] - 2 - share
    children = Wanted(np.tile(node, 2), np.append(share, rest), np.append(feature, feature + graph.m))
    sides = _sides(graph, *children)
    unsure = sides.upper > sides.lower
    new, old = unsure & (sides.kid == NOBODY), unsure & (sides.kid != NOBODY)
    return Level(_part(children, old), sides.kid[old], sides.upper[old], _part(children, new))


def gather(kid: Ids, room: Array) -> tuple[Ids, Array]:
    """Return each node that is asked for once, with the most that is asked of it."""
    front, which = np.unique(kid, return_inverse=True)
    need = np.zeros(len(front), room.dtype)
    np.maximum.at(need, which, room)
    return front, need


def descend(graph: Graph, root: int, limit: int, *, curious: bool = True) -> Wave:
    """Find what must be known to prove that a node costs `limit` or more, or as much as its best tree."""
    front: Ids = np.array([root])
    need = np.array([limit], graph.lower.dtype)
    levels, wanted = [], []
    while len(front):
        levels.append(front)
        graph.refresh(front)
        level = look(graph, front, need, curious=curious)
        wanted.append(level.wanted)
        front, need = gather(level.kid, level.room)
    return Wave(levels, distinct(graph, wanted))


def dive(graph: Graph, root: int) -> Wave:
    """Find what is not yet known of a node's best tree: the children it ends in may have better trees than counted.

    This finds good trees early, and deep ones at all before the proof is nearly done.
    """
    front: Ids = np.array([root])
    levels, wanted = [], []
    while len(front):
        levels.append(front)
        graph.refresh(front)
        level = look_for_tree(graph, front)
        wanted.append(level.wanted)
        front = np.unique(level.kid)
    return Wave(levels, distinct(graph, wanted))


def ascend(graph: Graph, wave: Wave) -> None:
    """Carry what is known of the children up to the node that the wave came from."""
    for nodes in reversed(wave.levels):
        graph.clock += 1
        graph.settle(nodes)


def _sides(graph: Graph, node: Ids, share: Ids, side: Ids) -> _Sides:
    return _Sides(graph.lowers[node, share, side], graph.uppers[node, share, side], graph.kids[node, share, side])


def _second(yes: _Sides, no: _Sides, curious: bool) -> Array:
    """Choose the side to look at: one never looked into first, else the one of which less is known to be spent."""
    yes_open, no_open = yes.upper > yes.lower, no.upper > no.lower
    second: Array = no.lower < yes.lower
    if curious:
        yes_new, no_new = yes.kid == NOBODY, no.kid == NOBODY
        second = np.where(yes_new == no_new, second, no_new)
    return np.where(yes_open & no_open, second, no_open)


def _part(children: Wanted, chosen: Array) -> Wanted:
    return Wanted(*(part[chosen] for part in children))


def _put_off(graph: Graph, node: Ids, share: Ids, feature: Ids, new: Array) -> Ids:
    """Return which new children to leave for a later wave: in a long chain, a few may say enough of all others."""
    places: Ids = np.flatnonzero(new)
    if graph.chains is None or not len(places):
        return places[:0]
    chain = graph.chains.of_feature[feature[places]]
    order = np.lexsort((chain, share[places], node[places]))
    # Runs of the same node, share and chain, in the order of the features.
    keys = np.stack([node[places], share[places], chain])[:, order]
    first = np.flatnonzero(np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)))
    length = np.diff(np.append(first, len(places)))
    stride = np.repeat(np.maximum(length // _AT_ONCE, 1), length)
    position = np.arange(len(places)) - np.repeat(first, length)
    late: Ids = places[order[position % stride != stride // 2]]
    return late


def distinct(graph: Graph, wanted: list[Wanted]) -> Wanted:
    """Return each child once, those of the oldest nodes first."""
    node, share, side = (np.concatenate(parts) for parts in zip(*wanted, strict=True))
    shape = (len(graph), graph.shares, 2 * graph.m)
    flat = np.unique(np.ravel_multi_index((node, share, side), shape))
    return Wanted(*np.unravel_index(flat, shape))
