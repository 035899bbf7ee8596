from __future__ import annotations

import json

import pytest

from mrtr.errors import Fault, ProtocolError
from mrtr.result import as_json, error_response, from_json, render, response

INFO = {"name": "notes", "version": "1.0.0"}


def test_a_result_says_its_type_and_who_answers() -> None:
    assert json.loads(render({"content": []}, INFO)) == {
        "resultType": "complete",
        "content": [],
        "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
    }
    assert json.loads(render({"requestState": "v1.x"}, INFO, "input_required"))["resultType"] == "input_required"


def test_a_result_is_one_line_with_other_scripts_as_they_are() -> None:
    text = render({"content": [{"type": "text", "text": "Zwei\nZeilen 📝 ñ \u2028 שלום"}]}, INFO)
    assert "\n" not in text
    assert "📝 ñ" in text
    assert ": " not in text


def test_a_result_that_json_cannot_hold_is_an_error() -> None:
    with pytest.raises(ValueError, match="JSON"):
        render({"structuredContent": float("nan")}, INFO)


@pytest.mark.parametrize("request_id", [1, 0, 1_800_000_000_000, 2**60, "a", '"', "ü📝", ""])
def test_a_response_carries_its_requests_id_and_the_result_byte_for_byte(request_id: str | int) -> None:
    stored = '{"resultType":"complete",  "odd":1.0}'
    text = response(request_id, stored)
    assert json.loads(text) == {"jsonrpc": "2.0", "id": request_id, "result": {"resultType": "complete", "odd": 1.0}}
    assert stored in text


def test_an_error_has_code_message_and_the_id_if_there_is_one() -> None:
    error = ProtocolError(Fault.INVALID_PARAMS, "params.name is missing")
    detail = {"code": -32602, "message": "params.name is missing"}
    assert json.loads(error_response(7, error)) == {"jsonrpc": "2.0", "id": 7, "error": detail}
    assert json.loads(error_response(0, error)) == {"jsonrpc": "2.0", "id": 0, "error": detail}
    assert json.loads(error_response("", error)) == {"jsonrpc": "2.0", "id": "", "error": detail}
    assert json.loads(error_response(None, error)) == {"jsonrpc": "2.0", "error": detail}


def test_an_error_carries_data_where_there_is_some() -> None:
    error = ProtocolError(Fault.UNSUPPORTED_VERSION, "no", data={"supported": ["a"], "requested": "b"})
    assert json.loads(error_response(1, error))["error"]["data"] == {"supported": ["a"], "requested": "b"}


def test_an_error_that_was_recorded_for_a_duplicate_is_the_same_error() -> None:
    for error in (
        ProtocolError(Fault.INVALID_PARAMS, "Unknown note 📝"),
        ProtocolError(Fault.MISSING_CAPABILITY, "no", data={"requiredCapabilities": {"elicitation": {}}}),
    ):
        again = from_json(as_json(error))
        assert (again.fault, again.message, again.data) == (error.fault, error.message, error.data)
