"""Every sample event does what its name says, and none holds anything real."""

from __future__ import annotations

import ipaddress
import json
import re
from typing import Any

import pytest

from local.retry_event import body_of, retry_event
from tests.flow.tools.legs import EVENTS, ROOT, Instance, sample, words

# Each function, and the sample that lists what it offers.
FUNCTIONS = {
    "front_door": "tools_list",
    "delete_note": "tools_list",
    "provision_database": "tools_list",
    "book_table": "tools_list",
    "note_resource": "templates_list",
    "write_minutes": "prompts_list",
}
ALL = sorted(str(path.relative_to(EVENTS)) for path in EVENTS.rglob("*.json"))
ANSWERS = [name for name in ALL if "/answers/" in name]

# What each event is answered with: an HTTP status, and what is in the body: a result's kind or an error's code.
EXPECTED: dict[str, tuple[int, str | int | None]] = {
    "front_door/discover.json": (200, "complete"),
    "front_door/get.json": (405, None),
    "front_door/prompts_list.json": (200, "complete"),
    "front_door/resources_list.json": (200, "complete"),
    "front_door/templates_list.json": (200, "complete"),
    "front_door/tools_list.json": (200, "complete"),
    "front_door/unknown_resource.json": (400, -32602),
    "front_door/unknown_tool.json": (400, -32602),
    "front_door/wrong_method_header.json": (400, -32020),
    "delete_note/call.json": (200, "input_required"),
    "delete_note/discover.json": (200, "complete"),
    "delete_note/forged_state.json": (400, -32602),
    "delete_note/invalid_arguments.json": (200, "isError"),
    "delete_note/no_elicitation.json": (400, -32021),
    "delete_note/tools_list.json": (200, "complete"),
    "delete_note/unknown_note.json": (200, "isError"),
    "delete_note/wrong_name_header.json": (400, -32020),
    "provision_database/call.json": (200, "input_required"),
    "provision_database/call_production.json": (200, "input_required"),
    "provision_database/discover.json": (200, "complete"),
    "provision_database/invalid_name.json": (200, "isError"),
    "provision_database/tools_list.json": (200, "complete"),
    "book_table/call.json": (200, "input_required"),
    "book_table/call_full_evening.json": (200, "input_required"),
    "book_table/discover.json": (200, "complete"),
    "book_table/too_many_guests.json": (200, "isError"),
    "book_table/tools_list.json": (200, "complete"),
    "note_resource/complete.json": (200, "complete"),
    "note_resource/discover.json": (200, "complete"),
    "note_resource/read.json": (200, "complete"),
    "note_resource/read_private.json": (200, "input_required"),
    "note_resource/templates_list.json": (200, "complete"),
    "note_resource/unknown_note.json": (400, -32602),
    "write_minutes/complete.json": (200, "complete"),
    "write_minutes/discover.json": (200, "complete"),
    "write_minutes/get.json": (200, "input_required"),
    "write_minutes/get_with_style.json": (200, "input_required"),
    "write_minutes/prompts_list.json": (200, "complete"),
    "write_minutes/unknown_style.json": (400, -32602),
}
# The same of those that the front door hands on: they need the functions behind it (tests/e2e).
THROUGH_THE_DOOR: dict[str, tuple[int, str | int | None]] = {
    "front_door/call_book_table.json": (200, "input_required"),
    "front_door/call_delete_note.json": (200, "input_required"),
    "front_door/call_provision_database.json": (200, "input_required"),
    "front_door/complete_write_minutes.json": (200, "complete"),
    "front_door/get_write_minutes.json": (200, "input_required"),
    "front_door/read_note_resource.json": (200, "input_required"),
}

MEETING = "Present: Ada Example, Bo Example\nDecided: Mend it before winter."

