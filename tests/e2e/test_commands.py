"""The commands that work on a deployed stack, on this one."""

from __future__ import annotations

import json

import pytest

from local import env_vars, seed, stack
from local.environment import aws_environment
from tests.e2e.remote import Tables


@pytest.fixture(autouse=True)
def _account(askback: stack.Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process's AWS settings are those of the stack's account."""
    for name, value in aws_environment(askback.aws_endpoint_url).items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)


def test_seed_fills_a_deployed_stacks_tables(
    askback: stack.Stack, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    for note_id in seed.NOTES:
        askback.client("dynamodb").delete_item(TableName=askback.tables["NOTES_TABLE"], Key={"note_id": {"S": note_id}})

    assert seed.main(["--stack", stack.STACK]) == 0

    assert tables.notes() == seed.NOTES
    assert {b["table_id"] for b in tables.bookings("New Year's party")} == set(seed.TABLE_IDS)
    assert capsys.readouterr().out == "Notes 7, 12, 15 are there, and 2026-12-31 is fully booked.\n"


def test_env_vars_are_what_each_deployed_function_has(askback: stack.Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert env_vars.main(["--stack", stack.STACK]) == 0

    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == set(askback.functions)
    assert printed["DeleteNoteFunction"]["NOTES_TABLE"] == askback.tables["NOTES_TABLE"]
    assert printed["BookTableFunction"]["MRTR_CLAIM_TABLE"] == askback.tables["MRTR_CLAIM_TABLE"]
    assert askback.key_ring in printed["FrontDoorFunction"]["MRTR_KEYRING"]
