# Every target sets up what it needs. `make` alone lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready

.PHONY: help run test check format bench mutants pictures stable wheel clean

help:
	@echo "make run      open the console on the bundled rehearsal runner"
	@echo "make test     all tests"
	@echo "make check    formatting, lint and types"
	@echo "make bench    measurements, one JSON line each"
	@echo "make mutants  prove that the tests catch faults"
	@echo "make pictures accept the screen as it is now, and draw the README's pictures"
	@echo "make stable   prove that no picture of the screen flickers"
	@echo "make wheel    build the wheel into dist/"

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Trackside needs Python 3.11 or newer: make PYTHON=/path/to/python")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: $(READY)
	@if test -t 0 && test -t 1; then $(BIN)/trackside; \
	else echo "No terminal here: running the bundled runner headless."; $(BIN)/trackside run; fi

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	@$(BIN)/python -m tests.bench

mutants: $(READY)
	@$(BIN)/python -m tests.mutants

pictures: $(READY)
	rm -rf tests/console/pictures/__snapshots__
	$(BIN)/python -m pytest -n 2 tests/console/pictures --snapshot-update
	$(BIN)/python -m tests.console.pictures.export

stable: $(READY)
	@$(BIN)/python -m tests.console.pictures.stable

wheel: $(READY)
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w dist .

clean:
	rm -rf .venv dist build .pytest_cache .ruff_cache .hypothesis
