# Every target sets up what it needs. `make` without a target lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready

WORKERS ?= 3

.PHONY: help run test test-long test-peers check format bench text-budget mutants pictures stable stable-pictures stable-tests stable-testing soak kills wheel clean

help:
	@echo "make run              open the console on the bundled runner rehearsal"
	@echo "make test             all tests"
	@echo "make test-long        all tests; random tests try more examples"
	@echo "make test-peers       tests against other programs"
	@echo "make check            format, lint and types"
	@echo "make format           format, and fix what lint can fix"
	@echo "make bench            measurements, one JSON line each"
	@echo "make text-budget      draw 20,000 hostile texts on every surface; no draw may take 100 ms"
	@echo "make mutants          check that the tests catch every known fault"
	@echo "make pictures         redraw the snapshots and the pictures of the README"
	@echo "make stable-pictures  draw every picture twenty times; each must come out the same"
	@echo "make stable-tests     run every test that depends on timing twenty times beside two busy loops"
	@echo "make stable-testing   install the wheel for a project elsewhere, and run its picture test fifty times"
	@echo "make stable           all three"
	@echo "make soak             two hosts act at random for ten minutes, then the database is checked"
	@echo "make kills            kill a thousand hosts, then check that nothing is lost"
	@echo "make wheel            build the wheel in dist/"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Trackside needs Python 3.11 or newer: make PYTHON=/path/to/python")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: $(READY)
	@if test -t 0 && test -t 1; then $(BIN)/trackside; \
	else echo "No terminal: running the bundled runner without the console."; $(BIN)/trackside run; fi

test: $(READY)
	$(BIN)/python -m pytest -n $(WORKERS)

test-long: $(READY)
	TRACKSIDE_TEST_PROFILE=long $(BIN)/python -m pytest -n $(WORKERS)

test-peers:
	@echo "There are no peers to test against yet."

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	@$(BIN)/python -m tests.bench

text-budget: $(READY)
	@$(BIN)/python -m tests.text_budget

mutants: $(READY)
	@$(BIN)/python -m tests.mutants

pictures: $(READY)
	rm -rf tests/console/pictures/__snapshots__
	$(BIN)/python -m pytest -n $(WORKERS) tests/console/pictures --snapshot-update
	$(BIN)/python -m tests.console.pictures.readme_pictures

stable: stable-pictures stable-tests stable-testing

stable-pictures: $(READY)
	@$(BIN)/python -m tests.console.pictures.stable

stable-tests: $(READY)
	@$(BIN)/python -m tests.stable

stable-testing: $(READY)
	@$(BIN)/python -m tests.console.testing.stable

soak: $(READY)
	@$(BIN)/python -m tests.soak --minutes 10

kills: $(READY)
	@$(BIN)/python -m tests.soak --kills 1000 --hosts 3

wheel: $(READY)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist .

clean:
	rm -rf .venv dist build .pytest_cache .ruff_cache .hypothesis
