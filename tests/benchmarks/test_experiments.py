"""Every experiment in miniature, on generated data and with real baselines."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from exhaustive import optimum

from benchmarks import __main__ as everything
from benchmarks import (
    ablation,
    accuracy,
    crossvalidation,
    depths,
    policies,
    scalability,
    searchspace,
    studies,
    traces,
    trees,
)
from benchmarks.data import load
from benchmarks.results import smaller
from dosdt.errors import InputError
from dosdt.solver import SWITCHES


def run(main: Callable[[list[str]], int], results: Path, *arguments: str) -> list[dict[str, Any]]:
    """Run an experiment, look at what it leaves behind, and return its records."""
    assert main([*arguments, "--results", str(results), "--time-limit", "20"]) == 0
    name = main.__module__.removeprefix("benchmarks.")
    document = json.loads((results / f"{name}.json").read_text(), parse_constant=pytest.fail)  # no NaN, no Infinity
    assert "cores" in document["machine"]
    assert document["versions"]["dosdt"] != "not installed"
    page = (results / f"{name}.md").read_text()
    assert page.startswith(f"# {document['title']}")
    for figure in [part.partition(")")[0] for part in page.split("](")[1:]]:
        for suffix in (".svg", ".png"):
            assert (results / figure).with_suffix(suffix).stat().st_size > 1000
    records: list[dict[str, Any]] = document["records"]
    return records


def truth(regularization: str, **limits: int) -> Fraction:
    data = load({"data": "gate"})[0]
    return optimum(data.features.astype(int).tolist(), data.labels.tolist(), Fraction(regularization), **limits)


def test_accuracy(tables: Path) -> None:
    own, greedy, best, program = run(accuracy.main, tables, "gate", "--regularization", "0.05", "--depths", "2")
    assert Fraction(own["objective"]) == truth("0.05")
    assert Fraction(greedy["objective"]) >= truth("0.05")
    assert program["method"] == "BinOCT"
    assert program["proved"]
    assert Fraction(program["errors"], 25) == Fraction(best["errors"], 25) == truth("0", max_depth=2)


def test_traces(tables: Path) -> None:
    records = run(traces.main, tables, "gate=0.04")
    assert [record["method"] for record in records] == [
        "dosdt, subproblem",
        "dosdt, leafset",
        "dosdt, leafset",
        "regularised BinOCT",
    ]
    for record in records:
        assert record["proved"]
        assert Fraction(record["objective"]) == truth("0.04")
        _, best, bound = record["trace"][-1]
        assert best == pytest.approx(bound, abs=1e-6)
        assert best == pytest.approx(float(truth("0.04")), abs=1e-6)


def test_scalability(tables: Path) -> None:
    whole, *records = run(scalability.main, tables, "gate", "--regularization", "0.04", "--copies", "1", "8")
    assert {record["objective"] for record in records} == {whole["objective"]} == {str(truth("0.04"))}
    assert sorted({record["rows"] for record in records}) == [25, 200]
    used = {node[0] for node in whole["nodes"] if node[0] >= 0}
    assert {len(record["columns"]) for record in records if "columns" in record} == set(range(len(used), 4))


def test_ablation(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = run(ablation.main, tables, "gate=0.02", "--without", "lookahead", "--without", "cache")
    assert [(record["algorithm"], record.get("without")) for record in records] == [
        ("leafset", None),
        ("leafset", ["lookahead"]),
        ("subproblem", None),
        ("subproblem", ["cache"]),
    ]
    assert {record["objective"] for record in records} == {str(truth("0.02"))}
    assert records[1]["evaluated"] >= records[0]["evaluated"] > 0
    assert "Proved objectives are equal." in capsys.readouterr().out


def test_ablation_is_of_every_switch(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def answer(jobs: list[Any], *_: Any, **__: Any) -> list[dict[str, Any]]:
        asked.extend(job.case for job in jobs)
        return [{**job.case, "status": "killed", "seconds": 1.0} for job in jobs]

    monkeypatch.setattr(studies, "run_all", answer)
    assert ablation.main(["--results", str(tables)]) == 0
    for algorithm, switches in SWITCHES.items():
        left_out = [case.get("without") for case in asked if case["algorithm"] == algorithm]
        assert left_out == [None, *([name] for name in switches)]


def test_ablation_compares_with_a_search_that_ended() -> None:
    done = {"proved": True, "objective": "1/2", "memory": 3 * 10**6, "memory_before": 10**6, "status": "optimal"}
    done |= {"seconds": 2.0, "seconds_to_best": 1.0, "evaluated": 10, "evaluated_to_best": 5}
    cut = {**done, "proved": False, "status": "time_limit", "seconds": 9.0, "evaluated": 30, "objective": "2/3"}
    one, two = studies.rows({"nothing": done, "lookahead": cut})
    assert one == ["nothing", "2.00", "-", "1.00", "10", "-", "5", "2.00", "optimal"]
    assert two == ["lookahead", "> 9.00", "≥ 4.50x", "-", "> 30", "≥ 3.00x", "-", "2.00", "time_limit"]
    one, two = studies.rows({"nothing": cut, "lookahead": done})
    assert one[1:4] == ["> 9.00", "-", "-"]
    assert two[1:4] == ["2.00", "-", "1.00"]


def test_policies(tables: Path) -> None:
    records = run(policies.main, tables, "gate=0.02", "--policies", "curiosity", "fifo")
    assert [record.get("policy") for record in records] == ["curiosity", "fifo", None]
    assert {record["objective"] for record in records} == {str(truth("0.02"))}


def test_trees(tables: Path) -> None:
    records = run(trees.main, tables, "gate=0.02")
    assert [record["method"] for record in records] == ["dosdt, subproblem", "BinOCT", "CART"]
    assert records[0]["leaves"] == records[2]["leaves"] == 4
    assert records[1]["leaves"] == 4


def test_regularised_binoct_draws_our_tree(tables: Path) -> None:
    picture = trees.Picture("gate", ("gate",), "0.02", penalised=True)
    options = trees.parse(["--results", str(tables), "--time-limit", "20"])
    report = trees.results.Report("trees", "One tree", options)
    own, program, greedy = trees.fits(picture, "gate", report, 1)
    assert (program["method"], greedy["method"]) == ("regularised BinOCT", "CART")
    assert own["objective"] == program["objective"] == str(truth("0.02"))


def test_crossvalidation(tables: Path) -> None:
    options = ["--folds", "2", "--regularization", "0.05", "--depths", "1", "--binoct-folds", "1"]
    records = run(crossvalidation.main, tables, "gate", *options)
    assert [record["method"] for record in records] == [
        *("dosdt, subproblem", "CART"),
        *("dosdt, subproblem", "CART"),
        "BinOCT",
    ]
    assert sum(record["rows"] for record in records if record["method"] == "CART") == 25  # each trains on the other
    assert all(0 <= record["test_accuracy"] <= 1 for record in records)
    ((leaves, share),) = crossvalidation.by_setting(records, "dosdt", "accuracy")
    own = [record for record in records if record["method"].startswith("dosdt")]
    assert leaves == sum(record["leaves"] for record in own) / 2
    assert share == pytest.approx(sum(record["accuracy"] for record in own) / 2)


def test_depths(tables: Path) -> None:
    names = [name for name, module in (("streed", "pystreed"), ("dl85", "pydl85")) if find_spec(module)]
    peers = [word for name in names for word in (f"--{name}-python", sys.executable)]
    records = run(depths.main, tables, "gate", "--depths", "2", *peers)
    assert len(records) == 2 + len(names)
    assert records[0]["method"] == "dosdt"
    assert records[-1]["method"] == "BinOCT"
    for record in records:
        assert record["proved"]
        assert float(Fraction(record["share"])) == pytest.approx(float(truth("0", max_depth=2)))


def test_searchspace(tmp_path: Path) -> None:
    records = run(searchspace.main, tmp_path, "--enumerate", "3")
    printed = {(r["features"], r["depth"]): (int(r["rule_lists"]), int(r["trees"])) for r in records if "depth" in r}
    for key, words in searchspace.PAPER.items():
        for count, word in zip(printed[key], words, strict=True):
            if word != "Inf":  # the paper cuts digits off and does not round
                assert float(word) <= count < float(word) * 1.001
    for (features, leaves), word in searchspace.PAPER_SAVED.items():
        assert searchspace.saved_by_symmetry(features, leaves) == pytest.approx(float(word), rel=1e-6)
    assert [(r["ways"], r["trees"], r["leaf_sets"]) for r in records if "leaf_sets" in r] == [
        ("2", "2", "2"),
        ("11", "9", "8"),
        ("2632", "244", "146"),
    ]


def test_a_smaller_drawing_is_the_same_drawing() -> None:
    drawing = '<svg>\n  <!-- a -->\n  <g transform="scale(0.015625)">\n    <path d="M 10.12987 3.5 L -123.4567 0"/>'
    assert smaller(drawing) == '<svg>\n<g transform="scale(0.015625)">\n<path d="M 10.12 3.5 L -123.45 0"/>'


def test_numbers_as_the_paper_prints_them() -> None:
    shown = {7: "7", 9999: "9999", 12345: "1.235e4", 99999: "1.000e5", 123456: "1.235e5"}
    assert {number: searchspace.short(number) for number in shown} == shown


def test_bad_input_is_said_at_once(tables: Path, tmp_path: Path) -> None:
    for main, arguments, words in (
        (accuracy.main, ["nothing"], "there is no file"),
        (ablation.main, ["--without", "magic"], "--without must be one of"),
        (crossvalidation.main, ["--folds", "1"], "--folds must be 2 or more"),
        (traces.main, ["gate", "--jobs", "0"], "--repeat and --jobs must be 1 or more"),
    ):
        with pytest.raises(InputError, match=words):
            main([*arguments, "--results", str(tmp_path)])
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write results"):
        searchspace.main(["--results", str(tmp_path / "file")])


def test_all_together(tables: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(everything, "QUICK", {"searchspace": ["--enumerate", "2"], "policies": ["nothing"]})
    assert everything.main(["--results", str(tables), "--only", "searchspace"]) == 0
    assert (tables / "searchspace.md").exists()
    assert everything.main(["--results", str(tables), "--only", "searchspace", "--only", "policies"]) == 1
    assert "exit code 2, see policies.log" in (tables / "README.md").read_text()
    assert "there is no file" in (tables / "policies.log").read_text()


@pytest.mark.parametrize("full", [False, True])
def test_every_experiment_understands_its_options(full: bool, tables: Path) -> None:
    assert everything.QUICK.keys() == everything.FULL.keys()
    for peer in ("gosdt", "streed", "dl85"):
        python = tables / peer / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()
    options = everything.parse(["--results", str(tables), "--peers", str(tables), *["--full"] * full])
    for name in everything.QUICK:
        _, flag, module, *arguments = everything.command(name, options)
        assert flag == "-m"
        given = importlib.import_module(module).parse(arguments)
        if full and "--time-limit" in arguments:
            assert given.time_limit == 1800  # the paper's half hour
        if full:
            assert given.memory_limit == round(everything.memory())
        if name == "peers":
            assert given.gosdt_python.startswith(str(tables))
        if name in ("ablation", "policies"):  # of those in the list, this folder has one
            assert {text.partition("=")[0] for text in given.data} == {"compas-binary"}
