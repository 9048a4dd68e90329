"""Certificates that were changed, with a checksum that fits: whatever is accepted is true."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from certified import Case, case

from dosdt.certificate import to_bytes
from dosdt.checker.claims import Certificate, Fact, Node, shown
from dosdt.checker.reading import read_certificate
from dosdt.checker.verify import verify
from dosdt.classifier import DOSDTClassifier
from dosdt.errors import InputError

SEARCH = ("problem", "weights", "binarizer", "penalty", "bounds", "sketches", "subproblem", "bitvectors", "solver")


def parity(folder: Path, **options: Any) -> Case:
    """Return a problem whose proof needs many facts: mostly the label is the parity of four features."""
    rng = random.Random(0)
    features = [[rng.randrange(2) for _ in range(6)] for _ in range(200)]
    labels = [sum(row[:4]) % 2 if rng.random() < 0.65 else rng.randrange(2) for row in features]
    model = DOSDTClassifier(**({"regularization": "0.006"} | options))
    model.fit(features, labels, certificate=folder / "certificate")
    return Case(features, labels, None, options, model, folder / "certificate")


@pytest.fixture
def certified(tmp_path: Path) -> Case:
    found = parity(tmp_path)
    assert found.verdict()
    assert len(found.certificate.facts) > 20
    return found


def test_the_checker_shares_no_code_with_search_or_reduction() -> None:
    code = (
        "import sys, dosdt.checker.verify;"
        f"print([name for name in sys.modules for part in {SEARCH!r} if name.startswith('dosdt.' + part)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_dropping_a_fact(certified: Case) -> None:
    """What is left is numbered anew; only those that cited the fact have nothing to cite any more."""
    whole = certified.certificate
    for dropped in range(1, len(whole.facts) + 1):
        facts = []
        for number, fact in enumerate(whole.facts, 1):
            cites = [(side, cited - (cited > dropped)) for side, cited in fact.cites if cited != dropped]
            if number != dropped:
                facts.append(fact._replace(cites=tuple(cites)))
        citing = [n for n, fact in enumerate(whole.facts, 1) if dropped in [cited for _, cited in fact.cites]]
        verdict = certified.verdict(replace(whole, facts=tuple(facts)))
        assert not verdict
        if citing:
            assert verdict.message.startswith(f"refused: fact {citing[0] - 1} does not follow: split by 'x")
        else:
            assert verdict.message.startswith("refused: field 'lower_bound' does not follow")


def test_dropping_a_fact_without_numbering_anew(certified: Case) -> None:
    whole = certified.certificate
    for dropped in range(0, len(whole.facts), 3):
        assert not certified.verdict(replace(whole, facts=whole.facts[:dropped] + whole.facts[dropped + 1 :]))


def test_facts_that_nothing_rests_on_are_checked_too(certified: Case) -> None:
    """A fact that follows may be there twice or for nothing; one that does not is refused wherever it stands."""
    whole = certified.certificate
    assert certified.verdict(replace(whole, facts=(*whole.facts, whole.facts[3], whole.facts[-1])))
    assert certified.verdict(replace(whole, facts=(*whole.facts, Fact((1, 2), None, None, 0, ()))))
    useless = Fact((1, 2), None, None, 10**6, ())
    number = len(whole.facts) + 1
    message = certified.verdict(replace(whole, facts=(*whole.facts, useless))).message
    assert message.startswith(f"refused: fact {number} does not follow: ")


def test_raising_a_cited_bound(certified: Case) -> None:
    """A bound is refused from where it is more than follows, and that is where the fact itself is named."""
    whole = certified.certificate
    for place, fact in enumerate(whole.facts):
        facts = list(whole.facts)
        facts[place] = fact._replace(bound=fact.bound + 10**6)
        message = certified.verdict(replace(whole, facts=tuple(facts))).message
        assert message.startswith(f"refused: fact {place + 1} does not follow: as one leaf its rows cost")


def test_lowering_a_bound(certified: Case) -> None:
    """What cites the fact, or the conclusion, lacks what is taken away."""
    whole = certified.certificate
    for place, fact in enumerate(whole.facts):
        facts = list(whole.facts)
        facts[place] = fact._replace(bound=0)
        verdict = certified.verdict(replace(whole, facts=tuple(facts)))
        cited = any(number == place + 1 for other in whole.facts for _, number in other.cites)
        assert cited or place == len(facts) - 1
        assert not verdict


def test_citing_forward_and_in_a_circle(certified: Case) -> None:
    whole = certified.certificate
    place, fact = next((k, fact) for k, fact in enumerate(whole.facts) if fact.cites)
    side, _ = fact.cites[0]
    n = len(whole.facts)
    for cited in (place + 1, place + 2, n, n + 1, 10**9, 0, -1):
        facts = list(whole.facts)
        facts[place] = fact._replace(cites=((side, cited),))
        message = certified.verdict(replace(whole, facts=tuple(facts))).message
        assert message == (
            f"refused: fact {place + 1} does not follow: it cites fact {cited}, which is not an earlier one"
        )


def test_citing_another_fact(certified: Case) -> None:
    whole = certified.certificate
    last = whole.facts[-1]
    for (side, cited), other in zip(last.cites, reversed(range(1, len(whole.facts))), strict=False):
        if whole.facts[other - 1].path == whole.facts[cited - 1].path:
            continue
        swapped = last._replace(cites=tuple((s, other if s == side else c) for s, c in last.cites))
        message = certified.verdict(replace(whole, facts=(*whole.facts[:-1], swapped))).message
        assert message.endswith(f"it cites fact {other}, which is about other rows")


def test_other_data(certified: Case) -> None:
    features, labels = certified.features, certified.labels
    for row in (0, 50, 199):
        flipped = [[1 - value if r == row else value for value in values] for r, values in enumerate(features)]
        relabelled = [1 - label if r == row else label for r, label in enumerate(labels)]
        for X, y in ((flipped, labels), (features, relabelled), (features[1:], labels[1:])):
            message = verify(certified.path, X, y).message
            assert message == "refused: field 'fingerprint' is not that of these data: rows, labels or weights differ"
    assert verify(certified.path, features[::-1], labels[::-1])  # the order of rows says nothing
    assert not verify(certified.path, features, labels, [2] * len(labels))
    with pytest.raises(InputError, match="inconsistent numbers of rows"):
        verify(certified.path, features, labels[1:])


def test_other_data_with_their_own_fingerprint(certified: Case) -> None:
    """Then it is the objective or a fact that does not fit."""
    labels = [1 - label if row < 10 else label for row, label in enumerate(certified.labels)]
    path = certified.path.with_suffix(".other")
    other = DOSDTClassifier("0.006").fit(certified.features, labels, certificate=path)
    forged = replace(certified.certificate, fingerprint=read_certificate(path.read_bytes()).fingerprint)
    certified.path.write_bytes(to_bytes(forged))
    assert verify(certified.path, certified.features, labels).message.startswith("refused: field 'objective' is ")
    better = replace(forged, objective=other.objective_, lower_bound=other.objective_, tree=_tree(other))
    certified.path.write_bytes(to_bytes(better))
    assert not verify(certified.path, certified.features, labels)


def _tree(model: DOSDTClassifier) -> tuple[Node, ...]:
    nodes = []
    for node in model.tree_.nodes:
        if hasattr(node, "rule"):
            nodes.append(Node(int(node.rule.column[1:]) + 1, node.yes, node.no, 0))
        else:
            nodes.append(Node(0, 0, 0, node.label))
    return tuple(nodes)


CHANGES: dict[str, Callable[[Certificate], Certificate]] = {
    "another λ": lambda c: replace(c, regularization=c.regularization * Fraction(99, 100)),
    "another λ, objective and all": lambda c: _reprice(c, Fraction(99, 100)),
    "a larger λ, objective and all": lambda c: _reprice(c, Fraction(3, 2)),
    "no features but one": lambda c: replace(c, features=c.features[:1]),
    "one feature less": lambda c: replace(c, features=c.features[:-1]),
    "class weights": lambda c: replace(c, class_weight=(Fraction(1), Fraction(2))),
    "no class weights": lambda c: replace(c, class_weight=(Fraction(0), Fraction(0))),
    "costs": lambda c: replace(c, cost_matrix=((Fraction(0), Fraction(2)), (Fraction(1), Fraction(0)))),
    "free costs": lambda c: replace(c, cost_matrix=((Fraction(0),) * 2,) * 2),
    "a unit too large": lambda c: replace(c, unit=Fraction(7)),
    "a dearer leaf in the facts": lambda c: replace(c, penalty=c.penalty * 2),
    "another objective": lambda c: replace(c, objective=c.objective - Fraction(1, 10**9)),
    "a bound above the objective": lambda c: replace(c, lower_bound=c.objective + Fraction(1, 10**9)),
    "optimal without a bound": lambda c: replace(c, lower_bound=c.objective - Fraction(1, 10**9)),
    "another label": lambda c: replace(
        c, tree=tuple(n if n.feature else n._replace(label=1 - n.label) for n in c.tree)
    ),
    "a single leaf": lambda c: replace(c, tree=(Node(0, 0, 0, 0),)),
    "no tree": lambda c: replace(c, tree=()),
    "a tree in a circle": lambda c: replace(c, tree=(c.tree[0]._replace(yes=1, no=1), *c.tree[1:])),
    "nodes that hang in the air": lambda c: replace(c, tree=(*c.tree, Node(0, 0, 0, 0))),
    "classes the other way round": lambda c: replace(c, classes=c.classes[::-1]),
    "other classes": lambda c: replace(c, classes=(5, 6)),
    "no facts": lambda c: replace(c, facts=()),
    "columns that are not there": lambda c: replace(c, columns=(*c.columns, "more"), kinds=(*c.kinds, "int")),
}


def _reprice(c: Certificate, factor: Fraction) -> Certificate:
    leaves = sum(not node.feature for node in c.tree)
    objective = c.objective + (factor - 1) * c.regularization * leaves
    return replace(c, regularization=factor * c.regularization, objective=objective, lower_bound=objective)


@pytest.mark.parametrize("change", CHANGES)
def test_another_problem_or_claim(change: str, certified: Case) -> None:
    verdict = certified.verdict(CHANGES[change](certified.certificate))
    assert not verdict
    assert verdict.message.startswith("refused: field '")
    assert "\n" not in verdict.message


@pytest.mark.parametrize(
    ("option", "field", "tight", "loose"),
    [
        ("max_depth", "max_depth", 2, [3, 4, None]),
        ("max_leaves", "max_leaves", 4, [6, 8, None]),
        ("min_support", "min_support", 30, [Fraction(20), Fraction(1), Fraction(0)]),
    ],
)
def test_loosened_limits(option: str, field: str, tight: int, loose: list[Any], tmp_path: Path) -> None:
    found = parity(tmp_path, **{option: tight})
    whole = found.certificate
    assert found.verdict()
    for value in loose:
        changed = replace(whole, **{field: value})
        assert found.optimum(changed) < whole.objective
        assert not found.verdict(changed)


def test_a_part_of_the_rows_says_nothing_of_the_whole(tmp_path: Path) -> None:
    """With a minimum support few rows may cost more than all: they must not be split."""
    kinds = [(1, 0, 4), (1, 1, 4), (0, 0, 20), (0, 1, 20)]
    features = [[a, b] for a, b, times in kinds for _ in range(times)]
    labels = [b for _, b in features]
    model = DOSDTClassifier("0.01", min_support=10).fit(features, labels, certificate=tmp_path / "certificate")
    found = Case(features, labels, None, {}, model, tmp_path / "certificate")
    whole = found.certificate
    few = Fact((1,), None, None, whole.penalty.denominator * 4 + whole.penalty.numerator, ())
    assert found.verdict(replace(whole, facts=(few, *whole.facts)))  # it is true
    single = Fraction(24, 48) + whole.regularization
    claimed = replace(whole, tree=(Node(0, 0, 0, 0),), objective=single, status="time_limit", facts=(few,))
    assert found.verdict(replace(claimed, lower_bound=whole.objective))
    too_much = Fraction(4, 48) + whole.regularization
    assert too_much > whole.objective
    assert "'lower_bound' does not follow" in found.verdict(replace(claimed, lower_bound=too_much)).message


def test_costs_must_be_whole_units(certified: Case) -> None:
    whole = certified.certificate
    message = certified.verdict(replace(whole, unit=whole.unit * 2)).message
    assert message == "refused: field 'unit' does not divide the costs of all rows"


def test_limits_that_the_tree_breaks(tmp_path: Path) -> None:
    found = parity(tmp_path)
    whole = found.certificate
    assert "more than max_depth" in found.verdict(replace(whole, max_depth=3)).message
    assert "more than max_leaves" in found.verdict(replace(whole, max_leaves=14)).message
    assert "less weight than min_support" in found.verdict(replace(whole, min_support=Fraction(199))).message


def mutated(certificate: Certificate, rng: random.Random) -> Certificate:
    """Return a certificate with one thing changed that may well matter."""
    c, m = certificate, len(certificate.features)
    kind = rng.choice(["fact"] * 6 + ["penalty", "λ", "depth", "leaves", "support", "weights", "costs", "unit"])
    if kind == "fact" and c.facts:
        place = rng.randrange(len(c.facts))
        fact = c.facts[place]
        side = rng.choice([-1, 1]) * rng.randint(1, m)
        change: dict[str, Any] = rng.choice(
            [
                {"bound": max(0, fact.bound + rng.choice([-2, -1, 1, 2, c.penalty.numerator]))},
                {"path": (*fact.path, side)[:m]},
                {"path": fact.path[:-1]},
                {"depth": rng.choice([None, 1, 2, 3])},
                {"leaves": rng.choice([None, 2, 3, 4])},
                {"cites": fact.cites[:-1]},
                {"cites": tuple((-s, cited) for s, cited in fact.cites)},
                {"cites": (*fact.cites, (side, rng.randint(1, max(1, place))))},
            ]
        )
        return replace(c, facts=(*c.facts[:place], fact._replace(**change), *c.facts[place + 1 :]))
    return {
        "penalty": lambda: replace(c, penalty=c.penalty + Fraction(rng.choice([-1, 1, 3]), rng.choice([1, 2, 50]))),
        "λ": lambda: _reprice(c, Fraction(rng.randint(0, 30), 10)),
        "depth": lambda: replace(c, max_depth=rng.choice([None, 1, 2, 3, 4])),
        "leaves": lambda: replace(c, max_leaves=rng.choice([None, 2, 3, 4, 5, 8])),
        "support": lambda: replace(c, min_support=Fraction(rng.randint(0, 12), 2)),
        "weights": lambda: replace(c, class_weight=tuple(Fraction(rng.randint(1, 3)) for _ in c.classes)),
        "costs": lambda: replace(c, cost_matrix=tuple(tuple(map(abs, row)) for row in c.cost_matrix[::-1])),
        "unit": lambda: replace(c, unit=c.unit / rng.choice([2, 3])),
        "fact": lambda: c,
    }[kind]()


@pytest.mark.parametrize("start", range(0, 120, 30))
def test_whatever_is_accepted_is_true(start: int, tmp_path: Path) -> None:
    accepted = refused = 0
    for seed in range(start, start + 30):
        found = case(seed + 3000, tmp_path)
        whole = found.certificate
        rng = random.Random(seed)
        for _ in range(12):
            changed = mutated(whole, rng)
            if changed.penalty < 0:
                continue
            # The objective of the tree under changed prices is a claim of its own; let it be right.
            verdict = found.verdict(changed)
            if (start_of := verdict.message.rpartition("but the tree's is ")[2]) != verdict.message:
                objective = Fraction(start_of)
                changed = replace(changed, objective=objective, lower_bound=objective, status="optimal")
                verdict = found.verdict(changed)
            if verdict:
                accepted += 1
                assert verdict.lower_bound <= found.optimum(changed) <= verdict.objective, (seed, changed)
            else:
                refused += 1
                assert verdict.message.startswith("refused: ")
    assert accepted > 30
    assert refused > 50


def test_fractions_too_long_to_print() -> None:
    assert shown(Fraction(1, 3)) == "1/3"
    assert shown(Fraction(10**5000 + 1, 3 * 10**5000)) == "a number of 16612 bits"


def test_a_certificate_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read certificate .*: No such file"):
        verify(tmp_path / "none", [[0], [1]], [0, 1])


def test_what_is_not_data_gets_one_line(tmp_path: Path) -> None:
    found = case(3, tmp_path)
    n = len(found.labels)
    for features, labels, weights in (
        (found.features, None, None),
        (found.features, 7, None),
        (found.features[:-1], found.labels, [0] + [1] * (n - 1)),
        ([*found.features, found.features[0]], found.labels, [0] + [1] * (n - 1)),
    ):
        with pytest.raises(InputError):
            verify(found.path, features, labels, weights)
    for path in (None, 5, b"certificate"):
        with pytest.raises(InputError, match="path"):
            verify(path, found.features, found.labels)  # type: ignore[arg-type]
