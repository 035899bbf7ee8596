"""The wire between a function and AWS: every call and every attempt that goes over it, and the faults it may have."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ConnectionClosedError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from botocore.session import Session
from moto.core.models import botocore_stubber

Fault = Callable[[Any], AWSResponse | None]
"""What becomes of an attempt before it reaches AWS: an answer in its place, or an error raised."""


class _Raw:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self, **_: object) -> list[bytes]:
        return [self._body]


def answered(status: int, code: str) -> Fault:
    """AWS itself answers with an error."""

    def fault(request: Any) -> AWSResponse:
        body = json.dumps({"__type": f"com.amazonaws#{code}", "message": "quoting the request"}).encode()
        raw: Any = _Raw(body)
        return AWSResponse(request.url, status, HTTPHeaders(), raw)

    return fault


def _raised(error: Callable[..., Exception]) -> Fault:
    def fault(request: Any) -> None:
        raise error(endpoint_url=request.url, error="made up")

    return fault


FAULTS: dict[str, Fault] = {
    "down": _raised(EndpointConnectionError),
    "unreachable": _raised(ConnectTimeoutError),
    "slow": _raised(ReadTimeoutError),
    "cut off": _raised(ConnectionClosedError),
    "throttled": answered(400, "ThrottlingException"),
    "over capacity": answered(400, "ProvisionedThroughputExceededException"),
    "failing": answered(500, "InternalServerError"),
    "overloaded": answered(503, "ServiceUnavailable"),
    "forbidden": answered(400, "AccessDeniedException"),
    "missing": answered(400, "ResourceNotFoundException"),
}


class Wire:
    """calls: operation and parameters, once a call. attempts: operations, once a request that was sent."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.attempts: list[str] = []
        self.waited_s = 0.0
        self._faults: dict[str, Fault] = {}
        self._lost: dict[str, int] = {}
        create_client = Session.create_client

        def create_and_watch(session: Session, *args: Any, **options: Any) -> Any:
            client: Any = create_client(session, *args, **options)
            client.meta.events.register("provide-client-params", self._call)
            client.meta.events.register_first("before-send", self._attempt)
            client.meta.events.register_last("before-send", self._answer)
            return client

        def wait(seconds: float) -> None:
            self.waited_s += seconds

        monkeypatch.setattr(Session, "create_client", create_and_watch)
        # between attempts botocore waits a moment
        monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=wait))

    def breaks(self, operation: str, fault: Fault) -> None:
        """Every attempt at `operation` (such as "PutItem") fails before it arrives, until `mends`."""
        self._faults[operation] = fault

    def loses_answers(self, operation: str, count: int) -> None:
        """The next `count` attempts at `operation` arrive and are carried out, but their answers never come."""
        self._lost[operation] = count

    def mends(self) -> None:
        self._faults.clear()
        self._lost.clear()

    def forget(self) -> None:
        """Count from here."""
        self.calls.clear()
        self.attempts.clear()

    @property
    def operations(self) -> list[str]:
        return [operation for operation, _ in self.calls]

    def _call(self, params: dict[str, Any], model: Any, **_: object) -> None:
        self.calls.append((model.name, params))

    def _attempt(self, event_name: str, request: Any, **_: object) -> AWSResponse | None:
        operation = event_name.rpartition(".")[2]
        self.attempts.append(operation)
        fault = self._faults.get(operation)
        if fault is None:
            return None
        botocore_stubber.enabled = False  # all handlers of the event run: moto shall let this one pass
        try:
            return fault(request)
        except Exception:
            botocore_stubber.enabled = True
            raise

    def _answer(self, event_name: str, request: Any, **_: object) -> None:
        botocore_stubber.enabled = True
        operation = event_name.rpartition(".")[2]
        if self._lost.get(operation, 0) > 0:
            self._lost[operation] -= 1
            raise ReadTimeoutError(endpoint_url=request.url, error="made up")
