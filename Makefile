# Everything a person does with a checkout. `make` alone lists the targets.
.DEFAULT_GOAL := help
.PHONY: help setup run test soak conformance lab check format bench docs compose-check oracle-irrd requirements runtime-state-parity ready-to-run ready-to-test

# `make PYTHON=/usr/bin/python3 setup` makes .venv anew with that interpreter; without PYTHON an existing .venv stays.
INTERPRETER_CHOSEN := $(if $(filter-out undefined,$(origin PYTHON)),--this-interpreter)
PYTHON ?= python3
BIN := .venv/bin
# Ctrl-C waits until the program can take it, where env(1) knows how: an interpreter that starts shows a traceback.
BLOCKED := $(shell env --block-signal=INT true 2>/dev/null && echo env --block-signal=INT)
PYTEST := $(BIN)/pytest --durations=10
# By file: what the tests of one file share, such as a server, is started once.
IN_PARALLEL := -n 2 --dist loadfile

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  \033[1m%-22s\033[0m %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  PORT=8421 and ROUTELOOM_HOME=/some/directory move what 'make run' starts;"
	@echo "  ARGS='-k word' is handed to pytest; PYTHON=/usr/bin/python3 chooses the interpreter of .venv."

setup: ready-to-test ## Install everything that running, testing and checking need

run: ready-to-run ## Start Routeloom Lite: all services and one agent, on this machine
	@exec $(BLOCKED) $(BIN)/routeloom lite

test: ready-to-test ## Run the test suite
	@$(PYTEST) $(IN_PARALLEL) $(ARGS)

soak: ready-to-test ## Run the heavy suites with their full counts
	@$(PYTEST) -m soak -s $(ARGS)

conformance: ready-to-test ## Grade our sign-in service and its peer, row by row, into docs/reference/
	@$(BIN)/python -m tests.conformance.auth.table $(ARGS)

lab: ready-to-test ## Build networks in namespaces and tell their whole story on real daemons
	@$(PYTEST) -p no:xdist -s -v -m "soak or not soak" tests/lab $(ARGS)

check: ready-to-test ## Lint, format, types, import contracts, architecture tests
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/pytest -q tests/architecture

format: ready-to-test ## Format the code and fix what can be fixed
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: ready-to-test ## Measure against the peers, side by side
	@$(BIN)/python -m tests.benchmarks $(ARGS)

compose-check: ready-to-test ## Build the containers and run the whole stack for real, as root, with podman
	@$(BIN)/python -m tests.stack $(ARGS)

docs: ready-to-test ## Write docs/reference/ anew from the code, and build the pages into site/
	@sed '/^#/d' setup/references.txt | while read -r module; do $(BIN)/python -m "$$module" || exit 1; done
	@$(BIN)/python -m setup.documentation

runtime-state-parity: ready-to-test ## Hold memory:// against a real server, which must be there
	@RUNTIME_STATE_PARITY_REQUIRED=1 $(PYTEST) tests/contracts/test_runtime_state_adapter.py $(ARGS)

oracle-irrd: ready-to-test ## Record IRRd's answers about a made-up registry, which the suite compares ours with
	@$(BIN)/python -m tests.oracles

requirements: ready-to-test ## Lock requirements/*.in anew; UPGRADE=--upgrade takes the newest versions
	@$(BIN)/python -m setup.requirements $(UPGRADE)

ready-to-run:
	@$(call prepare,run)

ready-to-test:
	@$(call prepare,test)

define prepare
$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	|| { echo "Routeloom needs Python 3.11 or newer: make PYTHON=/path/to/python3 setup" >&2; exit 1; } \
	&& exec $(BLOCKED) $(PYTHON) -m setup $1 $(INTERPRETER_CHOSEN)
endef
