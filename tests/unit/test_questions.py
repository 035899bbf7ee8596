from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from mrtr.client_questions import ListRoots, Root, Sample, SamplingMessage
from mrtr.confirmation import confirm
from mrtr.content import ImageContent, TextContent
from mrtr.errors import Fault, ProtocolError
from mrtr.forms import InvalidAnswer
from mrtr.outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from mrtr.questions import Elicit, ElicitUrl, normalise
from mrtr.strict_json import Number

NOTHING = frozenset[str]()


class Contact(BaseModel):
    phone: str = Field(min_length=6)


class Login(BaseModel):
    pin: int


ASK = Elicit("Your number? ☎", Contact)


def test_a_question_is_a_form_elicitation_on_the_wire() -> None:
    assert ASK.wire(NOTHING) == {
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": "Your number? ☎",
            "requestedSchema": {
                "type": "object",
                "properties": {"phone": {"type": "string", "minLength": 6, "title": "Phone"}},
                "required": ["phone"],
            },
        },
    }


def test_a_confirmation_is_a_form_with_one_box() -> None:
    schema = confirm("Sure?").wire(NOTHING)["params"]["requestedSchema"]
    assert list(schema["properties"]) == schema["required"] == ["confirm"]
    assert schema["properties"]["confirm"]["type"] == "boolean"


def test_what_sounds_like_a_secret_is_asked_for_only_where_it_is_allowed() -> None:
    question = Elicit("Which pin of the board?", Login)
    with pytest.raises(Exception, match="looks like a secret"):
        question.wire(NOTHING)
    assert "pin" in question.wire(frozenset({"pin"}))["params"]["requestedSchema"]["properties"]
    assert question.read('{"pin":13}', frozenset({"pin"})) == AcceptedElicitation(Login(pin=13))


@pytest.mark.parametrize(
    "capabilities",
    [
        {"elicitation": {}},
        {"elicitation": {"form": {}}},
        {"elicitation": {"form": {}, "url": {}}},
        {"elicitation": {"form": {"more": 1}}, "sampling": {}},
        {"elicitation": {"future": {}}},
    ],
)
def test_a_client_that_shows_forms_can_be_asked(capabilities: dict[str, Any]) -> None:
    assert ASK.missing_capability(capabilities) is None


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"sampling": {}},
        {"elicitation": None},
        {"elicitation": True},
        {"elicitation": []},
        {"elicitation": {"url": {}}},
    ],
)
def test_a_client_that_does_not_say_it_shows_forms_cannot_be_asked(capabilities: dict[str, Any]) -> None:
    assert ASK.missing_capability(capabilities) == {"elicitation": {"form": {}}}


# Answers


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"action": "decline"}, "decline"),
        ({"action": "cancel"}, "cancel"),
        ({"action": "decline", "content": {"phone": "1"}}, "decline"),
        ({"action": "accept", "content": {"b": 1, "a": Number("1.0")}}, '{"a":1,"b":1}'),
        ({"action": "accept", "content": {}}, "{}"),
        ({"action": "accept"}, "accept"),
        ({"action": "accept", "content": None}, "accept"),
        ({"action": "accept", "content": {"x": "y"}, "_meta": {"z": 1}}, '{"x":"y"}'),
    ],
)
def test_an_answer_has_one_text_whatever_its_spelling(answer: dict[str, Any], text: str) -> None:
    assert normalise(answer) == text


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"action": "Accept", "content": {}},
        {"action": "yes"},
        {"action": None},
        {"action": True},
        {"action": ["accept"]},
        {"content": {"phone": "0123456789"}},
        {"action": "accept", "content": "0123456789"},
        {"action": "accept", "content": ["0123456789"]},
        {"action": "accept", "content": True},
    ],
)
def test_what_is_no_answer_is_invalid_and_not_repeated(answer: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        normalise(answer)
    assert refusal.value.fault is Fault.INVALID_PARAMS
    assert "inputResponses" in refusal.value.message
    assert "0123456789" not in refusal.value.message


def test_an_answer_is_read_as_what_it_came_to() -> None:
    assert ASK.read("decline", NOTHING) == DeclinedElicitation()
    assert ASK.read("cancel", NOTHING) == CancelledElicitation()
    assert ASK.read('{"phone":"0123456789"}', NOTHING) == AcceptedElicitation(Contact(phone="0123456789"))


@pytest.mark.parametrize("answer", ["accept", "{}", '{"phone":"1"}', '{"phone":123456}'])
def test_an_accepted_answer_that_does_not_fit_is_invalid(answer: str) -> None:
    with pytest.raises(InvalidAnswer):
        ASK.read(answer, NOTHING)


# Pages


PAGE = ElicitUrl("Sign in, please.", "https://example.com/sign-in?for=7")


def test_a_page_is_a_url_elicitation_on_the_wire() -> None:
    assert PAGE.wire(NOTHING) == {
        "method": "elicitation/create",
        "params": {"mode": "url", "message": "Sign in, please.", "url": "https://example.com/sign-in?for=7"},
    }


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/sign-in",
        "example.com/sign-in",
        "//example.com",
        "https://",
        "https:///path",
        "ftp://example.com",
        "javascript:alert(1)",
        "https://user:word@example.com",
        "https://user@example.com",
    ],
)
def test_what_is_no_plain_web_address_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="absolute"):
        ElicitUrl("m", url)


@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": {"form": {}, "url": {}}}, False),
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"url": True}}, True),
        ({}, True),
    ],
)
def test_only_a_client_that_says_it_opens_pages_is_sent_to_one(capabilities: dict[str, Any], missing: bool) -> None:
    assert PAGE.missing_capability(capabilities) == ({"elicitation": {"url": {}}} if missing else None)


