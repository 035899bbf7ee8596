"""Strategies for events that a handler may meet: from what a client sends down to bytes that nobody meant.

A case starts as a sound request of some method, a retry with its sealed state included. Its message, its text, its headers and its
envelope are then each changed a little or not at all, so that every rung of the ladder and every layer below it is reached.
"""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from mrtr import header_codec
from mrtr.http import Kind
from mrtr.testing import Event, Handler, LambdaContext, accept, cancel, decline, request_event, with_body

Json = Any
Path = tuple[str | int, ...]

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
IDS: list[str | int] = [1, "a", 2**60, -1]
EVERYTHING: dict[str, Json] = {"elicitation": {"form": {}, "url": {}}, "sampling": {"tools": {}}, "roots": {}}

ROOTS = {"roots": [{"uri": "file:///a", "name": "a"}]}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m", "stopReason": "endTurn"}


@dataclass(frozen=True)
class Asking:
    """A request that asks, and the answers that satisfy it."""

    method: str
    params: Mapping[str, Json]
    answers: Mapping[str, Json]


def _tool(name: str, **answers: Json) -> Asking:
    return Asking("tools/call", {"name": f"test_{name}", "arguments": {}}, answers)


NAME, SURE = accept(name="Ada"), accept(ok=True)
ASKING = [
    _tool("missing_capability", capital_question=SAMPLED),
    _tool("streaming_elicitation", user_name=NAME),
    _tool("input_required_result_elicitation", user_name=NAME),
    _tool("input_required_result_list_roots", client_roots=ROOTS),
    _tool("input_required_result_multiple_inputs", user_name=NAME, greeting=SAMPLED, client_roots=ROOTS),
    _tool("input_required_result_multi_round", step1=NAME, step2=accept(color="blue")),
    _tool("input_required_result_tampered_state", confirm=SURE),
    _tool("input_required_result_capabilities", elicitation=NAME, sampling=SAMPLED, roots=ROOTS),
    Asking("prompts/get", {"name": "test_input_required_result_prompt"}, {"user_context": accept(context="x")}),
]

REQUESTS: list[tuple[str, Mapping[str, Json]]] = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("tools/list", {"cursor": "dGVzdA"}),
    ("prompts/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    *(
        ("tools/call", {"name": f"test_{name}", "arguments": {}})
        for name in ("simple_text", "image_content", "error_handling", "tool_with_progress", "logging_tool")
    ),
    ("tools/call", {"name": "test_x_mcp_header", "arguments": {"region": "eu"}}),
    (
        "tools/call",
        {
            "name": "json_schema_2020_12_tool",
            "arguments": {"name": "Ada", "address": {"street": "1", "city": "Example"}, "phone": "555-0199"},
        },
    ),
    ("tools/call", {"name": "no_such_tool", "arguments": {}}),
    ("prompts/get", {"name": "test_simple_prompt"}),
    ("prompts/get", {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": "b"}}),
    ("prompts/get", {"name": "test_prompt_with_embedded_resource", "arguments": {"resourceUri": "test://a"}}),
    ("resources/read", {"uri": "test://static-text"}),
    ("resources/read", {"uri": "test://static-binary"}),
    ("resources/read", {"uri": "test://template/12/data"}),
    *(("resources/read", {"uri": f"test://template/{id_}/data"}) for id_ in ("a b", "é", "%zz", "%", "{id}", '"', "\x00")),
    ("resources/read", {"uri": "test://no-such-resource"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"}, "argument": {"name": "arg1", "value": "t"}},
    ),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "test://template/{id}/data"},
            "argument": {"name": "id", "value": ""},
            "context": {"arguments": {"id": "1"}},
        },
    ),
    ("initialize", {}),
    ("ping", {}),
    ("subscriptions/listen", {}),
]  # fmt: skip

SPECIAL: list[Json] = [
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**64, -(10**30), 0.5, -0.0, 1e308, float("nan"), float("inf"),
    "", " ", "x", "0", "true", "null", "{}", "[]", '{"a":1}', "é", "Ⅷ", "🗒", "\x00", "\ud800", "\udfff\ud800", "a" * 9000,
    "=?base64?eA==?=", "=?base64?", "?=", "v1.", "v1.AAAA", "2026-07-28", "2025-06-18", "accept", "tools/call", "test://a",
    "%ff", "note://%C3%A9", "__class__", "$ref", "debug", "emergency",
    [], {}, [[]], [None], ["x", 1], {"": {}}, {"action": "accept"}, {"action": "accept", "content": None},
    {"action": ["accept"]}, {"role": "assistant"}, {"roots": "x"}, {"roots": [{"uri": 1}]}, {"type": "text"}, {"name": 1},
]  # fmt: skip

