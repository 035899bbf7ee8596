"""The front door: one endpoint for many functions. It answers discovery and lists from a catalog and hands calls to the function that owns
the name, event and answer unchanged. A convenience, not a trust boundary: every function verifies everything itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import aws, completion, strict_json
from .endpoint import Endpoint, Forwarded, known
from .errors import ConfigurationError, Fault, ProtocolError, Unavailable, not_found
from .log import log
from .notifications import Outbox
from .protocol import Request
from .uri_template import UriTemplate

CALL_TIMEOUT_S = 60
"""Longer than any function of the template may run: a call is never sent twice because its answer was slow."""


class FrontDoor(Endpoint):
    """catalog: the file that `python -m mrtr.catalog` writes."""

    def __init__(self, catalog: str | Path) -> None:
        loaded = json.loads(Path(catalog).read_text(encoding="utf-8"))
        server = loaded["server"]
        super().__init__(server["name"], version=server["version"], instructions=server.get("instructions"))
        self._capabilities: dict[str, Any] = loaded["capabilities"]
        self._entries: dict[str, list[dict[str, Any]]] = loaded["entries"]
        self._definitions = {
            method: [entry["definition"] for entry in entries] for method, entries in self._entries.items()
        }
        self._tools = self._owners("tools/list", "name")
        self._prompts = self._owners("prompts/list", "name")
        self._resources = self._owners("resources/list", "uri")
        self._template_owners = self._owners("resources/templates/list", "uriTemplate")
        self._templates = [(UriTemplate(text), function) for text, function in self._template_owners.items()]
        self._completing = frozenset(loaded.get("completing", ()))

    def capabilities(self) -> Mapping[str, Any]:
        return self._capabilities

    def definitions(self, method: str) -> Sequence[Mapping[str, Any]]:
        return self._definitions.get(method, [])

    def call(self, request: Request, outbox: Outbox, context: Any) -> str | Forwarded:  # noqa: ARG002 - Endpoint's signature
        owner = self._owner(request)
        return Forwarded(_invoke(_function(owner), request.http.event))

    def _owner(self, request: Request) -> str:
        """The function that owns what the request names. Raises ProtocolError (-32602) for what nobody owns."""
        if request.method == "tools/call":
            return known(self._tools, request.name, "tool")
        if request.method == "prompts/get":
            return known(self._prompts, request.name, "prompt")
        if request.method == "resources/read":
            return self._reader(request.name)
        ref = completion.read_reference(request)
        if isinstance(ref, completion.PromptReference):
            function = known(self._prompts, ref.name, "prompt")
        else:
            found = self._template_owners.get(ref.uri) or self._resources.get(ref.uri)
            if found is None:
                raise not_found(ref.uri)
            function = found
        if function not in self._completing:
            raise ProtocolError(Fault.INVALID_PARAMS, "Nothing completes the arguments of that")
        return function

    def _reader(self, uri: str) -> str:
        exact = self._resources.get(uri)
        if exact is not None:
            return exact
        for template, function in self._templates:
            if template.match(uri) is not None:
                return function
        raise not_found(uri)

    def _owners(self, method: str, unique: str) -> dict[str, str]:
        return {entry["definition"][unique]: entry["function"] for entry in self._entries.get(method, ())}


def _function(owner: str) -> str:
    """The name of the function in the folder `owner`, with the alias of the version to call where there is one."""
    prefix = os.environ.get("MRTR_TOOL_FUNCTION_PREFIX")
    if not prefix:
        raise ConfigurationError(
            "MRTR_TOOL_FUNCTION_PREFIX is not set: it and a folder's name make up the name of a function"
        )
    alias = os.environ.get("MRTR_TOOL_FUNCTION_ALIAS")
    return f"{prefix}{owner}:{alias}" if alias else prefix + owner


def _invoke(function: str, event: Any) -> dict[str, Any]:
    """Call `function` once. Raises Unavailable when it can't have run; ProtocolError (-32603) when it may have."""
    from botocore import exceptions as boto

    # Nothing was sent, or AWS itself says that it did not start the function.
    not_run = (
        boto.EndpointConnectionError,
        boto.ConnectTimeoutError,
        boto.ProxyConnectionError,
        boto.SSLError,
        boto.NoCredentialsError,
        boto.PartialCredentialsError,
        boto.NoRegionError,
    )
    client = aws.client("lambda", read_timeout_s=CALL_TIMEOUT_S, attempts=1)
    try:
        answer = client.invoke(FunctionName=function, Payload=strict_json.dump(event).encode())
        payload = answer["Payload"].read()
    except not_run as error:
        raise Unavailable(aws.cause(error, "lambda:InvokeFunction", function)) from None
    except boto.ClientError as error:
        if error.response.get("Error", {}).get("Code") == "ServiceException":
            raise _failed(function, "ServiceException") from None
        raise Unavailable(aws.cause(error, "lambda:InvokeFunction", function)) from None
    except boto.BotoCoreError as error:
        raise _failed(function, type(error).__name__) from None
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
        "The function that answers this failed; whether it took effect is unknown. The same request with its requestState tells",
    )
