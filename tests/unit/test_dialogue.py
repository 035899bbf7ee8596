from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel, Field

from mrtr import state as states
from mrtr import tags
from mrtr.dialogue import Dialogue, Paused
from mrtr.errors import Fault, ProtocolError
from mrtr.outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from mrtr.questions import Elicit
from mrtr.state import Answer, FlowState

FORMS: dict[str, Any] = {"elicitation": {}}
PHONE = "0123456789"


class Contact(BaseModel):
    phone: str = Field(min_length=6)


class Confirm(BaseModel):
    confirm: bool


CONTACT = Elicit("Your number?", Contact)
SURE = Elicit("Sure?", Confirm)
YES = {"action": "accept", "content": {"confirm": True}}
NUMBER = {"action": "accept", "content": {"phone": PHONE}}


def first_leg() -> tuple[FlowState, Dialogue]:
    flow = states.new_flow(1_800_000_000, 3600)
    return flow, Dialogue(flow, {}, FORMS)


def asked(**questions: Elicit[Any]) -> FlowState:
    """The state of a flow that has asked these questions in its first round."""
    flow, dialogue = first_leg()
    for key, question in questions.items():
        with pytest.raises(Paused):
            dialogue.outcome(key, question)
    return dialogue.advance(flow)


def retried(flow: FlowState, **responses: dict[str, Any]) -> Dialogue:
    return Dialogue(flow, responses, FORMS)


def still_open(dialogue: Dialogue, key: str, question: Elicit[Any]) -> dict[str, Any]:
    """The question as it is asked (again)."""
    with pytest.raises(Paused):
        dialogue.outcome(key, question)
    return dialogue.pending[key]


# Asking


def test_a_question_without_an_answer_ends_the_leg_and_is_pending() -> None:
    _, dialogue = first_leg()
    assert still_open(dialogue, "sure", SURE) == SURE.wire(frozenset())
    assert list(dialogue.pending) == ["sure"]


def test_a_pause_passes_through_an_authors_broad_except() -> None:
    _, dialogue = first_leg()

    def author() -> str:
        try:
            return str(dialogue.outcome("sure", SURE))
        except Exception:  # noqa: BLE001 - authors do
            return "swallowed"

    with pytest.raises(Paused):
        author()


def test_questions_of_one_round_are_counted_and_kept_by_tag_and_digest_alone() -> None:
    flow, dialogue = first_leg()
    for key, question in (("sure", SURE), ("contact", CONTACT)):
        still_open(dialogue, key, question)
    after = dialogue.advance(flow)
    assert (after.round, after.answers) == (flow.round + 1, ())
    assert [entry.key for entry in after.asked] == [tags.key_tag(flow.flow, "sure"), tags.key_tag(flow.flow, "contact")]
    assert after.asked[0].question == tags.question_digest(flow.flow, "sure", SURE.wire(frozenset()))


# Answering


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (YES, AcceptedElicitation(Confirm(confirm=True))),
        ({"action": "decline"}, DeclinedElicitation()),
        ({"action": "cancel"}, CancelledElicitation()),
    ],
)
def test_an_answer_under_the_key_of_a_question_that_was_asked_counts(answer: dict[str, Any], outcome: object) -> None:
    dialogue = retried(asked(sure=SURE), sure=answer)
    assert dialogue.outcome("sure", SURE) == outcome
    assert dialogue.pending == {}


def test_asking_the_same_twice_in_one_leg_gives_the_same_answer_twice() -> None:
    dialogue = retried(asked(sure=SURE), sure=YES)
    assert dialogue.outcome("sure", SURE) == dialogue.outcome("sure", SURE)


def test_answers_without_a_state_answer_nothing() -> None:
    flow = states.new_flow(1_800_000_000, 3600)
    dialogue = Dialogue(flow, {"sure": YES}, FORMS)
    still_open(dialogue, "sure", SURE)
    assert dialogue.answers == ()


def test_answers_under_unknown_keys_are_left_aside_whatever_they_are() -> None:
    dialogue = retried(asked(sure=SURE), sure=YES, contact=NUMBER, other={"nonsense": 1})
    assert len(dialogue.answers) == 1
    still_open(dialogue, "contact", CONTACT)


def test_an_answer_that_is_none_is_invalid() -> None:
    with pytest.raises(ProtocolError) as refusal:
        retried(asked(sure=SURE), sure={"action": "perhaps"})
    assert refusal.value.fault is Fault.INVALID_PARAMS


def test_a_missing_answer_is_asked_for_again_and_the_others_are_kept() -> None:
    flow = asked(sure=SURE, contact=CONTACT)
    dialogue = retried(flow, contact=NUMBER)
    still_open(dialogue, "sure", SURE)
    assert dialogue.outcome("contact", CONTACT) == AcceptedElicitation(Contact(phone=PHONE))
    after = dialogue.advance(flow)
    assert list(dialogue.pending) == ["sure"]
    assert [answer.json for answer in after.answers] == [f'{{"phone":"{PHONE}"}}']
    final = retried(after, sure=YES)
    assert final.outcome("sure", SURE) == AcceptedElicitation(Confirm(confirm=True))
    assert final.outcome("contact", CONTACT) == AcceptedElicitation(Contact(phone=PHONE))


