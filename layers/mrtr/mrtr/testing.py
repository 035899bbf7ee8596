"""For authors' tests: events as AWS sends them, a client that drives a handler leg by leg, and a runtime that needs no AWS.

    runtime = offline(server)
    client = Client(server.lambda_handler)
    first = client.call("delete_note", {"note_id": "7"})
    done = client.answer(first, {"ask_to_confirm": accept(confirm=True)})
    assert done.text == "Deleted note 7."

Nothing here is imported by the runtime itself.
"""

from __future__ import annotations

import base64
import copy
import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from . import header_codec, strict_json
from .claim_table import ASKED, RUNNING, Claim, ClaimTable, Item
from .errors import Unavailable
from .http import Kind
from .keyring import KeyRing, RingKey, derive_key
from .protocol import NAMED_METHODS, VERSION
from .ring_cache import RingCache
from .runtime import Runtime
from .server import Server
from .settings import Settings
from .single_use import SingleUse
from .state import MAX_ROUNDS

Event = dict[str, Any]
Handler = Callable[[Any, Any], dict[str, Any]]

FORMS: Mapping[str, Any] = {"elicitation": {"form": {}}}
"""The capabilities of a client that shows forms."""


def accept(**content: Any) -> dict[str, Any]:
    """The answer of a person who filled the form in and sent it."""
    return {"action": "accept", "content": content}


def decline() -> dict[str, Any]:
    """The answer of a person who said no."""
    return {"action": "decline"}


def cancel() -> dict[str, Any]:
    """The answer of a person who closed the form."""
    return {"action": "cancel"}


# Events


def request_event(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    id: str | int = 1,  # noqa: A002 - JSON-RPC's word
    kind: Kind = Kind.HTTP_API,
    path: str = "/mcp",
    capabilities: Mapping[str, Any] = FORMS,
    claims: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Event:
    """The event of a request as `kind` sends it, with the headers that a client of revision 2026-07-28 sends.

    claims: what a JWT authorizer found in the caller's token (`iss`, `sub`, `client_id`); HTTP API and REST API have one. headers: more
    headers, or others; names in lower case.
    """
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": dict(capabilities),
        "io.modelcontextprotocol/clientInfo": {"name": "test-client", "version": "1.0.0"},
    }
    body = {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": meta}}
    sent = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "host": "mcp.example.com",
        "mcp-method": method,
        "mcp-protocol-version": VERSION,
    }
    named = NAMED_METHODS.get(method)
    if named is not None and params is not None and isinstance(params.get(named), str):
        sent["mcp-name"] = header_codec.encode(params[named])
    return _event(kind, path, {**sent, **(headers or {})}, strict_json.dump(body), claims)


def discover_event(**options: Any) -> Event:
    """`server/discover`; options as of `request_event`."""
    return request_event("server/discover", **options)


def list_event(**options: Any) -> Event:
    """`tools/list`; options as of `request_event`."""
    return request_event("tools/list", **options)


def call_event(
    tool: str,
    arguments: Mapping[str, Any],
    *,
    state: str | None = None,
    answers: Mapping[str, Any] | None = None,
    **options: Any,
) -> Event:
    """`tools/call`: a first leg, or with `state` (and `answers`) a retry; options as of `request_event`."""
    params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
    if answers is not None:
        params["inputResponses"] = dict(answers)
    if state is not None:
        params["requestState"] = state
    return request_event("tools/call", params, **options)


