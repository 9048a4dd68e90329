"""The package itself: light to import, and all its names are there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import dosdt

HEAVY = ("ray", "pandas", "sklearn", "scipy", "matplotlib", "pyarrow", "typer", "rich")


def test_every_name_resolves() -> None:
    for name in dosdt.__all__:
        assert getattr(dosdt, name) is not None
    assert set(dosdt.__all__) <= set(dir(dosdt))
    with pytest.raises(AttributeError, match="module 'dosdt' has no attribute 'nothing'"):
        _ = dosdt.nothing


def test_importing_imports_nothing_heavy() -> None:
    code = f"import sys, dosdt; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_problem_is_solved_without_scikit_learn() -> None:
    """A worker that searches needs neither tables nor estimators."""
    code = (
        "import sys; from dosdt import Problem, solve;"
        "answer = solve(Problem.from_arrays([[0], [1]] * 5, [0, 1] * 5, '0.1'), warm_start=False);"
        f"print(answer.objective, [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1/5 []"


def test_functions_are_not_hidden_by_modules() -> None:
    """Importing a submodule sets an attribute of the package: no public name may be that of a module."""
    code = "import dosdt; dosdt.DOSDTClassifier; dosdt.verify; print(callable(dosdt.solve), callable(dosdt.verify))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
