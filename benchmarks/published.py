"""The method as it was published, small and slow, and where its errors make it certify a worse tree.

This is the paper's branch and bound written once more, apart from the package: trees are sets of leaves, one leaf is
split at a time, and objectives are fractions. Three of its rules can be had as printed or corrected:

- `a_priori`: an optimal tree has at most ``floor(1/2λ)`` leaves. That forgets that a single leaf pays λ, too;
  ``floor(R_c/λ)`` is right.
- `parent`: a better child of a tree with H leaves has ``H' < H + floor((R_c - b)/λ)`` leaves. The proof gives
  ``H' < H + (R_c - b)/λ``, which is one more whenever the quotient is not whole.
- `warm_start`: CART's tree becomes the incumbent even where a single leaf is better.

Any leaf may still be split here, so a tree's lower bound b is λ·H and, with the equivalent points bound, what equal
rows with different labels cost. With that, the quotient is seldom whole and the printed limit wrong more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import NamedTuple

Rows = Sequence[tuple[Sequence[int], int]]
"""Features of 0 and 1, and a label of 0 or 1."""
Path = frozenset[int]
"""A leaf by the answers that lead to it: j + 1 for a yes to feature j, -(j + 1) for a no."""
RULES = ("a_priori", "parent", "warm_start")


class Certified(NamedTuple):
    """A tree that a search calls optimal, by its objective and number of leaves."""

    objective: Fraction
    leaves: int


@dataclass(frozen=True)
class Published:
    """The paper's search; `as_printed` names the rules that are not corrected.

    Attributes
    ----------
    rows : sequence of (features, label)
    regularization : Fraction
    as_printed : collection of str
        Of `RULES`.
    start : Certified, optional
        CART's tree, where the search starts from one.
    equivalent_points : bool
        Whether the lower bound has what equal rows cost.
    """

    rows: Rows
    regularization: Fraction
    as_printed: frozenset[str] = frozenset()
    start: Certified | None = None
    equivalent_points: bool = True

    def solve(self) -> Certified:
        """Return what the search certifies."""
        root: frozenset[Path] = frozenset([frozenset()])
        best = Certified(self.objective(root), 1)
        if self.start is not None and ("warm_start" in self.as_printed or self.start.objective < best.objective):
            best = self.start
        queue, seen = [root], {root}
        n_features = len(self.rows[0][0])
        for tree in queue:
            bound = self.lower_bound(tree)
            if bound + self.regularization >= best.objective:
                continue
            for leaf in tree:
                for feature in range(n_features):
                    child = self.split(tree, leaf, feature)
                    if child is None or child in seen or not self.allowed(tree, child, best):
                        continue
                    seen.add(child)
                    queue.append(child)
                    best = min(best, Certified(self.objective(child), len(child)))
        return best

    def split(self, tree: frozenset[Path], leaf: Path, feature: int) -> frozenset[Path] | None:
        """Return the tree with one leaf split, or None if all its rows would go the same way."""
        sides = [leaf | {feature + 1}, leaf | {-feature - 1}]
        if not all(any(self.counts(side)) for side in sides):
            return None
        return tree - {leaf} | set(sides)

    def allowed(self, tree: frozenset[Path], child: frozenset[Path], best: Certified) -> bool:
        """Return whether the limits on leaves let a child be."""
        penalty, leaves = self.regularization, len(child)
        most = floor(1 / (2 * penalty)) if "a_priori" in self.as_printed else floor(best.objective / penalty)
        more = (best.objective - self.lower_bound(tree)) / penalty
        if "parent" in self.as_printed:
            more = Fraction(floor(more))
        return leaves <= most and leaves < len(tree) + more

    def lower_bound(self, tree: frozenset[Path]) -> Fraction:
        """Return a bound on all descendants: any leaf may still be split, down to what equal rows cost."""
        if not self.equivalent_points:
            return self.regularization * len(tree)
        unavoidable: dict[tuple[int, ...], list[int]] = {}
        for features, label in self.rows:
            unavoidable.setdefault(tuple(features), [0, 0])[label] += 1
        return Fraction(sum(map(min, unavoidable.values())), len(self.rows)) + self.regularization * len(tree)

    def objective(self, tree: frozenset[Path]) -> Fraction:
        """Return errors/N + λ·leaves."""
        errors = sum(min(self.counts(leaf)) for leaf in tree)
        return Fraction(errors, len(self.rows)) + self.regularization * len(tree)

    def counts(self, leaf: Path) -> list[int]:
        """Return how many rows of each label reach a leaf."""
        counts = [0, 0]
        for features, label in self.rows:
            if all(features[abs(literal) - 1] == (literal > 0) for literal in leaf):
                counts[label] += 1
        return counts


def cart_start(rows: Rows, regularization: Fraction) -> Certified:
    """Return CART's tree with the authors' settings."""
    import numpy as np

    from benchmarks import fits
    from benchmarks.baselines.cart import fit, settings
    from benchmarks.data import Data

    features = np.array([given for given, _ in rows], bool)
    names = tuple(f"x{j}" for j in range(features.shape[1]))
    data = Data(features, np.array([label for _, label in rows]), names, ("0", "1"))
    nodes = fit(data, settings(regularization, len(rows)))
    leaves = fits.count_leaves(nodes)
    return Certified(Fraction(fits.errors(nodes, data), len(rows)) + regularization * leaves, leaves)
