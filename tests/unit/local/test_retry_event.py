"""The command that makes the next leg's event out of a leg and an answer."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from local.retry_event import CannotRetry, accepted, body_of, last_object, main, questions_of, retry_event

FIRST: dict[str, Any] = {
    "version": "2.0",
    "headers": {"mcp-method": "tools/call", "mcp-name": "delete_note"},
    "body": json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "delete_note", "arguments": {"note_id": "7"}, "_meta": {"a": 1}},
        }
    ),
    "isBase64Encoded": False,
}


def form(**fields: Any) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"requestedSchema": {"type": "object", "properties": fields}}}


ASK = {"ask": form(confirm={"type": "boolean"})}
TWO = {
    "contact": form(name={"type": "string"}, phone={"type": "string"}),
    "party": form(name={"type": "string"}, size={"type": "integer"}, days={"type": "array"}),
}


def proxied(message: dict[str, Any], status: int = 200) -> dict[str, Any]:
    return {"statusCode": status, "headers": {}, "body": json.dumps({"jsonrpc": "2.0", "id": 4, **message})}


ASKED = proxied({"result": {"resultType": "input_required", "inputRequests": ASK, "requestState": "v1.état"}})


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    first, response = tmp_path / "first.json", tmp_path / "out.json"
    first.write_text(json.dumps(FIRST))
    response.write_text(json.dumps(ASKED))
    return str(first), str(response)


def test_the_retry_is_the_same_request_with_a_new_id_the_answers_and_the_exact_state() -> None:
    retry = retry_event(FIRST, {"ask": {"action": "decline"}}, "v1.état")

    assert {k: v for k, v in retry.items() if k != "body"} == {k: v for k, v in FIRST.items() if k != "body"}
    assert json.loads(retry["body"]) == {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "tools/call",
        "params": {
            "name": "delete_note",
            "arguments": {"note_id": "7"},
            "_meta": {"a": 1},
            "inputResponses": {"ask": {"action": "decline"}},
            "requestState": "v1.état",
        },
    }


def test_the_first_event_is_left_as_it_was() -> None:
    before = json.dumps(FIRST)

    retry_event(FIRST, {}, "v1.x")["headers"]["mcp-name"] = "changed"

    assert json.dumps(FIRST) == before


def test_a_state_that_was_not_given_is_not_sent() -> None:
    first = {**FIRST, "body": retry_event(FIRST, {}, "v1.old")["body"]}

    assert "requestState" not in json.loads(retry_event(first, {}, None)["body"])["params"]["inputResponses"]
    assert "requestState" not in json.loads(retry_event(first, {}, None)["body"])["params"]


def test_an_id_that_is_text_gets_another_text() -> None:
    first = {**FIRST, "body": json.dumps({"id": "a", "params": {}})}

    assert json.loads(retry_event(first, {}, None)["body"])["id"] == "a-retry"


def test_a_base64_body_is_read_and_written_plainly() -> None:
    first = {**FIRST, "body": base64.b64encode(FIRST["body"].encode()).decode(), "isBase64Encoded": True}
    retry = retry_event(first, {}, "v1.x")

    assert retry["isBase64Encoded"] is False
    assert json.loads(retry["body"])["params"]["name"] == "delete_note"


def test_the_length_header_is_that_of_the_new_body() -> None:
    retry = retry_event({**FIRST, "headers": {"Content-Length": "1"}}, {"ask": {"action": "decline"}}, "é")

    assert retry["headers"] == {"Content-Length": str(len(retry["body"].encode()))}


@pytest.mark.parametrize(
    ("text", "fields", "content"),
    [
        ("boolean", ["confirm=true"], {"confirm": True}),
        ("not a boolean", ["confirm=yes"], {"confirm": "yes"}),
        ("named with its question", ["ask.confirm=false"], {"confirm": False}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_field_is_given_in_the_type_that_the_form_asks_for(
    text: str,  # noqa: ARG001  the case's name
    fields: list[str],
    content: dict[str, Any],
) -> None:
    assert accepted(ASK, fields) == {"ask": {"action": "accept", "content": content}}


def test_fields_find_their_questions() -> None:
    assert accepted(TWO, ["phone=555-0199", "contact.name=Ada=Bo", "size=4", "party.name=Bo", "days=a,b"]) == {
        "contact": {"action": "accept", "content": {"phone": "555-0199", "name": "Ada=Bo"}},
        "party": {"action": "accept", "content": {"size": 4, "name": "Bo", "days": ["a", "b"]}},
    }


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (["confirm"], "write it as FIELD=VALUE"),
        (["name=Ada"], "contact and party both have it. Write contact.name=Ada."),
        (["colour=red"], "no question has that field. There are: contact.name, contact.phone, party.name"),
        (["party.phone=1"], "no question has that field"),
    ],
)
def test_a_field_that_belongs_nowhere_or_to_two_is_told(fields: list[str], told: str) -> None:
    with pytest.raises(CannotRetry) as problem:
        accepted(TWO, fields)

    assert told in str(problem.value)


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ({"errorMessage": "boom", "errorType": "KeyError"}, "The function failed instead of answering: boom"),
        (
            proxied({"error": {"code": -32020, "message": "no"}}, 400),
            "refused, so there is nothing to retry: -32020 no",
        ),
        (proxied({"result": {"resultType": "complete"}}), "Nothing was asked: the call is finished (complete)."),
        (proxied({}), "not an answer to a JSON-RPC request"),
    ],
)
def test_an_answer_that_asks_nothing_is_told(response: dict[str, Any], told: str) -> None:
    with pytest.raises(CannotRetry) as problem:
        questions_of(response)

    assert told in str(problem.value)


def test_a_bare_json_rpc_answer_is_read_too() -> None:
    assert questions_of(json.loads(ASKED["body"])) == (ASK, "v1.état")


def test_the_answer_is_found_below_what_sam_prints_before_it() -> None:
    assert last_object('Invoking app.handler\n{"a": 1}\n') == {"a": 1}


def test_an_event_without_a_request_is_told() -> None:
    for event in ({}, {"body": "[]"}, {"body": '{"method": "x"}'}):
        with pytest.raises(CannotRetry):
            body_of(event)


@pytest.mark.parametrize(
    ("how", "responses"),
    [
        (["--accept", "confirm=true"], {"ask": {"action": "accept", "content": {"confirm": True}}}),
        (["--decline"], {"ask": {"action": "decline"}}),
        (["--cancel"], {"ask": {"action": "cancel"}}),
        (["--no-answer"], {}),
        (["--answer", '{"ask": {"action": "decline"}}'], {"ask": {"action": "decline"}}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_command_prints_the_event(
    files: tuple[str, str], how: list[str], responses: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--first-event", files[0], "--response", files[1], *how]) == 0

    params = json.loads(json.loads(capsys.readouterr().out)["body"])["params"]
    assert params["inputResponses"] == responses
    assert params["requestState"] == "v1.état"


def test_answers_may_come_from_a_file(
    files: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text('{"ask": {"action": "cancel"}}')

    assert main(["--first-event", files[0], "--response", files[1], "--answer", f"@{answers}"]) == 0
    assert json.loads(json.loads(capsys.readouterr().out)["body"])["params"]["inputResponses"]["ask"] == {
        "action": "cancel"
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--answer", '{"other": {"action": "decline"}}'], "other was not asked. This leg asked: ask."),
        (["--answer", "[1]"], "--answer must be like"),
        (["--answer", "{"], "Not valid JSON"),
        (["--answer", "@/no/such/file"], "Can't read /no/such/file"),
        (["--accept", "colour=red"], "no question has that field"),
    ],
)
def test_what_is_wrong_is_told_in_one_line_and_the_status(
    files: tuple[str, str], arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--first-event", files[0], "--response", files[1], *arguments]) == 1

    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
    assert printed.err.count("\n") == 1
