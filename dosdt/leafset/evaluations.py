"""How many trees there can be left to evaluate: the paper's bounds, as exact integers.

They are astronomically loose, so a progress display shows their power of ten.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import comb, log10, perm


def total_evaluations(n_features: int, most_leaves: int) -> int:
    """Return the bound on all evaluations: Σ_{k=0}^K (3^M)! / (3^M - k)!, with K = `most_leaves`.

    The paper puts ``min(1/2λ, 2^M)`` for K; use a corrected limit on leaves such as `bounds.a_priori_leaves`.
    """
    return _longer_trees(3**n_features, most_leaves)


def remaining_evaluations(n_features: int, open_trees: Iterable[tuple[int, int]]) -> int:
    """Return the fine bound on the evaluations left.

    `open_trees` has, for every tree in the queue, the number L of its unchanged leaves and
    ``f = floor((R_c - b)/λ)``, the most leaves a better descendant can add. The bound is
    Σ over the queue of Σ_{k=0}^f (3^M - L)! / (3^M - L - k)!.
    """
    possible = 3**n_features
    return sum(
        count * _longer_trees(possible - size, min(more, possible - size))
        for (size, more), count in Counter(open_trees).items()
    )


def coarse_remaining_evaluations(n_features: int, sizes: Mapping[int, int], most_leaves: int) -> int:
    """Return the coarse bound on the evaluations left, from the queue's prefix lengths alone.

    With Q_j = ``sizes[j]`` trees of prefix length j in the queue: Σ_j Q_j Σ_{k=0}^{K-j} (3^M - j)! / (3^M - j - k)!.
    """
    possible = 3**n_features
    total = 0
    longer = 1  # Σ_k P(3^M - j, k) for k up to K - j, from j = K downwards: G_j = 1 + (3^M - j) G_{j+1}
    counts: Counter[int] = Counter()
    for size, count in sizes.items():
        counts[min(size, most_leaves)] += count
    for size in range(most_leaves, -1, -1):
        if size < most_leaves:
            longer = 1 + (possible - size) * longer
        total += counts[size] * longer
    return total


def trees_up_to_depth(n_features: int, depth: int) -> int:
    """Return the number of trees of depth 0 to `depth` in which no path asks a question twice.

    A tree is a leaf, or one of m questions and two trees over the other m - 1: A(m, d) = 1 + m·A(m-1, d-1)².
    """
    depth = min(depth, n_features)
    count = 1
    for m in range(n_features - depth + 1, n_features + 1):
        count = 1 + m * count * count
    return count


def trees_of_depth(n_features: int, depth: int) -> int:
    """Return N_d, the number of trees of depth exactly d."""
    if depth == 0:
        return 1
    return trees_up_to_depth(n_features, depth) - trees_up_to_depth(n_features, depth - 1)


def symmetry_aware_evaluations(n_features: int, most_leaves: int) -> int:
    """Return the bound with symmetry-aware pruning: 1 + Σ_{k=1}^K N_k + C(M, k) - P(M, k).

    The number of digits doubles with every level, so this is for small M or K.
    """
    return 1 + sum(
        trees_of_depth(n_features, k) + comb(n_features, k) - perm(n_features, k)
        for k in range(1, min(most_leaves, n_features) + 1)
    )


def saved_by_symmetry(n_features: int, most_leaves: int) -> int:
    """Return how many evaluations symmetry-aware pruning saves: Σ_{k=1}^K P(M, k) - C(M, k)."""
    return sum(perm(n_features, k) - comb(n_features, k) for k in range(1, most_leaves + 1))


def power_of_ten(count: int) -> int:
    """Return floor(log10(count)) to within one, at once even for numbers with a million digits."""
    return max(0, (count.bit_length() - 1) * 30103 // 100000)


def evaluations_log10(n_features: int, most_leaves: int) -> int:
    """Return the power of ten of `total_evaluations`, by logarithms where the number itself is too long."""
    if n_features * most_leaves < 20_000:
        return power_of_ten(total_evaluations(n_features, most_leaves))
    return int(n_features * most_leaves * log10(3))  # (3^M)! / (3^M - K)! is nearly 3^(M·K)


def remaining_log10(n_features: int, sizes: Mapping[int, int], most_leaves: int) -> int:
    """Return the power of ten of `coarse_remaining_evaluations`, by logarithms where it is too long."""
    if n_features * most_leaves < 20_000:
        return power_of_ten(coarse_remaining_evaluations(n_features, sizes, most_leaves))
    return int(n_features * max(0, most_leaves - min(sizes, default=most_leaves)) * log10(3))


def _longer_trees(possible: int, more: int) -> int:
    """Return Σ_{k=0}^{more} possible! / (possible - k)!, by Horner's scheme."""
    total = 1
    for k in range(more, 0, -1):
        total = 1 + (possible - k + 1) * total
    return total
