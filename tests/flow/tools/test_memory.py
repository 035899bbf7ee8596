"""A process keeps nothing of a request: only the caches that docs/architecture.md names, and those don't grow with use."""

from __future__ import annotations

import re
from typing import Any

import pytest

from local.seed import seed
from mrtr.testing import accept, call_event, cancel, decline
from tests.flow.tools.legs import Instance
from tests.flow.tools.memory import snapshot

ARGUMENTS: dict[str, dict[str, Any]] = {
    "delete_note": {"note_id": "15"},
    "provision_database": {"name": "stock"},
    "book_table": {"evening": "2026-12-24", "guests": 2},
}

# What the first requests may fill besides functions that are cached once a process: made on first use, the same ever after.
LAZY = r"\.(_runtime|_limits|_methods|_definitions|_adapter|schema)\b"


def use(tool: Instance, function: str) -> None:
    """Everything that may happen to a call: answered in each way, refused, repeated, left alone."""
    seed({"NOTES_TABLE": "notes", "BOOKINGS_TABLE": "bookings"})
    if function == "delete_note":
        for note_id, answer in (("7", accept(confirm=True)), ("12", decline()), ("15", cancel())):
            first = tool.ask(note_id=note_id)
            tool.again(tool.answer(first, {"ask_to_confirm": answer}))
        tool.ask(note_id="99")
    elif function == "provision_database":
        for name in ("orders", "orders-prod"):
            leg = tool.ask(name=name)
            for key, answer in (("region", accept(region="eu-west-1")), ("production", accept(name=name))):
                leg = tool.answer(leg, {key: answer}) if leg.asks else leg
    else:
        first = tool.ask(evening="2026-12-31", guests=2)
        contact = accept(name="Ada Example", phone="555-0199")
        second = tool.answer(first, {"ask_contact": contact, "ask_seating": accept(area="inside")})
        tool.answer(second, {"offer_evening": accept(take=True)})
    tool.discover()
    tool.list_tools()
    tool.call("no_such_tool")
    tool.call(function, ARGUMENTS[function], state=f"v1.{'forged' * 20}", answers={})
    tool.call(function, {"no_such_argument": 1})
    tool.send(call_event(function, ARGUMENTS[function], capabilities={}))


def changes(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("function", ["delete_note", "provision_database", "book_table"])
def test_a_warm_process_is_the_same_after_any_number_of_requests(function: str) -> None:
    tool = Instance(function)
    use(tool, function)
    before = snapshot(tool.module)

    for _ in range(3):
        use(tool, function)

    # an unknown kid makes the ring cache look once more, at most every ten seconds: when it last did is all it notes
    assert {path for path in changes(before, snapshot(tool.module)) if not path.endswith("._sought_at")} == set()


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("function", ["delete_note", "provision_database", "book_table"])
def test_the_first_requests_fill_documented_caches_alone(function: str) -> None:
    tool = Instance(function)
    before = snapshot(tool.module)

    use(tool, function)

    after = snapshot(tool.module)
    for path in changes(before, after):
        assert re.search(LAZY, path) or after[path].startswith("cache of "), path


def test_the_snapshot_sees_what_a_request_would_leave_behind() -> None:
    tool = Instance("delete_note")
    before = snapshot(tool.module)

    vars(tool.module)["LAST"] = {"note_id": "7"}
    tool.module.server._tools["delete_note"].remembered = ["7"]
    tool.module.Confirm.seen = True

    assert len(changes(before, snapshot(tool.module))) >= 3
