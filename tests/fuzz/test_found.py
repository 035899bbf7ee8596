"""What generated cases have found."""

from __future__ import annotations

from typing import Any

import pytest

from mrtr.testing import LambdaContext, offline, request_event
from tests.fuzz.target import loaded
from tests.fuzz.test_fuzz import check


@pytest.mark.parametrize("given", ['{"arg1": "a", "arg2": "b"}', "{}", '"x"', "[]", "", "null"])
def test_a_prompt_whose_arguments_come_as_json_text_is_answered(given: str) -> None:
    offline(loaded())
    params = {"name": "test_prompt_with_arguments", "arguments": given}

    status, _ = check(loaded().lambda_handler, request_event("prompts/get", params))

    assert status == (200 if "arg1" in given else 400)


@pytest.mark.parametrize("id_", ["a b", "%zz", "%", '"', "\x00", "caf\u00e9", "\u2168"])
def test_a_template_read_at_what_is_no_uri_echoes_nothing_that_is_none(id_: str) -> None:
    offline(loaded())
    params: dict[str, Any] = {"uri": f"test://template/{id_}/data"}

    assert check(loaded().lambda_handler, request_event("resources/read", params)) == (400, -32602)


def test_an_event_without_a_body_is_answered() -> None:
    event = request_event("tools/list")
    del event["body"]

    assert loaded().lambda_handler(event, LambdaContext())["statusCode"] == 400
