"""A tool of the deployed stack over HTTP, leg by leg, and the tables behind it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import httpx2

from local import stack
from local.retry_event import JsonObject, retry_event
from mrtr.testing import Reply
from tests.flow.tools.legs import first_event

TIMEOUT_S = 60


@dataclass(frozen=True)
class Remote:
    """One tool, by way of the front door or at its own address."""

    askback: stack.Stack
    tool: str
    direct: bool = False

    @property
    def function(self) -> str:
        """The name of the function that owns the tool."""
        return f"{stack.STACK}-tool-{self.tool}"

    @property
    def url(self) -> str:
        return f"{self.askback.endpoint}/{self.tool}" if self.direct else self.askback.endpoint

    def send(self, event: JsonObject) -> Reply:
        """An event's headers and body, as HTTP."""
        headers = {k: v for k, v in event["headers"].items() if not k.startswith("x-forwarded-") and k != "host"}
        answer = httpx2.post(self.url, content=event["body"].encode(), headers=headers, timeout=TIMEOUT_S)
        return Reply(event, {"statusCode": answer.status_code, "headers": dict(answer.headers), "body": answer.text})

    def ask(self, **arguments: object) -> Reply:
        """The first leg of a call."""
        return self.send(first_event(self.tool, **arguments))

    def answer(self, leg: Reply, answers: Mapping[str, JsonObject]) -> Reply:
        return self.send(retry_event(leg.event, answers, leg.state))

    def answer_at_once(self, leg: Reply, copies: int, answers: Mapping[str, JsonObject]) -> list[Reply]:
        """The same retry, `copies` times at the same moment."""
        event = retry_event(leg.event, answers, leg.state)
        with ThreadPoolExecutor(copies) as pool:
            return list(pool.map(lambda _: self.send(event), range(copies)))

    def come_back(self, leg: Reply) -> Reply:
        """The leg's outcome: as long as it only says to come back, do so."""
        for _ in range(10):
            if not leg.asks:
                return leg
            assert leg.questions == {}
            leg = self.answer(leg, {})
        raise AssertionError("still running after ten rounds")


@dataclass(frozen=True)
class Tables:
    """What the tools' tables hold, as plain values."""

    askback: stack.Stack

    def items(self, variable: str) -> list[dict[str, Any]]:
        found = self.askback.client("dynamodb").scan(TableName=self.askback.tables[variable])["Items"]
        return [{name: next(iter(value.values())) for name, value in item.items()} for item in found]

    def notes(self) -> dict[str, str]:
        return {item["note_id"]: item["text"] for item in self.items("NOTES_TABLE")}

    def write_note(self, note_id: str, text: str) -> None:
        self.askback.client("dynamodb").put_item(
            TableName=self.askback.tables["NOTES_TABLE"], Item={"note_id": {"S": note_id}, "text": {"S": text}}
        )

    def bookings(self, name: str) -> list[dict[str, Any]]:
        return [item for item in self.items("BOOKINGS_TABLE") if item["name"] == name]
