# Every target works as the first command on a fresh clone: it makes what it needs, and makes nothing twice.
SHELL := /bin/bash
PYTHON3 ?= python3
PORT ?= 3000
MINUTES ?= 10
KEYS ?= secretsmanager
RUN := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help demo serve test check conformance clients fuzz format sam-local soak simulate bench profile catalog setup lock clean

help:
	@echo "make demo        the whole story, played by the official client against a stack on this machine"
	@echo "make serve       that stack at http://127.0.0.1:$(PORT)/mcp (PORT=...), until Ctrl-C"
	@echo "make test        all tests (ARGS=... goes to pytest)"
	@echo "make check       format, lint, types, template, catalog"
	@echo "make conformance the public conformance suite against the deployed stack, through a front door and directly"
	@echo "make clients     the official Python and TypeScript clients, and the MCP Inspector in a browser, against that stack"
	@echo "make fuzz        200,000 generated events through the handler (CASES=..., SEED=...)"
	@echo "make format      put the format right"
	@echo "make catalog     write what the front door lists anew, after a tool has changed"
	@echo "make sam-local   sam local invoke and start-api in Docker (error 3 where there is no Docker engine)"
	@echo "make soak        clients, deaths of instances and rotations on the local stack (MINUTES=10, KEYS=secretsmanager or kms)"
	@echo "make simulate    a million flows over 200 simulated instances, with three rotations"
	@echo "make bench       the product beside its peers: times, sizes, calls, memory (ARGS=--write: into docs/performance.md)"
	@echo "make profile     where a cold start's imports and a warm leg's time go"
	@echo "make lock        resolve the lock files anew"
	@echo "make clean       remove all that was made"

demo: setup
	@$(RUN) -m local.demo $(ARGS)

serve: setup
	@exec $(RUN) -m local.serve --port $(PORT)

test: setup
	@$(RUN) -m pytest $(or $(ARGS),--cov=layers/mrtr/mrtr)

check: setup
	@$(RUN) -m local.check

conformance: setup
	@$(RUN) -m local.conformance $(ARGS)

clients: setup
	@$(RUN) -m local.clients $(ARGS)

# Half of them to a function, half through the front door. Without SEED, other ones every time.
CASES ?= 200000
fuzz: setup
	@FUZZ_CASES=$$(($(CASES) / 2)) FUZZ_SEED=$${SEED:-$$RANDOM} $(RUN) -m pytest -q tests/fuzz $(ARGS)

format: setup
	@.venv/bin/ruff check --quiet --fix-only . && .venv/bin/ruff format --quiet .

catalog: setup
	@cd layers/mrtr && ../../$(RUN) -m mrtr.catalog ../../functions

sam-local: setup
	@$(RUN) -m local.sam_local

soak: setup
	@PYTHONPATH=layers/mrtr $(RUN) -m local.soak --minutes $(MINUTES) --keys $(KEYS) $(ARGS)

simulate: setup
	@PYTHONPATH=layers/mrtr $(RUN) -m bench.simulate_fleet $(ARGS)

bench: setup
	@$(PYTHON3) local/bootstrap.py bench && $(RUN) -m bench $(ARGS)

profile: setup
	@$(PYTHON3) local/bootstrap.py bench && $(RUN) -m bench.profiling

setup:
	@$(PYTHON3) local/bootstrap.py dev sam aws

# Newest versions that fit Python 3.11 to 3.13 on every platform, with hashes and without download addresses.
LOCK := .venv-lock/bin/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet --upgrade
lock:
	@$(PYTHON3) local/bootstrap.py lock
	$(LOCK) requirements/layer.in -o layers/mrtr/requirements.txt
	for name in lock dev sam aws; do $(LOCK) requirements/$$name.in -o requirements/$$name.txt || exit 1; done
	$(LOCK) bench/requirements.in -o bench/requirements.txt

clean:
	rm -rf .venv .venv-sam .venv-aws .venv-lock .venv-bench .local .aws-sam .mypy_cache .pytest_cache .ruff_cache .coverage .hypothesis
