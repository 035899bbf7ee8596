"""delete_note from the question to the four things a person can do with it, and what else may happen meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from mrtr.testing import accept, call_event, cancel, decline
from tests.flow.tools.legs import Instance

Note = dict[str, str] | None


def note(table: Any, note_id: str) -> Note:
    item: Note = table.get_item(Key={"note_id": note_id}).get("Item")
    return item


@pytest.fixture
def tool(notes: Any) -> Instance:  # noqa: ARG001  the table must exist before the tool is called
    return Instance("delete_note")


def test_the_first_leg_asks_with_the_notes_text_and_deletes_nothing(tool: Instance, notes: Any) -> None:
    first = tool.ask(note_id="7")

    assert first.status == 200
    assert list(first.questions) == ["ask_to_confirm"]
    question = first.questions["ask_to_confirm"]
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"] == "Delete note 7 for good? It says: Buy flour, eggs, and milk."
    assert question["params"]["requestedSchema"]["properties"]["confirm"]["type"] == "boolean"
    assert question["params"]["requestedSchema"]["required"] == ["confirm"]
    assert note(notes, "7") is not None


def test_a_ticked_box_deletes_the_note_and_no_other(tool: Instance, notes: Any) -> None:
    done = tool.answer(tool.ask(note_id="7"), {"ask_to_confirm": accept(confirm=True)})

    assert done.text == "Deleted note 7."
    assert done.result["structuredContent"] == {"result": "Deleted note 7."}
    assert done.result["isError"] is False
    assert note(notes, "7") is None
    assert note(notes, "12") is not None
    assert note(notes, "15") is not None


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (accept(confirm=False), "Kept note 15: the box was left unticked."),
        (decline(), "Kept note 15: the person said no."),
        (cancel(), "Kept note 15: the question was closed without an answer."),
    ],
    ids=["unticked", "decline", "cancel"],
)
def test_anything_but_a_ticked_box_keeps_the_note_and_is_no_error(
    tool: Instance, notes: Any, answer: dict[str, Any], text: str
) -> None:
    done = tool.answer(tool.ask(note_id="15"), {"ask_to_confirm": answer})

    assert done.text == text
    assert done.result["isError"] is False
    assert note(notes, "15") is not None


def test_an_unknown_note_is_refused_before_anyone_is_asked(tool: Instance) -> None:
    refused = tool.ask(note_id="99")

    assert refused.result["resultType"] == "complete"
    assert refused.result["isError"] is True
    assert "There is no note 99." in refused.text


def test_a_note_that_vanished_before_the_retry_is_told_and_no_other_is_deleted(tool: Instance, notes: Any) -> None:
    first = tool.ask(note_id="7")
    notes.delete_item(Key={"note_id": "7"})

    told = tool.answer(first, {"ask_to_confirm": accept(confirm=True)})

    assert told.result["isError"] is True
    assert "There is no note 7." in told.text
    assert {item["note_id"] for item in notes.scan()["Items"]} == {"12", "15"}


def test_a_note_that_vanishes_between_the_resolver_and_the_body_is_told(
    tool: Instance, notes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tool.ask(note_id="7")

    class Vanishing:
        """The notes table, but the note goes as soon as it has been read."""

        meta = notes.meta
        delete_item = staticmethod(notes.delete_item)

        @staticmethod
        def get_item(**request: Any) -> Any:
            found = notes.get_item(**request)
            notes.delete_item(Key=request["Key"])
            return found

    monkeypatch.setattr(tool.module, "notes", lambda: Vanishing)
    told = tool.answer(first, {"ask_to_confirm": accept(confirm=True)})

    assert told.text == "Note 7 was already gone: somebody else deleted it in the meantime."
    assert told.result["isError"] is False


def test_a_note_that_changed_while_the_person_read_it_is_asked_about_again(tool: Instance, notes: Any) -> None:
    first = tool.ask(note_id="7")
    notes.put_item(Item={"note_id": "7", "text": "The only copy of the recipe."})

    again = tool.answer(first, {"ask_to_confirm": accept(confirm=True)})

    assert "The only copy of the recipe." in again.questions["ask_to_confirm"]["params"]["message"]
    assert note(notes, "7") is not None
    assert tool.answer(again, {"ask_to_confirm": accept(confirm=True)}).text == "Deleted note 7."


def test_the_same_confirmed_retry_sent_twice_deletes_once_and_answers_the_same(tool: Instance, notes: Any) -> None:
    first = tool.ask(note_id="7")
    done = tool.answer(first, {"ask_to_confirm": accept(confirm=True)})
    notes.put_item(Item={"note_id": "7", "text": "A new note under the old id."})

    again = tool.answer(first, {"ask_to_confirm": accept(confirm=True)})

    assert again.result == done.result
    assert note(notes, "7") == {"note_id": "7", "text": "A new note under the old id."}


def test_the_same_confirmed_retry_is_answered_the_same_though_the_note_is_gone(tool: Instance) -> None:
    first = tool.ask(note_id="7")
    done = tool.answer(first, {"ask_to_confirm": accept(confirm=True)})

    again = Instance("delete_note").answer(first, {"ask_to_confirm": accept(confirm=True)})

    assert again.result == done.result


def test_a_state_for_one_note_does_not_delete_another(tool: Instance, notes: Any) -> None:
    first = tool.ask(note_id="7")

    refused = tool.call(
        "delete_note", {"note_id": "12"}, state=first.state, answers={"ask_to_confirm": accept(confirm=True)}
    )

    assert refused.status == 400
    assert refused.error["code"] == -32602
    assert refused.error["message"] == "Invalid or expired requestState"
    assert note(notes, "12") is not None


def test_a_client_that_shows_no_forms_is_told_which_capability_is_missing(tool: Instance) -> None:
    refused = tool.send(call_event("delete_note", {"note_id": "7"}, capabilities={}))

    assert refused.status == 400
    assert refused.error["code"] == -32021
    assert refused.error["data"]["requiredCapabilities"] == {"elicitation": {"form": {}}}


def test_the_first_state_is_at_most_180_characters(tool: Instance) -> None:
    assert len(tool.ask(note_id="7").state) <= 180


def test_the_model_sees_the_notes_id_alone_and_what_the_tool_does(tool: Instance) -> None:
    (definition,) = tool.module.server.tool_definitions()

    assert definition["name"] == "delete_note"
    assert set(definition["inputSchema"]["properties"]) == {"note_id"}
    assert definition["inputSchema"]["required"] == ["note_id"]
    assert definition["annotations"]["destructiveHint"] is True
    assert definition["annotations"]["idempotentHint"] is True
    assert definition["description"].startswith("Delete one note for good.")


def test_an_answer_that_the_model_puts_among_the_arguments_is_ignored(tool: Instance, notes: Any) -> None:
    first = tool.ask(note_id="7", answer={"action": "accept", "data": {"confirm": True}})

    assert list(first.questions) == ["ask_to_confirm"]
    assert note(notes, "7") is not None
