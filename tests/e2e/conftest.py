"""The deployed stack, once for all end-to-end tests; every test starts with the data of a fresh one, and every message is checked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from local import stack
from tests import published
from tests.e2e.remote import Remote, Tables


@pytest.fixture(scope="session")
def deployed() -> Iterator[stack.Stack]:
    with stack.running() as askback:
        yield askback


def problems_of(response: httpx2.Response) -> list[str]:
    """What is wrong with an answer of the endpoint, as messages of the protocol go; nothing of what other addresses answer."""
    request = response.request
    no_route = response.status_code == 404 and response.text.startswith('{"message"')  # API Gateway's own words
    if request.method == "OPTIONS" or no_route or not request.url.path.startswith("/mcp"):
        return []
    try:
        sent = json.loads(request.content or b"null")
    except ValueError:
        sent = None
    return published.of_response(sent, response.status_code, response.headers, response.text)


@pytest.fixture(autouse=True)
def _every_message_is_of_the_published_schema(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever sends it, the official client included."""
    found: list[str] = []
    send, send_async = httpx2.Client.send, httpx2.AsyncClient.send

    def watched(self: httpx2.Client, *arguments: Any, **options: Any) -> httpx2.Response:
        response = send(self, *arguments, **options)
        response.read()
        found.extend(problems_of(response))
        return response

    async def watched_async(self: httpx2.AsyncClient, *arguments: Any, **options: Any) -> httpx2.Response:
        response = await send_async(self, *arguments, **options)
        await response.aread()
        found.extend(problems_of(response))
        return response

    monkeypatch.setattr(httpx2.Client, "send", watched)
    monkeypatch.setattr(httpx2.AsyncClient, "send", watched_async)
    yield
    assert found == []


@pytest.fixture
def askback(deployed: stack.Stack) -> stack.Stack:
    deployed.reset()
    return deployed


@pytest.fixture
def tables(askback: stack.Stack) -> Tables:
    return Tables(askback)


@pytest.fixture(params=["through the front door", "directly"])
def delete_note(request: pytest.FixtureRequest, askback: stack.Stack) -> Remote:
    return Remote(askback, "delete_note", direct=request.param == "directly")


@pytest.fixture
def provision_database(askback: stack.Stack) -> Remote:
    return Remote(askback, "provision_database")


@pytest.fixture
def book_table(askback: stack.Stack) -> Remote:
    return Remote(askback, "book_table")
