# Annotations are evaluated as they stand.
import json
from typing import Any

import pytest

from mrtr.errors import InvalidSignature
from mrtr.server import Server
from mrtr.testing import Client, LambdaContext, offline, request_event
from tests.unit.conftest import Logged


def greet(name: str) -> str:
    """Greets."""
    return f"Hello, {name}."


def answered(server: Server, method: str, **params: Any) -> dict[str, Any]:
    response: dict[str, Any] = json.loads(server.lambda_handler(request_event(method, params), LambdaContext())["body"])
    return response


@pytest.fixture
def server() -> Server:
    server = Server("notes")
    server.tool()(greet)
    server.prompt()(greet)
    server.resource("note://{name}")(greet)
    return server


def test_a_server_offers_what_was_registered_and_nothing_else(server: Server) -> None:
    assert set(Server("bare").capabilities()) == {"logging"}
    assert set(server.capabilities()) == {"logging", "tools", "prompts", "resources"}
    server.completion()(lambda *_: None)
    assert set(server.capabilities()) == {"logging", "tools", "prompts", "resources", "completions"}


def test_what_is_registered_after_the_first_request_is_served_too(server: Server) -> None:
    assert answered(server, "resources/list")["result"]["resources"] == []
    server.resource("note://all")(lambda: "")
    assert [entry["uri"] for entry in answered(server, "resources/list")["result"]["resources"]] == ["note://all"]
    templates = answered(server, "resources/templates/list")["result"]["resourceTemplates"]
    assert [entry["uriTemplate"] for entry in templates] == ["note://{name}"]
    assert [entry["name"] for entry in answered(server, "prompts/list")["result"]["prompts"]] == ["greet"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "unknown"}),
        ("tools/call", {"name": "Greet"}),
        ("prompts/get", {"name": "unknown"}),
        ("resources/read", {"uri": "other://a"}),
    ],
)
def test_what_is_unknown_is_invalid_before_anything_is_set_up(
    server: Server, method: str, params: dict[str, Any]
) -> None:
    assert answered(server, method, **params)["error"]["code"] == -32602


def test_a_resource_that_is_not_there_is_named(server: Server) -> None:
    assert answered(server, "resources/read", uri="other://a")["error"]["data"] == {"uri": "other://a"}


def test_discovery_and_lists_need_no_settings_and_a_call_says_which_are_missing(
    server: Server, monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    for name in ("MRTR_KEYRING", "MRTR_CLAIM_TABLE", "MRTR_AUDIENCE"):
        monkeypatch.delenv(name, raising=False)
    assert "result" in answered(server, "server/discover")
    assert "result" in answered(server, "tools/list")
    assert answered(server, "tools/call", name="greet", arguments={"name": "Zoë"})["error"]["code"] == -32603
    assert "MRTR_KEYRING is not set" in logged.line("unavailable")["cause"]


def test_a_runtime_is_made_of_the_settings_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRTR_KEYRING", "secretsmanager:arn")
    monkeypatch.setenv("MRTR_CLAIM_TABLE", "claims")
    monkeypatch.setenv("MRTR_AUDIENCE", "stack")
    assert answered(server, "tools/call", name="greet", arguments={"name": "Zoë"})["result"]["isError"] is False
    monkeypatch.delenv("MRTR_KEYRING")
    assert answered(server, "tools/call", name="greet", arguments={"name": "Zoë"})["result"]["isError"] is False


def test_a_keyring_of_an_unknown_kind_refuses_to_serve(
    server: Server, monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    monkeypatch.setenv("MRTR_KEYRING", "file:/tmp/ring")
    monkeypatch.setenv("MRTR_CLAIM_TABLE", "claims")
    monkeypatch.setenv("MRTR_AUDIENCE", "stack")
    assert answered(server, "tools/call", name="greet", arguments={"name": "Zoë"})["error"]["code"] == -32603
    assert "MRTR_KEYRING" in logged.line("unavailable")["cause"]


def test_tools_prompts_and_resources_are_answered_each_in_its_own_shape(server: Server) -> None:
    offline(server)
    assert Client(server.lambda_handler).call("greet", {"name": "Zoë 📝"}).text == "Hello, Zoë 📝."
    (said,) = answered(server, "prompts/get", name="greet", arguments={"name": "Zoë"})["result"]["messages"]
    assert said == {"role": "user", "content": {"type": "text", "text": "Hello, Zoë."}}
    (contents,) = answered(server, "resources/read", uri="note://Zo%C3%AB")["result"]["contents"]
    assert contents == {"uri": "note://Zo%C3%AB", "text": "Hello, Zoë."}


def test_two_of_one_kind_and_name_are_refused(server: Server) -> None:
    with pytest.raises(InvalidSignature, match="two prompts are named 'greet'"):
        server.prompt()(greet)
    with pytest.raises(InvalidSignature, match=r"two resources are named 'note://\{name\}'"):
        server.resource("note://{name}")(greet)
    with pytest.raises(InvalidSignature, match=r"@server\.prompt\(\) with parentheses"):
        server.prompt(greet)  # type: ignore[arg-type]
