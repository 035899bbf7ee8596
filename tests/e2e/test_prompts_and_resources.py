"""Prompts and resources that ask, by the official client against the deployed stack."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import GetPromptResult, PromptReference, ReadResourceResult, ResourceTemplateReference

from local import stack
from tests.e2e.test_client import talk


@pytest.fixture(params=["through the front door", "directly"])
def reader(request: pytest.FixtureRequest, askback: stack.Stack) -> str:
    return askback.endpoint if request.param == "through the front door" else f"{askback.endpoint}/note_resource"


@pytest.fixture(params=["through the front door", "directly"])
def writer(request: pytest.FixtureRequest, askback: stack.Stack) -> str:
    return askback.endpoint if request.param == "through the front door" else f"{askback.endpoint}/write_minutes"


@pytest.mark.parametrize(
    ("note_id", "answer", "text"),
    [
        ("7", {}, "Buy flour, eggs, and milk."),
        ("15", {"show": True}, "Call the dentist."),
        ("15", {"show": False}, "Note 15 is private, and the person did not let it be read."),
    ],
)
def test_the_client_reads_a_note_and_its_person_lets_a_private_one_be_read(
    reader: str, note_id: str, answer: dict[str, Any], text: str
) -> None:
    async def session(client: Client) -> ReadResourceResult:
        return await client.read_resource(f"note://{note_id}")

    (contents,) = talk(reader, session, answer).contents

    assert (str(contents.uri), contents.text) == (f"note://{note_id}", text)


def test_the_client_is_told_that_there_is_no_such_note(reader: str) -> None:
    async def session(client: Client) -> MCPError:
        with pytest.raises(MCPError) as refusal:
            await client.read_resource("note://99")
        return refusal.value

    assert talk(reader, session).error.code == -32602


def test_the_client_gets_a_prompt_for_which_its_person_was_asked(writer: str) -> None:
    answer = {"present": "Ada Example", "decided": "Mend it.", "style": "brief"}

    async def session(client: Client) -> GetPromptResult:
        return await client.get_prompt("write_minutes", {"topic": "the roof"})

    (message,) = talk(writer, session, answer).messages

    assert message.content.text.endswith("Present: Ada Example\nDecided: Mend it.")


def test_the_client_finds_template_and_prompt_and_is_told_values(askback: stack.Stack) -> None:
    async def session(client: Client) -> list[Any]:
        templates = (await client.list_resource_templates()).resource_templates
        prompts = (await client.list_prompts()).prompts
        resources = (await client.list_resources()).resources
        note = ResourceTemplateReference(type="ref/resource", uri="note://{note_id}")
        ids = (await client.complete(note, {"name": "note_id", "value": "1"})).completion.values
        minutes = PromptReference(type="ref/prompt", name="write_minutes")
        styles = (await client.complete(minutes, {"name": "style", "value": "a"})).completion.values
        return [[one.uri_template for one in templates], [one.name for one in prompts], resources, ids, styles]

    found = talk(askback.endpoint, session)

    assert found == [["note://{note_id}"], ["write_minutes"], [], ["12", "15"], ["actions"]]
