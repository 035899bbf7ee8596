"""An MCP endpoint as a Lambda handler: event in, HTTP response out. What is between is the subclass's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .errors import ConfigurationError, Fault, ProtocolError, Unavailable
from .http import HttpRequest, HttpResponse, read_event, write_response
from .log import log, log_exception
from .protocol import SUPPORTED_VERSIONS, Limits, Notification, Rejected, Request, read_request
from .result import error_response, render, response
from .settings import read_limits

_JSON = {"Content-Type": "application/json"}
_LIST_TTL_MS = 300_000
RETRY_AFTER_S = 2


class Forwarded:
    """The whole answer of another function, passed on unchanged."""

    def __init__(self, event_response: dict[str, Any]) -> None:
        self.event_response = event_response


class Endpoint:
    """`name`, `version`: who answers (`serverInfo`). `instructions`: guidance for the model, in `server/discover`."""

    methods: tuple[str, ...] = ("server/discover", "tools/list", "tools/call")

    def __init__(self, name: str, *, version: str = "1.0.0", instructions: str | None = None) -> None:
        self.server_info = {"name": name, "version": version}
        self._instructions = instructions
        self._limits: Limits | None = None

    def lambda_handler(self, event: Any, context: Any) -> dict[str, Any]:
        """Answer one event of HTTP API, REST API, function URL or ALB. Raises nothing."""
        http: HttpRequest | None = None
        try:
            http = read_event(event)
            request = read_request(http, self.methods, self._read_limits())
            if isinstance(request, Notification):
                return write_response(HttpResponse(202, {}, ""), http)
            answer = self._answer(request, context)
        except Rejected as rejected:
            return _reject(http, rejected.error, rejected.request_id, context)
        except Exception as failure:  # noqa: BLE001 - see _fault
            return _reject(http, _fault(failure), None, context)
        if isinstance(answer, Forwarded):
            return answer.event_response
        log().info("answered", extra={"method": request.method, "status": 200, **_who(context)})
        return write_response(HttpResponse(200, _JSON, response(request.id, answer)), http)

    def _answer(self, request: Request, context: Any) -> str | Forwarded:
        try:
            return self.dispatch(request, context)
        except Exception as failure:
            raise Rejected(_fault(failure), request.id) from failure

    def dispatch(self, request: Request, context: Any) -> str | Forwarded:
        """The result's JSON. Raises ProtocolError, Unavailable, ConfigurationError."""
        if request.method == "server/discover":
            return self._discover()
        if request.method == "tools/list":
            return self._list(request, "tools", self.tool_definitions())
        return self.call(request, context)

    def tool_definitions(self) -> list[dict[str, Any]]:
        """The tools as `tools/list` shows them, in a stable order."""
        raise NotImplementedError

    def call(self, request: Request, context: Any) -> str | Forwarded:
        """Answer `tools/call`."""
        raise NotImplementedError

    def _discover(self) -> str:
        result: dict[str, Any] = {"supportedVersions": list(SUPPORTED_VERSIONS), "capabilities": {"tools": {}}}
        if self._instructions:
            result["instructions"] = self._instructions
        return render({**result, **_cacheable()}, self.server_info)

    def _list(self, request: Request, member: str, entries: list[dict[str, Any]]) -> str:
        if request.params.get("cursor") is not None:
            raise ProtocolError(Fault.INVALID_PARAMS, "Unknown cursor")
        return render({member: entries, **_cacheable()}, self.server_info)

    def _read_limits(self) -> Limits:
        if self._limits is None:
            self._limits = read_limits()
        return self._limits


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


def _reject(
    http: HttpRequest | None, error: ProtocolError, request_id: str | int | None, context: Any
) -> dict[str, Any]:
    fault = error.fault
    log().info("rejected", extra={"fault": fault.label, "status": fault.status, **_who(context)})
    if fault is Fault.METHOD_NOT_ALLOWED:
        return write_response(HttpResponse(fault.status, {"Allow": "POST"}, ""), http)
    headers = {**_JSON, "Retry-After": str(RETRY_AFTER_S)} if fault is Fault.UNAVAILABLE else _JSON
    return write_response(HttpResponse(fault.status, headers, error_response(request_id, error)), http)


def _cacheable() -> dict[str, Any]:
    """Lists and discovery are the same for every caller until the next deployment (server/utilities/caching)."""
    return {"ttlMs": _LIST_TTL_MS, "cacheScope": "public"}


def _who(context: Any) -> Mapping[str, object]:
    return {"correlation_id": getattr(context, "aws_request_id", None), "process_id": os.getpid()}
