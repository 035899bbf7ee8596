from __future__ import annotations

from typing import Any

import pytest

from mrtr.confirmation import confirm
from mrtr.input_required import InputRequiredResult, WireRequest, as_question
from mrtr.outcomes import AcceptedElicitation

NOTHING = frozenset[str]()
FORM: dict[str, Any] = {"method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": {}}}
PAGE: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Go.", "url": "https://example.com"},
}
MODEL: dict[str, Any] = {"method": "sampling/createMessage", "params": {}}
ROOTS: dict[str, Any] = {"method": "roots/list"}


def test_a_result_that_asks_for_nothing_and_carries_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="input_requests, a request_state, or both"):
        InputRequiredResult()
    assert InputRequiredResult(request_state="").request_state == ""
    assert "secret" not in repr(InputRequiredResult(request_state="secret"))


def test_a_question_stays_and_a_wire_request_becomes_one() -> None:
    question = confirm("Sure?")
    assert as_question(question) is question
    made = as_question(FORM)
    assert isinstance(made, WireRequest)
    assert made.wire(NOTHING) == FORM
    assert made.read('{"a":1}', NOTHING) == AcceptedElicitation('{"a":1}')


@pytest.mark.parametrize("request_", [{}, {"method": "tools/call"}, {"method": None}])
def test_what_is_no_request_of_a_client_is_refused(request_: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="input request"):
        as_question(request_)


@pytest.mark.parametrize(
    ("request_", "capabilities", "missing"),
    [
        (FORM, {"elicitation": {}}, None),
        (FORM, {"elicitation": {"form": {}}}, None),
        (FORM, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        (FORM, {}, {"elicitation": {"form": {}}}),
        (PAGE, {"elicitation": {"url": {}}}, None),
        (PAGE, {"elicitation": {}}, {"elicitation": {"url": {}}}),
        (PAGE, {"elicitation": None}, {"elicitation": {"url": {}}}),
        (MODEL, {"sampling": {}}, None),
        (MODEL, {"sampling": True}, {"sampling": {}}),
        (ROOTS, {"roots": {}}, None),
        (ROOTS, {"elicitation": {}}, {"roots": {}}),
    ],
)
def test_a_request_needs_the_capability_of_its_kind(
    request_: dict[str, Any], capabilities: dict[str, Any], missing: dict[str, Any] | None
) -> None:
    assert as_question(request_).missing_capability(capabilities) == missing
