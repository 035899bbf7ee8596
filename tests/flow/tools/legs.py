"""Drives a tool's function leg by leg with the sample events, the way API Gateway and a client would."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from local.retry_event import JsonObject, body_of, retry_event

ROOT = Path(__file__).resolve().parents[3]
EVENTS = ROOT / "events"

_copies = itertools.count()


def accept(**content: object) -> JsonObject:
    return {"action": "accept", "content": content}


DECLINE: JsonObject = {"action": "decline"}
CANCEL: JsonObject = {"action": "cancel"}


class LambdaContext:
    """As much of Lambda's context object as a handler may look at."""

    function_version = "$LATEST"
    memory_limit_in_mb = 256
    aws_request_id = "00000000-0000-4000-8000-000000000001"
    log_group_name = "/aws/lambda/test"
    log_stream_name = "2026/11/30/[$LATEST]test"
    identity = None
    client_context = None

    def __init__(self, function_name: str) -> None:
        self.function_name = function_name
        self.invoked_function_arn = f"arn:aws:lambda:eu-west-1:123456789012:function:{function_name}"

    def get_remaining_time_in_millis(self) -> int:
        return 20_000


@dataclass
class Leg:
    """One request of a flow and what it was answered."""

    event: JsonObject
    response: JsonObject

    @property
    def status(self) -> int:
        status: int = self.response["statusCode"]
        return status

    @property
    def message(self) -> JsonObject:
        message: JsonObject = json.loads(self.response["body"])
        return message

    @property
    def result(self) -> JsonObject:
        assert "result" in self.message, self.message
        result: JsonObject = self.message["result"]
        return result

    @property
    def error(self) -> JsonObject:
        assert "error" in self.message, self.message
        error: JsonObject = self.message["error"]
        return error

    @property
    def questions(self) -> JsonObject:
        assert self.result["resultType"] == "input_required", self.result
        questions: JsonObject = self.result["inputRequests"]
        return questions

    @property
    def text(self) -> str:
        assert self.result["resultType"] == "complete", self.result
        text: str = self.result["content"][0]["text"]
        return text


class Instance:
    """A function freshly loaded, as Lambda loads one on a cold start: no module, no cache is shared with another."""

    def __init__(self, function: str) -> None:
        self.function = function
        self.module = _load(ROOT / "functions" / function / "app.py")

    def invoke(self, event: JsonObject) -> Leg:
        context = LambdaContext(f"askback-tool-{self.function}")
        return Leg(event, self.module.handler(copy.deepcopy(event), context))

    def call(self, **arguments: object) -> Leg:
        return self.invoke(first_event(self.function, **arguments))

    def answer(self, leg: Leg, **answers: JsonObject) -> Leg:
        return self.invoke(retry_event(leg.event, answers, leg.result.get("requestState")))


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


def first_event(function: str, **arguments: object) -> JsonObject:
    """The function's sample call, with other arguments where some are given."""
    event: JsonObject = sample(f"{function}/call.json")
    if arguments:
        body = body_of(event)
        body["params"]["arguments"] = arguments
        event["body"] = json.dumps(body)
    return event
