"""What only the deployed API shows: routes, methods, browsers' preflights, and the sample events at the functions themselves."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import httpx2
import pytest

from local import stack
from local.environment import ROOT
from mrtr.testing import Reply
from tests import published
from tests.e2e.remote import TIMEOUT_S, Remote
from tests.flow.tools.legs import first_event, sample
from tests.flow.tools.test_events import EXPECTED, THROUGH_THE_DOOR, outcome

PAGE = "http://localhost:6274"


def test_the_readmes_request_by_hand_asks_and_is_answered_as_the_readme_says(askback: stack.Stack) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```sh\n(curl .*?)^```$", text, re.MULTILINE | re.DOTALL)
    words = shlex.split(block.replace("\\\n", " "))
    headers = dict(words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H")
    request = json.loads(words[words.index("-d") + 1])
    (answers,) = re.findall(r'`"inputResponses": (\{.*?\})`', text)

    asked = httpx2.post(askback.endpoint, headers=headers, json=request, timeout=TIMEOUT_S).json()["result"]
    assert list(asked["inputRequests"]) == ["ask_to_confirm"]
    request["params"] |= {"requestState": asked["requestState"], "inputResponses": json.loads(answers)}
    done = httpx2.post(askback.endpoint, headers=headers, json=request, timeout=TIMEOUT_S).json()["result"]
    assert done["content"][0]["text"] == "Deleted note 7."


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_other_methods_than_post_are_told_which_one_is_meant(askback: stack.Stack, method: str) -> None:
    answer = httpx2.request(method, askback.endpoint, timeout=TIMEOUT_S)

    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"


def test_a_path_that_no_tool_has_is_not_found(askback: stack.Stack) -> None:
    assert httpx2.post(f"{askback.endpoint}/no_such_tool", json={}, timeout=TIMEOUT_S).status_code == 404


def test_a_browsers_preflight_is_answered_for_an_allowed_page_and_the_protocols_headers(askback: stack.Stack) -> None:
    wanted = "content-type,mcp-method,mcp-name,mcp-protocol-version"
    answer = httpx2.options(
        askback.endpoint,
        headers={
            "origin": PAGE,
            "access-control-request-method": "POST",
            "access-control-request-headers": wanted,
        },
        timeout=TIMEOUT_S,
    )

    assert answer.status_code in (200, 204)
    assert answer.headers["access-control-allow-origin"] == PAGE
    allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
    assert set(wanted.split(",")) <= allowed


@pytest.mark.parametrize(("origin", "status"), [(PAGE, 200), ("https://evil.example", 403)])
def test_a_page_is_answered_only_where_its_origin_is_allowed(delete_note: Remote, origin: str, status: int) -> None:
    event = first_event("delete_note", note_id="7")
    event["headers"]["origin"] = origin

    assert delete_note.send(event).status == status


def test_a_tool_of_another_function_is_unknown_at_a_tools_own_address(askback: stack.Stack) -> None:
    event = first_event("book_table")

    refused = Remote(askback, "delete_note", direct=True).send(event)

    assert (refused.status, refused.error["code"]) == (400, -32602)


@pytest.mark.parametrize("name", sorted(EXPECTED) + sorted(THROUGH_THE_DOOR))
def test_a_sample_event_is_answered_by_the_deployed_function_as_its_name_says(askback: stack.Stack, name: str) -> None:
    folder = name.partition("/")[0]
    function = f"{stack.STACK}-front-door" if folder == "front_door" else f"{stack.STACK}-tool-{folder}"

    answer = askback.client("lambda").invoke(FunctionName=function, Payload=json.dumps(sample(name)).encode())

    assert "FunctionError" not in answer
    response: dict[str, Any] = json.loads(answer["Payload"].read())
    expected = {**EXPECTED, **THROUGH_THE_DOOR}[name]
    assert (response["statusCode"], outcome(response)) == expected
    sent = json.loads(sample(name).get("body") or "null")
    assert published.of_response(sent, response["statusCode"], Reply({}, response).headers, response["body"]) == []
