"""Messages of the protocol checked against the schema that its revision publishes, formats included."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker

Json = dict[str, Any]

SCHEMA = Path(__file__).with_name("data") / "mcp-2026-07-28.schema.json"

# What each method's result is, apart from questions.
RESULTS = {
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "completion/complete": "CompleteResult",
}
MAY_ASK = {"tools/call", "prompts/get", "resources/read"}
ERRORS = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
}
NOTIFICATIONS = {
    "notifications/progress": "ProgressNotification",
    "notifications/message": "LoggingMessageNotification",
}

_FORMATS = FormatChecker(())
# RFC 3986: a scheme, then nothing but what a URI may hold; a template has expressions in braces besides.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*")
_EXPRESSION = re.compile(r"\{[+#./;?&]?[A-Za-z0-9_.,*:%]+\}")


@_FORMATS.checks("uri")
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or _URI.fullmatch(value) is not None


@_FORMATS.checks("uri-template")
def _is_uri_template(value: object) -> bool:
    return not isinstance(value, str) or _URI.fullmatch(_EXPRESSION.sub("x", value)) is not None


@_FORMATS.checks("byte", raises=ValueError)
def _is_base64(value: object) -> bool:
    return not isinstance(value, str) or base64.b64decode(value, validate=True) is not None


@cache
def _validator(definition: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return Draft202012Validator({**schema, "$ref": f"#/$defs/{definition}"}, format_checker=_FORMATS)


def _against(definition: str, value: object) -> list[str]:
    errors = _validator(definition).iter_errors(value)
    return [f"{definition}: {error.json_path}: {error.message[:300]}" for error in errors]


def of_message(message: object, method: str | None) -> list[str]:
    """What is wrong with one message from the server, sent in answer to a request of `method` (None where there was none to read)."""
    if not isinstance(message, dict):
        return ["no JSON-RPC message: not an object"]
    if "error" in message:
        code = message["error"].get("code") if isinstance(message["error"], dict) else None
        return _against(ERRORS.get(code or 0, "JSONRPCErrorResponse"), message)
    if "result" in message:
        return [*_against("JSONRPCResultResponse", message), *_of_result(message["result"], method)]
    kind = NOTIFICATIONS.get(str(message.get("method")))
    return ["neither a response nor a notification"] if kind is None else _against(kind, message)


def _of_result(result: Json, method: str | None) -> list[str]:
    asks = result.get("resultType") == "input_required"
    found = _against("InputRequiredResult" if asks else RESULTS[method or ""], result)
    if not asks and result.get("resultType") != "complete":
        found.append(f"a result of type {result.get('resultType')!r}")
    if asks and method not in MAY_ASK:
        found.append(f"{method} must not ask")
    if asks and not result.keys() & {"inputRequests", "requestState"}:
        found.append("neither a question nor a state")
    # Implementation and the rest of _meta are checked by the schema; that it is there at all is not.
    if "io.modelcontextprotocol/serverInfo" not in result.get("_meta", {}):
        found.append("no serverInfo in the result's _meta")
    return found


def messages(body: str, content_type: str) -> Iterator[object]:
    """The messages of a response's body: one of JSON, or those of its events."""
    if not content_type.startswith("text/event-stream"):
        yield json.loads(body)
        return
    for event in body.split("\n\n"):
        data = [line[5:].removeprefix(" ") for line in event.splitlines() if line.startswith("data:")]
        if data:
            yield json.loads("\n".join(data))


def of_response(request: object, status: int, headers: Mapping[str, str], body: str) -> list[str]:
    """What is wrong with a whole HTTP response to a message. Header names in lower case."""
    if status in (202, 405):
        return [f"{status} with a body"] if body else []
    kind = headers.get("content-type", "")
    if not kind.startswith(("application/json", "text/event-stream")):
        return [f"content type {kind!r}"]
    method = request.get("method") if isinstance(request, dict) else None
    found = list(messages(body, kind))
    problems = [problem for message in found for problem in of_message(message, method)]
    answers = [message for message in found if isinstance(message, dict) and "method" not in message]
    if len(answers) != 1 or found[-1] is not answers[0]:
        problems.append(f"{len(answers)} responses, or one that is not the last message")
    elif status < 300:
        if "result" not in answers[0]:
            problems.append(f"{status} with an error")
        elif isinstance(request, dict) and answers[0].get("id") != request.get("id"):
            problems.append("another id than the request's")
    elif "error" not in answers[0]:
        problems.append(f"{status} without an error")
    return problems