def _event(kind: Kind, path: str, headers: dict[str, str], body: str, claims: Mapping[str, str] | None) -> Event:
    if kind is Kind.REST_API or kind is Kind.ALB:
        event: Event = {
            "httpMethod": "POST",
            "path": path,
            "headers": headers,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "queryStringParameters": None,
            "body": body,
            "isBase64Encoded": False,
        }
        if kind is Kind.ALB:
            _no_claims(kind, claims)
            del event["multiValueHeaders"]  # only a target group set up for them has them
            return {**event, "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:test"}}}
        context: Event = {"httpMethod": "POST", "path": f"/prod{path}", "resourcePath": path, "stage": "prod"}
        if claims is not None:
            context["authorizer"] = {"claims": dict(claims)}
        return {**event, "resource": path, "requestContext": {**context, "requestId": "test"}}
    host = "mcp.example.com"
    if kind is Kind.FUNCTION_URL:
        _no_claims(kind, claims)
        host = "abc123.lambda-url.eu-west-1.on.aws"
        body = base64.b64encode(body.encode("utf-8", "surrogatepass")).decode()  # as function URLs often do
    context = {
        "domainName": host,
        "http": {"method": "POST", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
        "requestId": "test",
        "routeKey": f"POST {path}",
        "stage": "$default",
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": dict(claims), "scopes": None}}
    return {
        "version": "2.0",
        "routeKey": f"POST {path}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": headers,
        "requestContext": context,
        "body": body,
        "isBase64Encoded": kind is Kind.FUNCTION_URL,
    }


def _no_claims(kind: Kind, claims: Mapping[str, str] | None) -> None:
    if claims is not None:
        raise ValueError(f"no JWT authorizer stands before a {kind.value}")


class LambdaContext:
    """As much of Lambda's context object as code here looks at. remaining_ms: what is left of the invocation's time; settable."""

    function_version = "$LATEST"
    memory_limit_in_mb = 256

    def __init__(
        self,
        *,
        remaining_ms: int = 20_000,
        aws_request_id: str = "00000000-0000-4000-8000-000000000001",
        function_name: str = "test",
    ) -> None:
        self.remaining_ms = remaining_ms
        self.aws_request_id = aws_request_id
        self.function_name = function_name
        self.invoked_function_arn = f"arn:aws:lambda:eu-west-1:123456789012:function:{function_name}"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining_ms


# Client


@dataclass(frozen=True, slots=True)
class Reply:
    """What a handler answered to `event`; `response` is its return value as it is."""

    event: Event
    response: dict[str, Any]

    @property
    def status(self) -> int:
        return int(self.response["statusCode"])

    @property
    def headers(self) -> Mapping[str, str]:
        """Header names in lower case."""
        return {name.lower(): value for name, value in self.response["headers"].items()}

    @property
    def message(self) -> dict[str, Any]:
        """The JSON-RPC message."""
        message: dict[str, Any] = json.loads(self.response["body"])
        return message

    @property
    def result(self) -> dict[str, Any]:
        """The result. AssertionError, showing the error, when there is none."""
        message = self.message
        assert "result" in message, message.get("error")  # noqa: S101 - for tests
        result: dict[str, Any] = message["result"]
        return result

    @property
    def error(self) -> dict[str, Any]:
        """The JSON-RPC error. AssertionError, showing the result, when there is none."""
        message = self.message
        assert "error" in message, message.get("result")  # noqa: S101 - for tests
        error: dict[str, Any] = message["error"]
        return error

    @property
    def asks(self) -> bool:
        """Whether the call goes on: there are questions, or only a state (come back)."""
        return bool(self.result["resultType"] == "input_required")

    @property
    def questions(self) -> dict[str, Any]:
        """The open questions by key; {} when the client shall only come back. AssertionError when the call is complete."""
        assert self.asks, self.result  # noqa: S101 - for tests
        questions: dict[str, Any] = self.result.get("inputRequests", {})
        return questions

    @property
    def state(self) -> str:
        """The sealed state. AssertionError when the call is complete."""
        assert self.asks, self.result  # noqa: S101 - for tests
        return str(self.result["requestState"])

    @property
    def text(self) -> str:
        """The text of a complete result. AssertionError, showing the questions, when it is not complete."""
        assert not self.asks, self.result  # noqa: S101 - for tests
        return "\n".join(block["text"] for block in self.result["content"] if block["type"] == "text")

    @property
    def is_error(self) -> bool:
        return bool(self.result.get("isError"))


class Client:
    """Drives a handler as API Gateway and a client would; every request gets an id of its own.

    options: as of `request_event` (kind, path, capabilities, claims, headers), for every request.
    """

    def __init__(self, handler: Handler, *, context: LambdaContext | None = None, **options: Any) -> None:
        self._handler = handler
        self._options = options
        self._ids = itertools.count(1)
        self.context = LambdaContext() if context is None else context

    def send(self, event: Event) -> Reply:
        """Hand one event to the handler, through JSON as Lambda does."""
        return Reply(event, self._handler(json.loads(json.dumps(event)), self.context))

    def discover(self) -> Reply:
        return self.send(discover_event(id=next(self._ids), **self._options))

    def list_tools(self) -> Reply:
        return self.send(list_event(id=next(self._ids), **self._options))

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        state: str | None = None,
        answers: Mapping[str, Any] | None = None,
    ) -> Reply:
        return self.send(
            call_event(tool, arguments or {}, state=state, answers=answers, id=next(self._ids), **self._options)
        )

    def answer(self, reply: Reply, answers: Mapping[str, Any] | None = None) -> Reply:
        """The retry of the request that `reply` belongs to: its state, and `answers` (none, to come back)."""
        params = _body(reply.event)["params"]
        return self.call(params["name"], params["arguments"], state=reply.state, answers=answers)

    def again(self, reply: Reply) -> Reply:
        """The very request that `reply` answered, sent once more under another id."""
        return self.send(with_body(reply.event, {**_body(reply.event), "id": next(self._ids)}))

    def converse(
        self, tool: str, arguments: Mapping[str, Any], answer: Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
    ) -> Reply:
        """Call and answer until the result is complete, as a client's automatic loop does: `answer(key, question)` answers each question.

        AssertionError after 10 rounds.
        """
        reply = self.call(tool, arguments)
        for _ in range(MAX_ROUNDS):
            if not reply.asks:
                return reply
            reply = self.answer(reply, {key: answer(key, question) for key, question in reply.questions.items()})
        assert not reply.asks, f"{tool} still asks after {MAX_ROUNDS} rounds"  # noqa: S101 - for tests
        return reply


def _body(event: Event) -> dict[str, Any]:
    raw = base64.b64decode(event["body"]) if event["isBase64Encoded"] else event["body"]
    body: dict[str, Any] = json.loads(raw)
    return body


def with_body(event: Event, body: Mapping[str, Any] | str) -> Event:
    """`event` with another JSON-RPC message (or any text) as its body."""
    changed = copy.deepcopy(event)
    text = body if isinstance(body, str) else json.dumps(body)
    changed["body"] = base64.b64encode(text.encode()).decode() if event["isBase64Encoded"] else text
    return changed


# A runtime without AWS


class Clock:
    """A clock that moves when told, or slept on. now: Unix seconds. slept_s: how long it was slept on in all."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now
        self.slept_s = 0.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds

    def sleep(self, seconds: float) -> None:
        """Takes the place of `time.sleep`."""
        self.slept_s += seconds
        self.now += seconds


def ring_key(kid: str, *, seal_from: float = 0.0, open_until: float | None = None) -> RingKey:
    """A key of a test's ring, made from its kid alone."""
    return RingKey(kid, derive_key(kid, b"for tests only"), seal_from, open_until)


class MemoryRing:
    """A RingSource. keys: what the next fetch gives; down: whether it fails instead; fetches: how many there were."""

    def __init__(self, *keys: RingKey) -> None:
        self.keys: list[RingKey] = list(keys) or [ring_key("test")]
        self.down = False
        self.fetches = 0

    def fetch(self, now: float) -> KeyRing:  # noqa: ARG002 - RingSource's signature
        self.fetches += 1
        if self.down:
            raise Unavailable("the ring of this test is down")
        return KeyRing(self.keys)


class MemoryClaimTable(ClaimTable):
    """The claim table in this process's memory. down: whether every action fails; actions: the names of those that were made, in order."""

    def __init__(self) -> None:
        super().__init__("memory")
        self.items: dict[bytes, Item] = {}
        self.down = False
        self.actions: list[str] = []
        self._former: dict[bytes, Item] = {}
        self._lock = threading.Lock()

    def create(self, claim: Claim) -> Item | None:
        with self._begin("PutItem"):
            item = self.items.get(claim.id)
            if item is None:
                self.items[claim.id] = _claimed(Item("", 0, b"", 0, b"", 0, 0), claim)
            return item

    def take(self, claim: Claim, waiting: int) -> Item | None:
        with self._begin("UpdateItem"):
            item = self._read(claim.id)
            if (item.status, item.waiting) != (ASKED, waiting):
                return item
            self._former[claim.id] = item
            self.items[claim.id] = _claimed(item, claim)
            return None

    def take_over(self, claim: Claim, crashed: bytes) -> Item | None:
        with self._begin("UpdateItem"):
            item = self._read(claim.id)
            if (item.status, item.owner) != (RUNNING, crashed):
                return item
            self.items[claim.id] = _claimed(item, claim)
            return None

    def record(self, claim: Claim, status: str, waiting: int, response: bytes) -> bool:
        with self._begin("UpdateItem"):
            item = self._read(claim.id)
            if (item.status, item.owner) != (RUNNING, claim.owner):
                return False
            self.items[claim.id] = replace(item, status=status, waiting=waiting, response=response)
            return True

    def release(self, claim: Claim, waiting: int) -> None:
        with self._begin("UpdateItem" if waiting else "DeleteItem"):
            item = self._read(claim.id)
            if (item.status, item.owner) != (RUNNING, claim.owner):
                return
            if waiting:
                former = self._former[claim.id]
                self.items[claim.id] = replace(item, status=ASKED, answered=former.answered, answers=former.answers)
            else:
                del self.items[claim.id]

    def read(self, item_id: bytes) -> Item | None:
        with self._begin("GetItem"):
            return self.items.get(item_id)

    def _begin(self, action: str) -> threading.Lock:
        self.actions.append(action)
        if self.down:
            raise Unavailable(f"dynamodb:{action} on the claim table of this test failed: down")
        return self._lock

    def _read(self, item_id: bytes) -> Item:
        return self.items.get(item_id, Item("", 0, b"", 0, b"", 0, 0))


def _claimed(item: Item, claim: Claim) -> Item:
    return replace(
        item,
        status=RUNNING,
        answered=claim.answered,
        answers=claim.answers,
        owner=claim.owner,
        started=claim.started,
        until=claim.until,
    )


SETTINGS = Settings(keyring="secretsmanager:test", claim_table="test", audience="test")


class MemoryRuntime(Runtime):
    """A Runtime whose key ring, claim table and clock are a test's own: `source`, `table`, `time`.

    Two servers with one source and one table are two instances of a deployment.
    """

    def __init__(
        self,
        *,
        settings: Settings = SETTINGS,
        clock: Clock | None = None,
        source: MemoryRing | None = None,
        table: MemoryClaimTable | None = None,
    ) -> None:
        clock = Clock() if clock is None else clock
        super().__init__(settings, clock=clock, sleep=clock.sleep)
        self.time = clock
        self.source = MemoryRing() if source is None else source
        self.table = MemoryClaimTable() if table is None else table
        self.ring = RingCache(self.source, max_age_s=settings.ring_cache_s)
        self.single_use = SingleUse(self.table, self.ring, settings.audience, clock=clock, sleep=clock.sleep)


def offline(server: Server, runtime: MemoryRuntime | None = None) -> MemoryRuntime:
    """Serve `server` from memory from now on: no AWS, no environment. For a module's server, made before the test began."""
    runtime = MemoryRuntime() if runtime is None else runtime
    server._runtime = runtime  # noqa: SLF001 - so that a server needs no door of its own for tests
    return runtime
