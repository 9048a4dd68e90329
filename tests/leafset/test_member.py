"""Teams of leaf-set searches against exhaustive search, and against one search alone."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_problems import random_problem
from sketch_checks import cost_of, keeps

from dosdt.bounds import SWITCHES
from dosdt.contract import Budget, Constraints, Solution
from dosdt.errors import InputError
from dosdt.leafset import letters, member
from dosdt.leafset.arrays import grown
from dosdt.leafset.leaves import Leaf
from dosdt.leafset.letters import Header, Letter, Lists, lists_of
from dosdt.leafset.member import LeafSetMember
from dosdt.leafset.policies import POLICIES
from dosdt.leafset.queue import Key
from dosdt.leafset.records import trees_of
from dosdt.leafset.search import LeafSetSearch
from dosdt.problem import Problem
from dosdt.team import Member, Record, Saved, posts

Team = list[LeafSetMember]


def team_of(
    problem: Problem,
    shares: Sequence[float],
    constraints: Constraints | None = None,
    *,
    switches: Collection[str] = SWITCHES,
    policy: str = "curiosity",
    limit: int | None = None,
) -> Team:
    return [
        LeafSetMember(problem, constraints, post, switches=switches, policy=policy, limit=limit)
        for post in posts(shares)
    ]


def steps(team: Sequence[Member]) -> Iterator[int]:
    """Go through the steps of a team in one process, until all finish, which must be in the same one."""
    inboxes: list[list[bytes]] = [[] for _ in team]
    for number in range(10_000):
        outboxes = [one.step(inbox) for one, inbox in zip(team, inboxes, strict=True)]
        assert all(len(outbox) == len(team) for outbox in outboxes)
        assert len({one.finished for one in team}) == 1
        assert len({one.lower_bound() for one in team}) == 1 or not team[0].finished
        yield number
        if team[0].finished:
            return
        inboxes = [list(column) for column in zip(*outboxes, strict=True)]
    raise AssertionError("the team does not finish")


def run(team: Team) -> None:
    for _ in steps(team):
        pass


def best_of(team: Team) -> Solution | None:
    return min((one.best for one in team if one.best is not None), default=None)


def check_proved(
    problem: Problem, team: Team, optimum: Fraction, limit: int, constraints: Constraints | None = None
) -> None:
    """The team has proved the optimum and has its tree, unless it cannot be below the limit it was given."""
    best = best_of(team)
    assert problem.objective(limit if best is None else best.cost) == optimum
    for one in team:
        assert problem.objective(one.lower_bound()) == optimum
        assert one.limit == one.lower_bound()
        assert one.open == 0
    if best is not None:
        assert best.cost < limit
        assert cost_of(problem, best.sketch) == best.cost
        assert keeps(problem, best.sketch, constraints or Constraints())


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make steps so short that small problems need many, and expansions go on from one to the next."""
    monkeypatch.setattr(member, "_EFFORT", 2000)
    monkeypatch.setattr(member, "_FIRST_EFFORT", 300)
    monkeypatch.setattr(member, "_TREES_AT_ONCE", 2)


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_teams_of_every_size_find_the_optimum(start: int, small_steps: None) -> None:
    policies = list(POLICIES)
    for seed in range(start, start + 50):
        given = random_problem(seed + 100_000)
        problem, optimum = given.problem, given.optimum()
        for size in range(1, 6):
            team = team_of(problem, [1.0] * size, policy=policies[(seed + size) % len(policies)])
            limit = team[0].limit
            for _ in steps(team):
                assert all(problem.objective(one.lower_bound()) <= optimum for one in team)
            check_proved(problem, team, optimum, limit)


