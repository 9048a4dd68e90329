"""The graph of subsets: whatever was counted so far, all bounds hold, and trees are what they are said to be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from everything import Everything, Rows

from dosdt.bitvectors import unpack
from dosdt.contract import Budget, Constraints
from dosdt.penalty import Prices
from dosdt.problem import Problem
from dosdt.sketches import prune
from dosdt.subproblem.graph import Graph
from dosdt.subproblem.rebuild import best_tree
from dosdt.subproblem.search import SubproblemSearch
from dosdt.subproblem.waves import descend, dive


def stopped(n: int) -> Iterator[tuple[Everything, SubproblemSearch]]:
    """Yield searches at some moment of their work."""
    for seed in range(n):
        rng = np.random.default_rng(seed)
        features = rng.random((40, 6)) < rng.choice([0.3, 0.5])
        problem = Problem.from_arrays(features, rng.integers(0, rng.integers(2, 4), 40), "0.005")
        assert Prices(problem).same
        search = SubproblemSearch(problem)
        search.run(search.root(), Budget(expansions=int(rng.integers(1, 30))))
        yield Everything(problem), search


def rows_of(graph: Graph, node: int, known: Everything) -> Rows:
    return frozenset(np.flatnonzero(unpack(graph.subset(node).rows, known.problem.n_rows)).tolist())


def test_bounds_hold_at_any_moment() -> None:
    checked = 0
    for known, search in stopped(60):
        graph = search._graph
        for node in range(len(graph)):
            rows = rows_of(graph, node, known)
            value = known.best(rows)[0] - known.floor(rows)
            assert graph.lower[node] <= value <= graph.upper[node]
            assert graph.leaf[node] == known.loss(rows) - known.floor(rows) + known.a
            checked += 1
    assert checked > 500


def test_a_path_leads_to_each_node() -> None:
    for _, search in stopped(20):
        graph = search._graph
        for node in range(len(graph)):
            assert search._subsets.rows_at(graph.path(node)) == graph.subset(node).rows


def test_upper_bounds_are_those_of_trees() -> None:
    for known, search in stopped(50):
        sketch = best_tree(search._graph, 0, search._subsets, search._counter)
        cost = prune(known.problem, sketch, Constraints()).cost
        assert cost - known.floor(known.root) <= search._graph.upper[0]


def test_forgetting_keeps_what_the_parents_know() -> None:
    forgotten = 0
    for known, search in stopped(50):
        graph = search._graph
        before = {graph.subset(node).rows: graph.lower[node] for node in range(len(graph))}
        lowers = {graph.subset(node).rows: graph.lowers[node].copy() for node in range(len(graph))}
        forgotten += graph.forget(np.array([0]))
        for node in range(len(graph)):
            rows = graph.subset(node).rows
            assert graph.lower[node] == before[rows]
            assert np.array_equal(graph.lowers[node], lowers[rows])
            assert graph.find(graph.index.batch([node])) == node
            assert search._subsets.rows_at(graph.path(node)) == rows
            for kid in graph.kids[node][graph.kids[node] >= 0].tolist():
                assert rows_of(graph, kid, known) < rows_of(graph, node, known)
        search.run(search.root(), Budget())
        assert search.best.cost == known.best(known.root)[0]
    assert forgotten > 50


def test_a_wave_wants_children_of_candidates_only_and_each_once() -> None:
    wanted = 0
    for _, search in stopped(50):
        graph = search._graph
        limit = int(graph.upper[0])
        for wave in (descend(graph, 0, limit), dive(graph, 0)):
            places = list(zip(*(part.tolist() for part in wave.wanted), strict=True))
            assert len(set(places)) == len(places)
            for node, share, side in places:
                assert graph.kids[node, share, side] < 0
                assert graph.lowers[node, share, side] < graph.uppers[node, share, side]
            wanted += len(places)
        if graph.lower[0] < limit:
            assert any(map(len, wave.levels))
    assert wanted > 100


def test_shares_of_the_leaves_add_up() -> None:
    graph = Graph(1, 1, 3, np.int64, 10**6, None)
    bounds = np.array([[[10, 100], [20, 200], [30, 300]]])
    # With four leaves the yes side may have one, two or three, and the no side the rest.
    assert graph.candidates(bounds, np.array([4]))[0, :, 0].tolist() == [310, 220, 130]
    two = graph.candidates(bounds, np.array([2]))[0, :, 0]
    assert two[0] == 110
    assert (two[1:] > 110).all()
