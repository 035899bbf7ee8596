from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from mrtr.errors import Fault, ProtocolError
from mrtr.forms import InvalidAnswer
from mrtr.outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from mrtr.questions import Elicit, normalise
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
