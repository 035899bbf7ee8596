"""book_table: independent questions in one round, a dependent one in the next, and races for the last table."""

from __future__ import annotations

from typing import Any

import pytest

from local.seed import FULL_EVENING
from mrtr.testing import Reply, accept, cancel, decline
from tests.flow.tools.legs import Instance

ADA = accept(name="Ada Example", phone="555-0199")
INSIDE = accept(area="inside")
TERRACE = accept(area="terrace")


@pytest.fixture
def tool(bookings: Any) -> Instance:  # noqa: ARG001  the table must exist before the tool is called
    return Instance("book_table")


def take(bookings: Any, evening: str, *table_ids: str) -> None:
    for table_id in table_ids:
        bookings.put_item(Item={"evening": evening, "table_id": table_id, "guests": 2, "name": "Earlier guest"})


def booked(bookings: Any, evening: str) -> dict[str, str]:
    """Who has which table that evening."""
    return {i["table_id"]: i["name"] for i in bookings.scan()["Items"] if i["evening"] == evening}


def full_evening(tool: Instance) -> Reply:
    return tool.answer(tool.ask(evening=FULL_EVENING, guests=2), {"ask_contact": ADA, "ask_seating": INSIDE})


def test_two_independent_questions_travel_in_one_round(tool: Instance, bookings: Any) -> None:
    first = tool.ask(evening="2026-12-24", guests=2)

    assert set(first.questions) == {"ask_contact", "ask_seating"}
    contact = first.questions["ask_contact"]["params"]["requestedSchema"]
    assert set(contact["properties"]) == {"name", "phone"}
    assert booked(bookings, "2026-12-24") == {}


def test_a_free_evening_is_booked_in_the_second_leg(tool: Instance, bookings: Any) -> None:
    done = tool.answer(tool.ask(evening="2026-12-24", guests=2), {"ask_contact": ADA, "ask_seating": INSIDE})

    assert done.text == "Booked table 1 (inside) for 2 on Thursday 24 December 2026, name Ada Example."
    item = bookings.get_item(Key={"evening": "2026-12-24", "table_id": "1"})["Item"]
    assert item == {
        "evening": "2026-12-24",
        "table_id": "1",
        "guests": 2,
        "name": "Ada Example",
        "phone": "555-0199",
    }


def test_a_missing_answer_is_asked_again_and_the_given_one_is_kept(tool: Instance) -> None:
    again = tool.answer(tool.ask(evening="2026-12-24", guests=2), {"ask_contact": ADA})

    assert list(again.questions) == ["ask_seating"]
    assert tool.answer(again, {"ask_seating": TERRACE}).text.startswith("Booked table 3 (terrace)")


@pytest.mark.parametrize(("guests", "table"), [(2, "1"), (3, "2"), (6, "2")])
def test_the_smallest_table_that_fits_is_taken(tool: Instance, bookings: Any, guests: int, table: str) -> None:
    tool.answer(tool.ask(evening="2026-12-24", guests=guests), {"ask_contact": ADA, "ask_seating": INSIDE})

    assert booked(bookings, "2026-12-24") == {table: "Ada Example"}


def test_a_full_evening_asks_about_the_next_free_one_in_a_second_round(tool: Instance, bookings: Any) -> None:
    second = full_evening(tool)

    assert list(second.questions) == ["offer_evening"]
    message = second.questions["offer_evening"]["params"]["message"]
    assert message == ("Thursday 31 December 2026 is full. The next free evening is Friday 1 January 2027. Book that?")

    done = tool.answer(second, {"offer_evening": accept(take=True)})

    assert done.text == "Booked table 1 (inside) for 2 on Friday 1 January 2027, name Ada Example."
    assert booked(bookings, "2027-01-01") == {"1": "Ada Example"}


@pytest.mark.parametrize("answer", [decline(), cancel(), accept(take=False)], ids=["decline", "cancel", "unticked"])
def test_an_offer_that_is_not_taken_books_nothing(tool: Instance, bookings: Any, answer: dict[str, Any]) -> None:
    done = tool.answer(full_evening(tool), {"offer_evening": answer})

    assert done.text == ("Booked nothing: Thursday 31 December 2026 is full, and Friday 1 January 2027 was not wanted.")
    assert done.result["isError"] is False
    assert booked(bookings, "2027-01-01") == {}


def test_evenings_that_are_full_too_are_passed_over(tool: Instance, bookings: Any) -> None:
    take(bookings, "2027-01-01", "1", "2")

    message = full_evening(tool).questions["offer_evening"]["params"]["message"]

    assert "The next free evening is Saturday 2 January 2027." in message


def test_a_week_without_a_table_is_told_without_asking_further(tool: Instance, bookings: Any) -> None:
    for day in range(1, 8):
        take(bookings, f"2027-01-0{day}", "1", "2")

    told = full_evening(tool)

    assert told.result["isError"] is True
    assert "No table for 2 (inside) from Thursday 31 December 2026 on" in told.text


@pytest.mark.parametrize("answer", [decline(), cancel()], ids=["decline", "cancel"])
def test_without_a_phone_number_nothing_is_booked_and_it_is_no_error(
    tool: Instance, bookings: Any, answer: dict[str, Any]
) -> None:
    done = tool.answer(tool.ask(evening="2026-12-24", guests=2), {"ask_contact": answer, "ask_seating": INSIDE})

    assert done.result["resultType"] == "complete"
    assert done.result["isError"] is False
    assert booked(bookings, "2026-12-24") == {}


