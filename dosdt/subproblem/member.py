"""The subproblem search as a team: every subset has one home, and all members go through the same waves.

A wave goes down level by level. Each member looks at those of its nodes that are asked for, and asks the homes of
their children for more; a child that is no node yet is counted at its home. Then bounds come back up the same way. So
a team expands what one search would, wherever the nodes are; only the messages are extra.

The members' life is written as one course of events, in which ``yield from self._exchange(...)`` sends a letter to
each member and waits for theirs. Whatever decides what comes next is in those letters, so all decide alike.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dosdt.bitvectors import Words
from dosdt.contract import Constraints, Sketch, Solution, leaf_node
from dosdt.problem import Problem
from dosdt.sketches import prune
from dosdt.subproblem.arrivals import Arrivals, what_is_known
from dosdt.subproblem.assembly import Splits, assembled, outline
from dosdt.subproblem.facts import Facts, facts_in, joined, pack_facts
from dosdt.subproblem.ghosts import Array, Ghosts, Ids, Subscribers
from dosdt.subproblem.graph import NOBODY
from dosdt.subproblem.hearsay import Hearsay
from dosdt.subproblem.index import row_hashes
from dosdt.subproblem.letters import Heading, read, write
from dosdt.subproblem.subsets import Batch, Subset
from dosdt.subproblem.terms import SWITCHES, Terms
from dosdt.subproblem.waves import Wanted, distinct, gather, look, look_for_tree
from dosdt.team import REGIONS, Post, Record, Saved

_SECONDS_IN_A_STEP = 0.1
_CHILDREN_AT_ONCE = 2**13
"""So many are routed at once, since the rows of all of them together may take much memory."""

Letters = Generator[list[bytes], Sequence[bytes], Any]


class _Pass(NamedTuple):
    """What a member did at one level of a wave, for the way back.

    Its own nodes, the ghosts of nodes that it asked each member for, the nodes that each asked it for, and whether
    anybody asked anything of another.
    """

    front: Ids
    asked: list[Ids]
    nodes: list[Ids]
    far: bool


class SubproblemMember:
    """A member of a team that searches over subsets of the rows; see `dosdt.team.Member`.

    Parameters
    ----------
    problem : Problem
    constraints : Constraints
    post : Post
    switches : collection of str
        Which bounds to use; names as in `dosdt.subproblem.terms.SWITCHES`.
    limit : int, optional
        Cost that a tree must stay below to be of interest; by default that of a single leaf.
    thorough : bool
        Whether to save what is known of all subsets, also of those that counting alone brings back, and at the end.
    """

    def __init__(
        self,
        problem: Problem,
        constraints: Constraints | None,
        post: Post,
        *,
        switches: Collection[str] = tuple(SWITCHES),
        limit: int | None = None,
        thorough: bool = False,
    ) -> None:
        self._thorough = thorough
        self._terms = Terms(problem, constraints, switches)
        self._post = post
        self._homes: Ids = np.array(post.homes, np.intp)
        self._told = Hearsay()
        self._root: int | None = None
        self._new_graph()
        self.expanded = 0
        self.finished = False
        self.open = 0
        self.best: Solution | None = None
        single = prune(problem, Sketch((leaf_node(0),)), self._terms.constraints).cost
        self._outside_limit = self._agreed = single if limit is None else min(single, limit)
        self._found = self._need()
        self._stop_asked = self._save_asked = self._memory_is_short = False
        self._stopping = self._saving = self._frugal = False
        self._bounds: tuple[int, int] = (0, self._terms.counter.never)
        self._unsaved: list[tuple[Ids, Facts]] = []
        self._saved: Saved | None = None
        self._shed = self._repeated = 0
        self._life = self._live()

    # -- the contract ---------------------------------------------------------------------------------------------

    @property
    def evaluated(self) -> int:
        """Subsets expanded here."""
        return self.expanded

    @property
    def cached(self) -> int:
        """Number of subsets of which something is known here."""
        return len(self._graph) + len(self._told)

    @property
    def limit(self) -> int:
        """Cost that a tree must stay below to be of interest."""
        return min(self._agreed, self._outside_limit)

    def lower_bound(self) -> int:
        """Return a bound on all trees that the team may still find."""
        if self.finished and not self._stopping:
            return self._agreed
        return min(self._agreed, self._terms.prices.outside(self._bounds[0]))

    def step(self, inbox: Sequence[bytes]) -> list[bytes]:
        """Take in one letter from each member, none before the first step, and return one for each."""
        try:
            return self._life.send(inbox) if inbox else next(self._life)
        except StopIteration:
            self.finished = True
            if self._thorough:
                self._saved = self._put_down()
            return [b""] * self._post.size

    def tighten(self, limit: int) -> None:
        """Look only for trees cheaper than `limit`: all members know it after the next step."""
        self._outside_limit = min(self._outside_limit, limit)

    def stop(self) -> None:
        """Ask all members to finish soon."""
        self._stop_asked = True

    def save(self) -> None:
        """Ask all members to save what they know."""
        self._save_asked = True

    def saved(self) -> Saved | None:
        """Return what is to be kept, if that was asked for."""
        saved, self._saved = self._saved, None
        return saved

    def spare_memory(self) -> None:
        """Ask all members to forget what is cheap to prove again."""
        self._memory_is_short = True

    def recall(self, contents: Iterable[bytes]) -> None:
        """Take in bounds that others have proved."""
        facts = facts_in(contents)
        self._told.add(facts.subsets(self._terms.subsets), facts.lower.tolist())

    def statistics(self) -> dict[str, int]:
        """Return counts of this member's own, by name."""
        return {
            "facts": self.cached,
            "repeated": self._repeated,
            "times_memory_was_short": self._shed,
        }

    # -- one step -------------------------------------------------------------------------------------------------

    def _exchange(self, bodies: Sequence[Any] | None = None, sums: Sequence[int] = ()) -> Letters:
        """Send a body to each member; return those that came, and the sums over all members."""
        size, number = self._post.size, self._post.number
        bodies = bodies or [None] * size
        root = None
        if self._root is not None:
            root = int(self._graph.lower[self._root]), int(self._graph.upper[self._root])
        heading = Heading(self.limit, root, self._stop_asked, self._save_asked, self._memory_is_short, list(sums))
        inbox = yield [write(heading, None if k == number else body) for k, body in enumerate(bodies)]
        headings, received = zip(*map(read, inbox), strict=True)
        self._agreed = min(heading.limit for heading in headings)
        self._bounds = next((heading.root for heading in headings if heading.root is not None), self._bounds)
        self._stopping |= any(heading.stop for heading in headings)
        self._frugal |= any(heading.short for heading in headings)
        if any(heading.save for heading in headings):
            self._save_asked = False
            self._saved = self._put_down()
        totals = [sum(column) for column in zip(*(heading.sums for heading in headings), strict=True)]
        return [bodies[number] if k == number else body for k, body in enumerate(received)], totals

    # -- the course of events -------------------------------------------------------------------------------------

    def _live(self) -> Letters:
        everything = self._terms.everything
        if everything.is_leaf:
            yield from self._exchange()
            return
        self._begin(everything)
        yield from self._exchange()
        yield from self._assemble()
        frugal, completed = self._frugal, -1
        while not self._done():
            if self._memory_is_short_now(frugal):
                self._forget(everything)
                frugal = True
            # A tree that was completed once is complete until a better one is known.
            upper = self._bounds[1]
            dived = not frugal and upper != completed and (yield from self._wave(dive=True))
            if not dived:
                completed = upper
                yield from self._wave(dive=False)
            yield from self._spread()
            if not dived:  # else the tree is likely to get better at once
                yield from self._assemble()
        yield from self._assemble()

    def _begin(self, everything: Subset) -> None:
        """Count the whole problem, if this is its home."""
        subset = self._terms.subsets.only(everything)
        if self._home_of(subset.words)[0] == self._post.number:
            counter = self._terms.counter
            self._root = self._graph.start(subset, counter.count(counter.rows_of(subset.words)), ())
            self._graph.raise_lower(self._root, self._told.bounds(subset)[0])
            self.expanded += 1

    def _home_of(self, words: Words) -> Ids:
        """Return the members that subsets are at home with."""
        return self._homes[row_hashes(words) % REGIONS]

    def _new_graph(self) -> None:
        self._graph = self._terms.graph()
        self._root = None
        integer, size = self._graph.lower.dtype, self._post.size
        self._ghosts = self._graph.ghosts = Ghosts(size, integer, self._graph.never)
        self._subscribers = Subscribers(size, integer)
        self._published: Array = np.zeros(0, integer)

    def _need(self) -> int:
        """Return the cost, in the search's prices, that trees must stay below."""
        return max(self._terms.prices.inside(self._agreed), 0)

    def _done(self) -> bool:
        lower, upper = self._bounds
        return self._stopping or lower >= min(self._need(), upper)

    def _wave(self, *, dive: bool) -> Letters:
        """Go down and up once; return whether anything was wanted."""
        graph, size = self._graph, self._post.size
        trail: list[_Pass] = []
        wanted: list[Wanted] = []
        front = np.array([] if self._root is None else [self._root], np.intp)
        need = np.full(len(front), min(self._need(), graph.never), graph.lower.dtype)
        total = 0
        while True:
            graph.refresh(front)
            level = look_for_tree(graph, front) if dive else look(graph, front, need, curious=not self._frugal)
            wanted.append(level.wanted)
            here = level.kid >= 0
            ghosts, rooms = gather(-2 - level.kid[~here], level.room[~here])
            homes = self._ghosts.member[ghosts]
            asked = [ghosts[homes == k] for k in range(size)]
            orders = [
                [self._ghosts.node[part], rooms[homes == k]] if len(part) else None for k, part in enumerate(asked)
            ]
            sums = [len(level.kid), len(level.wanted.node), len(ghosts)]
            inbox, (old, new, far) = yield from self._exchange(orders, sums)
            nodes = [np.zeros(0, np.intp) if order is None else order[0].astype(np.intp) for order in inbox]
            trail.append(_Pass(front, asked, nodes, bool(far)))
            total += new
            if not old:
                break
            needs = [order[1] for order in inbox if order is not None]
            front, need = gather(
                np.concatenate([level.kid[here], *nodes]), np.concatenate([level.room[here], *needs])
            )
        if total:
            self.open = sum(len(step.front) for step in trail)
            yield from self._open_nodes(distinct(graph, wanted) if len(graph) else wanted[0])
        elif dive:
            return False
        for step in reversed(trail):
            if step.far:
                bounds = [what_is_known(graph, part) if len(part) else None for part in step.nodes]
                inbox, _ = yield from self._exchange(bounds)
                for part, reply in zip(step.asked, inbox, strict=True):
                    if len(part):
                        lower, upper = reply
                        self._ghosts.hear(part, lower, upper, graph.clock)
            graph.clock += 1
            graph.settle(step.front)
        return bool(total)

    def _open_nodes(self, wanted: Wanted) -> Letters:
        """Make children nodes, each at its home, or as many as there is time for until the limit changes."""
        graph, size, number, limit = self._graph, self._post.size, self._post.number, self._agreed
        arrivals = Arrivals(self._terms, graph, self._told)
        orders, places, own = self._routes(wanted, arrivals)
        parts = [Wanted(*(part[chosen] for part in wanted)) for chosen in places]
        inbox, _ = yield from self._exchange(orders)
        tickets = [
            None if order is None or k == number else self._take_order(order, arrivals)
            for k, order in enumerate(inbox)
        ]
        while True:
            self._count(arrivals, limit)
            _, (left,) = yield from self._exchange(sums=[arrivals.left])
            if not left or self._stopping or self._agreed != limit:
                break
        arrivals.close()
        self._repeated += arrivals.repeated
        known = arrivals.known(own)
        graph.link(*parts[number], known.nodes)
        graph.hear(*parts[number], known.lower, known.upper)
        replies: list[Any] = [None] * size
        for k, asked in enumerate(tickets):
            if asked is not None:
                replies[k] = known = arrivals.known(asked)
                self._subscribers.add(k, known.nodes[known.nodes != NOBODY])
        inbox, _ = yield from self._exchange(replies)
        for k, reply in enumerate(inbox):
            if reply is None or k == number:
                continue
            nodes, lower, upper = reply
            graph.hear(*parts[k], lower, upper)
            there = nodes != NOBODY
            ghosts = self._ghosts.of(k, nodes[there])
            node, share, side = (part[there] for part in parts[k])
            graph.link(node, share, side, -2 - ghosts)
            self._ghosts.hear(ghosts, lower[there], upper[there], graph.clock)

    def _spread(self) -> Letters:
        """Tell all members that have ghosts of nodes here what is new of them."""
        graph, size, number = self._graph, self._post.size, self._post.number
        news = [None if k == number else self._subscribers.news(k, graph.lower, graph.upper) for k in range(size)]
        inbox, _ = yield from self._exchange(news)
        graph.clock += 1
        for k, told in enumerate(inbox):
            if told is not None and k != number:
                nodes, lower, upper = told
                self._ghosts.hear(self._ghosts.of(k, nodes), lower, upper, graph.clock)

    def _count(self, arrivals: Arrivals, limit: int) -> None:
        """Count for a while: long beside a message, short for who waits for an answer."""
        until = time.perf_counter() + _SECONDS_IN_A_STEP
        while arrivals.left:
            self.expanded += arrivals.count(1)
            if self._stop_asked or self.limit != limit or time.perf_counter() >= until:
                break

    def _routes(self, wanted: Wanted, arrivals: Arrivals) -> tuple[list[Any], list[Ids], Ids]:
        """Find the homes of children.

        Returns what to write to each member, which children are at home with it, and tickets for those that are so
        here.
        """
        graph, subsets = self._graph, self._terms.subsets
        size, own = self._post.size, self._post.number
        lowers = graph.lowers[wanted]
        homes: Ids = np.empty(len(wanted.node), np.intp)
        tickets: list[Ids] = [np.zeros(0, np.intp)]
        for some in _pieces(len(homes)):
            node, share, side = (part[some] for part in wanted)
            children = subsets.children(graph.index.batch(node), side, share)
            homes[some] = home = self._home_of(children.words)
            here = home == own
            tickets.append(
                arrivals.tickets(children.part(here), lowers[some][here], graph.paths, node[here], side[here])
            )
        places = [np.flatnonzero(homes == k) for k in range(size)]
        orders = [
            self._order(Wanted(*(part[chosen] for part in wanted)), lowers[chosen])
            if k != own and len(chosen)
            else None
            for k, chosen in enumerate(places)
        ]
        return orders, places, np.concatenate(tickets)

    def _order(self, wanted: Wanted, lowers: Array) -> list[Array]:
        """Return what to write to a member about children that are at home with it."""
        graph = self._graph
        nodes, parent = np.unique(wanted.node, return_inverse=True)
        paths = graph.paths[nodes]
        paths = paths[:, (paths != 0).any(axis=0)]
        limits = graph.index.depth[nodes], graph.index.leaves[nodes]
        # None of these numbers is large.
        asked = (part.astype(np.int32) for part in (parent, wanted.share, wanted.side))
        return [paths.ravel(), *limits, *asked, lowers]

    def _take_order(self, order: list[Array], arrivals: Arrivals) -> Ids:
        """Return tickets for the children that another member asks for."""
        flat, depth, leaves, parent, share, side, lowers = order
        subsets = self._terms.subsets
        paths = flat.reshape(len(depth), -1)
        parents = Batch(subsets.at(paths), depth, leaves)
        tickets: list[Ids] = []
        for some in _pieces(len(parent)):
            children = subsets.children(parents.part(parent[some]), side[some], share[some])
            tickets.append(arrivals.tickets(children, lowers[some], paths, parent[some], side[some]))
        return np.concatenate(tickets)

    # -- the best tree --------------------------------------------------------------------------------------------

    def _assemble(self) -> Letters:
        """Put the best tree together, if it is better than the last one; every member has it then."""
        if self._bounds[1] >= self._found:
            return
        self._found = self._bounds[1]
        todo: list[tuple[str, int]] = [] if self._root is None else [("", self._root)]
        splits: Splits = {}
        while True:
            orders: list[list[tuple[str, int]]] = [[] for _ in range(self._post.size)]
            for place, node in todo:
                outline(self._graph, node, place, self._terms, splits, orders)
            inbox, (left,) = yield from self._exchange(orders, [sum(map(len, orders))])
            todo = [(place, node) for order in inbox for place, node in order or ()]
            if not left:
                break
        inbox, _ = yield from self._exchange([splits] * self._post.size)
        sketch = assembled({place: feature for part in inbox for place, feature in part.items()})
        found = prune(self._terms.problem, sketch, self._terms.constraints)
        if self._terms.prices.inner(found.cost, found.sketch.n_leaves) > self._found:
            raise AssertionError("the tree found costs more than was proved; please report this as a bug")
        if found.cost < self._agreed:
            self.best = found
            self._agreed = found.cost  # all members find the same
            self._outside_limit = min(self._outside_limit, found.cost)

    # -- what outlives a member -----------------------------------------------------------------------------------

    def _news(self) -> tuple[Ids, Facts]:
        """Return what was proved since this was asked last, by region; unless thorough, of subsets with children."""
        graph, n = self._graph, len(self._graph)
        before = self._published
        self._published = np.zeros(n, graph.lower.dtype)
        self._published[: len(before)] = before
        chosen = graph.opened[:n] | self._thorough
        news: Ids = np.flatnonzero(chosen & (graph.lower[:n] > self._published))
        self._published[news] = graph.lower[news]
        facts = Facts(graph.paths[news], graph.index.depth[news], graph.index.leaves[news], graph.lower[news])
        return (graph.index.hashes[news] % REGIONS).astype(np.intp), facts

    def _put_down(self) -> Saved:
        parts = [*self._unsaved, self._news()]
        self._unsaved = []
        regions, facts = np.concatenate([part[0] for part in parts]), joined([part[1] for part in parts])
        order = np.argsort(regions, kind="stable")
        present, first = np.unique(regions[order], return_index=True)
        records = [
            Record(region, pack_facts(facts.part(order[start:end])))
            for region, (start, end) in zip(present.tolist(), pairwise([*first.tolist(), len(order)]), strict=True)
        ]
        return Saved(records, whole=False)

    def _memory_is_short_now(self, frugal: bool) -> bool:
        """Say whether somebody has asked for memory; once all have begun to be frugal, each for the first time."""
        return self._frugal and not frugal

    def _forget(self, everything: Subset) -> None:
        """Begin anew, with the bounds on all subsets whose children were looked into: most nodes are others."""
        self._unsaved.append(self._news())
        graph = self._graph
        opened = np.flatnonzero(graph.opened[: len(graph)])
        self._told.add(graph.index.batch(opened), graph.lower[opened].tolist())
        self._new_graph()
        self._shed += 1
        self._begin(everything)


def _pieces(n: int) -> Iterator[slice]:
    for start in range(0, n, _CHILDREN_AT_ONCE):
        yield slice(start, start + _CHILDREN_AT_ONCE)
