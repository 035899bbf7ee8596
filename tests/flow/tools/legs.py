"""The tools' functions, loaded as Lambda loads them, and the sample events."""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from local.retry_event import JsonObject, body_of
from mrtr.testing import Client, Reply

ROOT = Path(__file__).resolve().parents[3]
EVENTS = ROOT / "events"

_copies = itertools.count()


class Instance(Client):
    """A function freshly loaded, as on a cold start: no module and no cache is shared with another."""

    def __init__(self, function: str) -> None:
        self.module = _load(ROOT / "functions" / function / "app.py")
        super().__init__(self.module.handler, path=f"/mcp/{function}")
        self._tool = function

    def ask(self, **arguments: object) -> Reply:
        """The first leg of a call."""
        return self.call(self._tool, arguments)


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{next(_copies)}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # pydantic looks a model's module up while the module is still running
    spec.loader.exec_module(module)
    return module


def sample(name: str) -> Any:
    return json.loads((EVENTS / name).read_text(encoding="utf-8"))


def words(result: Mapping[str, Any]) -> str:
    """The text of a complete result of a tool, a resource or a prompt."""
    blocks = [
        *result.get("content", []),
        *result.get("contents", []),
        *(message["content"] for message in result.get("messages", [])),
    ]
    return "\n".join(block["text"] for block in blocks)


def first_event(function: str, **arguments: object) -> JsonObject:
    """The function's sample call, with other arguments where some are given."""
    event: JsonObject = sample(f"{function}/call.json")
    if arguments:
        body = body_of(event)
        body["params"]["arguments"] = arguments
        event["body"] = json.dumps(body)
    return event
