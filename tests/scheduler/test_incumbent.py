"""The incumbent only ever gets better."""

from __future__ import annotations

from dosdt.contract import Sketch, Solution, leaf_node
from dosdt.scheduler.incumbent import Incumbent


def tree(cost: int, label: int = 0) -> Solution:
    return Solution(cost, Sketch((leaf_node(label),)))


def test_takes_what_is_better_and_nothing_else() -> None:
    incumbent = Incumbent(tree(10))
    assert not incumbent.offer(None)
    assert not incumbent.offer(tree(11))
    assert not incumbent.offer(tree(10, label=1))  # the first of equals stays, so that runs can be repeated
    assert incumbent.solution == tree(10)
    assert incumbent.offer(tree(9, label=1))
    assert (incumbent.cost, incumbent.solution) == (9, tree(9, label=1))
    assert not incumbent.offer(tree(9))
    assert incumbent.solution == tree(9, label=1)


def test_costs_of_any_size() -> None:
    incumbent = Incumbent(tree(10**40 + 1))
    assert incumbent.offer(tree(10**40))
    assert not incumbent.offer(tree(10**40))