# The answers in the order in which a flow of that event asks, and how the flow ends.
FLOWS = [
    ("delete_note/call.json", ["delete_note/answers/confirm.json"], "Deleted note 7."),
    ("delete_note/call.json", ["delete_note/answers/unticked.json"], "Kept note 7: the box was left unticked."),
    ("delete_note/call.json", ["delete_note/answers/decline.json"], "Kept note 7: the person said no."),
    (
        "delete_note/call.json",
        ["delete_note/answers/cancel.json"],
        "Kept note 7: the question was closed without an answer.",
    ),
    (
        "provision_database/call.json",
        ["provision_database/answers/region.json"],
        "Requested database orders in eu-west-1.",
    ),
    (
        "provision_database/call.json",
        ["provision_database/answers/region_decline.json"],
        "Requested nothing: no region was chosen for orders.",
    ),
    (
        "provision_database/call_production.json",
        ["provision_database/answers/region.json", "provision_database/answers/production.json"],
        "Requested database orders-prod in eu-west-1.",
    ),
    (
        "provision_database/call_production.json",
        ["provision_database/answers/region.json", "provision_database/answers/production_mistyped.json"],
        "Requested nothing: orders-prod was not confirmed as a production database.",
    ),
    (
        "book_table/call.json",
        ["book_table/answers/contact_and_seating.json"],
        "Booked table 1 (inside) for 2 on Thursday 24 December 2026, name Ada Example.",
    ),
    ("book_table/call.json", ["book_table/answers/contact_decline.json"], None),
    (
        "book_table/call_full_evening.json",
        ["book_table/answers/contact_and_seating.json", "book_table/answers/other_evening.json"],
        "Booked table 1 (inside) for 2 on Friday 1 January 2027, name Ada Example.",
    ),
    (
        "book_table/call_full_evening.json",
        ["book_table/answers/contact_and_seating.json", "book_table/answers/other_evening_decline.json"],
        "Booked nothing: Thursday 31 December 2026 is full, and Friday 1 January 2027 was not wanted.",
    ),
    ("note_resource/read_private.json", ["note_resource/answers/show.json"], "Call the dentist."),
    (
        "note_resource/read_private.json",
        ["note_resource/answers/unticked.json"],
        "Note 15 is private, and the person did not let it be read.",
    ),
    (
        "note_resource/read_private.json",
        ["note_resource/answers/decline.json"],
        "Note 15 is private, and the person did not let it be read.",
    ),
    (
        "write_minutes/get.json",
        ["write_minutes/answers/meeting_and_style.json"],
        f"Write the minutes of a meeting about the roof. Keep it to one short paragraph.\n\n{MEETING}",
    ),
    (
        "write_minutes/get_with_style.json",
        ["write_minutes/answers/meeting.json"],
        f"Write the minutes of a meeting about the roof. Write nothing but a list of who does what until when.\n\n{MEETING}",
    ),
    (
        "write_minutes/get_with_style.json",
        ["write_minutes/answers/decline.json"],
        "The person declined to answer, so write_minutes did nothing.",
    ),
]


def outcome(response: dict[str, Any]) -> str | int | None:
    if not response.get("body"):
        return None
    message = json.loads(response["body"])
    if "error" in message:
        code: int = message["error"]["code"]
        return code
    result = message["result"]
    return "isError" if result.get("isError") else str(result["resultType"])


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("name", EXPECTED)
def test_a_sample_event_is_answered_as_its_name_says(name: str) -> None:
    response = Instance(name.partition("/")[0]).send(sample(name)).response

    assert (response["statusCode"], outcome(response)) == EXPECTED[name]


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(("name", "answers", "text"), FLOWS, ids=lambda value: str(value)[:60])
def test_the_sample_answers_lead_a_flow_to_its_end(name: str, answers: list[str], text: str | None) -> None:
    tool = Instance(name.partition("/")[0])
    leg = tool.send(sample(name))

    for answer in answers:
        given = sample(answer)
        assert set(given) == set(leg.questions), answer
        leg = tool.send(retry_event(leg.event, given, leg.state))

    assert leg.result["resultType"] == "complete"
    assert not leg.is_error
    if text is not None:
        assert words(leg.result) == text


def test_every_sample_event_is_checked_here() -> None:
    used = {answer for _, answers, _ in FLOWS for answer in answers}

    assert set(ALL) == set(EXPECTED) | set(THROUGH_THE_DOOR) | used


@pytest.mark.parametrize(("function", "lists"), FUNCTIONS.items())
def test_every_function_has_an_event_for_discovery_and_one_for_its_list(function: str, lists: str) -> None:
    assert {f"{function}/discover.json", f"{function}/{lists}.json"} <= set(ALL)


def test_every_function_has_sample_events() -> None:
    entries = json.loads((ROOT / "functions" / "front_door" / "catalog.json").read_text(encoding="utf-8"))["entries"]

    assert set(FUNCTIONS) == {"front_door", *(entry["function"] for listed in entries.values() for entry in listed)}


@pytest.mark.parametrize("name", [n for n in ALL if n not in ANSWERS and n != "front_door/get.json"])
def test_a_sample_event_is_addressed_to_its_own_function_and_its_headers_mirror_its_body(name: str) -> None:
    event = sample(name)
    function = name.partition("/")[0]
    path = "/mcp" if function == "front_door" else f"/mcp/{function}"
    body = body_of(event)

    assert event["rawPath"] == event["requestContext"]["http"]["path"] == path
    assert event["routeKey"] == event["requestContext"]["routeKey"] == f"POST {path}"
    assert event["headers"]["mcp-protocol-version"] == "2026-07-28"
    assert body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    if "wrong_" not in name:
        assert event["headers"]["mcp-method"] == body["method"]
        assert event["headers"].get("mcp-name") == body["params"].get("name", body["params"].get("uri"))


@pytest.mark.parametrize("name", ALL)
def test_a_sample_file_names_no_real_account_host_or_address(name: str) -> None:
    text = (EVENTS / name).read_text(encoding="utf-8")

    assert set(re.findall(r"\b\d{12}\b", text)) <= {"123456789012"}
    for address in re.findall(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", text):
        assert ipaddress.ip_address(address) in ipaddress.ip_network("192.0.2.0/24")
    assert not re.findall(r"amazonaws|bearer|authorization", text, re.IGNORECASE)
