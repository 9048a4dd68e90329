"""The published method, with its errors and without."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest
from exhaustive import optimum

from benchmarks import mistakes
from benchmarks.published import RULES, Published, cart_start


def test_corrected_it_finds_the_optimum() -> None:
    rng = random.Random(5)
    for _ in range(60):
        width = rng.randint(1, 3)
        rows = [
            (tuple(rng.randint(0, 1) for _ in range(width)), rng.randint(0, 1)) for _ in range(rng.randint(2, 10))
        ]
        rows.append((rows[0][0], 1 - rows[0][1]))  # both labels, and equal rows that differ
        regularization = Fraction(rng.randint(2, 40), 100)
        found = Published(rows, regularization, start=cart_start(rows, regularization)).solve()
        truth = optimum([given for given, _ in rows], [label for _, label in rows], regularization)
        assert found.objective == truth


@pytest.mark.parametrize("rule", RULES)
def test_each_error_certifies_a_worse_tree(rule: str) -> None:
    example = mistakes.small(rule)
    rows, text = mistakes.SMALL[rule]
    truth = optimum([given for given, _ in rows], [label for _, label in rows], Fraction(text))
    assert example.optimum.objective == truth == example.corrected.objective < example.certified.objective
    assert example.holds


def test_a_penalty_on_counts_makes_trees_too_large() -> None:
    example = mistakes.penalty_of_binoct()
    assert example.holds
    assert (example.certified.leaves, example.optimum.leaves) == (3, 2)


def test_tic_tac_toe_at_five_percent() -> None:
    example = mistakes.tic_tac_toe()
    assert example.holds
    assert (example.certified.leaves, example.optimum.leaves) == (2, 1)
    assert example.optimum.objective == Fraction(3799, 9580)
    assert f"{float(example.certified.objective):.4f}" == "0.4006"


def test_the_script_says_how_often(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mistakes.main(["--results", str(tmp_path), "--random", "12"]) == 0
    out = capsys.readouterr().out
    assert "| corrected | 0 | 0 |" in out
    assert "of 12 random data sets" in out
