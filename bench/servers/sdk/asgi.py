"""An ASGI application as something to call: straight, or by way of Mangum. Its lifespan begins once, with the first call."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

Message = dict[str, Any]
App = Callable[..., Awaitable[None]]


class Asgi:
    def __init__(self, app: App) -> None:
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lifespan: asyncio.Task[None] | None = None
        self._mangum: Any = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Something that calls `request`, to its end."""
        return self._begun().run_until_complete(work)

    async def request(self, headers: list[tuple[bytes, bytes]], body: bytes) -> tuple[int, bytes]:
        """One POST to /mcp. The application is called with no HTTP server in between."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "https",
            "path": "/mcp",
            "raw_path": b"/mcp",
            "root_path": "",
            "query_string": b"",
            "headers": headers,
            "client": ("192.0.2.1", 1),
            "server": ("mcp.example.com", 443),
        }
        status = 0
        chunks: list[bytes] = []
        given = False

        async def receive() -> Message:
            nonlocal given
            if given:
                await asyncio.Event().wait()  # the client stays connected
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                chunks.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return status, b"".join(chunks)

    def lambda_handler(self, event: dict[str, Any], context: Any) -> dict[str, Any]:
        if self._mangum is None:
            from mangum import Mangum

            self._begun()
            # Mangum would begin and end the lifespan with every request, and the SDK's can begin only once
            self._mangum = Mangum(self._app, lifespan="off")
        answer: dict[str, Any] = self._mangum(event, context)
        return answer

    def _begun(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(self._begin())
        return self._loop

    async def _begin(self) -> None:
        started = asyncio.Event()
        messages = iter([{"type": "lifespan.startup"}])

        async def receive() -> Message:
            for message in messages:
                return message
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            if message["type"] != "lifespan.startup.complete":
                raise RuntimeError(message)
            started.set()

        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._lifespan = asyncio.ensure_future(self._app(scope, receive, send))
        await asyncio.wait([self._lifespan, asyncio.ensure_future(started.wait())], return_when=asyncio.FIRST_COMPLETED)
        if not started.is_set():
            self._lifespan.result()
            raise RuntimeError("the application ended its lifespan at once")
