"""One shape of HTTP request for the four services that invoke a function, and the answer in the shape each reads. No I/O.

Read are the events of API Gateway HTTP API (payload 2.0), REST API (and HTTP API with payload 1.0), Lambda function URL
and Application Load Balancer; hand-written ones too: header names in any case, `headers: null`, only
`multiValueHeaders`, no body.
"""

from __future__ import annotations

import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .errors import Fault, ProtocolError


class Kind(Enum):
    """The service that sent the event."""

    HTTP_API = "HTTP API"
    REST_API = "REST API"
    FUNCTION_URL = "function URL"
    ALB = "load balancer"


class Headers(Mapping[str, str]):
    """Header fields by name, whatever its case; iteration gives lower-case names.

    A field given several times has several values (`get_all`), with one exception that no reader can undo: HTTP API and
    function URLs join repeated fields with commas before they call, so there `get_all` gives one value `a,b`. It is not
    split here, because a single value may hold commas too.
    """

    __slots__ = ("_values",)

    def __init__(self, single: object = None, multi: object = None) -> None:
        """Take an event's `headers` and `multiValueHeaders` as they come; what isn't a name with text is passed over."""
        self._values: dict[str, list[str]] = {}
        for name, values in as_object(multi).items():
            for value in values if isinstance(values, list) else ():
                self._add(name, value, repeated=True)
        for name, value in as_object(single).items():
            # Events that carry both repeat one value here. Should the two differ, both stay, and whoever compares a
            # header with the body sees the conflict.
            self._add(name, value, repeated=False)

    def _add(self, name: object, value: object, *, repeated: bool) -> None:
        if isinstance(name, str) and isinstance(value, str):
            values = self._values.setdefault(name.lower(), [])
            value = value.strip(" \t")
            if repeated or value not in values:
                values.append(value)

    def __getitem__(self, name: str) -> str:
        """The first value, without the white space around it."""
        return self._values[name.lower()][0]

    def get_all(self, name: str) -> tuple[str, ...]:
        """Every value in the order they came, without the white space around them; () without the field."""
        return tuple(self._values.get(name.lower(), ()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        # names alone: values hold bearer tokens and cookies
        return f"Headers({', '.join(self._values)})"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request. method: upper case; path: without the stage and without a trailing slash.

    authorizer is `requestContext.authorizer` ({} without one): what the gateway vouches for. event is the original.
    """

    kind: Kind
    method: str
    path: str
    headers: Headers
    # these hold arguments, answers, claims and tokens, which a repr would carry into a log
    authorizer: dict[str, Any] = field(repr=False)
    event: Mapping[str, Any] = field(repr=False)

    @property
    def body(self) -> bytes:
        """The body, decoded anew at each call, so that a request refused for other reasons is refused for those.

        Raises ProtocolError: PARSE for bad base64, INVALID_REQUEST for a body that is no text.
        """
        return _body(self.event)


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One response; its headers are all that is sent, `Content-Type` included."""

    status: int
    headers: Mapping[str, str]
    body: str = field(repr=False)


def read_event(event: object) -> HttpRequest:
    """Read an invocation's event. Raises ProtocolError (INVALID_REQUEST) if it isn't an HTTP event."""
    if not isinstance(event, dict):
        raise _not_http()
    context = as_object(event.get("requestContext"))
    kind, method, path = _request_line(event, context)
    return HttpRequest(
        kind=kind,
        method=method.upper(),
        path=_normalised(path, context),
        headers=Headers(event.get("headers"), event.get("multiValueHeaders")),
        authorizer=as_object(context.get("authorizer")),
        event=event,
    )


def write_response(response: HttpResponse, request: HttpRequest | None) -> dict[str, Any]:
    """The value a handler returns for `response`, in the shape that the sender of `request` reads.

    request is None when the event could not be read: the answer then has the shape that most senders read.
    """
    answer: dict[str, Any] = {"statusCode": response.status, "body": response.body, "isBase64Encoded": False}
    if request is not None and request.kind is Kind.ALB:
        from http import HTTPStatus

        answer["statusDescription"] = f"{response.status} {HTTPStatus(response.status).phrase}"
        if isinstance(request.event.get("multiValueHeaders"), dict):
            # a target group that sends multi-value headers ignores `headers` in the answer
            answer["multiValueHeaders"] = {name: [value] for name, value in response.headers.items()}
            return answer
    answer["headers"] = dict(response.headers)
    return answer


def _request_line(event: dict[str, Any], context: dict[str, Any]) -> tuple[Kind, str, object]:
    http = as_object(context.get("http"))
    method = http.get("method")
    if isinstance(method, str):
        host = context.get("domainName")
        kind = Kind.FUNCTION_URL if isinstance(host, str) and ".lambda-url." in host else Kind.HTTP_API
        return kind, method, event.get("rawPath", http.get("path"))
    method = event.get("httpMethod")
    if isinstance(method, str):
        return Kind.ALB if "elb" in context else Kind.REST_API, method, event.get("path")
    raise _not_http()


def _not_http() -> ProtocolError:
    return ProtocolError(
        Fault.INVALID_REQUEST,
        "The event is not an HTTP request of API Gateway, a function URL or a load balancer: "
        "it has neither requestContext.http.method nor httpMethod.",
    )


def _normalised(path: object, context: dict[str, Any]) -> str:
    path = "/" + path.strip("/") if isinstance(path, str) else "/"
    stage = context.get("stage")
    if not isinstance(stage, str) or stage in {"", "$default"}:
        return path
    if context.get("path") == f"/{stage}{path}":
        return path  # REST API: the event's own path never holds the stage, so a resource may bear the stage's name
    # A path that is all stage stays: behind a custom domain it is a resource of that name.
    return path.removeprefix(f"/{stage}") if path.startswith(f"/{stage}/") else path


def _body(event: Mapping[str, Any]) -> bytes:
    body = event.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        raise ProtocolError(
            Fault.INVALID_REQUEST, "The event's body is not a string; an HTTP event carries its body as text."
        )
    if event.get("isBase64Encoded") is not True:
        # a lone surrogate, which only a hand-written event can hold, becomes the invalid UTF-8 that it stands for
        return body.encode("utf-8", "surrogatepass")
    try:
        return binascii.a2b_base64(body, strict_mode=True)
    except ValueError:  # binascii.Error, and text that isn't ASCII
        raise ProtocolError(Fault.PARSE, "The event's body is not valid base64.") from None


def as_object(value: object) -> dict[str, Any]:
    """A JSON value that should be an object: itself if it is one, else an empty one."""
    return value if isinstance(value, dict) else {}