def test_a_phone_number_that_is_too_short_is_asked_again(tool: Instance, bookings: Any) -> None:
    again = tool.answer(
        tool.ask(evening="2026-12-24", guests=2),
        {"ask_contact": accept(name="Ada Example", phone="555"), "ask_seating": INSIDE},
    )

    assert list(again.questions) == ["ask_contact"]
    assert booked(bookings, "2026-12-24") == {}


def test_an_evening_that_fills_up_while_the_person_answers_leads_to_an_offer(tool: Instance, bookings: Any) -> None:
    first = tool.ask(evening="2026-12-24", guests=2)
    take(bookings, "2026-12-24", "1", "2")

    second = tool.answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})

    assert "Thursday 24 December 2026 is full." in second.questions["offer_evening"]["params"]["message"]


def test_an_offered_evening_that_fills_up_meanwhile_is_replaced_by_another_offer(tool: Instance, bookings: Any) -> None:
    second = full_evening(tool)
    take(bookings, "2027-01-01", "1", "2")

    third = tool.answer(second, {"offer_evening": accept(take=True)})

    assert "Saturday 2 January 2027" in third.questions["offer_evening"]["params"]["message"]
    assert "Ada Example" not in booked(bookings, "2027-01-01").values()


def test_two_people_who_ask_for_the_last_table_do_not_both_get_it(bookings: Any) -> None:
    take(bookings, "2026-12-24", "2")
    one, other = Instance("book_table"), Instance("book_table")
    asked_one = one.ask(evening="2026-12-24", guests=2)
    asked_other = other.ask(evening="2026-12-24", guests=2)

    first = one.answer(asked_one, {"ask_contact": ADA, "ask_seating": INSIDE})
    second = other.answer(
        asked_other, {"ask_contact": accept(name="Bo Example", phone="555-0142"), "ask_seating": INSIDE}
    )

    assert first.text.startswith("Booked table 1")
    assert "is full" in second.questions["offer_evening"]["params"]["message"]
    assert booked(bookings, "2026-12-24") == {"1": "Ada Example", "2": "Earlier guest"}


def stale(bookings: Any, evening: str, *taken_meanwhile: str) -> type:
    """The bookings table as a reader sees it whom others overtake: its queries don't show what they have just taken."""

    class Stale:
        meta = bookings.meta
        put_item = staticmethod(bookings.put_item)

        @staticmethod
        def query(**request: Any) -> Any:
            found = bookings.query(**request)
            found["Items"] = [i for i in found["Items"] if i["table_id"] not in taken_meanwhile]
            return found

    take(bookings, evening, *taken_meanwhile)
    return Stale


def test_the_last_table_taken_just_before_the_write_is_told(
    tool: Instance, bookings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tool.ask(evening="2026-12-24", guests=2)
    overtaken = stale(bookings, "2026-12-24", "1", "2")
    monkeypatch.setattr(tool.module, "bookings", lambda: overtaken)

    done = tool.answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})

    assert done.text == (
        "Booked nothing: the last table on Thursday 24 December 2026 was taken while the questions were being answered."
    )
    assert booked(bookings, "2026-12-24") == {"1": "Earlier guest", "2": "Earlier guest"}


def test_a_table_taken_just_before_the_write_gives_way_to_another_that_is_left(
    tool: Instance, bookings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tool.ask(evening="2026-12-24", guests=2)
    overtaken = stale(bookings, "2026-12-24", "1")
    monkeypatch.setattr(tool.module, "bookings", lambda: overtaken)

    done = tool.answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})

    assert done.text.startswith("Booked table 2 (inside)")
    assert booked(bookings, "2026-12-24") == {"1": "Earlier guest", "2": "Ada Example"}


def test_a_party_that_no_table_seats_is_refused_before_anyone_is_asked(tool: Instance) -> None:
    assert tool.ask(evening="2026-12-24", guests=7).result["isError"] is True


@pytest.mark.parametrize("evening", ["2100-01-01", "9999-12-31"])
def test_an_evening_that_no_calendar_goes_up_to_is_refused_before_anyone_is_asked(tool: Instance, evening: str) -> None:
    assert tool.ask(evening=evening, guests=6).is_error


def test_an_evening_at_the_end_of_the_calendar_is_looked_for_like_any_other(tool: Instance) -> None:
    first = tool.ask(evening="2099-12-31", guests=6)
    told = tool.answer(first, {"ask_contact": ADA, "ask_seating": TERRACE})

    assert "nor in the week after" in told.text


def test_the_same_retry_sent_twice_books_one_table(tool: Instance, bookings: Any) -> None:
    first = tool.ask(evening="2026-12-24", guests=2)
    done = tool.answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})

    again = Instance("book_table").answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})

    assert again.result == done.result
    assert booked(bookings, "2026-12-24") == {"1": "Ada Example"}


def test_the_model_sees_the_evening_and_the_guests_alone(tool: Instance) -> None:
    (definition,) = tool.module.server.tool_definitions()

    assert definition["inputSchema"]["properties"].keys() == {"evening", "guests"}
    assert definition["inputSchema"]["properties"]["evening"]["format"] == "date"


def test_the_same_retry_for_the_last_table_is_answered_the_same_though_the_evening_is_full_now(
    tool: Instance, bookings: Any
) -> None:
    take(bookings, "2026-12-24", "1")
    first = tool.ask(evening="2026-12-24", guests=2)
    done = tool.answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})
    assert done.text.startswith("Booked table 2 (inside)")

    again = Instance("book_table").answer(first, {"ask_contact": ADA, "ask_seating": INSIDE})

    assert again.result == done.result
