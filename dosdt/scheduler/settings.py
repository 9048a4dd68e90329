"""How to run a team, and what is known of a run."""

from __future__ import annotations

from typing import NamedTuple

from dosdt.contract import Solution
from dosdt.scheduler.books import Books


class Settings(NamedTuple):
    """How to run a team on Ray.

    Attributes
    ----------
    workers : int, optional
        How many; None is one for each CPU of the cluster, also of nodes that join later.
    memory : int, optional
        Bytes that all workers of one node may use together.
    save_seconds : float
        How often what is known is saved to the TreeCache; less often where saving takes long.
    patience : float
        Seconds of silence after which workers are asked whether they are still there.
    answer_within : float
        Seconds after which a worker that does not answer is let go; twice as many after every time that happened.
    """

    workers: int | None
    memory: int | None = None
    save_seconds: float = 10.0
    patience: float = 10.0
    answer_within: float = 5.0


class Known(NamedTuple):
    """What a scheduler begins with: at first the best tree, later what the one before it has told.

    Attributes
    ----------
    solution : Solution
    limit : int
        Cost that a tree must stay below to be of interest.
    lower_bound : int
        A bound on all trees.
    books : Books
    """

    solution: Solution
    limit: int
    lower_bound: int
    books: Books


class Bulletin(NamedTuple):
    """What the scheduler knows of the run."""

    finished: bool
    solution: Solution
    lower_bound: int
    open: int
    cached: int
    over_memory: bool
    ready: bool
    workers: int
    failure: str | None
    books: Books

    @property
    def evaluated(self) -> int:
        """Subsets expanded or trees evaluated by all teams."""
        return int(self.books.total("evaluated"))

    @property
    def saves(self) -> int:
        """How often all that is known has been saved."""
        return self.books.saves