def test_agreeing_to_open_a_page_is_an_outcome_without_data() -> None:
    assert PAGE.read("accept", NOTHING) == AcceptedElicitation(None)
    assert PAGE.read("decline", NOTHING) == DeclinedElicitation()
    assert PAGE.read("cancel", NOTHING) == CancelledElicitation()


def test_a_page_does_not_show_its_address() -> None:
    assert "example" not in repr(PAGE)


# The client's model and its roots

SAMPLE = Sample(
    [SamplingMessage(role="user", content="The capital of France?")], max_tokens=9, system_prompt="Be short."
)
SAID = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m", "stopReason": "endTurn"}


def test_a_sample_is_a_sampling_request_without_what_was_not_given() -> None:
    content = {"type": "text", "text": "The capital of France?"}
    params = {"messages": [{"role": "user", "content": content}], "maxTokens": 9, "systemPrompt": "Be short."}
    assert SAMPLE.wire(NOTHING) == {"method": "sampling/createMessage", "params": params}
    assert "France" not in repr(SAMPLE) + repr(SamplingMessage(role="user", content="France"))


def test_a_sample_may_hold_all_that_the_specification_has() -> None:
    tools = [{"name": "t", "inputSchema": {"type": "object"}}]
    full = Sample(
        [SamplingMessage(role="user", content=[TextContent(text="a"), ImageContent(data=b"b", mime_type="image/png")])],
        max_tokens=1,
        temperature=0.0,
        stop_sequences=("x",),
        metadata={"a": 1},
        model_preferences={"speedPriority": 1},
        tools=tools,
        tool_choice={"mode": "auto"},
    )
    params = full.wire(NOTHING)["params"]
    assert [block["type"] for block in params["messages"][0]["content"]] == ["text", "image"]
    assert {name: params[name] for name in ("temperature", "stopSequences", "tools", "toolChoice")} == {
        "temperature": 0.0,
        "stopSequences": ["x"],
        "tools": tools,
        "toolChoice": {"mode": "auto"},
    }
    assert full.missing_capability({"sampling": {}}) == {"sampling": {"tools": {}}}
    assert full.missing_capability({"sampling": {"tools": {}}}) is None


def test_only_a_client_with_a_model_or_roots_is_asked_for_them() -> None:
    assert SAMPLE.missing_capability({"sampling": {}}) is None
    assert SAMPLE.missing_capability({"elicitation": {}}) == {"sampling": {}}
    assert ListRoots().missing_capability({"roots": {"listChanged": True}}) is None
    assert ListRoots().missing_capability({"roots": None}) == {"roots": {}}


def test_what_the_model_said_is_read_with_its_text() -> None:
    outcome = SAMPLE.read(normalise({**SAID, "_meta": {"x": 1}}), NOTHING)
    said = outcome.data
    assert (said.role, said.model, said.stop_reason, said.text) == ("assistant", "m", "endTurn", "Paris")
    several = {**SAID, "content": [{"type": "text", "text": "Pa"}, {"type": "image"}, {"type": "text", "text": "ris"}]}
    assert SAMPLE.read(normalise(several), NOTHING).data.text == "Paris"
    assert "Paris" not in repr(outcome) + repr(said)


@pytest.mark.parametrize(
    "change",
    [
        {"role": "system"},
        {"model": None},
        {"content": None},
        {"content": "Paris"},
        {"content": [None]},
        {"content": {"text": "Paris"}},
        {"content": {"type": "text"}},
    ],
)
def test_what_no_model_says_is_asked_again(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidAnswer, match="no sampling result"):
        SAMPLE.read(normalise({**SAID, **change}), NOTHING)


def test_roots_are_read_with_their_names() -> None:
    roots = [{"uri": "file:///a", "name": "A"}, {"uri": "file:///b"}, {"uri": "file:///c", "name": 3}]
    outcome = ListRoots().read(normalise({"roots": roots}), NOTHING)
    assert outcome.data.roots == [Root("file:///a", "A"), Root("file:///b"), Root("file:///c")]
    assert ListRoots().wire(NOTHING) == {"method": "roots/list", "params": {}}
    assert repr(ListRoots()) == "ListRoots()"


@pytest.mark.parametrize("roots", [None, "file:///a", ["file:///a"], [{"name": "a"}], [{"uri": 1}]])
def test_what_are_no_roots_is_asked_again(roots: object) -> None:
    with pytest.raises(InvalidAnswer, match="no list of roots"):
        ListRoots().read(normalise({"roots": roots}), NOTHING)


def test_an_answer_of_another_kind_is_asked_again() -> None:
    sampled, filled_in = normalise(SAID), normalise({"action": "accept", "content": {"phone": "0123456789"}})
    for question, answer in (
        (ASK, sampled),
        (SAMPLE, filled_in),
        (SAMPLE, "decline"),
        (ListRoots(), "accept"),
        (ListRoots(), sampled),
    ):
        with pytest.raises(InvalidAnswer):
            question.read(answer, NOTHING)


# Outcomes


def test_each_outcome_says_its_action_and_can_be_awaited() -> None:
    accepted = AcceptedElicitation(Contact(phone="0123456789"))
    outcomes: list[ElicitationResult[Contact]] = [accepted, DeclinedElicitation(), CancelledElicitation()]
    assert [outcome.action for outcome in outcomes] == ["accept", "decline", "cancel"]
    for outcome in outcomes:
        with pytest.raises(StopIteration) as ended:
            next(outcome.__await__())
        assert ended.value.value is outcome


def test_neither_a_question_nor_an_outcome_shows_what_was_asked_or_answered() -> None:
    shown = repr(Elicit("Delete the note about 0123456789?", Contact)) + repr(
        AcceptedElicitation(Contact(phone="0123456789"))
    )
    assert "Contact" in shown
    assert "0123456789" not in shown