@pytest.mark.parametrize(
    ("key", "question"),
    [
        pytest.param("sure", Elicit("Really sure?", Confirm), id="other words"),
        pytest.param("sure", CONTACT, id="another form"),
        pytest.param("certain", SURE, id="another key"),
    ],
)
def test_an_answer_counts_only_for_the_question_that_was_shown(key: str, question: Elicit[Any]) -> None:
    flow = asked(sure=SURE)
    dialogue = retried(flow, sure=YES)
    assert still_open(dialogue, key, question) == question.wire(frozenset())
    assert dialogue.advance(flow).answers == ()


def test_an_answer_cannot_be_moved_to_another_question_of_the_same_round() -> None:
    flow = asked(first=SURE, second=SURE)
    dialogue = retried(flow, first=YES)
    still_open(dialogue, "second", SURE)
    assert dialogue.outcome("first", SURE) == AcceptedElicitation(Confirm(confirm=True))


def test_a_recorded_answer_is_not_replaced_by_a_later_one() -> None:
    flow = asked(sure=SURE)
    recorded = replace(flow, answers=(Answer(flow.asked[0].question, "decline"),))
    assert retried(recorded, sure=YES).outcome("sure", SURE) == DeclinedElicitation()


def test_only_the_answers_that_a_leg_used_travel_on() -> None:
    flow = asked(sure=SURE, contact=CONTACT)
    dialogue = retried(flow, sure=YES, contact=NUMBER)
    dialogue.outcome("sure", SURE)
    still_open(dialogue, "more", Elicit("More?", Confirm))
    assert [answer.json for answer in dialogue.advance(flow).answers] == ['{"confirm":true}']


# Answers that do not fit


def test_an_answer_that_does_not_fit_is_asked_for_again_with_what_was_wrong() -> None:
    flow = asked(contact=CONTACT)
    dialogue = retried(flow, contact={"action": "accept", "content": {"phone": "9999"}})
    again = still_open(dialogue, "contact", CONTACT)
    message = again["params"]["message"]
    assert message.startswith("Your number?\n\nPlease answer again: phone: ")
    assert "9999" not in message
    assert {**again, "params": {**again["params"], "message": "Your number?"}} == CONTACT.wire(frozenset())
    after = dialogue.advance(flow)
    assert (after.round, after.answers) == (2, ())
    assert retried(after, contact=NUMBER).outcome("contact", CONTACT) == AcceptedElicitation(Contact(phone=PHONE))


def test_the_tag_of_a_legs_answers_counts_those_that_did_not_fit_too() -> None:
    flow = asked(contact=CONTACT)
    short = retried(flow, contact={"action": "accept", "content": {"phone": "9999"}})
    before = short.answers_tag
    still_open(short, "contact", CONTACT)
    assert short.answers_tag == before != retried(flow, contact=NUMBER).answers_tag


def test_legs_with_the_same_answers_have_the_same_tag_however_they_were_sent() -> None:
    flow = asked(sure=SURE, contact=CONTACT)
    tag = retried(flow, sure=YES, contact=NUMBER).answers_tag
    assert retried(flow, contact=NUMBER, sure=YES, other={"x": 1}).answers_tag == tag
    carried = replace(flow, asked=(), answers=retried(flow, contact=NUMBER, sure=YES).answers)
    assert retried(carried).answers_tag == tag
    assert retried(flow, sure=YES).answers_tag != tag
    assert retried(flow, sure={"action": "decline"}, contact=NUMBER).answers_tag != tag


# What the client can't do


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": None}])
def test_a_question_that_the_client_cannot_show_is_refused_with_what_it_would_need(
    capabilities: dict[str, Any],
) -> None:
    dialogue = Dialogue(states.new_flow(1_800_000_000, 3600), {}, capabilities)
    with pytest.raises(Paused):
        dialogue.outcome("contact", CONTACT)
    with pytest.raises(ProtocolError) as refusal:
        dialogue.settle()
    assert refusal.value.fault is Fault.MISSING_CAPABILITY
    assert refusal.value.data == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    assert "'contact'" in refusal.value.message
    assert dialogue.pending == {}


def test_an_answered_question_needs_no_capability() -> None:
    dialogue = Dialogue(asked(sure=SURE), {"sure": YES}, {})
    assert dialogue.outcome("sure", SURE) == AcceptedElicitation(Confirm(confirm=True))
    dialogue.settle()


def test_an_open_question_still_pauses_a_leg_whose_author_caught_the_pause() -> None:
    _, dialogue = first_leg()
    still_open(dialogue, "sure", SURE)
    with pytest.raises(Paused):
        dialogue.settle()


# Keeping secrets


def test_a_dialogue_shows_keys_and_nothing_of_questions_or_answers() -> None:
    dialogue = retried(asked(sure=SURE, contact=CONTACT), contact=NUMBER)
    still_open(dialogue, "sure", SURE)
    shown = repr(dialogue) + repr(dialogue.answers)
    assert "sure" in shown
    assert PHONE not in shown
    assert "Sure?" not in shown
