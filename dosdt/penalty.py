"""A penalty per leaf in small integers that orders trees exactly as the true one does.

A tree costs errors + x·leaves with x = a/b. Comparing two trees, or sums of bounds, asks for the sign of
Δerrors + x·Δleaves, that is, on which side of the fraction -Δerrors/Δleaves x lies. As long as |Δleaves| stays
below some Q, any x' between the same two neighbours among all fractions with denominators up to Q answers every
such question alike. So a λ with 17 digits costs no more than 1/200.
"""

from __future__ import annotations

from fractions import Fraction

from dosdt.problem import Problem


class Prices:
    """Costs inside a search, ``b'·(errors - base) + a'·leaves``, and outside, ``b·errors + a·leaves``.

    `base` is what no tree avoids: the sum of the floors. Both orders are the same; where `same` is true, so are the
    prices, but for the base.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._base = sum(problem.floor)
        # A tree has at most one leaf per row; sums and differences of bounds have no more than four times that.
        self.penalty = order_equivalent(Fraction(problem.a, problem.b), 4 * problem.n_rows + 16)
        self.a, self.b = self.penalty.numerator, self.penalty.denominator
        self.same = (self.a, self.b) == (problem.a, problem.b)

    def inner(self, cost: int, leaves: int) -> int:
        """Return the inner cost of a tree with so many leaves that costs `cost` outside."""
        errors = (cost - self._problem.a * leaves) // self._problem.b
        return self.b * (errors - self._base) + self.a * leaves

    def inside(self, limit: int) -> int:
        """Return the smallest inner limit that admits every tree cheaper than `limit` outside."""
        a, b = self._problem.a, self._problem.b
        if self.same:
            return limit - b * self._base
        most_errors = ((leaves, (limit - 1 - a * leaves) // b - self._base) for leaves in self._leaves())
        return 1 + max(self.b * errors + self.a * leaves for leaves, errors in most_errors)

    def outside(self, lower: int) -> int:
        """Return the smallest outer cost of a tree whose inner cost is `lower` or more."""
        a, b = self._problem.a, self._problem.b
        if self.same:
            return lower + b * self._base
        least_errors = ((leaves, max(0, -((self.a * leaves - lower) // self.b))) for leaves in self._leaves())
        return min(b * (self._base + errors) + a * leaves for leaves, errors in least_errors)

    def repriced(self, lower: int, old: Fraction) -> int:
        """Return a bound on the inner cost of trees that cost `lower` or more where a leaf costs `old`.

        With k leaves they have (lower - old·k) errors or more. What that costs now is linear in k, so it is least for
        a single leaf, or for so many that no error is left.
        """
        a, b = old.numerator, old.denominator
        if lower <= a:
            return self.a
        single = self.a - (self.b * (a - lower)) // b
        return min(single, -((-self.a * lower) // a)) if a else single

    def _leaves(self) -> range:
        return range(1, self._problem.n_rows + 1)


def order_equivalent(x: Fraction, largest: int) -> Fraction:
    """Return the simplest x' >= 0 on the same side as x of every fraction whose denominator is at most `largest`.

    If x is such a fraction itself, it is returned as it is.
    """
    if x.denominator <= largest:
        return x
    # Walk down the Stern-Brocot tree, in leaps, to the neighbours of x with denominators up to `largest`.
    whole = x.numerator // x.denominator
    low_n, low_d, high_n, high_d = whole, 1, whole + 1, 1
    while low_d + high_d <= largest:
        if Fraction(low_n + high_n, low_d + high_d) < x:
            # The most steps k for which (low + k·high) stays below x, within the allowed denominator.
            k = _steps(x, low_n, low_d, high_n, high_d)
            k = min(k, (largest - low_d) // high_d)
            low_n, low_d = low_n + k * high_n, low_d + k * high_d
        else:
            k = _steps(-x, -high_n, high_d, -low_n, low_d)
            k = min(k, (largest - high_d) // low_d)
            high_n, high_d = high_n + k * low_n, high_d + k * low_d
    return Fraction(low_n + high_n, low_d + high_d)


def _steps(x: Fraction, near_n: int, near_d: int, far_n: int, far_d: int) -> int:
    """Return the largest k with (near_n + k·far_n)/(near_d + k·far_d) < x, given that k = 1 does."""
    # near_n·q + k·far_n·q < p·near_d + k·p·far_d  with x = p/q, and far lies above x
    p, q = x.numerator, x.denominator
    gap, pull = p * near_d - near_n * q, far_n * q - p * far_d
    return -(-gap // pull) - 1
