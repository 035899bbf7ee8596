"""write_minutes: what only the person knows is asked, what the arguments say is not."""

from __future__ import annotations

from typing import Any

import pytest

from local.retry_event import retry_event
from mrtr.testing import Reply, accept, cancel, decline, request_event
from tests.flow.tools.legs import Instance, words

MEETING = accept(present="Ada Example, Bo Example", decided="Mend it before winter.")


@pytest.fixture
def prompt(aws: Any) -> Instance:  # noqa: ARG001  the key ring must exist before anyone is asked
    return Instance("write_minutes")


def get(prompt: Instance, **arguments: str) -> Reply:
    return prompt.send(request_event("prompts/get", {"name": "write_minutes", "arguments": arguments}))


def answer(prompt: Instance, asked: Reply, **answers: dict[str, Any]) -> Reply:
    return prompt.send(retry_event(asked.event, answers, asked.state))


def test_without_a_style_two_questions_travel_together(prompt: Instance) -> None:
    asked = get(prompt, topic="the roof")

    assert set(asked.questions) == {"ask_meeting", "ask_style"}
    assert asked.questions["ask_meeting"]["params"]["message"] == (
        "Who was at the meeting about the roof, and what was decided?"
    )


@pytest.mark.parametrize(
    ("style", "how"),
    [
        ("brief", "Keep it to one short paragraph."),
        ("detailed", "Give each decision a paragraph of its own, with its reasons."),
        ("actions", "Write nothing but a list of who does what until when."),
    ],
)
def test_a_style_that_was_given_is_used_and_not_asked_for(prompt: Instance, style: str, how: str) -> None:
    asked = get(prompt, topic="the roof", style=style)
    assert set(asked.questions) == {"ask_meeting"}

    written = answer(prompt, asked, ask_meeting=MEETING)

    (message,) = written.result["messages"]
    assert message["role"] == "user"
    assert message["content"]["text"] == (
        f"Write the minutes of a meeting about the roof. {how}\n\n"
        "Present: Ada Example, Bo Example\nDecided: Mend it before winter."
    )


def test_a_chosen_style_counts_like_a_given_one(prompt: Instance) -> None:
    asked = get(prompt, topic="the roof")

    written = answer(prompt, asked, ask_meeting=MEETING, ask_style=accept(style="actions"))

    assert "Write nothing but a list" in words(written.result)


def test_an_answer_that_is_missing_is_asked_for_again(prompt: Instance) -> None:
    again = answer(prompt, get(prompt, topic="the roof"), ask_style=accept(style="brief"))

    assert list(again.questions) == ["ask_meeting"]
    assert "Mend it" in words(answer(prompt, again, ask_meeting=MEETING).result)


@pytest.mark.parametrize("letter", ["a", "é", "日", "😀"])
def test_the_longest_answers_are_carried_on_to_the_second_round_in_any_script(prompt: Instance, letter: str) -> None:
    fields = get(prompt, topic="the roof").questions["ask_meeting"]["params"]["requestedSchema"]["properties"]
    meeting = accept(**{name: letter * field["maxLength"] for name, field in fields.items()})

    again = answer(prompt, get(prompt, topic="the roof"), ask_meeting=meeting)

    assert list(again.questions) == ["ask_style"]
    assert letter * 1000 in words(answer(prompt, again, ask_style=accept(style="brief")).result)


@pytest.mark.parametrize(("refusal", "did"), [(decline(), "declined"), (cancel(), "closed the question")])
def test_a_person_who_says_nothing_ends_it_with_a_normal_result(
    prompt: Instance, refusal: dict[str, Any], did: str
) -> None:
    ended = answer(prompt, get(prompt, topic="the roof", style="brief"), ask_meeting=refusal)

    assert ended.result["resultType"] == "complete"
    assert did in words(ended.result)


@pytest.mark.parametrize("arguments", [{}, {"topic": ""}, {"topic": "the roof", "style": "in verse"}])
def test_arguments_that_don_t_fit_are_refused_before_anyone_is_asked(
    prompt: Instance, arguments: dict[str, str]
) -> None:
    refused = get(prompt, **arguments)

    assert (refused.status, refused.error["code"]) == (400, -32602)


@pytest.mark.parametrize(
    ("argument", "typed", "values"),
    [("style", "", ["brief", "detailed", "actions"]), ("style", "d", ["detailed"]), ("topic", "", [])],
)
def test_styles_are_suggested_and_topics_are_not(
    prompt: Instance, argument: str, typed: str, values: list[str]
) -> None:
    params = {
        "ref": {"type": "ref/prompt", "name": "write_minutes"},
        "argument": {"name": argument, "value": typed},
    }

    assert prompt.send(request_event("completion/complete", params)).result["completion"] == {"values": values}
