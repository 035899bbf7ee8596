"""What must not be logged, gathered from the requests and answers of a test."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from mrtr.testing import Event, Reply

_SHORT = 8
"""Shorter values are words that a log line may hold for another reason."""


class Secrets:
    """lines: what was logged."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._values: set[str] = set()

    def add(self, value: str) -> None:
        if len(value) >= _SHORT:
            self._values.add(value)
            self._values.add(json.dumps(value)[1:-1])

    def add_event(self, event: Event) -> None:
        body = event.get("body") or ""
        try:
            params = json.loads(base64.b64decode(body) if event.get("isBase64Encoded") else body)["params"]
        except (ValueError, TypeError, KeyError):
            return
        if isinstance(params, dict):
            for member in ("arguments", "inputResponses", "requestState"):
                for text in texts(params.get(member)):
                    self.add(text)

    def add_reply(self, reply: Reply) -> None:
        result = json.loads(reply.response["body"] or "{}").get("result", {})
        self.add(result.get("requestState", ""))

    def check(self) -> None:
        log = "\n".join(self.lines)
        for value in self._values:
            at = log.find(value)
            assert at < 0, f"logged: {log[max(0, at - 200) : at + 200]}"


def texts(value: Any) -> Iterator[str]:
    """Every string inside a JSON value, names of members apart."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from texts(member)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
