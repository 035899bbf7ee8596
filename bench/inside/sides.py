"""The sides as something to send requests to. Which one a process is, its arguments say; its packages come with its path."""

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

from bench.inside.wire import Answer, LambdaContext, Request, Took, Watch, event

LONG = 0
"""In place of a number of tools: the server whose tool asks five questions."""


class Side(Protocol):
    def send(self, tools: int, requests: Sequence[Request]) -> tuple[Took, list[Answer]]:
        """Send them one after the other to a server of so many tools."""
        ...


class Handler:
    """A Lambda handler: events in, responses out."""

    def __init__(self) -> None:
        self._app = importlib.import_module("app")
        self._handlers: dict[int, Any] = {1: self._app.handler}
        self._context = LambdaContext()

    def send(self, tools: int, requests: Sequence[Request]) -> tuple[Took, list[Answer]]:
        handler = self._handler(tools)
        context = self._context
        events = [event(one) for one in requests]
        watch = Watch()
        responses = [handler(one, context) for one in events]
        took = watch.took()
        return took, [Answer(one["statusCode"], one["body"]) for one in responses]

    def _handler(self, tools: int) -> Any:
        if tools not in self._handlers:
            made = self._app.build_long() if tools == LONG else self._app.build(tools)
            self._handlers[tools] = self._made(made)
        return self._handlers[tools]

    def _made(self, server: Any) -> Any:
        return server.lambda_handler


class Mangum(Handler):
    """The SDK's ASGI application by way of Mangum."""

    def _made(self, server: Any) -> Any:
        return asgi(server).lambda_handler


class Asgi:
    """The SDK's ASGI application called straight, inside one running loop: less than any deployment of it does."""

    def __init__(self) -> None:
        self._app = importlib.import_module("app")
        self._apps: dict[int, Any] = {1: self._app.asgi}

    def send(self, tools: int, requests: Sequence[Request]) -> tuple[Took, list[Answer]]:
        if tools not in self._apps:
            self._apps[tools] = asgi(self._app.build_long() if tools == LONG else self._app.build(tools))
        app = self._apps[tools]
        sent = [
            ([(name.encode(), value.encode()) for name, value in one.headers.items()], one.body.encode())
            for one in requests
        ]

        async def run() -> tuple[Took, list[tuple[int, bytes]]]:
            watch = Watch()
            answers = [await app.request(headers, body) for headers, body in sent]
            return watch.took(), answers

        took, answers = app.run(run())
        return took, [Answer(status, body.decode()) for status, body in answers]


def asgi(server: Any) -> Any:
    made = importlib.import_module("asgi")
    return made.Asgi(server.streamable_http_app(stateless_http=True, json_response=True, host="0.0.0.0"))  # noqa: S104 - see servers/sdk


SIDES: dict[str, type[Side]] = {"handler": Handler, "mangum": Mangum, "asgi": Asgi}
