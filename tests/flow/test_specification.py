"""What the specification asks and no other test shows (tests/requirements.toml says where the rest is shown)."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel

from mrtr import Context, Elicit, Resolve, Server
from mrtr.paging import PAGE_SIZE
from mrtr.testing import Client, LambdaContext, accept, call_event, offline, request_event, with_body
from tests.flow.tools.legs import ROOT
from tests.published import messages


class Name(BaseModel):
    name: str


def ask_name() -> Elicit[Name]:
    return Elicit("Who reads this?", Name)


def everything() -> Server:
    server = Server("everything")

    @server.tool()
    def count(ctx: Context) -> str:
        for step in (1, 2, 3):
            ctx.logger.debug("step %s", step)
            _ = ctx.report_progress(step)
            _ = ctx.info({"step": step})
        return "counted"

    @server.tool()
    def greet(answer: Annotated[Name, Resolve(ask_name)]) -> str:
        return f"Hello, {answer.name}."

    @server.prompt()
    def introduce() -> str:
        return "Introduce yourself."

    @server.resource("secret://{name}", ttl_ms=60_000, cache_scope="public")
    def secret(name: str, reader: Annotated[Name, Resolve(ask_name)]) -> str:
        return f"{name}, for {reader.name}"

    offline(server)
    return server


@pytest.fixture
def client() -> Client:
    return Client(everything().lambda_handler)


LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"]


def test_a_stream_ends_with_its_response_and_is_not_to_be_held_back() -> None:
    event = call_event("count", {})
    message = json.loads(event["body"])
    message["params"]["_meta"] |= {"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}

    response = everything().lambda_handler(with_body(event, message), LambdaContext())

    assert response["headers"]["Content-Type"] == "text/event-stream"
    assert response["headers"]["X-Accel-Buffering"] == "no"
    *told, last = messages(response["body"], "text/event-stream")
    assert [one["method"] for one in told if isinstance(one, dict)] == [
        "notifications/progress",
        "notifications/message",
    ] * 3
    assert not [one for one in told if isinstance(one, dict) and "id" in one]
    assert isinstance(last, dict)
    assert last["result"]["content"] == [{"type": "text", "text": "counted"}]


def test_no_session_is_minted_or_echoed(client: Client) -> None:
    for event in (
        request_event("tools/list", headers={"mcp-session-id": "of-old"}),
        call_event("greet", {}, headers={"mcp-session-id": "of-old"}),
    ):
        reply = client.send(event)

        assert reply.status == 200
        assert "mcp-session-id" not in reply.headers
        assert "of-old" not in reply.response["body"]


def test_a_question_carries_no_hint_for_caches(client: Client) -> None:
    asked = client.send(request_event("resources/read", {"uri": "secret://garden"}))

    assert asked.asks
    assert not asked.result.keys() & {"ttlMs", "cacheScope"}


def test_every_page_of_a_list_has_the_same_scope() -> None:
    server = Server("long")
    for number in range(PAGE_SIZE + 1):
        server.tool(f"tool{number:03}")(lambda: "x")
    client = Client(server.lambda_handler)

    first = client.send(request_event("tools/list")).result
    again = client.send(request_event("tools/list")).result
    second = client.send(request_event("tools/list", {"cursor": first["nextCursor"]})).result

    assert again["nextCursor"] == first["nextCursor"]
    assert "nextCursor" not in second
    assert first["cacheScope"] == second["cacheScope"] == "public"


@pytest.mark.parametrize("method", LISTS)
def test_a_list_is_the_same_whoever_asks_and_whatever_was_called_before(client: Client, method: str) -> None:
    first = client.send(request_event(method)).result
    client.answer(client.call("greet"), {"ask_name": accept(name="Ada")})

    others = [
        client.send(request_event(method, capabilities={})),
        client.send(request_event(method, claims={"iss": "https://issuer.example", "sub": "bo"})),
        Client(everything().lambda_handler).send(request_event(method)),
    ]

    assert [other.result for other in others] == [first] * 3


def test_extensions_that_a_client_declares_change_nothing(client: Client) -> None:
    extended = {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}, "com.example/other": {"a": 1}}}

    asked = client.send(call_event("greet", {}, capabilities=extended))
    discovered = client.send(request_event("server/discover", capabilities=extended)).result

    assert list(asked.questions) == ["ask_name"]
    assert "extensions" not in discovered["capabilities"]


def test_the_names_of_our_tools_and_prompts_are_names_that_every_client_can_show() -> None:
    catalog = json.loads((ROOT / "functions" / "front_door" / "catalog.json").read_text(encoding="utf-8"))
    names = [
        entry["definition"]["name"] for method in ("tools/list", "prompts/list") for entry in catalog["entries"][method]
    ]

    assert len(names) == 4
    assert [name for name in names if not re.fullmatch(r"[A-Za-z0-9_.-]{1,128}", name)] == []


def test_a_tool_is_another_one_in_another_case(client: Client) -> None:
    assert client.call("Greet").error["code"] == -32602


def test_a_schema_says_no_dialect_and_is_of_the_default_one(client: Client) -> None:
    tools: list[dict[str, Any]] = client.list_tools().result["tools"]
    schemas = [tool[member] for tool in tools for member in ("inputSchema", "outputSchema")]

    assert len(schemas) == 4
    for schema in schemas:
        assert "$schema" not in schema
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize(
    "uri",
    ["", "garden", "//garden", "secret://two words", "secret://caf\u00e9", "secret://%zz", "secret://%", 'secret://"', "secret://a\nb"],
)  # fmt: skip
def test_a_uri_that_is_none_is_not_found(client: Client, uri: str) -> None:
    refused = client.send(request_event("resources/read", {"uri": uri}))

    assert (refused.status, refused.error["code"]) == (400, -32602)
