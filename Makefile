# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test paper paper-full soak lint clean

demo: $(READY)
	$(BIN)/dosdt demo

test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

# Every table and figure of the paper, in results/; limits are chosen for an hour on two cores. Set DOSDT_DATA to the tables' folder.
paper: $(READY) .peers/.ready
	$(BIN)/python -m benchmarks

# The same with the paper's limits, 30 minutes a run: days.
paper-full: $(READY) .peers/.ready
	$(BIN)/python -m benchmarks --full

# Other solvers, in environments of their own; one that does not install is left out.
.peers/.ready:
	-$(PYTHON) -m venv .peers/gosdt && .peers/gosdt/bin/pip install --quiet gosdt 'scikit-learn<1.6'
	-$(PYTHON) -m venv .peers/streed && .peers/streed/bin/pip install --quiet pystreed
	-$(PYTHON) -m venv .peers/dl85 && .peers/dl85/bin/pip install --quiet pydl8.5
	touch $@

# Two hundred searches on Ray whose workers, shards, nodes and schedulers are killed: about half an hour.
soak: $(READY)
	PYTHONPATH=tests $(BIN)/python tests/soak.py --runs 200

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) .peers .pytest_cache .mypy_cache .ruff_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	touch $@
