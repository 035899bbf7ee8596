from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from mrtr import state as states
from mrtr.context import Context, remaining_ms
from mrtr.dialogue import Dialogue, Paused
from mrtr.http import read_event
from mrtr.log import log
from mrtr.notifications import Outbox
from mrtr.outcomes import AcceptedElicitation
from mrtr.principal import Principal
from mrtr.protocol import Limits, Request, read_request
from mrtr.state import FlowState
from mrtr.testing import LambdaContext, call_event, with_body

CAPABILITIES: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}}
META = {"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"}


class Confirm(BaseModel):
    confirm: bool


class Login(BaseModel):
    pin: int


class Leg:
    """One leg of a call, with its context."""

    def __init__(self, state: FlowState | None = None, **answers: dict[str, Any]) -> None:
        event = call_event(
            "t", {}, id="r1", capabilities=CAPABILITIES, claims={"iss": "i", "sub": "alice"}, answers=answers
        )
        body = json.loads(event["body"])
        body["params"]["_meta"] |= META
        request = read_request(read_event(with_body(event, body)), ("tools/call",), Limits())
        assert isinstance(request, Request)
        self.state = states.new_flow(1_800_000_000, 3600) if state is None else state
        self.dialogue = Dialogue(self.state, request.input_responses, request.capabilities)
        self.outbox = Outbox(request.meta)
        lambda_context = LambdaContext(remaining_ms=1234)
        self.context = Context(request, request.principal, self.dialogue, self.outbox, lambda_context, "my note")

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(message) for message in self.outbox.messages]


def test_a_context_knows_the_request_and_the_invocation() -> None:
    context = Leg(ask={"action": "decline"}).context
    assert context.principal == Principal("i", "alice")
    assert context.client_capabilities == CAPABILITIES
    assert context.client_info == {"name": "test-client", "version": "1.0.0"}
    assert context.request_id == "r1"
    assert context.headers["MCP-Method"] == "tools/call"
    assert context.remaining_ms == 1234
    assert context.input_responses == {"ask": {"action": "decline"}}
    assert context.request_state == "my note"
    assert context.logger is log()


def test_a_context_shows_the_request_id_alone() -> None:
    assert repr(Leg(ask={"action": "accept", "content": {"x": "secret"}}).context) == "Context(request_id='r1')"


def test_without_a_lambda_context_there_is_as_much_time_as_lambda_ever_gives() -> None:
    assert remaining_ms(None) == remaining_ms(object()) == 15 * 60 * 1000


# Asking from a body


def test_a_body_that_asks_pauses_and_finds_the_answer_on_the_retry() -> None:
    first = Leg()
    with pytest.raises(Paused):
        first.context.elicit("Sure?", Confirm, key="sure")
    again = Leg(first.dialogue.advance(first.state), sure={"action": "accept", "content": {"confirm": True}})
    assert again.context.elicit("Sure?", Confirm, key="sure") == AcceptedElicitation(Confirm(confirm=True))


def test_questions_without_a_key_are_numbered_in_the_order_they_are_asked() -> None:
    first = Leg()
    with pytest.raises(Paused):
        first.context.elicit("One?", Confirm)
    assert list(first.dialogue.pending) == ["question_1"]
    second = Leg(first.dialogue.advance(first.state), question_1={"action": "decline"})
    second.context.elicit("One?", Confirm)
    with pytest.raises(Paused):
        second.context.elicit_url("Two?", "https://example.com")
    assert list(second.dialogue.pending) == ["question_2"]


def test_a_field_that_only_sounds_like_a_secret_can_be_allowed() -> None:
    leg = Leg()
    with pytest.raises(Exception, match="looks like a secret"):
        leg.context.elicit("Which pin?", Login, key="pin")
    with pytest.raises(Paused):
        leg.context.elicit("Which pin?", Login, key="pin", allow=["pin"])


def test_a_page_is_asked_for_by_url() -> None:
    first = Leg()
    with pytest.raises(Paused):
        first.context.elicit_url("Sign in, please.", "https://example.com", key="sign_in")
    assert first.dialogue.pending["sign_in"]["params"]["mode"] == "url"
    again = Leg(first.dialogue.advance(first.state), sign_in={"action": "accept"})
    outcome = again.context.elicit_url("Sign in, please.", "https://example.com", key="sign_in")
    assert outcome == AcceptedElicitation(None)


# Telling


def test_progress_and_log_messages_go_to_the_client() -> None:
    leg = Leg()
    context = leg.context
    done = [context.report_progress(1, 2, "half"), context.log("notice", {"a": 1}, logger="mine")]
    done += [tell("said") for tell in (context.debug, context.info, context.warning, context.error)]
    assert len(done) == 6
    assert [message["method"] for message in leg.told()] == ["notifications/progress"] + ["notifications/message"] * 4
    assert [message["params"].get("level") for message in leg.told()[1:]] == ["notice", "info", "warning", "error"]


def test_what_tells_may_be_awaited() -> None:
    leg = Leg()
    for done in (leg.context.report_progress(1), leg.context.info("said")):
        with pytest.raises(StopIteration):
            next(done.__await__())
