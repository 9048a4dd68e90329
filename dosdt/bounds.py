"""The theorems of *Optimal Sparse Decision Trees*, one small function each.

All quantities are integers of one `Problem`: a tree costs ``b·errors + a·leaves``, where a stands for λ. Losses
are already multiplied by b where a docstring says "cost". Every rule keeps at least one optimal tree: the one
with the fewest leaves. Where the paper counts samples of two classes, the functions speak of loss, so that they
hold for weights, costs and many classes; for plain errors and two classes they say what the paper says.
"""

from __future__ import annotations

BOUNDS: dict[str, str] = {
    "hierarchical": "unchanged leaves' loss and the leaves so far: b >= R_c prunes",
    "lookahead": "every leaf to be split adds at least one leaf: b + n·λ >= R_c prunes",
    "node_support": "a leaf whose avoidable loss is at most λ is never split",
    "incremental_accuracy": "a split that gains at most λ must be split further",
    "accurate_support": "both sides of a split must classify enough correctly",
    "equivalent_points": "rows with equal features and different labels cost at least their floor",
    "a_priori_leaves": "at most R(single leaf)/λ leaves; as printed it is too tight",
    "incumbent_leaves": "at most R_c/λ leaves",
    "parent_leaves": "H' < H + (R_c - b)/λ; as printed it is too tight",
    "zero_error_leaves": "an incumbent without avoidable errors is beaten only by fewer leaves",
    "leaf_permutation": "two trees with the same leaves are one tree",
}
CACHES: dict[str, str] = {
    "leaf_cache": "what is known of a leaf is computed once",
    "tree_cache": "a tree is generated once",
}
SWITCHES: tuple[str, ...] = (*BOUNDS, *CACHES)


def hierarchical(unchanged_cost: int, to_split: int, a: int) -> int:
    """Return b(d_un) = ℓ_p + λH: the unchanged leaves' cost and λ for each leaf that will be split.

    `unchanged_cost` is the unchanged leaves' loss times b plus a for each of them.
    """
    return unchanged_cost + to_split * a


def lookahead(lower_bound: int, to_split: int, a: int) -> int:
    """Return a bound on every proper descendant: each of the leaves to be split becomes two or more."""
    return lower_bound + to_split * a


def equivalent_points(lower_bound: int, floor_cost: int) -> int:
    """Return b + b_0, where b_0 is the floor, in cost, of the rows in the leaves to be split."""
    return lower_bound + floor_cost


def node_support(loss_cost: int, floor_cost: int, a: int) -> bool:
    """Can a leaf be worth splitting? Any split saves at most loss - floor and costs at least λ more.

    For two classes loss <= support/2, so this implies the paper's ``2λ <= support``.
    """
    return loss_cost - floor_cost > a


def incremental_accuracy(parent_cost: int, yes_cost: int, no_cost: int, a: int) -> bool:
    """May both sides of a split stay leaves? Only if the loss falls by more than λ."""
    return parent_cost - yes_cost - no_cost > a


def accurate_support(ceiling_cost: int, loss_cost: int, a: int) -> bool:
    """Can a side of a split pay for itself? If not, its rows may go to the other side's tree instead.

    There they cost at most `ceiling_cost`, and as one leaf the side costs loss + λ. What the ceiling exceeds the loss
    by is no more for a part of the side than for the whole, whatever its label; so if the side does not pay as one
    leaf, no leaf of a larger tree for it does. For plain errors and two classes ceiling - loss is the number of
    correctly classified samples, as in the paper, less the floor.
    """
    return ceiling_cost > loss_cost + a


def similar_support(lower_bound: int, difference_cost: int) -> int:
    """Return a bound for a subset from the bound of a similar one.

    `difference_cost` is Σ (ceiling - floor) over the rows of the bounded subset that the other one lacks: the
    other's best tree, used for the bounded subset, does no worse than that on them.
    """
    return lower_bound - difference_cost


def a_priori_leaves(single_leaf_cost: int, floor_cost: int, a: int) -> int | None:
    """Return the most leaves an optimal tree can have: λH + floor <= R(single leaf). None if λ = 0.

    The paper's ``1/2λ`` forgets that a single leaf pays λ as well.
    """
    return (single_leaf_cost - floor_cost) // a if a else None


def incumbent_leaves(incumbent_cost: int, floor_cost: int, a: int) -> int | None:
    """Return the most leaves of a tree no worse than the incumbent. None if λ = 0."""
    return (incumbent_cost - floor_cost) // a if a else None


def parent_leaves(leaves: int, lower_bound: int, incumbent_cost: int, a: int) -> int | None:
    """Return the most leaves of a better descendant: H' < H + (R_c - b)/λ. None if λ = 0.

    The paper rounds the quotient down first, which is one too tight whenever it is not whole.
    """
    return leaves - (lower_bound - incumbent_cost) // a - 1 if a else None


def zero_error_leaves(incumbent_leaves: int, incumbent_avoidable: int) -> int | None:
    """Return the most leaves of a better tree when the incumbent has no avoidable error, else None."""
    return incumbent_leaves - 1 if incumbent_avoidable == 0 else None
