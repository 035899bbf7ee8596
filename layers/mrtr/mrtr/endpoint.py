"""An MCP endpoint as a Lambda handler: event in, HTTP response out. What is between is the subclass's."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import ConfigurationError, Fault, ProtocolError, Unavailable
from .http import HttpRequest, HttpResponse, read_event, write_response
from .log import log, log_exception, log_request
from .notifications import Outbox
from .paging import page
from .protocol import SUPPORTED_VERSIONS, Limits, Notification, Rejected, Request, read_request
from .result import error_response, render, response
from .settings import read_limits

if TYPE_CHECKING:
    from .content import Icon

V = TypeVar("V")

RETRY_AFTER_S = 2

_JSON = {"Content-Type": "application/json"}
_EVENTS = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
_LIST_TTL_MS = 300_000
LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""Of each list method: the member of its result, and the member of an entry that is unique in it."""

_CAPABILITIES = {
    "tools": ("tools/list", "tools/call"),
    "prompts": ("prompts/list", "prompts/get"),
    "resources": ("resources/list", "resources/templates/list", "resources/read"),
    "completions": ("completion/complete",),
    "logging": (),
}
"""The methods that each capability of the server stands for."""


class Forwarded:
    """The whole answer of another function, passed on unchanged."""

    def __init__(self, event_response: dict[str, Any]) -> None:
        self.event_response = event_response


class Endpoint:
    """name, version, title, website_url, icons: who answers (`serverInfo`). instructions: guidance for the model, in `server/discover`."""

    def __init__(
        self,
        name: str,
        *,
        version: str = "1.0.0",
        title: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Icon] | None = None,
    ) -> None:
        details = {
            "title": title,
            "websiteUrl": website_url,
            "icons": [icon.wire() for icon in icons] if icons else None,
        }
        known = {member: value for member, value in details.items() if value is not None}
        self.server_info: dict[str, Any] = {"name": name, "version": version, **known}
        self._instructions = instructions
        self._limits: Limits | None = None
        self._methods: frozenset[str] | None = None

    def lambda_handler(self, event: Any, context: Any) -> dict[str, Any]:
        """Answer one event of HTTP API, REST API, function URL or ALB. Raises nothing."""
        http: HttpRequest | None = None
        try:
            http = read_event(event)
            request = read_request(http, self._served(), self._read_limits())
            if isinstance(request, Notification):
                return write_response(HttpResponse(202, {}, ""), http)
            answer, outbox = self._answer(request, context)
        except Rejected as rejected:
            return _reject(http, rejected, context)
        except Exception as failure:  # noqa: BLE001 - see _fault
            return _reject(http, Rejected(_fault(failure), None), context)
        if isinstance(answer, Forwarded):
            return answer.event_response
        log_request("answered", method=request.method, status=200, **outbox.facts, **_who(context))
        return write_response(_response(response(request.id, answer), outbox), http)

    def _answer(self, request: Request, context: Any) -> tuple[str | Forwarded, Outbox]:
        facts: Mapping[str, object] = {}
        try:
            outbox = Outbox(request.meta)
            facts = outbox.facts
            return self._dispatch(request, outbox, context), outbox
        except Exception as failure:
            raise Rejected(_fault(failure), request.id, {"method": request.method, **facts}) from failure

    def _dispatch(self, request: Request, outbox: Outbox, context: Any) -> str | Forwarded:
        """The result's JSON. Raises ProtocolError, Unavailable, ConfigurationError."""
        if request.method == "server/discover":
            return self._discover()
        if request.method in LISTS:
            return self._list(request, *LISTS[request.method])
        return self.call(request, outbox, context)

    def capabilities(self) -> Mapping[str, Any]:
        """What the server offers, as `server/discover` says it: tools, prompts, resources, completions, logging."""
        raise NotImplementedError

    def definitions(self, method: str) -> Sequence[Mapping[str, Any]]:
        """The entries that a list method shows, in a stable order."""
        raise NotImplementedError

    def tool_definitions(self) -> Sequence[Mapping[str, Any]]:
        """The tools as `tools/list` shows them."""
        return self.definitions("tools/list")

    def call(self, request: Request, outbox: Outbox, context: Any) -> str | Forwarded:
        """Answer a method that is neither discovery nor a list."""
        raise NotImplementedError

    def _discover(self) -> str:
        result: dict[str, Any] = {"supportedVersions": list(SUPPORTED_VERSIONS), "capabilities": self.capabilities()}
        if self._instructions:
            result["instructions"] = self._instructions
        return render({**result, **_cacheable()}, self.server_info)

    def _list(self, request: Request, member: str, unique: str) -> str:
        entries, following = page(self.definitions(request.method), request.params.get("cursor"), unique)
        more = {} if following is None else {"nextCursor": following}
        return render({member: entries, **more, **_cacheable()}, self.server_info)

    def _served(self) -> frozenset[str]:
        if self._methods is None:
            offered = (method for capability in self.capabilities() for method in _CAPABILITIES[capability])
            self._methods = frozenset(("server/discover", *offered))
        return self._methods

    def _read_limits(self) -> Limits:
        if self._limits is None:
            self._limits = read_limits()
        return self._limits


def known(named: Mapping[str, V], name: str, kind: str) -> V:
    """What `name` names. Raises ProtocolError (-32602) where nothing has that name."""
    found = named.get(name)
    if found is None:
        raise ProtocolError(Fault.INVALID_PARAMS, f"Unknown {kind}")
    return found


def _response(body: str, outbox: Outbox) -> HttpResponse:
    """JSON, or one buffered stream of events when the client is told something before the response (streamable-http, 'Receiving')."""
    if not outbox.messages:
        return HttpResponse(200, _JSON, body)
    return HttpResponse(
        200, _EVENTS, "".join(f"event: message\ndata: {event}\n\n" for event in [*outbox.messages, body])
    )


def _fault(failure: Exception) -> ProtocolError:
    """What the client is told of a failure; a defect answers like any other, without its text."""
    if isinstance(failure, ProtocolError):
        return failure
    if isinstance(failure, Unavailable | ConfigurationError):
        log().error("unavailable", extra={"cause": str(failure)})
        return ProtocolError(
            Fault.UNAVAILABLE, "Temporarily unavailable; nothing was done. Send the same request again"
        )
    log_exception("request failed", failure)
    return ProtocolError(Fault.INTERNAL, "Internal error")


def _reject(http: HttpRequest | None, rejected: Rejected, context: Any) -> dict[str, Any]:
    error, fault = rejected.error, rejected.error.fault
    log_request("rejected", fault=fault.label, status=fault.status, **rejected.facts, **_who(context))
    if fault is Fault.METHOD_NOT_ALLOWED:
        return write_response(HttpResponse(fault.status, {"Allow": "POST"}, ""), http)
    headers = {**_JSON, "Retry-After": str(RETRY_AFTER_S)} if fault is Fault.UNAVAILABLE else _JSON
    return write_response(HttpResponse(fault.status, headers, error_response(rejected.request_id, error)), http)


def _cacheable() -> dict[str, Any]:
    """Lists and discovery are the same for every caller until the next deployment (server/utilities/caching)."""
    return {"ttlMs": _LIST_TTL_MS, "cacheScope": "public"}


def _who(context: Any) -> Mapping[str, object]:
    return {"correlation_id": getattr(context, "aws_request_id", None), "process_id": os.getpid()}
