"""The messages between a client and the endpoint, as they went over HTTP."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client

TIMEOUT_S = 40


@dataclass(frozen=True)
class Exchange:
    """One request and what it was answered."""

    request: dict[str, Any]
    status: int
    response: dict[str, Any]


@dataclass
class Wire:
    """Every exchange since the last `clear`."""

    exchanges: list[Exchange] = field(default_factory=list)

    async def note(self, response: httpx2.Response) -> None:
        body = await response.aread()
        self.exchanges.append(Exchange(json.loads(response.request.content), response.status_code, json.loads(body)))

    def clear(self) -> None:
        self.exchanges.clear()


@asynccontextmanager
async def connected(url: str, wire: Wire, answer: ElicitationFnT) -> AsyncIterator[Client]:
    """The official client, connected to `url` and declaring that it can show forms."""
    async with (
        httpx2.AsyncClient(event_hooks={"response": [wire.note]}, timeout=TIMEOUT_S) as http,
        Client(streamable_http_client(url, http_client=http), elicitation_callback=answer) as client,
    ):
        yield client
