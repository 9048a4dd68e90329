"""When a team is called off, by a clock of our own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dosdt.scheduler.settings import Settings
from dosdt.scheduler.vigil import Vigil

SETTINGS = Settings(2, save_seconds=10.0, patience=8.0, answer_within=4.0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Team:
    """A team that is told what to say."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.silent_since: float | None = None
        self.stopping_since: float | None = None
        self.saves = 0
        self.shards_lost = self.others = False
        self.deaf: list[int] = []
        self.times: list[float] | None = [1.0, 1.0]
        self.seconds_to_save = 0.0
        self.done: list[str] = []

    @property
    def heard(self) -> float:
        return self._clock.now if self.silent_since is None else self.silent_since

    def mend(self) -> bool:
        lost, self.shards_lost = self.shards_lost, False
        return lost

    def ask(self) -> None:
        self.done.append("ask")

    def silent(self) -> Sequence[int]:
        return self.deaf

    def let_go(self, member: int) -> None:
        self.done.append(f"let {member} go")

    def save(self) -> None:
        self.done.append("save")

    def saving(self) -> float:
        return self.done.count("save") * self.seconds_to_save

    def others_have_come(self) -> bool:
        return self.others

    def busy(self) -> Sequence[float] | None:
        return self.times

    def share_out(self, busy: Sequence[float]) -> None:
        self.done.append("share out")


class Watch:
    """Lets time pass, and looks four times a second."""

    def __init__(self, *, certify: bool = False) -> None:
        self.clock = Clock()
        self.team = Team(self.clock)
        self.vigil = Vigil(SETTINGS, certify, self.clock)
        self.vigil.begin(1)

    def wants_another_within(self, seconds: float) -> bool:
        until = self.clock.now + seconds
        while self.clock.now < until:
            self.clock.now += 0.25
            if self.vigil.wants_another_team(self.team):
                return True
        return False


@pytest.fixture
def watch() -> Watch:
    return Watch()


def test_a_team_that_works_is_left_alone_and_saves(watch: Watch) -> None:
    assert not watch.wants_another_within(35)
    assert watch.team.done == ["save"] * 3


def test_who_takes_long_to_save_saves_less_often(watch: Watch) -> None:
    watch.team.seconds_to_save = 1.0
    for seconds, saves in ((49, 1), (49, 2), (49, 3)):
        assert not watch.wants_another_within(seconds)
        assert watch.team.done == ["save"] * saves
        watch.wants_another_within(1)


def test_who_does_not_answer_is_let_go(watch: Watch) -> None:
    watch.team.silent_since, watch.team.deaf = watch.clock.now, [1]
    assert not watch.wants_another_within(8)
    assert watch.team.done == []
    assert watch.wants_another_within(6)
    assert watch.team.done == ["ask", "save", "let 1 go"]


def test_the_next_one_gets_more_time(watch: Watch) -> None:
    """On a busy machine all are slow, and a team of which one is always let go would never come to an end."""
    watch.team.silent_since, watch.team.deaf = watch.clock.now, [1]
    assert watch.wants_another_within(14)
    watch.vigil.begin(2)
    watch.team.done.clear()
    watch.team.silent_since = watch.clock.now
    assert not watch.wants_another_within(16)
    assert "ask" not in watch.team.done
    assert not watch.wants_another_within(8)
    assert "ask" in watch.team.done
    assert watch.wants_another_within(2)
    assert "let 1 go" in watch.team.done


def test_who_answers_may_take_longer_but_not_for_ever(watch: Watch) -> None:
    """First patience is doubled; then a letter must have been lost."""
    watch.team.silent_since = watch.clock.now
    assert not watch.wants_another_within(15)
    assert watch.team.done.count("ask") == 1
    assert watch.wants_another_within(4)
    assert watch.team.done.count("ask") == 2
    assert not any(word.startswith("let") for word in watch.team.done)


def test_patience_outlives_the_team(watch: Watch) -> None:
    watch.team.silent_since = watch.clock.now
    assert watch.wants_another_within(20)
    watch.vigil.begin(2)
    watch.team.done.clear()
    watch.team.silent_since = watch.clock.now
    assert not watch.wants_another_within(15)
    assert "ask" not in watch.team.done


def test_those_who_come_are_taken_in_when_all_is_saved(watch: Watch) -> None:
    assert not watch.wants_another_within(4)
    watch.team.others = True
    assert not watch.wants_another_within(3)
    assert watch.team.done == ["save"], "asked for once"
    watch.team.saves += 1
    assert watch.wants_another_within(1)


def test_the_next_time_it_takes_longer(watch: Watch) -> None:
    """A team is worth its beginning, so it does not change with everyone who comes."""
    watch.vigil.begin(3)
    watch.team.others = True
    assert not watch.wants_another_within(8.5)
    assert watch.team.done == []
    assert not watch.wants_another_within(1)
    assert watch.team.done == ["save"]


def test_uneven_work_is_shared_out_anew(watch: Watch) -> None:
    watch.team.times = [1.0, 3.0]
    assert not watch.wants_another_within(14)
    assert "share out" not in watch.team.done
    assert not watch.wants_another_within(3)
    assert watch.team.done.count("share out") == 1
    watch.team.saves += 1
    assert watch.wants_another_within(1)


@pytest.mark.parametrize("times", [None, [1.0], [1.0, 1.5]])
def test_what_is_not_known_or_even_enough_changes_nothing(watch: Watch, times: list[float] | None) -> None:
    watch.team.times = times
    assert not watch.wants_another_within(35)
    assert "share out" not in watch.team.done


@pytest.mark.parametrize("certify", [True, False])
def test_a_lost_shard_matters_to_a_certificate(certify: bool) -> None:
    watch = Watch(certify=certify)
    watch.team.shards_lost = True
    assert watch.wants_another_within(1) is certify


def test_nobody_waits_long_for_a_stop(watch: Watch) -> None:
    watch.team.stopping_since = watch.clock.now
    assert not watch.wants_another_within(4)
    assert watch.wants_another_within(1)