junk: SearchStrategy[Json] = st.one_of(
    st.sampled_from(SPECIAL),
    st.text(max_size=8),
    st.integers(),
    st.floats(),
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=6,
    ),
)


def _paths(value: Json, here: Path = ()) -> Iterator[Path]:
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*here, key))


def _put(value: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    if not path:
        return change(value)
    value[path[0]] = _put(value[path[0]], path[1:], change)
    return value


def _text_of(value: Json) -> Json:
    return json.dumps(value)


@st.composite
def mutated(draw: DrawFn, value: Json, most: int = 3) -> Json:
    """`value` with up to `most` places replaced, removed, added to, wrapped, or turned into text."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(0, most))):
        path = draw(st.sampled_from(list(_paths(value))))
        how = draw(st.sampled_from(["replace", "remove", "add", "wrap", "text", "repeat"]))
        if how == "remove" and path:
            value = _put(value, path[:-1], partial(_without, key=path[-1]))
        elif how == "add":
            name, extra = draw(st.sampled_from(["x", "", "_meta", "id", "requestState", "inputResponses"])), draw(junk)
            value = _put(value, path, partial(_added, name=name, extra=extra))
        elif how == "wrap":
            value = _put(value, path, lambda inner: [inner])
        elif how == "text":
            value = _put(value, path, _text_of)
        elif how == "repeat":
            value = _put(value, path, lambda inner: inner * 2 if isinstance(inner, str | list) else inner)
        else:
            other = draw(junk)
            value = _put(value, path, partial(_replaced, other=other))
    return value


def _replaced(_: Json, other: Json) -> Json:
    return copy.deepcopy(other)


def _without(owner: Json, key: str | int) -> Json:
    del owner[key]
    return owner


def _added(inner: Json, name: str, extra: Json) -> Json:
    if isinstance(inner, dict):
        inner[name] = copy.deepcopy(extra)
    elif isinstance(inner, list):
        inner.append(copy.deepcopy(extra))
    return inner


@st.composite
def garbled(draw: DrawFn, text: str) -> str:
    """`text` with a piece cut out, doubled, or put in."""
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 12)))
    put_in = draw(
        st.sampled_from(
            ["", text[start:end] * 2, "NaN", "[" * 70, '"id":1,', "\ufeff", "\x00", "1" * 5000, "{", ",", "\ud800"]
        )
    )
    return text[:start] + put_in + text[end:]


# ---- Events ---------------------------------------------------------------------------------------------------------


def _mirror(event: Event, message: Json) -> None:
    """Let the headers say what the message says, as a client does: only so does what is wrong inside get looked at."""
    headers = event["headers"]
    params = message.get("params") if isinstance(message, dict) else None
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    said = {
        "mcp-method": message.get("method") if isinstance(message, dict) else None,
        "mcp-protocol-version": meta.get(VERSION) if isinstance(meta, dict) else None,
        "mcp-name": params.get("name", params.get("uri")),
    }
    arguments = params.get("arguments")
    said["mcp-param-region"] = arguments.get("region") if isinstance(arguments, dict) else None
    for name, value in said.items():
        if isinstance(value, str) and value.isprintable():
            headers[name] = header_codec.encode(value)


def _headers(draw: DrawFn, headers: dict[str, Json]) -> None:
    name = draw(st.sampled_from(sorted(headers)))
    how = draw(st.sampled_from(["remove", "upper", "pad", "other", "twice", "join", "encode", "origin", "origin"]))
    value = headers[name]
    if how == "remove":
        del headers[name]
    elif how == "upper":
        headers[name.upper()] = headers.pop(name)
    elif how == "pad":
        headers[name] = f" \t{value} "
    elif how == "twice":
        headers[name.title()] = draw(st.sampled_from([value, "x"]))
    elif how == "join":
        headers[name] = f"{value},{draw(st.sampled_from([value, 'x', '']))}"
    elif how == "encode" and isinstance(value, str) and value.isascii():
        encoded = base64.b64encode(value.encode()).decode()
        headers[name] = f"=?base64?{encoded}{draw(st.sampled_from(['?=', '', '=?=', '!?=']))}"
    elif how == "origin":
        headers["origin"] = draw(
            st.sampled_from(["http://localhost:6274", "null", "", "https://evil.example", "http://[::1]:1"])
        )
    else:
        headers[name] = draw(junk)


def _envelope(draw: DrawFn, event: Event) -> Event:
    how = draw(st.sampled_from(["headers", "multi", "method", "base64", "wrong base64", "bytes", "authorizer", "any"]))
    if how == "headers":
        event["headers"] = draw(st.sampled_from([None, {}, [], "x", {"": ""}, {"mcp-method": None}]))
    elif how == "multi":
        event["multiValueHeaders"] = {k: [v, v] for k, v in event["headers"].items()}
        event["headers"] = None
    elif how == "method":
        method = draw(st.sampled_from(["GET", "DELETE", "post", "OPTIONS", ""]))
        if "httpMethod" in event:
            event["httpMethod"] = method
        else:
            event["requestContext"]["http"]["method"] = method
    elif how == "base64" and isinstance(event["body"], str) and not event["isBase64Encoded"]:
        event["body"] = base64.b64encode(event["body"].encode("utf-8", "surrogatepass")).decode()
        event["isBase64Encoded"] = True
    elif how == "wrong base64":
        event["isBase64Encoded"] = draw(st.sampled_from([True, False, "true", None, 1]))
    elif how == "bytes":
        event["body"] = base64.b64encode(draw(st.binary(max_size=40))).decode()
        event["isBase64Encoded"] = True
    elif how == "authorizer":
        claims = {"iss": "https://issuer.example", "sub": "ada", "client_id": "c"}
        where = draw(
            st.sampled_from([{"jwt": {"claims": claims}}, {"claims": claims}, {"lambda": claims}, {"iam": claims}])
        )
        event["requestContext"]["authorizer"] = draw(mutated(where))
    else:
        changed = draw(mutated({name: value for name, value in event.items() if name != "body"}, most=2))
        event = {**changed, "body": event["body"]} if isinstance(changed, dict) else changed
    return event


@st.composite
def events(draw: DrawFn, handler: Handler) -> Json:
    """An event. `handler`: what the case is for; it is asked first where the case is a retry."""
    if draw(st.integers(0, 60)) == 0:
        return draw(junk)
    kind = draw(st.sampled_from(Kind))
    options: dict[str, Any] = {"kind": kind, "capabilities": draw(st.sampled_from([EVERYTHING, EVERYTHING, {}]))}
    method, params, retry = draw(_requests(handler, options))
    event = request_event(method, params, id=draw(st.sampled_from(IDS)), **options)
    message = json.loads(base64.b64decode(event["body"]) if event["isBase64Encoded"] else event["body"])
    message["params"].update(retry)
    meta = message["params"]["_meta"]
    if draw(st.booleans()):
        meta["progressToken"] = draw(st.sampled_from(["t", 1, 1.5, None, True]))
        meta[LOG_LEVEL] = draw(st.sampled_from(["debug", "emergency", "x", 1]))
    if draw(st.integers(0, 30)) == 0:
        meta[VERSION] = draw(st.sampled_from(["2025-11-25", "v999.0.0", ""]))
    if draw(st.integers(0, 30)) == 0:
        del message["id"]
        message["method"] = draw(st.sampled_from([method, "notifications/cancelled", "notifications/initialized"]))
    changed = draw(mutated(message, most=draw(st.sampled_from([0, 1, 1, 3]))))
    text = json.dumps(changed, ensure_ascii=draw(st.booleans()))
    if draw(st.integers(0, 5)) == 0:
        text = draw(garbled(text))
    event = with_body(event, text) if text.isascii() or not event["isBase64Encoded"] else event
    if draw(st.integers(0, 3)) > 0:
        _mirror(event, changed)
    if draw(st.integers(0, 3)) == 0:
        _headers(draw, event["headers"])
    if draw(st.integers(0, 3)) == 0:
        event = _envelope(draw, event)
    return event


@st.composite
def _requests(draw: DrawFn, handler: Handler, options: Mapping[str, Any]) -> tuple[str, Mapping[str, Json], Json]:
    """Method and params of a sound request; with it what makes it a retry, whose state is real and whose answers may be anything."""
    if draw(st.booleans()):
        return (*draw(st.sampled_from(REQUESTS)), {})
    asking = draw(st.sampled_from(ASKING))
    retry: dict[str, Json] = {}
    for _ in range(draw(st.integers(0, 2))):
        able = {**options, "capabilities": EVERYTHING}
        asked = handler(request_event(asking.method, {**asking.params, **retry}, **able), LambdaContext())
        result = json.loads(asked["body"]).get("result", {})
        if result.get("resultType") != "input_required":
            break
        answers = {key: asking.answers[key] for key in result.get("inputRequests", {})}
        retry = {"inputResponses": answers, "requestState": result["requestState"]}
    how = draw(st.sampled_from(["as it is", "answers", "state", "arguments", "refusal"])) if retry else ""
    if how == "answers":
        retry["inputResponses"] = draw(mutated(retry["inputResponses"]))
    elif how == "state":
        retry["requestState"] = draw(garbled(retry["requestState"]))
    elif how == "arguments":
        retry["arguments"] = draw(junk)
    elif how == "refusal":
        retry["inputResponses"] = {key: draw(st.sampled_from([decline(), cancel()])) for key in asking.answers}
    return asking.method, asking.params, retry
