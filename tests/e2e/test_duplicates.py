"""A confirmed call runs once: whoever repeats it, at the same moment or later, and whatever dies meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from local.environment import ROOT, aws_environment
from local.retry_event import JsonObject, body_of, retry_event
from mrtr.testing import Reply, accept, decline
from tests import published
from tests.e2e.remote import Remote, Tables

Process = subprocess.Popen[str]

YES = {"ask_to_confirm": accept(confirm=True)}
ADA = {"ask_contact": accept(name="Ada Example", phone="555-0199"), "ask_seating": accept(area="inside")}


@contextmanager
def instances(tool: Remote, count: int, *arguments: str) -> Iterator[list[Process]]:
    """Processes that serve the tool with the settings of its deployed function, all ready (tests/e2e/instance.py)."""
    functions = tool.askback.client("lambda")
    variables = functions.get_function_configuration(FunctionName=tool.function)["Environment"]["Variables"]
    environment = aws_environment(tool.askback.aws_endpoint_url) | variables
    command = [sys.executable, str(Path(__file__).with_name("instance.py")), tool.tool, *arguments]
    with ExitStack() as ending:
        processes = []
        for _ in range(count):
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment | {"PYTHONPATH": str(ROOT / "layers" / "mrtr")},
            )
            ending.enter_context(process)
            ending.callback(process.kill)
            processes.append(process)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield processes


def answered(processes: Sequence[Process], event: JsonObject) -> list[Reply]:
    """Give all of them the event before reading any answer."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(json.dumps(event) + "\n")
        process.stdin.flush()
    replies = [Reply(event, json.loads(p.stdout.readline())) for p in processes if p.stdout is not None]
    for reply in replies:
        sent = body_of(event)
        assert published.of_response(sent, reply.status, reply.headers, reply.response["body"]) == []
    return replies


def die(tool: Remote, asked: Reply, at: str) -> None:
    """Let a process take the confirmed retry and die `at` an action on the notes."""
    with instances(tool, 1, "0", at) as (process,):
        process.communicate(json.dumps(retry_event(asked.event, YES, asked.state)) + "\n")
        assert process.returncode == 9


def test_many_processes_with_the_same_retry_book_one_table(book_table: Remote, tables: Tables) -> None:
    asked = book_table.ask(evening="2026-12-24", guests=2)

    with instances(book_table, 12, "20000") as processes:
        legs = answered(processes, retry_event(asked.event, ADA, asked.state))

    outcomes = {json.dumps(book_table.come_back(leg).result, sort_keys=True) for leg in legs}
    assert len(legs) == 12
    assert len(outcomes) == 1
    assert "Booked table 1 (inside)" in outcomes.pop()
    assert [(b["evening"], b["table_id"]) for b in tables.bookings("Ada Example")] == [("2026-12-24", "1")]


def test_the_same_retry_many_times_at_once_runs_once_on_the_deployed_function(
    delete_note: Remote, tables: Tables
) -> None:
    asked = delete_note.ask(note_id="7")

    legs = delete_note.answer_at_once(asked, 6, YES)

    assert {delete_note.come_back(leg).text for leg in legs} == {"Deleted note 7."}
    assert tables.notes().keys() == {"12", "15"}


def test_a_late_duplicate_gets_the_recorded_result_from_a_fresh_instance(delete_note: Remote, tables: Tables) -> None:
    asked = delete_note.ask(note_id="7")
    done = delete_note.answer(asked, YES)
    tables.write_note("7", "Written after the deletion.")
    delete_note.askback.fresh()

    again = delete_note.answer(asked, YES)

    assert again.result == done.result
    assert tables.notes()["7"] == "Written after the deletion."


def test_a_used_state_takes_no_other_answer(delete_note: Remote, tables: Tables) -> None:
    asked = delete_note.ask(note_id="7")
    delete_note.answer(asked, {"ask_to_confirm": decline()})

    refused = delete_note.answer(asked, YES)

    assert (refused.status, refused.error["code"]) == (400, -32602)
    assert refused.error["message"] == "Invalid or expired requestState"
    assert "7" in tables.notes()


@pytest.fixture
def asked(delete_note: Remote) -> Reply:
    return delete_note.ask(note_id="7")


def test_an_instance_that_died_in_the_body_is_never_followed_by_another_run(
    delete_note: Remote, tables: Tables, asked: Reply
) -> None:
    die(delete_note, asked, at="delete_item")

    for _ in range(2):
        told = delete_note.come_back(delete_note.answer(asked, YES))
        assert told.result["isError"] is True
        assert "whether it took effect is unknown" in told.text
        assert "7" in tables.notes()


def test_an_instance_that_died_before_the_claim_is_followed_by_one_that_runs(
    delete_note: Remote, tables: Tables, asked: Reply
) -> None:
    die(delete_note, asked, at="get_item")

    assert delete_note.answer(asked, YES).text == "Deleted note 7."
    assert "7" not in tables.notes()
