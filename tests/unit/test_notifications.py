from __future__ import annotations

import json
from typing import Any

import pytest

from mrtr.errors import Fault, ProtocolError
from mrtr.notifications import LEVELS, MAX_NOTIFICATIONS, Outbox

LEVEL = "io.modelcontextprotocol/logLevel"


def told(outbox: Outbox) -> list[dict[str, Any]]:
    return [json.loads(message) for message in outbox.messages]


@pytest.mark.parametrize("token", ["p", "", 0, 7, 2**60])
def test_progress_carries_exactly_the_token_of_the_request(token: str | int) -> None:
    outbox = Outbox({"progressToken": token})
    outbox.progress(0, 100, None)
    outbox.progress(0.5, None, "half 📝")
    assert told(outbox) == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 0, "total": 100},
        },
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 0.5, "message": "half 📝"},
        },
    ]


def test_nothing_is_told_that_was_not_asked_for() -> None:
    outbox = Outbox({})
    outbox.progress(1, 2, "half")
    for level in LEVELS:
        outbox.log(level, "said", None)
    assert outbox.messages == []


def test_progress_only_ever_grows() -> None:
    outbox = Outbox({"progressToken": "p"})
    for progress in (1, 1, 0.5, 2, 1.5, 3):
        outbox.progress(progress, None, None)
    assert [message["params"]["progress"] for message in told(outbox)] == [1, 2, 3]


@pytest.mark.parametrize("least", LEVELS)
def test_a_message_is_told_from_the_level_that_was_asked_for(least: str) -> None:
    outbox = Outbox({LEVEL: least})
    for level in LEVELS:
        outbox.log(level, {"level": level}, "mine")
    wanted = LEVELS[LEVELS.index(least) :]
    assert [message["params"] for message in told(outbox)] == [
        {"level": level, "data": {"level": level}, "logger": "mine"} for level in wanted
    ]


def test_the_levels_are_those_of_syslog_in_order() -> None:
    assert LEVELS == ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@pytest.mark.parametrize(
    "meta", [{"progressToken": True}, {"progressToken": 1.5}, {"progressToken": []}, {LEVEL: "loud"}, {LEVEL: 3}]
)
def test_a_token_or_a_level_that_cannot_be_is_invalid(meta: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        Outbox(meta)
    assert refusal.value.fault is Fault.INVALID_PARAMS


def test_an_author_who_makes_up_a_level_is_told_so() -> None:
    with pytest.raises(ValueError, match="a log level is one of debug"):
        Outbox({}).log("loud", "said", None)


def test_a_loop_that_tells_every_step_does_not_make_the_answer_grow_without_end() -> None:
    outbox = Outbox({"progressToken": "p"})
    for step in range(MAX_NOTIFICATIONS + 5):
        outbox.progress(step, None, None)
    assert len(outbox.messages) == MAX_NOTIFICATIONS


def test_a_message_is_one_line() -> None:
    outbox = Outbox({LEVEL: "debug"})
    outbox.log("info", "two\nlines", None)
    assert "\n" not in outbox.messages[0]
