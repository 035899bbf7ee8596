from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from botocore import exceptions as boto
from botocore.config import Config
from botocore.session import get_session
from botocore.stub import Stubber

from mrtr import aws
from mrtr.front_door import CALL_TIMEOUT_S, FrontDoor
from mrtr.testing import LambdaContext, call_event, discover_event, list_event, request_event
from tests.unit.conftest import Logged

PREFIX = "stack-tool-"
ANSWER = {
    "statusCode": 200,
    "headers": {"Content-Type": "application/json"},
    "body": '{"odd":  "but ours"}',
    "cookies": [],
}


def entry(function: str, **definition: Any) -> dict[str, Any]:
    return {"function": function, "definition": definition}


CATALOG = {
    "server": {"name": "askback", "version": "1.2.3"},
    "capabilities": {"completions": {}, "logging": {}, "prompts": {}, "resources": {}, "tools": {}},
    "completing": ["notes"],
    "entries": {
        "tools/list": [entry("delete_note", name="delete_note"), entry("notes", name="löschen 🗑")],
        "prompts/list": [entry("notes", name="summary"), entry("other", name="plain")],
        "resources/list": [entry("notes", name="all", uri="note://all")],
        "resources/templates/list": [
            entry("other", name="any", uriTemplate="other://{id}"),
            entry("notes", name="one", uriTemplate="note://{note_id}"),
        ],
    },
}


