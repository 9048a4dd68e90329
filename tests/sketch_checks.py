"""Trees over binary features, made at random and checked row by row, apart from the package."""

from __future__ import annotations

import random
from fractions import Fraction

from dosdt.contract import Constraints, Sketch, SketchNode, leaf_node, split_node
from dosdt.limits import Status
from dosdt.problem import Problem
from dosdt.solver import Answer


def random_sketch(rng: random.Random, problem: Problem, n_splits: int) -> Sketch:
    """Return a tree with splits that may say nothing, as no search would make them."""
    nodes: list[SketchNode] = [leaf_node(rng.randrange(len(problem.classes)))]
    open_leaves = [0]
    for _ in range(n_splits):
        at = open_leaves.pop(rng.randrange(len(open_leaves)))
        nodes[at] = split_node(rng.randrange(problem.n_columns), len(nodes), len(nodes) + 1)
        open_leaves += [len(nodes), len(nodes) + 1]
        nodes += [leaf_node(rng.randrange(len(problem.classes))) for _ in range(2)]
    return Sketch(tuple(nodes))


def leaf_of(sketch: Sketch, values: list[bool]) -> int:
    """Return the place of the leaf that one row ends in."""
    place = 0
    while sketch.nodes[place].feature >= 0:
        node = sketch.nodes[place]
        place = node.yes if values[node.feature] else node.no
    return place


def cost_of(problem: Problem, sketch: Sketch) -> int:
    """Return ``b·errors + a·leaves``."""
    errors = 0
    for row, values in enumerate(problem.features.tolist()):
        errors += problem.cost[sketch.nodes[leaf_of(sketch, values)].label][row]
    leaves = sum(node.feature < 0 for node in sketch.nodes)
    return problem.b * errors + problem.a * leaves


def depth_of(sketch: Sketch) -> int:
    """Return the most questions on a path."""
    depths = [0] * len(sketch.nodes)
    for place, node in enumerate(sketch.nodes):
        if node.feature >= 0:
            assert place < node.yes < len(depths)
            assert place < node.no < len(depths)
            depths[node.yes] = depths[node.no] = depths[place] + 1
    return max(depths)


def keeps(problem: Problem, sketch: Sketch, constraints: Constraints) -> bool:
    """Return whether a tree keeps to the constraints; a single leaf may weigh as little as it likes."""
    weight = dict.fromkeys((place for place, node in enumerate(sketch.nodes) if node.feature < 0), 0)
    for row, values in enumerate(problem.features.tolist()):
        weight[leaf_of(sketch, values)] += problem.weight[row]
    return (
        (constraints.max_depth is None or depth_of(sketch) <= constraints.max_depth)
        and (constraints.max_leaves is None or len(weight) <= constraints.max_leaves)
        and (len(weight) == 1 or min(weight.values()) >= constraints.min_support)
    )


def check_optimal(
    problem: Problem, answer: Answer, optimum: Fraction, constraints: Constraints | None = None
) -> None:
    """The answer is proved optimal, and its tree really costs what it says and keeps to the constraints."""
    assert answer.status is Status.OPTIMAL
    assert answer.objective == answer.lower_bound == optimum
    assert problem.objective(cost_of(problem, answer.sketch)) == optimum
    assert keeps(problem, answer.sketch, constraints or Constraints())
