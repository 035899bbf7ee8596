"""The form at a terminal, and the client that answers by itself where there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from local.person import ask_in_person, scripted
from local.screen import Screen

FORM: dict[str, Any] = {
    "properties": {
        "sure": {"type": "boolean", "description": "Tick to go on."},
        "region": {"type": "string", "oneOf": [{"const": "eu", "title": "Europe"}, {"const": "us", "title": "US"}]},
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "integer", "title": "Count"},
        "note": {"type": "string"},
    },
    "required": ["sure", "region", "size", "count"],
}

Typing = Callable[..., list[str]]


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Typing:
    """What the person types, line by line; then the input ends. Gives the list that the prompts are noted in."""

    def typing(*lines: str) -> list[str]:
        waiting, prompts = list(lines), []

        def read(prompt: str) -> str:
            prompts.append(prompt.strip())
            if not waiting:
                raise EOFError
            return waiting.pop(0)

        monkeypatch.setattr("builtins.input", read)
        return prompts

    return typing


def test_a_form_is_read_field_by_field_in_the_forms_own_types(types: Typing) -> None:
    prompts = types("a", "y", "2", "1", "many", "3", "")

    answer = ask_in_person(Screen(), "Sure?", FORM)

    assert answer.action == "accept"
    assert answer.content == {"sure": True, "region": "us", "size": "small", "count": 3}
    assert prompts[1] == "Tick to go on. [y/n]"
    assert prompts[2] == "region (1 Europe, 2 US)"


def test_what_is_no_choice_is_asked_again(types: Typing) -> None:
    types("x", "A", "maybe", "N", "3", "1", "2", "0", "hello")

    answer = ask_in_person(Screen(), "Sure?", FORM)

    assert answer.content == {"sure": False, "region": "eu", "size": "large", "count": 0, "note": "hello"}


@pytest.mark.parametrize(("typed", "action"), [("d", "decline"), ("c", "cancel")])
def test_a_person_may_say_no_or_close_the_question(types: Typing, typed: str, action: str) -> None:
    types(typed)

    answer = ask_in_person(Screen(), "Sure?", FORM)

    assert (answer.action, answer.content) == (action, None)


def test_the_end_of_input_closes_the_question(types: Typing) -> None:
    types("a", "y")

    assert ask_in_person(Screen(), "Sure?", FORM).action == "cancel"


def test_a_script_fills_the_fields_it_knows_and_declines_a_form_it_does_not() -> None:
    assert scripted(FORM, {"sure": True, "other": 1}).content == {"sure": True}
    assert scripted(FORM, {"other": 1}).action == "decline"


def test_messages_are_shown_without_meta_and_with_a_shortened_state(capsys: pytest.CaptureFixture[str]) -> None:
    state = "v1." + "x" * 170

    Screen().message(
        "-->", {"id": 1, "result": {"requestState": state, "_meta": {"secret": 1}, "content": ["ü" * 100]}}
    )

    shown = capsys.readouterr().out
    assert shown.startswith('   --> {\n         "id": 1,\n')
    assert f'"{state[:28]}… (173 characters)"' in shown
    assert "_meta" not in shown
    assert "ü" * 100 in shown
    assert "\x1b" not in shown
