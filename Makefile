# Every target works as the first command on a fresh clone: it makes what it needs and rebuilds nothing that has not changed.
SHELL := /bin/bash
PYTHON3 ?= python3
PORT ?= 3000
RUN := .venv/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup lock

help:
	@echo "make setup       virtual environments"
	@echo "make lock        resolve the lock files anew"

setup:
	@$(PYTHON3) local/bootstrap.py dev sam aws

# Newest versions that fit Python 3.11 to 3.13 on every platform, with hashes and without download addresses.
LOCK := .venv-lock/bin/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header --quiet --upgrade
lock:
	@$(PYTHON3) local/bootstrap.py lock
	$(LOCK) requirements/layer.in -o layers/mrtr/requirements.txt
	for name in lock dev sam aws; do $(LOCK) requirements/$$name.in -o requirements/$$name.txt || exit 1; done