class Invoked:
    """A Lambda client: every invocation is written down and answered with `answer`, or with what `answer` raises."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self.options: dict[str, Any] = {}
        self.answer: Callable[[], dict[str, Any]] = lambda: answer(ANSWER)

    def invoke(self, **request: Any) -> dict[str, Any]:
        self.calls.append(request)
        return self.answer()


def answer(payload: Any, **more: Any) -> dict[str, Any]:
    text = payload if isinstance(payload, str) else json.dumps(payload)
    return {"StatusCode": 200, "Payload": io.BytesIO(text.encode()), **more}


def raising(error: Exception) -> Callable[[], dict[str, Any]]:
    def raise_it() -> dict[str, Any]:
        raise error

    return raise_it


@pytest.fixture
def functions(monkeypatch: pytest.MonkeyPatch) -> Invoked:
    client = Invoked()

    def made(service: str, **options: Any) -> Invoked:
        assert service == "lambda"
        client.options = options
        return client

    monkeypatch.setattr(aws, "client", made)
    monkeypatch.setenv("MRTR_TOOL_FUNCTION_PREFIX", PREFIX)
    return client


@pytest.fixture
def door(tmp_path: Path) -> FrontDoor:
    path = tmp_path / "catalog.json"
    path.write_text(json.dumps(CATALOG, ensure_ascii=False), encoding="utf-8")
    return FrontDoor(path)


def sent(door: FrontDoor, event: dict[str, Any]) -> dict[str, Any]:
    return door.lambda_handler(event, LambdaContext())


def error_of(response: dict[str, Any]) -> dict[str, Any]:
    error: dict[str, Any] = json.loads(response["body"])["error"]
    return error


# From the catalog


def test_discovery_and_lists_are_answered_from_the_catalog_without_a_call(door: FrontDoor, functions: Invoked) -> None:
    discovered = json.loads(sent(door, discover_event())["body"])["result"]
    assert discovered["capabilities"] == CATALOG["capabilities"]
    assert discovered["_meta"]["io.modelcontextprotocol/serverInfo"] == CATALOG["server"]
    assert json.loads(sent(door, list_event())["body"])["result"]["tools"] == [
        {"name": "delete_note"},
        {"name": "löschen 🗑"},
    ]
    templates = json.loads(sent(door, request_event("resources/templates/list"))["body"])["result"]["resourceTemplates"]
    assert [template["name"] for template in templates] == ["any", "one"]
    assert functions.calls == []


def test_a_list_of_what_the_catalog_does_not_hold_is_empty(door: FrontDoor) -> None:
    assert door.definitions("unheard/of") == []


# Handing on


@pytest.mark.parametrize(
    ("method", "params", "function"),
    [
        ("tools/call", {"name": "delete_note", "arguments": {}}, "delete_note"),
        ("tools/call", {"name": "löschen 🗑", "arguments": {}}, "notes"),
        ("prompts/get", {"name": "plain"}, "other"),
        ("resources/read", {"uri": "note://all"}, "notes"),
        ("resources/read", {"uri": "note://7"}, "notes"),
        ("resources/read", {"uri": "other://7"}, "other"),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "summary"}}, "notes"),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "note://{note_id}"}}, "notes"),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "note://all"}}, "notes"),
    ],
)
def test_a_call_goes_to_the_function_that_owns_the_name_event_and_answer_unchanged(
    door: FrontDoor, functions: Invoked, method: str, params: dict[str, Any], function: str
) -> None:
    event = request_event(method, params, claims={"iss": "i", "sub": "alice"})
    response = sent(door, event)
    (call,) = functions.calls
    assert set(call) == {"FunctionName", "Payload"}
    assert call["FunctionName"] == PREFIX + function
    assert json.loads(call["Payload"]) == event
    assert response == ANSWER


def test_a_call_goes_to_the_alias_that_is_set(
    door: FrontDoor, functions: Invoked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MRTR_TOOL_FUNCTION_ALIAS", "live")
    sent(door, call_event("delete_note", {"note_id": "7"}))
    assert [call["FunctionName"] for call in functions.calls] == [f"{PREFIX}delete_note:live"]


def test_a_call_waits_longer_than_a_function_may_run_and_is_never_sent_twice(
    door: FrontDoor, functions: Invoked
) -> None:
    sent(door, call_event("delete_note", {}))
    assert functions.options == {"read_timeout_s": CALL_TIMEOUT_S, "attempts": 1}
    assert CALL_TIMEOUT_S >= 60


def test_the_request_fits_the_api_of_lambda(door: FrontDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MRTR_TOOL_FUNCTION_PREFIX", PREFIX)
    client = get_session().create_client(
        "lambda", region_name="eu-west-1", config=Config(), aws_access_key_id="a", aws_secret_access_key="b"
    )
    event = call_event("delete_note", {"note_id": "7"})
    expected = {"FunctionName": "stack-tool-delete_note", "Payload": json.dumps(event, separators=(",", ":")).encode()}
    with Stubber(client) as stubber:
        stubber.add_response("invoke", answer(ANSWER), expected)
        monkeypatch.setattr(aws, "client", lambda *_, **__: client)
        assert sent(door, event) == ANSWER


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "unknown"}),
        ("tools/call", {"name": "Delete_note"}),
        ("tools/call", {"name": "summary"}),
        ("prompts/get", {"name": "delete_note"}),
        ("resources/read", {"uri": "note:///7/8"}),
        ("resources/read", {"uri": "nothing://7"}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "unknown"}}),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "plain"}}),
        ("completion/complete", {"ref": {"type": "ref/resource", "uri": "note://8"}}),
    ],
)
def test_what_nobody_owns_is_refused_without_a_call(
    door: FrontDoor, functions: Invoked, method: str, params: dict[str, Any]
) -> None:
    response = sent(door, request_event(method, params))
    assert (response["statusCode"], error_of(response)["code"]) == (400, -32602)
    assert functions.calls == []


def test_a_request_that_fails_validation_is_not_handed_on(door: FrontDoor, functions: Invoked) -> None:
    response = sent(door, call_event("delete_note", {}, headers={"mcp-name": "another"}))
    assert (response["statusCode"], error_of(response)["code"]) == (400, -32020)
    assert functions.calls == []


def test_without_the_prefix_of_function_names_the_door_refuses_to_serve(
    door: FrontDoor, functions: Invoked, monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    monkeypatch.delenv("MRTR_TOOL_FUNCTION_PREFIX")
    assert sent(door, call_event("delete_note", {}))["statusCode"] == 503
    assert "MRTR_TOOL_FUNCTION_PREFIX" in logged.line("unavailable")["cause"]
    assert functions.calls == []


# What went wrong on the way

URL = "https://lambda.eu-west-1.amazonaws.com"
NOT_RUN: list[Exception] = [
    boto.EndpointConnectionError(endpoint_url=URL),
    boto.ConnectTimeoutError(endpoint_url=URL),
    boto.ProxyConnectionError(proxy_url=URL),
    boto.SSLError(endpoint_url=URL, error=OSError()),
    boto.NoCredentialsError(),
    boto.NoRegionError(),
    *(
        boto.ClientError({"Error": {"Code": code, "Message": "secret-1"}}, "Invoke")
        for code in (
            "TooManyRequestsException",
            "ResourceNotFoundException",
            "AccessDeniedException",
            "EC2ThrottledException",
        )
    ),
]
MAY_HAVE_RUN: list[Exception] = [
    boto.ReadTimeoutError(endpoint_url=URL),
    boto.ConnectionClosedError(endpoint_url=URL),
    boto.HTTPClientError(error="x"),
    boto.ClientError({"Error": {"Code": "ServiceException", "Message": "secret-1"}}, "Invoke"),
]


def _kind(error: Exception) -> str:
    return error.response["Error"]["Code"] if isinstance(error, boto.ClientError) else type(error).__name__


@pytest.mark.parametrize("failure", NOT_RUN, ids=_kind)
def test_a_function_that_cannot_have_run_is_unavailable_and_may_be_called_again(
    door: FrontDoor, functions: Invoked, logged: Logged, failure: Exception
) -> None:
    functions.answer = raising(failure)
    response = sent(door, call_event("delete_note", {"note_id": "secret-2"}))
    assert (response["statusCode"], response["headers"]["Retry-After"]) == (503, "2")
    assert "nothing was done" in error_of(response)["message"]
    assert len(functions.calls) == 1
    assert (
        logged.line("unavailable")["cause"]
        == f"lambda:InvokeFunction on stack-tool-delete_note failed: {_kind(failure)}"
    )
    assert "secret" not in logged.text


@pytest.mark.parametrize("failure", MAY_HAVE_RUN, ids=_kind)
def test_a_function_that_may_have_run_is_never_said_to_have_done_nothing(
    door: FrontDoor, functions: Invoked, logged: Logged, failure: Exception
) -> None:
    functions.answer = raising(failure)
    response = sent(door, call_event("delete_note", {"note_id": "secret-2"}))
    assert (response["statusCode"], error_of(response)["code"]) == (500, -32603)
    assert "Retry-After" not in response["headers"]
    assert "unknown" in error_of(response)["message"]
    assert len(functions.calls) == 1
    assert logged.line("function failed")["function"] == "stack-tool-delete_note"
    assert "secret" not in logged.text


@pytest.mark.parametrize(
    "failure",
    [
        boto.ReadTimeoutError(endpoint_url=URL),
        boto.IncompleteReadError(actual_bytes=1, expected_bytes=2),
        boto.ResponseStreamingError(error="x"),
    ],
    ids=_kind,
)
def test_an_answer_that_broke_off_is_not_nothing_done_either(
    door: FrontDoor, functions: Invoked, failure: Exception
) -> None:
    class Broken:
        def read(self) -> bytes:
            raise failure

    functions.answer = lambda: {"StatusCode": 200, "Payload": Broken()}
    response = sent(door, call_event("delete_note", {}))
    assert (response["statusCode"], error_of(response)["code"]) == (500, -32603)


@pytest.mark.parametrize(
    "given",
    [
        answer({"errorMessage": "secret-1", "errorType": "Runtime.ExitError"}, FunctionError="Unhandled"),
        answer("null"),
        answer("[]"),
        answer('"secret-1"'),
        answer("secret-1"),
        answer(""),
    ],
    ids=["crashed", "null", "a list", "text", "no JSON", "nothing"],
)
def test_a_function_that_crashed_or_answered_nonsense_may_have_run(
    door: FrontDoor, functions: Invoked, logged: Logged, given: dict[str, Any]
) -> None:
    functions.answer = lambda: given
    response = sent(door, call_event("delete_note", {}))
    assert (response["statusCode"], error_of(response)["code"]) == (500, -32603)
    assert "secret" not in response["body"]
    assert "secret" not in logged.text
