from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from mrtr.content import Icon
from mrtr.endpoint import Endpoint, Forwarded
from mrtr.errors import ConfigurationError, Fault, ProtocolError, StateRefused, Unavailable
from mrtr.http import Kind
from mrtr.notifications import Outbox
from mrtr.paging import PAGE_SIZE
from mrtr.protocol import Request
from mrtr.testing import LambdaContext, call_event, discover_event, list_event, request_event, with_body
from tests.unit.conftest import Logged

ANSWER = '{"resultType":"complete","content":[]}'
CONTEXT = LambdaContext(aws_request_id="request-1")


class Stub(Endpoint):
    """Answers every call with `answer`, or raises it."""

    def __init__(self, answer: object = ANSWER, *, tools: int = 1, **options: Any) -> None:
        super().__init__("notes", **options)
        self._answer_or_error = answer
        self._tools = [{"name": f"tool{number:04}"} for number in range(tools)]
        self.seen: list[tuple[Request, Any]] = []

    def capabilities(self) -> Mapping[str, Any]:
        return {"tools": {}, "logging": {}}

    def definitions(self, method: str) -> Sequence[Mapping[str, Any]]:
        return self._tools if method == "tools/list" else []

    def call(self, request: Request, outbox: Outbox, context: Any) -> str | Forwarded:
        self.seen.append((request, context))
        outbox.progress(1, 2, "half")
        if isinstance(self._answer_or_error, Exception):
            raise self._answer_or_error
        assert isinstance(self._answer_or_error, str | Forwarded)
        return self._answer_or_error


def body_of(response: Mapping[str, Any]) -> Any:
    return json.loads(response["body"])


def called(answer: object = ANSWER) -> dict[str, Any]:
    """The response to a call that is answered so."""
    return Stub(answer).lambda_handler(call_event("delete_note", {"note_id": "secret-1"}, id=7), CONTEXT)


# Answers


def test_an_answer_is_one_json_rpc_response_with_the_requests_id() -> None:
    response = called()
    assert (response["statusCode"], response["isBase64Encoded"]) == (200, False)
    assert response["headers"] == {"Content-Type": "application/json"}
    assert response["body"] == f'{{"jsonrpc":"2.0","id":7,"result":{ANSWER}}}'


def test_a_call_gets_the_request_and_the_lambda_context() -> None:
    stub = Stub()
    stub.lambda_handler(call_event("delete_note", {"note_id": "7"}, id="a"), CONTEXT)
    ((request, context),) = stub.seen
    assert (request.id, request.method, request.name) == ("a", "tools/call", "delete_note")
    assert context is CONTEXT


def test_the_answer_of_another_function_is_passed_on_as_it_is() -> None:
    theirs = {"statusCode": 418, "headers": {"x": "y"}, "body": "not even JSON", "cookies": ["a=b"]}
    assert called(Forwarded(theirs)) is theirs


@pytest.mark.parametrize("kind", list(Kind))
def test_every_sender_is_answered_in_its_own_shape(kind: Kind) -> None:
    response = Stub().lambda_handler(call_event("t", {}, kind=kind), CONTEXT)
    assert response["statusCode"] == 200
    assert ("statusDescription" in response) is (kind is Kind.ALB)
    assert body_of(response)["result"] == json.loads(ANSWER)


def test_progress_that_was_asked_for_comes_before_the_response_in_one_stream_of_events() -> None:
    event = call_event("t", {}, id=7)
    message = json.loads(event["body"])
    message["params"]["_meta"]["progressToken"] = "p"
    response = Stub().lambda_handler(with_body(event, message), CONTEXT)
    assert response["headers"]["Content-Type"] == "text/event-stream"
    events = [block.split("data: ", 1)[1] for block in response["body"].strip().split("\n\n")]
    assert [json.loads(event).get("method") for event in events] == ["notifications/progress", None]
    assert json.loads(events[1]) == {"jsonrpc": "2.0", "id": 7, "result": json.loads(ANSWER)}


def test_a_notification_is_accepted_without_a_body() -> None:
    event = with_body(call_event("t", {}), {"jsonrpc": "2.0", "method": "notifications/cancelled"})
    response = Stub().lambda_handler(event, CONTEXT)
    assert (response["statusCode"], response["body"]) == (202, "")


# Discovery and lists


