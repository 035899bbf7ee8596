"""The server that is fuzzed: the conformance suite's fixture, which has one of everything."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from mrtr import Server

APP = Path(__file__).resolve().parents[1] / "conformance" / "functions" / "everything" / "app.py"


@cache
def loaded() -> Server:
    spec = importlib.util.spec_from_file_location("everything", APP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    server: Server = module.server
    return server
