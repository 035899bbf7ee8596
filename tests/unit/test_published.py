"""The checks that the end-to-end tests and the fuzzer make of every message find what is wrong with one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.published import of_message, of_response

META = {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "1"}}
JSON = {"content-type": "application/json"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


def result(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": {"resultType": "complete", "_meta": META, **members}}


def error(code: int, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no", **members}}


SOUND = [
    ("tools/call", result(content=[{"type": "text", "text": "x"}])),
    ("tools/call", result(resultType="input_required", requestState="x")),
    ("resources/read", result(contents=[{"uri": "note://7", "text": "x"}], ttlMs=0, cacheScope="private")),
    ("resources/templates/list", result(resourceTemplates=[{"uriTemplate": "a://{b}/c", "name": "x"}], ttlMs=1, cacheScope="public")),
    ("tools/call", error(-32021, data={"requiredCapabilities": {"sampling": {}}})),
    (None, {"jsonrpc": "2.0", "error": {"code": -32700, "message": "no"}}),
    ("tools/call", {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 2}}),
]  # fmt: skip
UNSOUND = [
    ("tools/call", result()),
    ("tools/call", result(content=[{"type": "text"}])),
    ("tools/call", result(content=[{"type": "image", "data": "not base64!", "mimeType": "image/png"}])),
    ("tools/call", result(content=[], _meta={})),
    ("tools/call", result(content=[], resultType="task")),
    ("tools/call", {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}),
    ("tools/call", result(resultType="input_required")),
    ("tools/list", result(resultType="input_required", requestState="x")),
    ("tools/call", result(resultType="input_required", inputRequests={"a": {"method": "no/such"}})),
    ("resources/read", result(contents=[{"uri": "no uri", "text": "x"}], ttlMs=0, cacheScope="private")),
    ("resources/read", result(contents=[], ttlMs=-1, cacheScope="private")),
    ("resources/templates/list", result(resourceTemplates=[{"uriTemplate": "{", "name": "x"}], ttlMs=1, cacheScope="public")),
    ("tools/call", error(-32021)),
    ("tools/call", error(-32022, data={"supported": []})),
    ("tools/call", {**error(-32602), "id": None}),
    ("tools/call", {"message": "Not Found"}),
    ("tools/call", {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 2}}),
    ("tools/call", []),
]  # fmt: skip


@pytest.mark.parametrize(("method", "message"), SOUND)
def test_a_sound_message_passes(method: str, message: Any) -> None:
    assert of_message(message, method) == []


@pytest.mark.parametrize(("method", "message"), UNSOUND)
def test_an_unsound_message_is_found(method: str, message: Any) -> None:
    assert of_message(message, method) != []


def events(*messages: Any) -> str:
    return "".join(f"event: message\ndata: {json.dumps(message)}\n\n" for message in messages)


NOTE = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 2}}
DONE = result(content=[])


@pytest.mark.parametrize(
    ("status", "headers", "body", "sound"),
    [
        (200, JSON, json.dumps(DONE), True),
        (200, {"content-type": "text/event-stream"}, events(NOTE, DONE), True),
        (202, {}, "", True),
        (400, JSON, json.dumps(error(-32602)), True),
        (200, {}, json.dumps(DONE), False),
        (200, {"content-type": "text/event-stream"}, events(DONE, NOTE), False),
        (200, {"content-type": "text/event-stream"}, events(NOTE), False),
        (202, {}, "{}", False),
        (200, JSON, json.dumps({**DONE, "id": 2}), False),
        (200, JSON, json.dumps(error(-32602)), False),
        (400, JSON, json.dumps(DONE), False),
    ],
)
def test_a_response_is_one_answer_of_the_requests_id_whose_status_fits(
    status: int, headers: dict[str, str], body: str, sound: bool
) -> None:
    assert (of_response(CALL, status, headers, body) == []) is sound