def test_discovery_says_versions_capabilities_who_answers_and_how_long_to_keep_it() -> None:
    icon = Icon(src="https://example.com/icon.png")
    stub = Stub(
        version="2.0.0", title="Notes", instructions="Ask first.", website_url="https://example.com", icons=[icon]
    )
    response = stub.lambda_handler(discover_event(id=5), CONTEXT)
    assert body_of(response) == {
        "jsonrpc": "2.0",
        "id": 5,
        "result": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "logging": {}},
            "instructions": "Ask first.",
            "ttlMs": 300_000,
            "cacheScope": "public",
            "_meta": {
                "io.modelcontextprotocol/serverInfo": {
                    "name": "notes",
                    "version": "2.0.0",
                    "title": "Notes",
                    "websiteUrl": "https://example.com",
                    "icons": [{"src": "https://example.com/icon.png"}],
                }
            },
        },
    }


def test_what_the_server_does_not_say_of_itself_is_left_out() -> None:
    result = body_of(Stub().lambda_handler(discover_event(), CONTEXT))["result"]
    assert "instructions" not in result
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "notes", "version": "1.0.0"}


def test_a_list_that_fits_a_page_has_no_cursor() -> None:
    result = body_of(Stub(tools=PAGE_SIZE).lambda_handler(list_event(), CONTEXT))["result"]
    assert len(result["tools"]) == PAGE_SIZE
    assert "nextCursor" not in result
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")


def test_the_pages_of_a_long_list_give_every_entry_once_and_in_order() -> None:
    stub = Stub(tools=2 * PAGE_SIZE + 1)
    names: list[str] = []
    params: dict[str, Any] = {}
    for _ in range(3):
        result = body_of(stub.lambda_handler(request_event("tools/list", params), CONTEXT))["result"]
        names += [tool["name"] for tool in result["tools"]]
        params = {"cursor": result.get("nextCursor")}
    assert params == {"cursor": None}
    assert names == [f"tool{number:04}" for number in range(2 * PAGE_SIZE + 1)]


@pytest.mark.parametrize("cursor", ["", "nonsense", "dG9vbDk5OTk", 1, True, ["x"]])
def test_a_cursor_that_was_never_given_is_invalid(cursor: object) -> None:
    response = Stub().lambda_handler(request_event("tools/list", {"cursor": cursor}), CONTEXT)
    assert (response["statusCode"], body_of(response)["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize(
    "method", ["prompts/list", "prompts/get", "resources/list", "resources/templates/list", "completion/complete"]
)
def test_what_a_server_does_not_offer_is_not_found(method: str) -> None:
    response = Stub().lambda_handler(request_event(method, {"name": "x"}), CONTEXT)
    assert (response["statusCode"], body_of(response)["error"]["code"]) == (404, -32601)


# Failures


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.METHOD_NOT_ALLOWED])
def test_a_protocol_error_is_answered_by_the_table(fault: Fault) -> None:
    response = called(ProtocolError(fault, "what is wrong", data={"more": 1}))
    assert response["statusCode"] == fault.status
    assert response["headers"]["Content-Type"] == "application/json"
    error = {"code": fault.code, "message": "what is wrong", "data": {"more": 1}}
    assert body_of(response) == {"jsonrpc": "2.0", "id": 7, "error": error}


@pytest.mark.parametrize("failure", [Unavailable("table down"), ConfigurationError("no MRTR_KEYRING")])
def test_what_is_unavailable_or_set_up_wrongly_asks_to_come_again_and_the_cause_is_in_the_log_alone(
    failure: Exception, logged: Logged
) -> None:
    response = called(failure)
    assert response["statusCode"] == 503
    assert response["headers"]["Retry-After"] == "2"
    error = body_of(response)["error"]
    assert error["code"] == -32603
    assert "nothing was done" in error["message"]
    assert str(failure) not in response["body"]
    assert logged.line("unavailable")["cause"] == str(failure)


