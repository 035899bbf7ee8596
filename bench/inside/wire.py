"""Requests as clients send them, the same bytes for every side. Runs beside each side's packages: standard library only."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERSION = "2026-07-28"


@dataclass(frozen=True)
class Request:
    headers: dict[str, str]
    body: str


@dataclass(frozen=True)
class Answer:
    status: int
    body: str

    @property
    def result(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.body)
        if self.status != 200 or "result" not in message:
            raise RuntimeError(f"{self.status}: {self.body}")
        result: dict[str, Any] = message["result"]
        return result


def asks(answer: Answer) -> None:
    """Raises unless it is delete_note's question."""
    result = answer.result
    if result["resultType"] != "input_required" or len(result["inputRequests"]) != 1 or not result["requestState"]:
        raise RuntimeError(f"not the question: {answer.body}")


def reads(answer: Answer) -> None:
    """Raises unless it is the note's text."""
    if answer.result["content"][0]["text"] != "Buy milk":
        raise RuntimeError(f"not the note: {answer.body}")


@dataclass(frozen=True)
class Took:
    """Seconds: by the clock, and of a core's time, in which other work on the machine does not count."""

    wall: float
    core: float


class Watch:
    """Takes the time from its making on."""

    def __init__(self) -> None:
        self._core = time.process_time()
        self._wall = time.perf_counter()

    def took(self) -> Took:
        wall = time.perf_counter() - self._wall
        return Took(wall, time.process_time() - self._core)


class LambdaContext:
    aws_request_id = "00000000-0000-4000-8000-000000000001"
    function_name = "bench"
    function_version = "$LATEST"
    invoked_function_arn = "arn:aws:lambda:us-east-1:000000000000:function:bench"
    memory_limit_in_mb = 1024

    def get_remaining_time_in_millis(self) -> int:
        return 20_000


def request(method: str, params: Mapping[str, Any] | None = None) -> Request:
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
    }
    given = dict(params or {})
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "host": "mcp.example.com",
        "mcp-method": method,
        "mcp-protocol-version": VERSION,
    }
    if "name" in given:
        headers["mcp-name"] = given["name"]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**given, "_meta": meta}}
    return Request(headers, json.dumps(message, separators=(",", ":")))


def call(tool: str, arguments: Mapping[str, Any], **retry: Any) -> Request:
    """tools/call; retry: requestState and inputResponses."""
    return request("tools/call", {"name": tool, "arguments": arguments, **retry})


def retry(tool: str, arguments: Mapping[str, Any], asked: Answer, content: Mapping[str, Any]) -> Request:
    """The call again, every question of `asked` accepted with `content`."""
    result = asked.result
    answers = {key: {"action": "accept", "content": content} for key in result["inputRequests"]}
    return call(tool, arguments, requestState=result["requestState"], inputResponses=answers)


def event(sent: Request) -> dict[str, Any]:
    """As an HTTP API hands it to Lambda."""
    http = {"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "bench"}
    return {
        "version": "2.0",
        "routeKey": "POST /mcp",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": sent.headers,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "bench",
            "domainName": "mcp.example.com",
            "http": http,
            "requestId": "bench",
            "routeKey": "POST /mcp",
            "stage": "$default",
            "timeEpoch": 0,
        },
        "body": sent.body,
        "isBase64Encoded": False,
    }
