# Everything here sets itself up: a machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The same with what tests, types and documentation need.
DEV := $(VENV)/.installed-dev
# Test files that run side by side.
JOBS ?= 2
APT := env DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes

# Tests for daily use: what computes, without training runs, child processes, browsers and documentation.
FAST := tests/tasks tests/memory tests/models tests/evaluation tests/runs/test_archive.py \
	tests/drawing tests/paper tests/automata/test_rules.py tests/automata/test_simulator.py tests/training/test_slots.py tests/training/test_optimizers.py \
	tests/test_architecture.py tests/arc/test_presets.py tests/test_initial.py

.PHONY: test check quickstart shell docs lint types unit fast browser wheel mutations format clean

test: lint types unit  ## all that CI runs

check: lint types fast  ## under two minutes, for daily use

quickstart: $(STAMP)  ## train, evaluate and draw a tiny CHARM: minutes on two cores
	$(BIN)/charm quickstart

# The environment is activated after the shell's own start-up file, in which pyenv and conda put theirs first.
shell: $(STAMP)  ## a shell in which `charm` and `python` are this environment's
	@echo "in this shell, charm is $(BIN)/charm; exit leaves it"
	@for file in bashrc zshrc; do \
	printf '[ ! -f ~/.%s ] || . ~/.%s\n. "$(abspath $(BIN))/activate"\n' $$file $$file > $(VENV)/.$$file; \
	done
	@case "$${SHELL##*/}" in \
	zsh) ZDOTDIR=$(abspath $(VENV)) exec zsh -i ;; \
	fish) exec fish --init-command 'source "$(abspath $(BIN))/activate.fish"' ;; \
	*) exec bash --rcfile $(VENV)/.bashrc -i ;; \
	esac

wheel: $(DEV)  ## build the wheel, install it with each of its extras, use them: minutes, most of it downloads
	PIP_CONFIG_FILE="$${PIP_CONFIG_FILE:-$$HOME/.config/pip/pip.conf}" PIP_CACHE_DIR="$${PIP_CACHE_DIR:-$$HOME/.cache/pip}" \
	$(BIN)/python -m pytest -m wheel --durations 0 tests/test_packages.py

mutations: $(DEV)  ## one mistake at a time in a copy of the core: do the tests notice?
	$(BIN)/python benchmarks/mutations.py --jobs $(JOBS)

docs: $(DEV)  ## the documentation site in site/, warnings are errors; needs no network once installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(STAMP): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing CHARM and PyTorch into $(VENV): a few minutes the first time, most of it downloads"
	$(BIN)/python -m pip install --editable .
	touch $(STAMP)

$(DEV): $(STAMP)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(DEV)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

unit: $(DEV) browser
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --durations 15

fast: $(DEV)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --durations 5 $(FAST)

browser:  ## Chromium for the tests of pages, where it is missing and may be installed; they are skipped without
	@{ command -v chromium || command -v google-chrome \
	|| { timeout 60 $(APT) update && timeout 240 $(APT) install --no-install-recommends chromium fonts-liberation; }; } > /dev/null 2>&1 \
	|| echo "no Chromium here, and no right to install it: tests of pages in a browser will be skipped"

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache *.egg-info
