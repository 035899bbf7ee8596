"""From HTTP request to a checked MCP request: the validation ladder of revision 2026-07-28. No I/O.

The rungs stand in the one order that answers every probe as the specification asks: what can't be read at all comes first, then what every
request must carry (basic/index, '_meta'), then whether headers and body agree (streamable-http, 'Server Validation'), and only then
whether this server knows the version and the method: a version that header and body disagree on is a mismatch, not an unsupported one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import header_codec, strict_json
from .errors import Fault, ProtocolError
from .http import HttpRequest, as_object
from .principal import Principal, read_principal

VERSION = "2026-07-28"
SUPPORTED_VERSIONS = (VERSION,)

_PREFIX = "io.modelcontextprotocol/"
_VERSION_KEY = _PREFIX + "protocolVersion"
_CAPABILITIES_KEY = _PREFIX + "clientCapabilities"
_CLIENT_INFO_KEY = _PREFIX + "clientInfo"

NAMED_METHODS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods that may return `input_required`, and the member of `params` that `Mcp-Name` mirrors."""

_LOOPBACK = (
    "http://localhost",
    "http://127.0.0.1",
    "http://[::1]",
    "https://localhost",
    "https://127.0.0.1",
    "https://[::1]",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server accepts. allowed_origins: exact `Origin` values beside those of this machine's own loopback."""

    max_body_bytes: int = 1024 * 1024
    allowed_origins: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Request:
    """A checked JSON-RPC request. name: `params.name` or `params.uri` of the methods that have one, else ''."""

    id: str | int
    method: str
    name: str
    params: Mapping[str, Any] = field(repr=False)
    capabilities: Mapping[str, Any]
    client_info: Mapping[str, Any]
    meta: Mapping[str, Any] = field(repr=False)
    http: HttpRequest = field(repr=False)

    @property
    def principal(self) -> Principal | None:
        return read_principal(self.http.authorizer)

    @property
    def input_responses(self) -> Mapping[str, Mapping[str, Any]]:
        """The `inputResponses` of the retry, {} without. Raises ProtocolError (-32602) unless it is an object of objects."""
        responses = self.params.get("inputResponses")
        if responses is None:
            return {}
        if not isinstance(responses, dict) or not all(isinstance(answer, dict) for answer in responses.values()):
            raise ProtocolError(
                Fault.INVALID_PARAMS, "params.inputResponses must map the keys of inputRequests to result objects"
            )
        return responses


class Notification:
    """A well-formed notification: accepted with 202 and no body."""


class Rejected(Exception):
    """A ProtocolError together with the request's id, when one could be read, and what the log should know."""

    def __init__(
        self, error: ProtocolError, request_id: str | int | None, facts: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.request_id = request_id
        self.facts = facts or {}


def read_request(http: HttpRequest, methods: Collection[str], limits: Limits) -> Request | Notification:
    """Climb the ladder. `methods`: those this server answers. Raises Rejected at the first rung that fails."""
    request_id: str | int | None = None
    try:
        message = strict_json.parse(_check_transport(http, limits))
        if not isinstance(message, dict):
            raise _invalid("a message is one JSON object; batches are not supported")
        if "id" in message:
            request_id = _read_id(message["id"])
        method = _check_envelope(message)
        if request_id is None:
            return Notification()
        params = _check_params(message)
        meta, version = _check_meta(params, method)
        _check_version(http, version)
        name = _check_headers(http, method, params)
        if method not in methods:
            raise ProtocolError(Fault.METHOD_NOT_FOUND, f"Method not found: {_shown(method)}")
        if name is None:
            raise ProtocolError(Fault.INVALID_PARAMS, f"params.{NAMED_METHODS[method]} is missing or not a string")
    except ProtocolError as error:
        raise Rejected(error, request_id) from None
    return Request(
        id=request_id,
        method=method,
        name=name,
        params=params,
        capabilities=meta[_CAPABILITIES_KEY],
        client_info=as_object(meta.get(_CLIENT_INFO_KEY)),
        meta=meta,
        http=http,
    )


def _check_transport(http: HttpRequest, limits: Limits) -> bytes:
    """The body, which is decoded only for a request that may be made at all."""
    if http.method != "POST":
        raise ProtocolError(Fault.METHOD_NOT_ALLOWED, "This endpoint takes POST only")
    for origin in http.headers.get_all("origin"):
        if origin not in limits.allowed_origins and not _is_loopback(origin):
            raise ProtocolError(Fault.ORIGIN, "Origin not allowed")
    body = http.body
    if len(body) > limits.max_body_bytes:
        raise ProtocolError(Fault.TOO_LARGE, f"The body is larger than {limits.max_body_bytes} bytes")
    return body


def _is_loopback(origin: str) -> bool:
    return any(
        origin == host or (origin.startswith(host + ":") and origin[len(host) + 1 :].isdecimal()) for host in _LOOPBACK
    )


def _read_id(value: object) -> str | int:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _invalid("id must be a string or an integer")


def _check_envelope(message: Mapping[str, Any]) -> str:
    if message.get("jsonrpc") != "2.0":
        raise _invalid('jsonrpc must be "2.0"')
    method = message.get("method")
    if not isinstance(method, str):
        raise _invalid("method must be a string")
    return method


def _check_params(message: Mapping[str, Any]) -> Mapping[str, Any]:
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise ProtocolError(Fault.INVALID_PARAMS, "params must be an object")
    return params


def _check_meta(params: Mapping[str, Any], method: str) -> tuple[Mapping[str, Any], str]:
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        hint = "; this server has no initialize handshake" if method == "initialize" else ""
        raise ProtocolError(Fault.INVALID_PARAMS, f"params._meta is missing or not an object{hint} (MCP {VERSION})")
    version = meta.get(_VERSION_KEY)
    if not isinstance(version, str):
        raise ProtocolError(
            Fault.INVALID_PARAMS, f"params._meta['{_VERSION_KEY}'] is missing or not a string (MCP {VERSION})"
        )
    if not isinstance(meta.get(_CAPABILITIES_KEY), dict):
        raise ProtocolError(Fault.INVALID_PARAMS, f"params._meta['{_CAPABILITIES_KEY}'] is missing or not an object")
    return meta, version


def _check_version(http: HttpRequest, version: str) -> None:
    _check_mirrored(http, "MCP-Protocol-Version", version)
    if version not in SUPPORTED_VERSIONS:
        raise ProtocolError(
            Fault.UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            data={"supported": list(SUPPORTED_VERSIONS), "requested": version},
        )


def _check_headers(http: HttpRequest, method: str, params: Mapping[str, Any]) -> str | None:
    """The name in `params`: '' for a method that has none, None where it should have one and has not."""
    _check_mirrored(http, "Mcp-Method", method)
    member = NAMED_METHODS.get(method)
    if member is None:
        return ""
    name = params.get(member)
    if not isinstance(name, str):
        return None
    _check_mirrored(http, "Mcp-Name", name, encoded=True)
    return name


def _check_mirrored(http: HttpRequest, header: str, expected: str, *, encoded: bool = False) -> None:
    """Every value of `header` says what the body says. A gateway may join a repeated header with commas; equal repeats pass."""
    values = http.headers.get_all(header)
    if not values:
        raise ProtocolError(Fault.HEADER_MISMATCH, f"Header mismatch: the {header} header is missing")
    for value in values:
        parts = value.split(",")
        if not (
            _says(value, expected, encoded=encoded)
            or (len(parts) > 1 and all(_says(part.strip(), expected, encoded=encoded) for part in parts))
        ):
            raise ProtocolError(
                Fault.HEADER_MISMATCH, f"Header mismatch: the {header} header does not match the body, or is malformed"
            )


def _says(value: str, expected: str, *, encoded: bool) -> bool:
    if not encoded:
        return value == expected
    try:
        return header_codec.decode(value) == expected
    except ProtocolError:
        return False


def _invalid(reason: str) -> ProtocolError:
    return ProtocolError(Fault.INVALID_REQUEST, f"Invalid request: {reason}")


def _shown(text: str) -> str:
    return text if len(text) <= 100 else text[:100] + "…"
