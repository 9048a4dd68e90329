"""BinOCT, and the paper's regularised BinOCT, as mixed-integer programs for HiGHS.

The program is that of the paper's supplement. With features of 0 and 1 there is one threshold each, so the
constraints over ranges of thresholds are empty and what is left of them is the last kind: a row does not go where the
answer to the chosen question does not lead. Equal rows take the same way in every tree, so they are one row here,
with a weight; that gives HiGHS a far smaller program with the same solutions.

Errors are counts in the program, so a leaf costs λ times the number of rows. The root always asks a question: a
single leaf is not among the trees of this program, unless all rows agree on some feature.

    f[n, j]  binary      node n asks feature j
    p[l, c]  binary      leaf l predicts class c
    α[l]     binary      some row reaches leaf l (only with a penalty)
    x[r, l]  continuous  row r reaches leaf l
    e[l, c]  continuous  weight of the rows of class c that leaf l gets wrong

Nodes are numbered like a heap, 1 to 2^K - 1, and leaves 0 to 2^K - 1 from left to right; left is the answer no.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.data import Data

STATUSES = {"kOptimal": "optimal", "kTimeLimit": "time_limit", "kMemoryLimit": "memory_limit"}


@dataclass
class Program:
    """A mixed-integer program that grows row by row."""

    costs: list[float] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    indices: list[Any] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    entries: int = 0

    def variables(self, shape: tuple[int, ...], *, cost: float = 0.0, integer: bool = False) -> Any:
        """Add variables, and return their numbers in this shape; none is negative."""
        count = int(np.prod(shape))
        numbers = np.arange(len(self.costs), len(self.costs) + count).reshape(shape)
        self.costs += [cost] * count
        self.integer += [integer] * count
        return numbers

    def constrain(self, variables: Any, coefficients: Any, lower: float, upper: float) -> None:
        """Add lower <= coefficients · variables <= upper."""
        self.starts.append(self.entries)
        self.indices.append(np.ravel(variables))
        self.values.append(np.broadcast_to(np.asarray(coefficients, float), np.shape(variables)).ravel())
        self.entries += np.size(variables)
        self.lower.append(lower)
        self.upper.append(upper)


@dataclass(frozen=True)
class Solved:
    """What HiGHS found.

    `nodes` is None if it found no tree in time; `objective` and `bound` are its own floats, in errors plus
    λ·N·leaves; `trace` has (seconds, objective, bound) whenever one of the two became better.
    """

    status: str
    nodes: list[list[int]] | None
    objective: float | None
    bound: float
    seconds: float
    trace: list[tuple[float, float, float]]


def solve(data: Data, depth: int, regularization: Fraction | None, seconds: float, *, threads: int = 0) -> Solved:
    """Find the best tree of this depth: complete, or with a penalty for every leaf that a row reaches."""
    import highspy

    program, chosen, predicted = formulate(data, depth, regularization)
    highs = highspy.Highs()
    highs.silent()
    for option, value in (("time_limit", float(seconds)), ("mip_rel_gap", 0.0), ("threads", threads)):
        highs.setOptionValue(option, value)
    highs.passModel(_model(program))
    trace: list[tuple[float, float, float]] = []
    start = time.perf_counter()

    def record(event: Any) -> None:
        primal, dual = event.data_out.mip_primal_bound, event.data_out.mip_dual_bound
        if not trace or (primal, dual) != trace[-1][1:]:
            trace.append((time.perf_counter() - start, primal, dual))

    for callback in (highs.cbMipImprovingSolution, highs.cbMipLogging, highs.cbMipInterrupt):
        callback.subscribe(record)
    highs.run()
    taken = time.perf_counter() - start
    information = highs.getInfo()
    status = STATUSES.get(highs.getModelStatus().name, highs.getModelStatus().name)
    nodes = objective = None
    if information.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        values = np.array(highs.getSolution().col_value)
        objective = information.objective_function_value
        nodes = _tree(values[chosen].argmax(axis=1), values[predicted].argmax(axis=1))
        if regularization is not None:
            nodes = without_empty_leaves(nodes, data)
    bound = information.mip_dual_bound
    if objective is not None:
        trace.append((taken, objective, bound))
    return Solved(status, nodes, objective, bound, taken, trace)


def formulate(data: Data, depth: int, regularization: Fraction | None) -> tuple[Program, Any, Any]:
    """Return the program and the numbers of the variables f and p."""
    rows, inverse = np.unique(data.features, axis=0, return_inverse=True)
    n_classes = len(data.classes)
    weights = np.zeros((len(rows), n_classes))
    np.add.at(weights, (inverse.ravel(), data.labels), 1)
    total, (n_rows, n_features), n_leaves = len(data.labels), rows.shape, 2**depth
    program = Program()
    f = program.variables((n_leaves - 1, n_features), integer=True)
    p = program.variables((n_leaves, n_classes), integer=True)
    e = program.variables((n_leaves, n_classes), cost=1.0)
    x = program.variables((n_rows, n_leaves))
    for variables in (f, p, x):  # every node asks one feature, a leaf has one label, a row reaches one leaf
        for group in variables:
            program.constrain(group, 1.0, 1.0, 1.0)
    for node in range(1, n_leaves):
        left, right = leaves_below(2 * node, depth), leaves_below(2 * node + 1, depth)
        for feature in range(n_features):
            yes = rows[:, feature]
            strays = np.concatenate([x[yes][:, left].ravel(), x[~yes][:, right].ravel()])
            counts = np.repeat(weights.sum(axis=1)[np.r_[np.flatnonzero(yes), np.flatnonzero(~yes)]], len(left))
            program.constrain(np.append(strays, f[node - 1, feature]), np.append(counts, total), -np.inf, total)
    for leaf in range(n_leaves):
        for c in range(n_classes):
            own = np.append(x[:, leaf], [p[leaf, c], e[leaf, c]])
            big = weights[:, c].sum()
            program.constrain(own, np.append(weights[:, c], [-big, -1.0]), -np.inf, 0.0)
    if regularization is not None:
        alpha = program.variables((n_leaves,), cost=float(regularization * total), integer=True)
        for leaf in range(n_leaves):
            own = np.append(x[:, leaf], alpha[leaf])
            program.constrain(own, np.append(weights.sum(axis=1), -total), -np.inf, 0.0)
    return program, f, p


def leaves_below(node: int, depth: int) -> list[int]:
    """Return the leaves under a node of the heap; leaf l is node 2^K + l."""
    first = last = node
    while first < 2**depth:
        first, last = 2 * first, 2 * last + 1
    return list(range(first - 2**depth, last - 2**depth + 1))


def without_empty_leaves(nodes: list[list[int]], data: Data) -> list[list[int]]:
    """Return the tree without the splits that send all rows the same way."""
    answer: list[list[int]] = []

    def build(number: int, mask: Any) -> int:
        feature, yes, no, label = nodes[number]
        if feature >= 0:
            answers = data.features[:, feature]
            if not (mask & answers).any():
                return build(no, mask)
            if not (mask & ~answers).any():
                return build(yes, mask)
        place = len(answer)
        answer.append([feature, yes, no, label])
        if feature >= 0:
            answer[place][1] = build(yes, mask & answers)
            answer[place][2] = build(no, mask & ~answers)
        return place

    build(0, np.ones(len(data.labels), bool))
    return answer


def _tree(chosen: Any, predicted: Any) -> list[list[int]]:
    # Node n of the heap is at place n - 1, so children are after their parents.
    inner = [[int(feature), 2 * n, 2 * n - 1, -1] for n, feature in enumerate(chosen, start=1)]
    outer = [[-1, -1, -1, int(label)] for label in predicted]
    return inner + outer


def _model(program: Program) -> Any:
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(program.costs), len(program.lower)
    integer = np.array(program.integer)
    lp.col_cost_ = np.array(program.costs)
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.where(integer, 1.0, highspy.kHighsInf)
    lp.row_lower_ = np.maximum(program.lower, -highspy.kHighsInf)
    lp.row_upper_ = np.array(program.upper)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.array([*program.starts, program.entries], np.int32)
    lp.a_matrix_.index_ = np.concatenate(program.indices).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate(program.values)
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[whole] for whole in program.integer]
    return lp
