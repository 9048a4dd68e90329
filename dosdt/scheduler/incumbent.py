"""The best tree so far."""

from __future__ import annotations

from dosdt.contract import Solution


class Incumbent:
    """Holds the best tree found; offers that are not better are declined."""

    def __init__(self, solution: Solution) -> None:
        self._solution = solution

    @property
    def solution(self) -> Solution:
        """The best tree so far."""
        return self._solution

    @property
    def cost(self) -> int:
        """The cost of the best tree: what every worker prunes against."""
        return self._solution.cost

    def offer(self, solution: Solution | None) -> bool:
        """Take a tree if it is better; return whether it was."""
        if solution is None or solution.cost >= self.cost:
            return False
        self._solution = solution
        return True
