"""The front door: one endpoint for many functions. It answers discovery and lists from a catalog and hands calls to the function that owns
the name, event and answer unchanged. A convenience, not a trust boundary: every function verifies everything itself.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from . import aws, strict_json
from .endpoint import Endpoint, Forwarded
from .errors import ConfigurationError, Fault, ProtocolError, Unavailable
from .log import log
from .protocol import Request

_CALL_TIMEOUT_S = 60
"""Longer than any function of the template may run: a call is never sent twice because its answer was slow."""


class FrontDoor(Endpoint):
    """catalog: the file that `python -m mrtr.catalog` writes."""

    def __init__(self, catalog: str | Path) -> None:
        loaded = json.loads(Path(catalog).read_text(encoding="utf-8"))
        server = loaded["server"]
        super().__init__(server["name"], version=server["version"], instructions=server.get("instructions"))
        self._definitions: list[dict[str, Any]] = [entry["definition"] for entry in loaded["tools"]]
        self._owners: dict[str, str] = {entry["definition"]["name"]: entry["function"] for entry in loaded["tools"]}

    def tool_definitions(self) -> list[dict[str, Any]]:
        return self._definitions

    def call(self, request: Request, context: Any) -> Forwarded:  # noqa: ARG002 - Endpoint's signature
        owner = self._owners.get(request.name)
        if owner is None:
            raise ProtocolError(Fault.INVALID_PARAMS, "Unknown tool")
        return Forwarded(_invoke(_prefix() + owner, request.http.event))


def _prefix() -> str:
    prefix = os.environ.get("MRTR_TOOL_FUNCTION_PREFIX")
    if not prefix:
        raise ConfigurationError(
            "MRTR_TOOL_FUNCTION_PREFIX is not set: it and a tool's folder make up the name of the tool's function"
        )
    return prefix


def _invoke(function: str, event: Any) -> dict[str, Any]:
    """Call `function` once. Raises Unavailable when it can't have run; ProtocolError (-32603) when it may have."""
    from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError

    client = aws.client("lambda", read_timeout_s=_CALL_TIMEOUT_S, attempts=1)
    try:
        answer = client.invoke(FunctionName=function, Payload=strict_json.dump(event).encode())
        payload = answer["Payload"].read()
    except ReadTimeoutError:
        raise _failed(function, "timeout") from None
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(aws.cause(error, "lambda:InvokeFunction", function)) from None
    if answer.get("FunctionError"):
        raise _failed(function, "FunctionError")
    response = json.loads(payload)
    if not isinstance(response, dict):
        raise _failed(function, "no response object")
    return response


def _failed(function: str, cause: str) -> ProtocolError:
    log().error("function failed", extra={"function": function, "cause": cause})
    return ProtocolError(
        Fault.INTERNAL,
        "The tool's function failed; whether it took effect is unknown. The same request with its requestState tells",
    )
