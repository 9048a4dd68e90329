"""What is shipped: a wheel and a source distribution that install and run where there is nothing else of ours."""

from __future__ import annotations

import os
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Mapping
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest
import yaml

import dosdt

ROOT = Path(dosdt.__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

pytest.importorskip("build")
pytest.importorskip("hatchling")


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without the network, by the backend that is installed here."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    (path,) = dist.glob("*.whl")
    return path


def test_the_wheel_holds_all_modules_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = {name for name in content.namelist() if ".dist-info/" not in name}
        meta = message_from_bytes(content.read(f"dosdt-{dosdt.__version__}.dist-info/METADATA"))
        licence = content.read(f"dosdt-{dosdt.__version__}.dist-info/licenses/LICENSE")
    expected = {
        str(path.relative_to(ROOT)) for path in (ROOT / "dosdt").rglob("*") if path.suffix in (".py", ".typed")
    }
    data = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "dosdt").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".typed")
    }
    assert names == expected | data
    assert "dosdt/py.typed" in names
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert meta["Version"] == dosdt.__version__
    assert meta["Requires-Python"] == ">=3.10"
    assert meta.get_payload().startswith("# dosdt")


def test_the_source_distribution_is_enough_to_build_and_test(dist: Path) -> None:
    (path,) = dist.glob("*.tar.gz")
    with tarfile.open(path) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    wanted = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "dosdt/py.typed")
    assert names.issuperset(wanted)
    assert "tests/test_packaging.py" in names
    assert not any("__pycache__" in name or ".venv" in name for name in names)


def test_the_wheel_runs_in_an_environment_of_its_own(wheel: Path, tmp_path: Path) -> None:
    """Its dependencies are those of this environment, so that none is downloaded; dosdt itself is not seen there."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    bin_ = home / ("Scripts" if os.name == "nt" else "bin")
    python = bin_ / "python"
    (packages,) = home.glob("lib/python*/site-packages") if os.name != "nt" else [home / "Lib" / "site-packages"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DOSDT"))}
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*install, "--disable-pip-version-check", wheel], check=True, env=environment, cwd=tmp_path)
    # Found after what is installed here. Files in it that add a source tree to the path are not read.
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    folder = tmp_path / "empty"
    folder.mkdir()

    def run(*command: object) -> str:
        done = subprocess.run(
            [str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = run(python, "-c", "import dosdt; print(dosdt.__file__)")
    assert Path(where.strip()).is_relative_to(packages)
    program = bin_ / "dosdt"
    assert run(program, "--version") == f"dosdt {dosdt.__version__}\n"
    assert "this tree 100 %, CART" in run(program, "demo")
    fitted = run(
        program, "fit", "monk1", "--regularization", "0.02", "--certificate", "proof", "--model", "tree.json"
    )
    assert fitted.startswith("status      optimal")
    assert run(program, "verify", "proof", "monk1").startswith("verified: objective 7/50 is optimal")
    assert sorted(path.name for path in folder.iterdir()) == ["proof", "tree.json"]


# What others read of it


def test_versions_agree() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == dosdt.__version__
    assert f"## [{dosdt.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_citation_says_what_the_format_asks_for() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    (paper,) = citation["references"]
    assert paper["title"] == "Optimal Sparse Decision Trees"
    for entry in (citation, paper):
        assert entry["title"]
        assert entry["type"] in ("software", "conference-paper")
        assert all(set(author) in ({"name"}, {"family-names", "given-names"}) for author in entry["authors"])
    assert citation["message"]
    assert citation["license"] == "MIT"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows(path: Path) -> None:
    workflow: Mapping[Any, Any] = yaml.safe_load(path.read_text())
    assert workflow[True]["push"]["branches"] == ["main"]  # YAML takes "on" for a truth value
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 60
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"]), name
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "uses" in step:
                action, version = step["uses"].split("@")
                assert action.startswith("actions/")
                assert version.removeprefix("v").isdigit()
            elif step["run"].startswith("make "):
                assert f"\n{step['run'].split()[1]}:" in (ROOT / "Makefile").read_text()
    if path.name == "tests.yml":
        classifiers = (ROOT / "pyproject.toml").read_text()
        for python in workflow["jobs"]["test"]["strategy"]["matrix"]["python"]:
            assert f"Programming Language :: Python :: {python}" in classifiers
