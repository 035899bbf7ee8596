"""Nothing but the request and AWS is shared between the legs, whichever processes serve them."""

from __future__ import annotations

import itertools

import pytest

from mrtr.testing import accept
from tests.e2e.remote import Remote, Tables

ADA = accept(name="Ada Example", phone="555-0199")


def pid(tool: Remote) -> int:
    """The process that served the tool's latest leg."""
    return tool.askback.invocations(tool.function)[-1].pid


@pytest.mark.parametrize(("first", "second"), list(itertools.product(["fresh", "warm"], repeat=2)))
def test_any_instance_answers_what_any_other_asked(
    delete_note: Remote, tables: Tables, first: str, second: str
) -> None:
    if first == "fresh":
        delete_note.askback.fresh()
    else:
        delete_note.ask(note_id="15")
    asked = delete_note.ask(note_id="7")
    asking = pid(delete_note)
    if second == "fresh":
        delete_note.askback.fresh()

    done = delete_note.answer(asked, {"ask_to_confirm": accept(confirm=True)})

    assert done.text == "Deleted note 7."
    assert tables.notes().keys() == {"12", "15"}
    assert (pid(delete_note) == asking) is (second == "warm")


@pytest.mark.parametrize("fresh_before", list(itertools.product([False, True], repeat=3)))
def test_every_round_of_a_flow_may_meet_a_fresh_instance(
    provision_database: Remote, tables: Tables, fresh_before: tuple[bool, bool, bool]
) -> None:
    tool = provision_database

    def freshen(round_: int) -> None:
        if fresh_before[round_]:
            tool.askback.fresh(tool.function)

    freshen(0)
    first = tool.ask(name="orders-prod")
    freshen(1)
    second = tool.answer(first, {"region": accept(region="eu-west-1")})
    freshen(2)
    done = tool.answer(second, {"production": accept(name="orders-prod")})

    assert done.text == "Requested database orders-prod in eu-west-1."
    assert [item["name"] for item in tables.items("DATABASES_TABLE")] == ["orders-prod"]


def test_a_dependent_question_is_asked_and_answered_by_fresh_instances(book_table: Remote, tables: Tables) -> None:
    first = book_table.ask(evening="2026-12-31", guests=2)
    book_table.askback.fresh()
    second = book_table.answer(first, {"ask_contact": ADA, "ask_seating": accept(area="terrace")})
    book_table.askback.fresh()
    done = book_table.answer(second, {"offer_evening": accept(take=True)})

    assert done.text.startswith("Booked table 3 (terrace)")
    assert len(tables.bookings("Ada Example")) == 1


def test_a_flow_may_change_between_the_front_door_and_the_tools_own_address(delete_note: Remote) -> None:
    other = Remote(delete_note.askback, "delete_note", direct=not delete_note.direct)

    asked = delete_note.ask(note_id="7")

    assert other.answer(asked, {"ask_to_confirm": accept(confirm=True)}).text == "Deleted note 7."


def test_people_who_walk_away_leave_nothing_behind(delete_note: Remote, tables: Tables) -> None:
    before = tables.items("MRTR_CLAIM_TABLE")

    for note_id in ("7", "12", "15"):
        assert delete_note.ask(note_id=note_id).questions

    assert tables.items("MRTR_CLAIM_TABLE") == before
