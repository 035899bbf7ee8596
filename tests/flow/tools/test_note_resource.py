"""note_resource: public notes are simply read, private ones only for a person who lets it happen."""

from __future__ import annotations

from typing import Any

import pytest

from local.retry_event import retry_event
from mrtr.testing import Reply, accept, cancel, decline, request_event
from tests.flow.tools.legs import Instance, words

NOTE = {"type": "ref/resource", "uri": "note://{note_id}"}


@pytest.fixture
def reader(notes: Any) -> Instance:  # noqa: ARG001  the table must exist before it is read
    return Instance("note_resource")


def read(reader: Instance, uri: str) -> Reply:
    return reader.send(request_event("resources/read", {"uri": uri}))


def complete(reader: Instance, typed: str) -> dict[str, Any]:
    params = {"ref": NOTE, "argument": {"name": "note_id", "value": typed}}
    completion: dict[str, Any] = reader.send(request_event("completion/complete", params)).result["completion"]
    return completion


def test_a_public_note_is_read_without_asking(reader: Instance) -> None:
    result = read(reader, "note://7").result

    assert result["resultType"] == "complete"
    assert result["contents"] == [{"uri": "note://7", "mimeType": "text/plain", "text": "Buy flour, eggs, and milk."}]


def test_a_private_note_asks_without_giving_its_text_away(reader: Instance) -> None:
    asked = read(reader, "note://15")

    assert list(asked.questions) == ["ask_to_show"]
    assert asked.questions["ask_to_show"]["params"]["message"] == "Note 15 is private. Let it be read?"
    assert "dentist" not in asked.response["body"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (accept(show=True), "Call the dentist."),
        (accept(show=False), "Note 15 is private, and the person did not let it be read."),
        (decline(), "Note 15 is private, and the person did not let it be read."),
        (cancel(), "Note 15 is private, and the person did not let it be read."),
    ],
    ids=["ticked", "unticked", "decline", "cancel"],
)
def test_only_a_ticked_box_shows_a_private_note(reader: Instance, answer: dict[str, Any], text: str) -> None:
    asked = read(reader, "note://15")

    shown = reader.send(retry_event(asked.event, {"ask_to_show": answer}, asked.state))

    assert words(shown.result) == text
    assert (shown.result["ttlMs"], shown.result["cacheScope"]) == (0, "private")


def test_an_answer_for_one_private_note_shows_no_other(reader: Instance, notes: Any) -> None:
    notes.put_item(Item={"note_id": "16", "text": "Another secret.", "private": True})
    asked = read(reader, "note://15")
    other = read(reader, "note://16")

    refused = reader.send(retry_event(other.event, {"ask_to_show": accept(show=True)}, asked.state))

    assert refused.error["code"] == -32602
    assert "Another secret." not in refused.response["body"]


def test_a_note_that_becomes_private_while_a_client_reads_is_asked_about(reader: Instance, notes: Any) -> None:
    notes.put_item(Item={"note_id": "7", "text": "Buy flour, eggs, and milk.", "private": True})

    assert read(reader, "note://7").asks


def test_an_unknown_note_is_not_found_and_nobody_is_asked(reader: Instance) -> None:
    refused = read(reader, "note://99")

    assert (refused.status, refused.error["code"], refused.error["data"]) == (400, -32602, {"uri": "note://99"})


def test_reading_claims_nothing(reader: Instance, aws: Any) -> None:
    asked = read(reader, "note://15")
    reader.send(retry_event(asked.event, {"ask_to_show": accept(show=True)}, asked.state))

    assert aws.Table("claims").scan()["Items"] == []


@pytest.mark.parametrize(("typed", "ids"), [("", ["7", "12", "15"]), ("1", ["12", "15"]), ("7", ["7"]), ("x", [])])
def test_ids_of_notes_are_suggested(reader: Instance, typed: str, ids: list[str]) -> None:
    assert complete(reader, typed) == {"values": ids, "hasMore": False}


def test_more_notes_than_a_page_holds_are_told(reader: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    class Page:
        @staticmethod
        def scan(**_: object) -> dict[str, Any]:
            return {"Items": [{"note_id": "7"}], "LastEvaluatedKey": {"note_id": "7"}}

    monkeypatch.setattr(reader.module, "notes", lambda: Page)

    assert complete(reader, "") == {"values": ["7"], "hasMore": True}
