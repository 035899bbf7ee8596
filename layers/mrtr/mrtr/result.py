"""The JSON of results and errors, as JSON-RPC carries them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import strict_json
from .errors import Fault, ProtocolError

_SERVER_INFO = "io.modelcontextprotocol/serverInfo"


def render(result: Mapping[str, Any], server_info: Mapping[str, Any], kind: str = "complete") -> str:
    """A result's JSON, with its `resultType` and who answers in `_meta` (basic/index, 'Per-response protocol fields')."""
    return strict_json.dump({"resultType": kind, **result, "_meta": {_SERVER_INFO: server_info}})


def response(request_id: str | int, result_json: str) -> str:
    """The JSON-RPC response; the result goes in as it is, so that a stored one is sent again byte for byte."""
    return f'{{"jsonrpc":"2.0","id":{strict_json.dump(request_id)},"result":{result_json}}}'


def as_json(error: ProtocolError) -> str:
    """A protocol error as it is recorded for a duplicate."""
    return strict_json.dump({"fault": error.fault.name, "message": error.message, "data": error.data})


def from_json(text: str) -> ProtocolError:
    """The error that `as_json` wrote."""
    recorded = json.loads(text)
    return ProtocolError(Fault[recorded["fault"]], recorded["message"], data=recorded["data"])


def error_response(request_id: str | int | None, error: ProtocolError) -> str:
    """The JSON-RPC error response; without an id when none could be read."""
    body: dict[str, Any] = {"jsonrpc": "2.0"}
    if request_id is not None:
        body["id"] = request_id
    detail: dict[str, Any] = {"code": error.fault.code, "message": error.message}
    if error.data is not None:
        detail["data"] = error.data
    return strict_json.dump({**body, "error": detail})
