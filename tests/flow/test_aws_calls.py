"""How many calls to AWS the runtime makes of its own, counted as botocore makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from local.seed import seed
from mrtr.testing import Client, LambdaContext, Reply, accept, call_event
from tests.flow.instance import load
from tests.flow.wire import Wire

RING = {"GetSecretValue", "GenerateMac"}


@pytest.fixture
def wire(account: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Wire:
    seed({"NOTES_TABLE": account["NOTES_TABLE"], "BOOKINGS_TABLE": account["BOOKINGS_TABLE"]})
    return Wire(monkeypatch)


@pytest.fixture
def call(wire: Wire) -> Callable[..., tuple[Reply, list[str]]]:
    """Calls a tool of the template in one process; gives the reply and the runtime's own AWS calls on that leg."""
    modules: dict[str, Client] = {}

    def call(
        tool: str, arguments: dict[str, Any], *, state: str | None = None, answers: Any = None
    ) -> tuple[Reply, list[str]]:
        if tool not in modules:
            module = load(f"functions/{tool}/app.py")
            modules[tool] = Client(module.handler, context=LambdaContext())
        wire.forget()
        reply = modules[tool].send(call_event(tool, arguments, state=state, answers=answers))
        own = [name for name, params in wire.calls if name in RING or params.get("TableName") == "claims"]
        return reply, own

    return call


def test_delete_note_makes_none_when_it_asks_and_two_when_it_acts(call: Callable[..., Any], wire: Wire) -> None:
    warm, _ = call("delete_note", {"note_id": "12"})
    call("delete_note", {"note_id": "12"}, state=warm.state, answers={"ask_to_confirm": accept(confirm=True)})

    first, asking = call("delete_note", {"note_id": "7"})
    done, acting = call(
        "delete_note", {"note_id": "7"}, state=first.state, answers={"ask_to_confirm": accept(confirm=True)}
    )

    assert done.text == "Deleted note 7."
    assert asking == []
    assert acting == ["PutItem", "UpdateItem"]
    assert len(wire.attempts) == len(wire.calls)


def test_a_cold_first_leg_reads_the_ring_once_and_touches_no_table(call: Callable[..., Any]) -> None:
    _, asking = call("delete_note", {"note_id": "7"})

    assert len(asking) == 1
    assert set(asking) <= RING


def test_provision_database_makes_none_when_it_first_asks_and_two_on_every_leg_after(
    call: Callable[..., Any],
) -> None:
    call("provision_database", {"name": "warm-up"})

    first, asking = call("provision_database", {"name": "orders-prod"})
    second, going_on = call(
        "provision_database",
        {"name": "orders-prod"},
        state=first.state,
        answers={"region": accept(region="eu-west-1")},
    )
    done, acting = call(
        "provision_database",
        {"name": "orders-prod"},
        state=second.state,
        answers={"production": accept(name="orders-prod")},
    )

    assert done.text.startswith("Requested database")
    assert (asking, going_on, acting) == ([], ["PutItem", "UpdateItem"], ["UpdateItem", "UpdateItem"])


def test_book_table_makes_no_write_until_it_acts_and_then_two(call: Callable[..., Any]) -> None:
    arguments = {"evening": "2026-12-31", "guests": 2}
    call("book_table", arguments)

    first, asking = call("book_table", arguments)
    who = {"ask_contact": accept(name="Ada Example", phone="555-0199"), "ask_seating": accept(area="inside")}
    second, asking_more = call("book_table", arguments, state=first.state, answers=who)
    done, acting = call("book_table", arguments, state=second.state, answers={"offer_evening": accept(take=True)})

    assert done.text.startswith("Booked table 1")
    assert (asking, asking_more, acting) == ([], ["GetItem"], ["PutItem", "UpdateItem"])


def test_a_duplicate_of_a_finished_leg_makes_one(call: Callable[..., Any]) -> None:
    first, _ = call("provision_database", {"name": "orders"})
    answers = {"region": accept(region="eu-west-1")}
    call("provision_database", {"name": "orders"}, state=first.state, answers=answers)

    again, repeating = call("provision_database", {"name": "orders"}, state=first.state, answers=answers)

    assert again.text == "Requested database orders in eu-west-1."
    assert repeating == ["PutItem"]


def test_a_refused_state_makes_none(call: Callable[..., Any]) -> None:
    first, _ = call("delete_note", {"note_id": "7"})

    refused, calls = call("delete_note", {"note_id": "12"}, state=first.state)

    assert refused.status == 400
    assert calls == []


def test_discovery_and_lists_make_none_even_cold(wire: Wire) -> None:
    client = Client(load("functions/delete_note/app.py").handler)

    client.discover()
    client.list_tools()

    assert wire.calls == []
