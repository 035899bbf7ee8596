"""The legs of a call in different processes, which share nothing but AWS: any instance finishes what another began."""

from __future__ import annotations

import pytest

from mrtr.testing import accept, call_event
from tests.flow.conftest import Stack
from tests.flow.instance import Instance

SWORD = {"what": "ceremonial sword"}
FINISH = {"ask_finish": accept(finish="blued and oiled")}


def warmed(instance: Instance) -> Instance:
    """The instance after a whole call of its own: ring, clients, forms and schemas are at hand."""
    first = instance.invoke(call_event("forge", {"what": "horseshoe"}))
    assert instance.invoke(call_event("forge", {"what": "horseshoe"}, state=first.state, answers=FINISH)).text
    return instance


@pytest.mark.parametrize("asking", ["fresh", "warm"])
@pytest.mark.parametrize("acting", ["fresh", "warm"])
def test_a_call_that_one_process_asked_about_is_finished_by_another(stack: Stack, asking: str, acting: str) -> None:
    asks, acts = stack.instance(), stack.instance()
    if asking == "warm":
        warmed(asks)
    if acting == "warm":
        warmed(acts)
    before = len(stack.items("runs"))

    first = asks.invoke(call_event("forge", SWORD))
    done = acts.invoke(call_event("forge", SWORD, state=first.state, answers=FINISH))

    assert asks.pid != acts.pid
    assert first.questions["ask_finish"]["params"]["message"] == "How shall the ceremonial sword be finished?"
    assert done.text == "A ceremonial sword, blued and oiled."
    runs = [run for run in stack.items("runs") if run["process"] == acts.pid]
    assert len(stack.items("runs")) == before + 1
    assert runs


def test_a_process_that_never_saw_the_call_repeats_its_answer_to_a_duplicate(stack: Stack) -> None:
    asks, acts, repeats = stack.instance(), stack.instance(), stack.instance()
    first = asks.invoke(call_event("forge", SWORD))
    done = acts.invoke(call_event("forge", SWORD, state=first.state, answers=FINISH, id=2))

    again = repeats.invoke(call_event("forge", SWORD, state=first.state, answers=FINISH, id="other"))

    assert again.response["body"] == done.response["body"].replace('"id":2', '"id":"other"')
    assert len(stack.items("runs")) == 1


def test_a_body_that_asks_twice_goes_on_in_a_third_process(stack: Stack) -> None:
    arguments = {"what": "garden gate"}
    first = stack.instance().invoke(call_event("paint", arguments))
    red = {"first": accept(colour="oxide red")}
    second = stack.instance().invoke(call_event("paint", arguments, state=first.state, answers=red))
    black = {"second": accept(colour="iron black")}
    third = stack.instance()
    done = third.invoke(call_event("paint", arguments, state=second.state, answers=black))

    assert list(first.questions) == ["first"]
    assert list(second.questions) == ["second"]
    assert done.text == "The garden gate is oxide red, then iron black."
    assert [run["process"] for run in stack.items("runs")] == [third.pid]


def test_every_leg_of_delete_note_may_meet_a_process_of_its_own(stack: Stack) -> None:
    app = "functions/delete_note/app.py"
    first = stack.instance(app).invoke(call_event("delete_note", {"note_id": "7"}))

    done = stack.instance(app).invoke(
        call_event("delete_note", {"note_id": "7"}, state=first.state, answers={"ask_to_confirm": accept(confirm=True)})
    )

    assert done.text == "Deleted note 7."
    assert {note["note_id"] for note in stack.items("notes")} == {"12", "15"}


def test_every_leg_of_provision_database_may_meet_a_process_of_its_own(stack: Stack) -> None:
    app, arguments = "functions/provision_database/app.py", {"name": "orders-prod"}
    first = stack.instance(app).invoke(call_event("provision_database", arguments))
    place = {"region": accept(region="eu-west-1")}
    second = stack.instance(app).invoke(call_event("provision_database", arguments, state=first.state, answers=place))
    assert list(second.questions) == ["production"]
    assert stack.items("databases") == []
    typed = {"production": accept(name="orders-prod")}

    done = stack.instance(app).invoke(call_event("provision_database", arguments, state=second.state, answers=typed))

    assert done.text == "Requested database orders-prod in eu-west-1."
    assert [item["name"] for item in stack.items("databases")] == ["orders-prod"]


def test_every_leg_of_book_table_may_meet_a_process_of_its_own(stack: Stack) -> None:
    app, arguments = "functions/book_table/app.py", {"evening": "2026-12-31", "guests": 2}
    booked = len(stack.items("bookings"))
    first = stack.instance(app).invoke(call_event("book_table", arguments))
    who = {"ask_contact": accept(name="Ada Example", phone="555-0199"), "ask_seating": accept(area="inside")}
    second = stack.instance(app).invoke(call_event("book_table", arguments, state=first.state, answers=who))
    assert list(second.questions) == ["offer_evening"]
    take = {"offer_evening": accept(take=True)}

    done = stack.instance(app).invoke(call_event("book_table", arguments, state=second.state, answers=take))

    assert done.text.startswith("Booked table 1 (inside) for 2")
    assert len(stack.items("bookings")) == booked + 1
