# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test soak lint clean

demo: $(READY)
	$(BIN)/dosdt demo

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

# Two hundred searches on Ray whose workers, shards, nodes and schedulers are killed: about half an hour.
soak: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/soak.py --runs 200

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@
