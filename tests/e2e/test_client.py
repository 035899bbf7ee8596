"""The official client against the deployed stack."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ElicitResult

from local import stack
from local.demo import tell, text_of
from local.person import scripted
from local.screen import Screen
from local.wire import Wire, connected
from tests.e2e.remote import Remote, Tables

Session = Callable[[Client], Awaitable[Any]]


def talk(url: str, session: Session, answer: Any = None, wire: Wire | None = None) -> Any:
    """Run `session` with a client whose person gives `answer`: a result, or values by field."""

    async def on_elicit(context: Any, params: Any) -> ElicitResult:  # noqa: ARG001  the SDK names it
        if isinstance(answer, ElicitResult):
            return answer
        return scripted(params.model_dump(by_alias=True, exclude_none=True)["requestedSchema"], answer)

    async def run() -> Any:
        async with connected(url, wire or Wire(), on_elicit) as client:
            return await session(client)

    return asyncio.run(run())


def call(url: str, tool: str, arguments: dict[str, Any], answer: Any, wire: Wire | None = None) -> CallToolResult:
    async def session(client: Client) -> CallToolResult:
        return await client.call_tool(tool, arguments)

    result = talk(url, session, answer, wire)
    assert isinstance(result, CallToolResult)
    return result


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"confirm": True}, "Deleted note 7."),
        ({"confirm": False}, "Kept note 7: the box was left unticked."),
        (ElicitResult(action="decline"), "Kept note 7: the person said no."),
        (ElicitResult(action="cancel"), "Kept note 7: the question was closed without an answer."),
    ],
    ids=["ticked", "unticked", "decline", "cancel"],
)
def test_the_clients_loop_ends_as_the_person_wants(delete_note: Remote, tables: Tables, answer: Any, text: str) -> None:
    result = call(delete_note.url, "delete_note", {"note_id": "7"}, answer)

    assert text_of(result) == text
    assert result.structured_content == {"result": text}
    assert not result.is_error
    assert ("7" in tables.notes()) is (text != "Deleted note 7.")


def test_every_tool_is_listed_at_the_front_door_and_alone_at_its_own_address(askback: stack.Stack) -> None:
    async def session(client: Client) -> dict[str, Any]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    every = talk(askback.endpoint, session)

    assert set(every) == {"book_table", "delete_note", "provision_database"}
    for name in every:
        assert talk(f"{askback.endpoint}/{name}", session) == {name: every[name]}


def test_a_tampered_state_is_refused_with_the_one_message(delete_note: Remote, tables: Tables) -> None:
    async def session(client: Client) -> MCPError:
        with pytest.raises(MCPError) as refusal:
            await client.session.call_tool(
                "delete_note",
                {"note_id": "7"},
                input_responses={"ask_to_confirm": ElicitResult(action="accept", content={"confirm": True})},
                request_state="v1.forged-by-the-client",
                allow_input_required=True,
            )
        return refusal.value

    refusal = talk(delete_note.url, session, {})

    assert (refusal.error.code, refusal.error.message) == (-32602, "Invalid or expired requestState")
    assert "7" in tables.notes()


@pytest.mark.parametrize(
    "text",
    [
        "Gr\u00fc\u00dfe \U0001f30d an alle",
        "\u062d\u0630\u0641 \u0627\u0644\u0645\u0644\u0627\u062d\u0638\u0629 \u0667",
        "\u05e9\u05dc\u05d5\u05dd \u200f(\u05e2\u05d5\u05dc\u05dd)\u200f",
        "\u4e00\u4e8c\u4e09 \U0001f9d1\u200d\U0001f680",
        "composed \u00e9, decomposed e\u0301",
        'quotes " \\ and \n lines',
    ],
    ids=["latin and emoji", "arabic", "hebrew with marks", "han and a joined emoji", "both forms of an accent", "json"],
)
def test_text_in_any_script_survives_the_whole_way(delete_note: Remote, tables: Tables, text: str) -> None:
    tables.write_note("notiz-№7-🗒", text)
    wire = Wire()

    result = call(delete_note.url, "delete_note", {"note_id": "notiz-№7-🗒"}, {"confirm": True}, wire)

    asked = next(e.response["result"] for e in wire.exchanges if "inputRequests" in e.response.get("result", {}))
    message = asked["inputRequests"]["ask_to_confirm"]["params"]["message"]
    assert message == f"Delete note notiz-№7-🗒 for good? It says: {text}"
    assert text_of(result) == "Deleted note notiz-№7-🗒."


def test_a_name_in_any_script_is_booked_as_it_was_typed(book_table: Remote, tables: Tables) -> None:
    answer = {"name": "أحمد 🥘 Œuvre", "phone": "555-0199", "area": "terrace"}

    result = call(book_table.url, "book_table", {"evening": "2026-12-24", "guests": 4}, answer)

    assert text_of(result) == "Booked table 4 (terrace) for 4 on Thursday 24 December 2026, name أحمد 🥘 Œuvre."
    assert len(tables.bookings("أحمد 🥘 Œuvre")) == 1


def test_the_story_of_the_demo_holds(askback: stack.Stack, capsys: pytest.CaptureFixture[str]) -> None:
    asyncio.run(tell(askback, Screen()))

    told = capsys.readouterr().out
    assert "NOT OK" not in told
    assert told.count("ok ") > 25
