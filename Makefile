# Everything here sets itself up: a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Test files that run side by side.
JOBS ?= 2
APT := env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes

.PHONY: test quickstart lint types unit browser format clean

test: lint types unit  ## all that CI runs

quickstart: $(STAMP)  ## train, evaluate and draw a tiny CHARM: minutes on two cores
	$(BIN)/charm quickstart

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(STAMP)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP) browser
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

browser:  ## Chromium for the tests of pages, where it is missing and may be installed; they are skipped without
	@{ command -v chromium || command -v google-chrome \
	|| { timeout 60 $(APT) update && timeout 240 $(APT) install --no-install-recommends chromium fonts-liberation; }; } > /dev/null 2>&1 \
	|| echo "no Chromium here, and no right to install it: tests of pages in a browser will be skipped"

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache *.egg-info
