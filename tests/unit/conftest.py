"""What the unit tests share: the log of the code under test."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from mrtr.log import log, request_log


class Logged:
    """What was logged during one test."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    @property
    def text(self) -> str:
        """Everything, as it would reach CloudWatch."""
        return self._stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def line(self, message: str) -> dict[str, Any]:
        """The one line with this message."""
        (line,) = [line for line in self.lines if line["message"] == message]
        return line


@pytest.fixture(autouse=True)
def logged() -> Iterator[Logged]:
    """The process's two loggers are made with the standard output of their first use: each test gives them a stream of its own."""
    stream = io.StringIO()
    handlers: list[Any] = [log().registered_handler, request_log().handlers[0]]  # pytest adds its own behind
    previous = [handler.setStream(stream) for handler in handlers]
    yield Logged(stream)
    for handler, before in zip(handlers, previous, strict=True):
        handler.setStream(before)
