"""How a team searches: what all its members must agree on."""

from __future__ import annotations

from dataclasses import dataclass

from dosdt.contract import Constraints
from dosdt.problem import Problem
from dosdt.team import Member, Post


@dataclass(frozen=True)
class Plan:
    """The search that each member runs.

    Attributes
    ----------
    algorithm : {"subproblem", "leafset"}
    constraints : Constraints
    switches : tuple of str
        Which bounds and caches to use.
    policy : str
        Which tree ``leafset`` expands next.
    certify : bool
        Whether members save all facts that a certificate may rest on, at the end too.
    """

    algorithm: str
    constraints: Constraints
    switches: tuple[str, ...]
    policy: str = "curiosity"
    certify: bool = False

    def member(self, problem: Problem, post: Post, limit: int) -> Member:
        """Return a new member that looks for trees cheaper than `limit`."""
        if self.algorithm == "leafset":
            from dosdt.leafset.member import LeafSetMember

            return LeafSetMember(
                problem, self.constraints, post, switches=self.switches, policy=self.policy, limit=limit
            )
        from dosdt.subproblem.member import SubproblemMember

        return SubproblemMember(
            problem, self.constraints, post, switches=self.switches, limit=limit, thorough=self.certify
        )