@pytest.mark.parametrize("start", range(0, 150, 50))
def test_constraints(start: int, small_steps: None) -> None:
    for seed in range(start, start + 50):
        given = random_problem(seed + 110_000, max_features=4, max_rows=40, least="0")
        rng = random.Random(seed)
        depth = rng.choice([None, 0, 1, 2, 3])
        leaves = rng.choice([None, 1, 2, 3, 5])
        if given.regularization == 0 and depth is None and leaves is None:
            depth = 2
        support = rng.choice([0, 0, 1, 3, 8])
        problem = given.problem
        constraints = Constraints(depth, leaves, -(-support // problem.weight_unit))
        optimum = given.optimum(max_depth=depth, max_leaves=leaves, min_support=Fraction(support))
        for size in (1, 2, 5):
            team = team_of(problem, [rng.random() + 0.1 for _ in range(size)], constraints)
            limit = team[0].limit
            for _ in steps(team):
                assert all(problem.objective(one.lower_bound()) <= optimum for one in team)
            check_proved(problem, team, optimum, limit, constraints)


@pytest.mark.parametrize("switch", SWITCHES)
def test_without_one_bound_or_cache(switch: str, small_steps: None) -> None:
    others = set(SWITCHES) - {switch}
    for seed in range(25):
        given = random_problem(seed + 120_000, max_features=4, max_rows=40)
        problem, depth = given.problem, [None, 3][seed % 2]
        team = team_of(problem, [1.0] * (2 + seed % 3), Constraints(max_depth=depth), switches=others)
        limit = team[0].limit
        run(team)
        check_proved(problem, team, given.optimum(max_depth=depth), limit)


def test_without_any_bound(small_steps: None) -> None:
    for seed in range(15):
        given = random_problem(seed + 130_000, max_features=3, max_rows=30)
        team = team_of(given.problem, [1.0, 1.0, 1.0], switches=["tree_cache"])
        limit = team[0].limit
        run(team)
        check_proved(given.problem, team, given.optimum(), limit)


def test_a_team_of_another_size_goes_on_from_what_was_saved(small_steps: None) -> None:
    """Again and again, until one team comes to the end; what is not saved is lost."""
    rounds, empty = 0, 0
    for seed in range(250):
        given = random_problem(seed + 140_000, max_features=5, least="0.02")
        depth = [None, None, 4][seed % 3]
        problem, optimum = given.problem, given.optimum(max_depth=depth)
        constraints, rng = Constraints(max_depth=depth), random.Random(seed)
        best, limit, records = None, None, None
        for patience in range(1000):  # an expansion that was saved half done starts anew, so it needs ever more time
            team = team_of(problem, [1.0] * rng.randint(1, 5), constraints, limit=limit)
            limit = team[0].limit
            if records is not None:
                give(team, records)
                empty += any(one.open == 0 for one in team)
            records = save_after(team, rng.randint(0, 2) + patience, rng.choice(team))
            best = min((one for one in (best, best_of(team)) if one is not None), default=None)
            limit = limit if best is None else best.cost
            if records is None:
                break
            rounds += 1
        assert problem.objective(limit) == optimum
        assert best is None or cost_of(problem, best.sketch) == best.cost
        assert all(problem.objective(one.lower_bound()) == optimum for one in team)
    assert rounds > 100
    assert empty


def give(team: Team, records: list[Record]) -> None:
    """Give every record to the member whose region it is; some get none."""
    for number, (one, post) in enumerate(zip(team, posts([1.0] * len(team)), strict=True)):
        one.recall([content for region, content in records if post.homes[region] == number])


def save_after(team: Team, step: int, asked: LeafSetMember) -> list[Record] | None:
    """Return the records that a team saves when a member is asked after a step; None if it finishes before."""
    for number in steps(team):
        saved = [one.saved() for one in team]
        assert [one.saved() for one in team] == [None] * len(team)
        if number < step:
            assert saved == [None] * len(team)
        if number == step:
            asked.save()
        if any(saved):
            together: list[Record] = []
            for one, part in zip(team, saved, strict=True):
                assert isinstance(part, Saved)
                assert part.whole
                regions = [record.region for record in part.records]
                assert len(set(regions)) == len(regions)
                assert one.finished or bool(part.records) or one.open == 0 or one.limit <= one.lower_bound()
                together += part.records
            return None if team[0].finished else together
    return None


def test_members_that_recall_nothing_have_nothing_to_do() -> None:
    problem = random_problem(3).problem
    team = team_of(problem, [1.0, 1.0])
    for one in team:
        one.recall([])
    assert len(list(steps(team))) == 2
    assert sum(one.expanded for one in team) == 0
    assert best_of(team) is None
    assert team[0].lower_bound() == team[0].limit


def test_who_has_nothing_to_do_is_given_open_trees(small_steps: None) -> None:
    """What is on its way counts as open."""
    helped = 0
    for seed in range(200):
        given = random_problem(seed + 180_000, max_features=8)
        first = team_of(given.problem, [1.0])
        records = save_after(first, 2, first[0])
        if records is None:
            continue
        best = best_of(first)
        team = team_of(given.problem, [1.0] * 3, limit=None if best is None else best.cost)
        limit, optimum = team[0].limit, given.optimum()
        team[0].recall([record.content for record in records])  # whatever is at home elsewhere, too
        team[1].recall([])
        team[2].recall([])
        for _ in steps(team):
            assert all(given.problem.objective(one.lower_bound()) <= optimum for one in team)
        check_proved(given.problem, team, optimum, limit)
        helped += team[0].statistics()["given"] > 0 and all(one.expanded for one in team[1:])
    assert helped > 5


def mid_size(regularization: str = "0.003") -> Problem:
    rng = np.random.default_rng(5)
    features = rng.random((300, 12)) < 0.5
    rule = (features[:, 0] & features[:, 1]) | (features[:, 2] & ~features[:, 3])
    return Problem.from_arrays(features, rule ^ (rng.random(300) < 0.15), regularization)


def test_a_team_does_little_more_than_one_search() -> None:
    problem = mid_size()
    search = LeafSetSearch(problem)
    best = search.run(search.root(), Budget()).best
    assert best is not None
    assert search.evaluated > 10_000
    for size in (1, 2, 4):
        team = team_of(problem, [1.0] * size)
        run(team)
        assert team[0].lower_bound() == best.cost == best_of(team)[0]  # type: ignore[index]
        evaluated = [one.evaluated for one in team]
        print(size, sum(evaluated) / search.evaluated, evaluated, [one.statistics() for one in team])
        assert sum(evaluated) <= 1.5 * search.evaluated
        # Everybody has a fair share.
        assert max(evaluated) < 1.5 * sum(evaluated) / size
        assert [one.statistics()["sent"] > 0 for one in team] == [size > 1] * size


def test_who_has_a_smaller_share_does_less() -> None:
    """All wait for who takes longest in a step, so somebody who is slow must not have as much to do as others."""
    problem = mid_size()
    team = team_of(problem, [3.0, 1.0])
    run(team)
    busy, slow = (one.expanded for one in team)
    print(busy, slow)
    # What all hear and make takes as long for everybody, so less than its share is left for trees.
    assert 2 * slow < busy < 9 * slow


def test_the_smallest_share_comes_to_its_end(small_steps: None) -> None:
    problem = mid_size("0.02")
    search = LeafSetSearch(problem)
    best = search.run(search.root(), Budget()).best
    assert best is not None
    team = team_of(problem, [1.0, 1e-9, 1.0])
    assert team[1]._regions[1] <= 1
    for one in team:
        one.recall([])
    team[1]._queue.push(team[1]._root())  # type: ignore[arg-type]
    run(team)
    assert team[0].lower_bound() == best.cost == best_of(team)[0]  # type: ignore[index]


def test_what_others_looked_at_is_not_looked_at_again() -> None:
    problem = mid_size()
    search = LeafSetSearch(problem)
    search.run(search.root(), Budget())
    team = team_of(problem, [1.0, 1.0])
    run(team)
    looked_at = [one._leaves.looked_at for one in team]
    print(looked_at, search._leaves.looked_at)
    assert sum(looked_at) < 1.4 * search._leaves.looked_at


def rows_of(key: Key, leaves: Sequence[Leaf]) -> frozenset[tuple[Any, int]]:
    return frozenset((leaves[code >> 1].rows, code & 1) for code in key)


@pytest.mark.parametrize("before", [1, 2, 5])
def test_what_is_saved_can_be_shared_out_evenly(before: int) -> None:
    """Among as many members as there may be later; all that is open is there."""
    problem = mid_size("0.002")
    team = team_of(problem, [1.0] * before)
    for number in steps(team):
        if number == 30:
            team[0].save()
        saved = [part for one in team if (part := one.saved()) is not None]
        if saved:
            break
    records = [record for part in saved for record in part.records]
    leaves = team[0]._leaves
    trees = [key for sent in trees_of([record.content for record in records], leaves) for key in sent.tuples()]
    still_open = [(key, one._leaves.leaves) for one in team for key in one._open_keys()]
    assert Counter(rows_of(key, leaves.leaves) for key in trees) == Counter(rows_of(*tree) for tree in still_open)
    assert len(trees) > 60
    for after in (1, 2, 3, 8):
        homes = posts([1.0] * after)[0].homes
        counts = [0] * after
        for record in records:
            counts[homes[record.region]] += sum(len(sent.sizes) for sent in trees_of([record.content], leaves))
        print(counts)
        assert max(counts) <= 1.5 * len(trees) / after + 1


def test_same_team_same_counts() -> None:
    problem = random_problem(11).problem
    first, second = team_of(problem, [1.0, 2.0]), team_of(problem, [1.0, 2.0])
    for team in (first, second):
        run(team)
    for one, other in zip(first, second, strict=True):
        assert one.statistics() == other.statistics()
        assert (one.evaluated, one.expanded, one.best) == (other.evaluated, other.expanded, other.best)


def test_nothing_better_than_the_optimum(small_steps: None) -> None:
    """Told its cost from outside, in the middle or at the start, a team only proves that nothing is cheaper."""
    for seed in range(40):
        given = random_problem(seed + 150_000)
        first = team_of(given.problem, [1.0, 1.0])
        run(first)
        optimum = first[0].limit
        team = team_of(given.problem, [1.0] * 3, limit=optimum)
        run(team)
        assert best_of(team) is None
        check_proved(given.problem, team, given.optimum(), optimum)
        team = team_of(given.problem, [1.0] * 3)
        found: list[Solution | None] = []
        for number in steps(team):
            if number == 2:
                found = [one.best for one in team]
                team[seed % 3].tighten(optimum)
            if number >= 2:
                assert team[seed % 3].limit == optimum
            if (
                number >= 4 and not team[0].finished
            ):  # it says so in the step after, and the others hear it in the next
                assert all(one.limit == optimum for one in team)
        # The one that was told finds nothing any more; the others may be quicker than the news.
        assert not found or team[seed % 3].best == found[seed % 3]
        assert all(one.lower_bound() == optimum for one in team)


def test_tighten_reaches_a_running_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(member, "_FIRST_EFFORT", 10**12)  # one step for all
    rng = np.random.default_rng(0)
    problem = Problem.from_arrays(rng.random((200, 14)) < 0.5, rng.integers(0, 2, 200), "0.001")
    (alone,) = team_of(problem, [1.0])
    other = threading.Thread(target=lambda: (wait_for(lambda: alone.expanded > 10), alone.tighten(0)))
    other.start()
    run([alone])
    other.join()
    assert alone.limit == alone.lower_bound() == 0


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        pass


def test_a_stop_leaves_a_valid_bound(small_steps: None) -> None:
    stopped = 0
    for seed in range(60):
        given = random_problem(seed + 160_000, max_features=8)
        optimum, rng = given.optimum(), random.Random(seed)
        team = team_of(given.problem, [1.0] * rng.randint(1, 5))
        limit, when = team[0].limit, rng.randint(0, 4)
        for number in steps(team):
            if number == when:
                rng.choice(team).stop()
            assert number <= when + 2 or team[0].lower_bound() == team[0].limit
        best = best_of(team)
        cost = limit if best is None else best.cost
        assert cost == team[0].limit
        assert given.problem.objective(team[0].lower_bound()) <= optimum <= given.problem.objective(cost)
        stopped += team[0].lower_bound() < team[0].limit
        assert (team[0].lower_bound() < cost) == any(one.open for one in team)
    assert stopped > 10


def test_saved_when_stopped(small_steps: None) -> None:
    """Both at once: what is saved is all that is open, with the trees that were on their way."""
    for seed in range(30):
        given = random_problem(seed + 170_000, least="0.02")
        team = team_of(given.problem, [1.0, 1.0, 1.0])
        for number in steps(team):
            if number == 4:
                team[0].save()
                team[2].stop()
        saved = [one.saved() for one in team]
        if not any(saved):
            continue
        best = best_of(team)
        following = team_of(given.problem, [1.0, 1.0], limit=team[0].limit if best is None else best.cost)
        limit = following[0].limit
        give(following, [record for part in saved if part is not None for record in part.records])
        run(following)
        check_proved(given.problem, following, given.optimum(), limit)


@pytest.mark.parametrize("unit", [1, 10**30])
def test_costs_of_any_length(unit: int, small_steps: None) -> None:
    """Weights that share no divisor make integers that are longer than a machine's."""
    for seed in range(15):
        rng = random.Random(seed)
        features = [[rng.randrange(2) for _ in range(4)] for _ in range(30)]
        labels = [(row[0] & row[1]) ^ (rng.random() < 0.2) for row in features]
        weights = [Fraction(unit + rng.randrange(unit), rng.choice([1, 7, 11])) for _ in range(30)]
        problem = Problem.from_arrays(features, labels, "0.02", sample_weight=weights)
        search = LeafSetSearch(problem)
        search.run(search.root(), Budget())
        assert (search.limit > 1 << 64) == (unit > 1)
        team = team_of(problem, [1.0, 1.0, 1.0])
        records = save_after(team, 3, team[1])
        if records is None:
            assert team[0].limit == search.limit
            continue
        best = best_of(team)
        following = team_of(problem, [1.0, 1.0], limit=None if best is None else best.cost)
        give(following, records)
        run(following)
        assert following[0].limit == following[0].lower_bound() == search.limit


@pytest.mark.parametrize("long", [1 << 100, 1 << 40])
def test_letters(long: int) -> None:
    header = Header(3, 1 << 200, -(1 << 70), 7, True, False)
    trees = lists_of([(2, 5), (9,), (1, 2, 4)])
    letter = Letter(header, np.array([1, 4]), lists_of([(), (1, -2)]), trees, 2, np.array([4, 1]), [long, -5])
    outlooks = np.array([long, *range(23)], object).reshape(2, 2, 2, 3)
    letter = letter._replace(shown=np.array([1, 4]), outlooks=outlooks)
    read = letters.decode(letters.encode(letter))
    assert read.header == header
    assert read.leaves.tolist() == [1, 4]
    assert list(read.paths.tuples()) == [(), (1, -2)]
    assert list(read.trees.tuples()) == [(2, 5), (9,), (1, 2, 4)]
    assert read.trees.starts.tolist() == [0, 2, 3]
    assert read.given == 2
    assert (read.known.tolist(), list(read.leasts)) == ([4, 1], [long, -5])
    assert (read.shown.tolist(), read.outlooks.tolist()) == ([1, 4], outlooks.tolist())
    assert list(read.trees.picked(np.array([2, 0])).tuples()) == [(1, 2, 4), (2, 5)]
    assert list(read.trees.picked(np.array([], int)).tuples()) == []
    given, others = read.trees.parted(read.given)
    assert (list(given.tuples()), list(others.tuples())) == ([(2, 5), (9,)], [(1, 2, 4)])
    nothing = Lists(np.zeros(0, int), np.zeros(0, int))
    bare = Letter(Header(0, 0, None, 0, False, True), nothing.items, nothing, nothing)
    assert letters.decode(letters.encode(bare)).header == bare.header
    told = letters.decode(letters.encode(bare._replace(known=np.array([3]), leasts=[7])))
    assert (told.known.tolist(), list(told.leasts), len(told.trees.sizes)) == ([3], [7], 0)
    assert len(letters.decode(letters.encode(bare)).trees.sizes) == 0


def test_other_formats_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = letters.encode_record(lists_of([()]), lists_of([(1,)]))
    monkeypatch.setattr(letters, "VERSION", 2)
    with pytest.raises(InputError, match="of format 1, and only 2"):
        letters.decode_record(content)


def test_arrays_grow() -> None:
    array = grown(np.array([1, 2, 3]), 4)
    assert array.tolist()[:4] == [1, 2, 3, 0]
    assert grown(array, 4) is array
