"""Every error this package raises, and the one table from error to HTTP status and JSON-RPC code."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Fault(Enum):
    """A kind of protocol error: its HTTP status and its JSON-RPC code (basic/index, 'Error Codes'; streamable-http, 'Server Validation')."""

    METHOD_NOT_ALLOWED = ("method_not_allowed", 405, -32600)
    ORIGIN = ("origin", 403, -32600)
    TOO_LARGE = ("too_large", 413, -32600)
    PARSE = ("parse", 400, -32700)
    INVALID_REQUEST = ("invalid_request", 400, -32600)
    INVALID_PARAMS = ("invalid_params", 400, -32602)
    HEADER_MISMATCH = ("header_mismatch", 400, -32020)
    UNSUPPORTED_VERSION = ("unsupported_version", 400, -32022)
    METHOD_NOT_FOUND = ("method_not_found", 404, -32601)
    MISSING_CAPABILITY = ("missing_capability", 400, -32021)
    UNAVAILABLE = ("unavailable", 503, -32603)
    INTERNAL = ("internal", 500, -32603)

    def __init__(self, label: str, status: int, code: int) -> None:
        self.label = label
        self.status = status
        self.code = code


class MrtrError(Exception):
    """Base of everything this package raises on purpose."""


class ProtocolError(MrtrError):
    """The request can't be served; answered as a JSON-RPC error with the status and code of `fault`.

    `message` goes on the wire: it never holds a token, a key, an answer or an argument's value.
    """

    def __init__(self, fault: Fault, message: str, *, data: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.data = data


class StateRefused(MrtrError):
    """A sealed state does not open or does not fit the request.

    `cause` is for the log alone; the wire gets one frozen message whatever the cause, so that a refusal teaches nothing.
    """

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class Unavailable(MrtrError):
    """Something the request depends on (key ring, claim table, another function) did not answer; nothing has run."""


class ConfigurationError(MrtrError):
    """The function is set up wrongly and refuses to serve; the message says what to do."""


class InvalidSignature(MrtrError):
    """A tool or a resolver is declared in a way that can't work; raised at import, naming the parameter and the mend."""


class ToolError(MrtrError):
    """A failure the author foresaw: the model gets the message in a result with `isError: true` (server/tools, 'Error Handling')."""


class ResourceNotFoundError(MrtrError):
    """Raise this from a resource's function or resolver: there is nothing at that URI (answered with -32602)."""


def not_found(uri: str) -> ProtocolError:
    """There is nothing at `uri` (server/resources, 'Error Handling')."""
    return ProtocolError(Fault.INVALID_PARAMS, "Resource not found", data={"uri": uri})
