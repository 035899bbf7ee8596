from __future__ import annotations

import json
from typing import Any

import pytest

from mrtr.completion import (
    MAX_VALUES,
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from mrtr.errors import InvalidSignature
from mrtr.server import Server
from mrtr.testing import LambdaContext, request_event

PROMPT = {"type": "ref/prompt", "name": "summary"}
TEMPLATE = {"type": "ref/resource", "uri": "note://{note_id}"}
TYPED = {"name": "note_id", "value": "s"}


def server_with(complete: Any) -> Server:
    server = Server("notes")

    @server.prompt()
    def summary(note_id: str) -> str:
        return note_id

    @server.resource("note://{note_id}")
    def one(note_id: str) -> str:
        return note_id

    server.completion()(complete)
    return server


def answered(complete: Any, **params: Any) -> dict[str, Any]:
    event = request_event("completion/complete", {"ref": PROMPT, "argument": TYPED, **params})
    response: dict[str, Any] = json.loads(server_with(complete).lambda_handler(event, LambdaContext())["body"])
    return response


@pytest.mark.parametrize(
    ("returned", "completion"),
    [
        (None, {"values": []}),
        ([], {"values": []}),
        (("a", "ü"), {"values": ["a", "ü"]}),
        (Completion(["a"], total=7, has_more=True), {"values": ["a"], "total": 7, "hasMore": True}),
        (Completion(["a"], has_more=False), {"values": ["a"], "hasMore": False}),
        (["a"] * MAX_VALUES, {"values": ["a"] * MAX_VALUES}),
        (["a"] * (MAX_VALUES + 1), {"values": ["a"] * MAX_VALUES, "total": MAX_VALUES + 1, "hasMore": True}),
        (
            Completion(["a"] * (MAX_VALUES + 1), total=500, has_more=False),
            {"values": ["a"] * MAX_VALUES, "total": 500, "hasMore": True},
        ),
    ],
)
def test_suggestions_go_out_a_hundred_at_most_and_what_is_cut_is_told(
    returned: Any, completion: dict[str, Any]
) -> None:
    assert answered(lambda *_: returned)["result"]["completion"] == completion


def test_the_function_gets_what_is_completed_what_is_typed_and_what_stands_already() -> None:
    seen: list[tuple[Any, ...]] = []

    async def complete(*given: Any) -> None:
        seen.append(given)

    answered(complete)
    answered(complete, ref=TEMPLATE, context={"arguments": {"folder": "a"}})
    assert seen == [
        (PromptReference("summary"), CompletionArgument("note_id", "s"), CompletionContext({})),
        (
            ResourceTemplateReference("note://{note_id}"),
            CompletionArgument("note_id", "s"),
            CompletionContext({"folder": "a"}),
        ),
    ]


@pytest.mark.parametrize(
    "params",
    [
        {"ref": None},
        {"ref": "summary"},
        {"ref": {"type": "ref/prompt"}},
        {"ref": {"type": "ref/tool", "name": "summary"}},
        {"ref": {"type": "ref/resource", "name": "summary"}},
        {"ref": {"type": "ref/prompt", "name": "unknown"}},
        {"ref": {"type": "ref/resource", "uri": "note://7"}},
        {"argument": None},
        {"argument": {"name": "note_id"}},
        {"argument": {"name": "note_id", "value": 1}},
        {"context": "folder"},
        {"context": {"arguments": ["folder"]}},
        {"context": {"arguments": {"folder": 1}}},
    ],
)
def test_what_cannot_be_completed_is_invalid(params: dict[str, Any]) -> None:
    assert answered(lambda *_: ["never"], **params)["error"]["code"] == -32602


def test_a_function_that_returns_anything_else_is_a_defect() -> None:
    wrong: list[Any] = ["abc", [1], {"values": []}]
    for returned in wrong:
        assert answered(lambda *_, value=returned: value)["error"]["code"] == -32603


def test_a_server_has_one_completion_function() -> None:
    server = server_with(lambda *_: None)
    with pytest.raises(InvalidSignature, match="one completion function"):
        server.completion()(lambda *_: None)


def test_what_is_typed_or_stands_already_is_not_shown() -> None:
    assert "secret" not in repr(CompletionArgument("a", "secret")) + repr(CompletionContext({"a": "secret"}))
