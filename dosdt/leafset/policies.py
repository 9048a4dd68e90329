"""Which tree to expand next: the paper's scheduling policies, smallest priority first.

A priority only orders the work; it never decides what is optimal, so floats will do.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log2
from typing import NamedTuple

from dosdt.leafset.leaves import Leaf, LeafCache


class Standing(NamedTuple):
    """What a policy may look at."""

    lower_bound: int
    prefix_bound: int  # b(d_un), the paper's hierarchical bound alone
    prefix_weight: int  # weight of the rows in unchanged leaves
    key: tuple[int, ...]
    serial: int  # how many trees came before


Policy = Callable[[Standing, LeafCache], float]
"""Integers are floats here: policies that are exact return Python integers, which compare exactly."""


def curiosity(tree: Standing, _cache: LeafCache) -> float:
    """Lower bound over the support of the unchanged leaves."""
    return tree.prefix_bound / tree.prefix_weight if tree.prefix_weight else inf


def objective(tree: Standing, cache: LeafCache) -> float:
    """Cost of the tree as it stands."""
    return sum(cache.leaves[code >> 1].kept for code in tree.key)


def lower_bound(tree: Standing, _cache: LeafCache) -> float:
    """Bound on every descendant."""
    return tree.lower_bound


def entropy(tree: Standing, cache: LeafCache) -> float:
    """Entropy of the classes in the leaves, weighted by support."""
    return sum(_entropy(cache, cache.leaves[code >> 1]) for code in tree.key)


def gini(tree: Standing, cache: LeafCache) -> float:
    """Gini impurity of the leaves, weighted by support."""
    return sum(_gini(cache, cache.leaves[code >> 1]) for code in tree.key)


def fifo(tree: Standing, _cache: LeafCache) -> float:
    """Breadth first."""
    return tree.serial


def lifo(tree: Standing, _cache: LeafCache) -> float:
    """Depth first."""
    return -tree.serial


POLICIES: dict[str, Policy] = {
    "curiosity": curiosity,
    "objective": objective,
    "lower_bound": lower_bound,
    "entropy": entropy,
    "gini": gini,
    "fifo": fifo,
    "lifo": lifo,
}


def _entropy(cache: LeafCache, leaf: Leaf) -> float:
    weight = leaf.weight
    return -sum(n * log2(n / weight) for n in cache.class_weights(leaf) if n)


def _gini(cache: LeafCache, leaf: Leaf) -> float:
    weight = leaf.weight
    return weight - sum(n * n for n in cache.class_weights(leaf)) / weight if weight else 0.0