@pytest.mark.parametrize("failure", [RuntimeError("secret-2"), KeyError("secret-2"), StateRefused("secret-2")])
def test_a_defect_answers_without_its_words_and_is_logged_by_kind_and_place(failure: Exception, logged: Logged) -> None:
    response = called(failure)
    assert response["statusCode"] == 500
    assert body_of(response) == {"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "Internal error"}}
    line = logged.line("request failed")
    assert line["error"] == type(failure).__name__
    assert line["where"][-1].endswith(" call")
    assert "secret" not in logged.text


def test_a_failure_after_progress_is_plain_json() -> None:
    event = call_event("t", {})
    message = json.loads(event["body"])
    message["params"]["_meta"]["progressToken"] = "p"
    response = Stub(ProtocolError(Fault.INVALID_PARAMS, "no")).lambda_handler(with_body(event, message), CONTEXT)
    assert response["headers"]["Content-Type"] == "application/json"
    assert body_of(response)["error"]["message"] == "no"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_other_methods_than_post_are_told_which_is_allowed(method: str) -> None:
    event = call_event("t", {})
    event["requestContext"]["http"]["method"] = method
    response = Stub().lambda_handler(event, CONTEXT)
    assert (response["statusCode"], response["headers"], response["body"]) == (405, {"Allow": "POST"}, "")


@pytest.mark.parametrize("event", [None, {}, [], "text", {"Records": [{"eventSource": "aws:sqs"}]}])
def test_an_event_that_is_no_http_request_is_answered_all_the_same(event: object) -> None:
    response = Stub().lambda_handler(event, None)
    assert response["statusCode"] == 400
    assert body_of(response)["error"]["code"] == -32600


def test_a_body_that_is_not_json_is_answered_without_an_id() -> None:
    response = Stub().lambda_handler(with_body(call_event("t", {}), "{"), CONTEXT)
    assert response["statusCode"] == 400
    assert list(body_of(response)) == ["jsonrpc", "error"]
    assert body_of(response)["error"]["code"] == -32700


def test_a_log_level_or_a_progress_token_that_does_not_exist_is_invalid() -> None:
    event = call_event("t", {}, id=7)
    for member, wrong in (("io.modelcontextprotocol/logLevel", "loud"), ("progressToken", True)):
        message = json.loads(event["body"])
        message["params"]["_meta"][member] = wrong
        response = Stub().lambda_handler(with_body(event, message), CONTEXT)
        assert (response["statusCode"], body_of(response)["id"]) == (400, 7)
        assert body_of(response)["error"]["code"] == -32602


# Settings


def test_limits_are_read_with_the_first_request_and_then_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stub = Stub()
    event = call_event("t", {}, headers={"origin": "https://app.example.com"})
    monkeypatch.setenv("MRTR_ALLOWED_ORIGINS", "https://app.example.com")
    assert stub.lambda_handler(event, CONTEXT)["statusCode"] == 200
    monkeypatch.delenv("MRTR_ALLOWED_ORIGINS")
    assert stub.lambda_handler(event, CONTEXT)["statusCode"] == 200
    assert Stub().lambda_handler(event, CONTEXT)["statusCode"] == 403


def test_a_setting_that_cannot_be_read_refuses_to_serve_and_is_named_in_the_log(
    monkeypatch: pytest.MonkeyPatch, logged: Logged
) -> None:
    monkeypatch.setenv("MRTR_MAX_BODY_BYTES", "much")
    assert called()["statusCode"] == 503
    assert "MRTR_MAX_BODY_BYTES" in logged.line("unavailable")["cause"]


def test_an_endpoint_of_its_own_has_to_say_what_it_offers() -> None:
    bare = Endpoint("bare")
    for unanswered in (bare.capabilities, lambda: bare.definitions("tools/list")):
        with pytest.raises(NotImplementedError):
            unanswered()
    with pytest.raises(NotImplementedError):
        bare.call(None, None, None)  # type: ignore[arg-type]


# The log


def test_every_answer_is_logged_with_its_request_and_nothing_that_was_sent(logged: Logged) -> None:
    answers = {"ask": {"action": "accept", "content": {"phone": "secret-3"}}}
    event = call_event("delete_note", {"note_id": "secret-1"}, state="v1.secret-2", answers=answers)
    Stub().lambda_handler(event, CONTEXT)
    Stub(ProtocolError(Fault.INVALID_PARAMS, "no")).lambda_handler(event, CONTEXT)
    accepted, rejected = logged.line("answered"), logged.line("rejected")
    assert (accepted["method"], accepted["status"]) == ("tools/call", 200)
    assert (rejected["fault"], rejected["status"]) == ("invalid_params", 400)
    assert {accepted["correlation_id"], rejected["correlation_id"]} == {"request-1"}
    assert "secret" not in logged.text
