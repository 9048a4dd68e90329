"""The leaf-set search as a member of a team that searches together, in step."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from math import inf

import numpy as np

from dosdt.contract import Constraints, Solution
from dosdt.leafset.arrays import CodeTables, Figures
from dosdt.leafset.branching import Branching
from dosdt.leafset.collector import uncollected
from dosdt.leafset.homes import Homes
from dosdt.leafset.leaves import Leaf
from dosdt.leafset.letters import Header, Lists, decode
from dosdt.leafset.mail import Mail
from dosdt.leafset.policies import curiosity
from dosdt.leafset.queue import Key, OpenTree, Task, TreeQueue
from dosdt.leafset.records import records_of, trees_of
from dosdt.problem import Problem
from dosdt.team import REGIONS, Post, Saved

_EFFORT = 1_500_000
"""What a member does in one step, in units of a tenth of a microsecond or so; counted, never timed."""
_FIRST_EFFORT = 20_000
"""In the first step. What others found out is older the longer a step is, which matters less the more is known."""
_GROWTH = 32
"""Each step is longer than the one before by one part in so many."""
_STEPS_TO_AN_ANSWER = 2
"""From a question about a leaf: it is read in the next step, and the answer in the one after that."""
_PATIENCE = 4
"""Steps after which a question counts as not answered."""
_TREES_AT_ONCE = 16
"""Expanded between looks at what has been done."""


class LeafSetMember(Branching):
    """One of several leaf-set searches that solve a problem together.

    Every tree has a home. Whoever generates a tree sends it there, and only there it is certain whether the tree is
    new. Most often it is expanded there, too; but who has far more open trees than others gives them some.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    post : Post
        Its place in the team.
    switches : collection of str
        Which bounds and caches to use; names as in `dosdt.bounds.SWITCHES`.
    policy : str
        Which tree to expand next; a name in `dosdt.leafset.policies.POLICIES`.
    limit : int, optional
        Cost that a tree must stay below to be of interest; a single leaf's if not given.
    """

    def __init__(
        self,
        problem: Problem,
        constraints: Constraints | None,
        post: Post,
        *,
        switches: Collection[str],
        policy: str = "curiosity",
        limit: int | None = None,
    ) -> None:
        super().__init__(problem, constraints, switches, policy)
        if limit is not None:
            self._limit = min(self._limit, limit)
        self._told = self._limit  # by others
        self._number = post.number
        self._alone = post.size == 1
        self._homes = Homes(self._leaves, post)
        self._mail = Mail(self._leaves, post)
        self._tables = CodeTables(problem, self._leaves)
        self._raised: list[Leaf] = []
        self._leaves.raised = self._raised
        self._to_look_at: deque[tuple[int, Leaf]] = deque()  # for others: who asks, and the leaf
        self._asked: dict[int, int] = {}  # leaves that others are to look at, by number, and by which step
        self._waiting: deque[tuple[int, OpenTree]] = deque()  # trees that need it, and from which step on they go on
        self._steps = 0
        self._recalled = False
        self._running: tuple[OpenTree, Iterator[None]] | None = None
        self._budget = _FIRST_EFFORT
        self._regions = [post.homes.count(number) for number in range(post.size)]
        self._still_open = [0] * post.size  # of each member, after the last step
        self._popped = 0
        self._arrived = 0
        # A leaf's sums take time for each of the problem's rows.
        self._effort_per_leaf = 20 + problem.n_rows // 100
        self._stop = self._save = False
        self._finished = False
        self._saved: Saved | None = None
        self._team_bound: int | None = self._leaves.root.split  # holds for all trees but a single leaf
        self._solved: Solution | None = None

    # -- what a runtime shows -----------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """Whether there is no further step."""
        return self._finished

    @property
    def open(self) -> int:
        """Number of open trees."""
        return len(self._queue) + (self._running is not None) + len(self._waiting)

    @property
    def best(self) -> Solution | None:
        """The best tree found here, if any."""
        if self._best is not None and (self._solved is None or self._best[0] < self._solved.cost):
            self._solved = self._solution()
        return self._solved

    def lower_bound(self) -> int:
        """Return a bound on all trees that the team may still find."""
        return self._limit if self._team_bound is None else min(self._team_bound, self._limit)

    def statistics(self) -> dict[str, int]:
        """Return counts of this member's own, by name."""
        return {
            "duplicates": self.duplicates,
            "leaves_cached": len(self._leaves.leaves),
            "sent": self._mail.sent,
            "given": self._mail.given,
        }

    # -- what others ask for ------------------------------------------------------------------------------

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit` from now on."""
        self._told = min(self._told, limit)
        self._limit = min(self._limit, limit)

    def stop(self) -> None:
        """Ask all members to finish soon."""
        self._stop = True

    def save(self) -> None:
        """Ask all members to save their open trees."""
        self._save = True

    def saved(self) -> Saved | None:
        """Return the open trees once, if all members have been asked to save them in this step."""
        saved, self._saved = self._saved, None
        return saved

    def recall(self, contents: Iterable[bytes]) -> None:
        """Open the trees of records instead of the whole problem."""
        self._recalled = True
        for trees in trees_of(contents, self._leaves):
            self._take_in(trees)

    def spare_memory(self) -> None:
        """Nothing can be spared: without its caches this search would do the same work many times over."""

    # -- a step -------------------------------------------------------------------------------------------

    def step(self, inbox: Sequence[bytes]) -> list[bytes]:
        """Take in one message from each member, none before the first step, and return one for each."""
        # Two threads that lower the limit at the same time may undo what the other did.
        self._limit = min(self._limit, self._told, self._limit if self._best is None else self._best[0])
        with uncollected():
            if inbox:
                self._read(inbox)
            else:
                self._start()
            if not self._finished:
                self._work()
            return self._write()

    def _start(self) -> None:
        root = self._root()
        if root is not None and not self._recalled and self._homes.home(root[4]) == self._number:
            self._queue.push(root)

    def _read(self, inbox: Sequence[bytes]) -> None:
        """Take in what all members said; all draw the same conclusions from it."""
        letters = [decode(message) for message in inbox]
        headers = [letter.header for letter in letters]
        limit = min(header.limit for header in headers)
        self._limit = min(self._limit, limit)
        for letter in letters:
            given, others = self._mail.read(letter)
            self._take_in(given, given=True)
            self._take_in(others)
            self._to_look_at += [(letter.header.sender, leaf) for leaf in self._mail.asked(letter)]
        bound = min((header.bound for header in headers if header.bound is not None), default=None)
        if self._prunes and bound is not None and bound >= limit:
            bound = None  # nothing that is open is of interest
        self._team_bound = bound
        self._still_open = [header.open for header in headers]
        if bound is None:
            self._close_all()
        if any(header.save for header in headers):
            # Whatever was sent has arrived: what all members save now is all that is open.
            self._saved = Saved(records_of(self._open_keys(), self._homes, self._leaves), whole=True)
        self._finished = bound is None or any(header.stop for header in headers)

    def _take_in(self, trees: Lists, *, given: bool = False) -> None:
        """Open trees that are of interest, and new here unless they are given; none of them comes twice."""
        if not len(trees.sizes):
            return
        self._tables.learn(self._raised)
        self._raised.clear()
        figures = self._tables.figures(trees)
        if self._sorts:
            # Each tree by itself: its place in the list comes first.
            places = np.repeat(np.arange(len(trees.sizes)) << 32, trees.sizes)
            trees = Lists(trees.sizes, np.sort(places | trees.items) & 0xFFFFFFFF)
        self._arrived += len(trees.sizes)
        limit = self._limit if self._prunes else inf
        if given:
            self._queue.extend(self._opened(trees, figures, limit, set()))
            return
        opened = self._opened(trees, figures, limit, self._generated)
        self.evaluated += len(opened)
        self.duplicates += sum([bound < limit for bound in figures.bounds]) - len(opened)
        if self._remembers:
            self._generated.update([tree[4] for tree in opened])
        self._queue.extend(opened)

    def _opened(self, trees: Lists, figures: Figures, limit: float, known: Set[Key]) -> Task:
        """Return the trees that are not known and have a bound below `limit` as open trees."""
        a = self.problem.a
        first = self._serial + 1
        arrived = zip(trees.tuples(), *figures, strict=True)
        if self._policy is curiosity:
            # Most often the policy is the paper's own, and then all in one go takes half the time.
            self._serial += len(figures.bounds)
            with suppress(OverflowError):
                return [
                    ((cost + split * a) / weight if weight else inf, serial, bound, split, key)
                    for serial, (key, bound, cost, weight, split) in enumerate(arrived, first)
                    if bound < limit and key not in known
                ]
            arrived = zip(trees.tuples(), *figures, strict=True)
        return [self._open(*tree) for tree in arrived if tree[1] < limit and tree[0] not in known]

    def _work(self) -> None:
        """Expand trees, best first, until none is left or enough has been done."""
        self._give()
        end = self._effort() + self._budget
        self._budget = min(self._budget + self._budget // _GROWTH, _EFFORT)
        self._steps += 1
        while self._waiting and self._waiting[0][0] <= self._steps:
            self._queue.put_back(self._waiting.popleft()[1])
        while self._to_look_at and not self._stop and self._effort() < end:
            member, leaf = self._to_look_at.popleft()
            self._leaves.look(leaf)
            self._mail.answer(member, leaf)
        while (self._running or self._queue) and not self._stop and self._effort() < end:
            self._expand_some(end)

    def _give(self) -> None:
        """Let those who have far less to do than their share have what is here above one's own."""
        total = sum(self._still_open)
        fair = [total * regions // REGIONS for regions in self._regions]
        needy = [number for number, still_open in enumerate(self._still_open) if 2 * still_open < fair[number]]
        too_many = self._still_open[self._number] - fair[self._number]
        limit = self._limit if self._prunes else inf
        for number in needy if too_many > 0 else []:
            self._mail.give(number, self._queue.take(too_many // len(needy), limit))

    def _expand_some(self, end: int) -> None:
        """Expand a few trees, or a part of one."""
        queue = self._queue
        for _ in range(_TREES_AT_ONCE):
            if self._running is None:
                if not queue:
                    return
                tree = queue.pop()
                self._popped += 1
                if self._prunes and tree[2] >= self._limit:
                    queue.close(tree)
                    continue
                self.expanded += 1
                self._running = tree, self._expand(tree)
            tree, expansion = self._running
            for _ in expansion:
                if self._stop or self._effort() >= end:
                    return  # it goes on from here in the next step
            self._running = None
            if self._waits:
                self.expanded -= 1
                self._waiting.append((self._steps + _STEPS_TO_AN_ANSWER, tree))
            else:
                queue.close(tree)

    def _shared_out(self, leaves: list[Leaf]) -> list[Leaf]:
        """Ask others to look at the leaves that are theirs; who does not answer soon has too much to do."""
        if self._alone:
            return leaves
        here = []
        for leaf in leaves:
            home = self._homes.home((2 * leaf.index + 1,))
            if home == self._number:
                here.append(leaf)
            elif leaf.index not in self._asked:
                self._asked[leaf.index] = self._steps + _PATIENCE
                self._mail.ask(home, leaf)
            elif self._asked[leaf.index] <= self._steps:
                here.append(leaf)
        return here

    def _effort(self) -> int:
        """Return what has been done so far, roughly as the time it takes."""
        return (
            35 * self._popped
            + 100 * self.expanded
            + 15 * self._serial
            + 20 * (self._mail.sent + self._arrived)
            + 15 * self._leaves.ordered
            + 60 * self._leaves.heard
            + self._effort_per_leaf * (self._leaves.computed + self._leaves.counted)
        )

    def _write(self) -> list[bytes]:
        limit = self._limit
        own = self._queue.lower_bound()
        if self._prunes:
            self._mail.drop(limit)
            if own is not None and own >= limit:
                self._close_all()
                own = None
        bound = min((bound for bound in (own, self._mail.lower_bound()) if bound is not None), default=None)
        save = self._save
        if save:
            self._save = False
        header = Header(self._number, limit, bound, self.open, self._stop, save)
        return self._mail.write(header, self._news())

    def _news(self) -> list[Leaf]:
        """Return the leaves of which more is known here than others have been told, or have said themselves."""
        self._tables.learn(self._raised)
        news = [leaf for leaf in dict.fromkeys(self._raised) if leaf.least > leaf.told]
        for leaf in news:
            leaf.told = leaf.least
        self._raised.clear()
        return news

    # -- trees --------------------------------------------------------------------------------------------

    def _place(self, key: Key, bound: int, kept_cost: int, kept_weight: int, to_split: int) -> None:
        """Open a tree that belongs here, send another to its home."""
        home = self._number if self._alone else self._homes.home(key)
        if home == self._number:
            super()._place(key, bound, kept_cost, kept_weight, to_split)
        else:
            self._mail.put(home, key, bound)

    def _close_all(self) -> None:
        self._queue, self._running = TreeQueue([]), None
        self._waiting.clear()

    def _open_keys(self) -> list[Key]:
        trees = [*self._queue.trees, *(tree for _, tree in self._waiting)]
        if self._running is not None:
            trees.append(self._running[0])
        return [key for _, _, bound, _, key in trees if bound < self._limit or not self._prunes]
