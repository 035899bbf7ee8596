from __future__ import annotations

import base64
import copy
import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from mrtr import header_codec
from mrtr.errors import Fault
from mrtr.http import read_event
from mrtr.principal import Principal
from mrtr.protocol import SUPPORTED_VERSIONS, VERSION, Limits, Notification, Rejected, Request, read_request

METHODS = ("server/discover", "tools/list", "tools/call")
PREFIX = "io.modelcontextprotocol/"
META = {PREFIX + "protocolVersion": VERSION, PREFIX + "clientCapabilities": {}}
CALL = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {"name": "delete_note", "arguments": {"note_id": "7"}, "_meta": META},
}
HEADERS = {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "delete_note"}


@dataclass
class Draft:
    """A request in the making: a sound call of delete_note until a test changes it."""

    message: Any = field(default_factory=lambda: copy.deepcopy(CALL))
    headers: dict[str, str] = field(default_factory=lambda: dict(HEADERS))
    method: str = "POST"
    body: bytes | None = None
    encoded: str = ""
    limits: Limits = field(default_factory=Limits)
    repeated: dict[str, list[str]] = field(default_factory=dict)
    authorizer: dict[str, Any] = field(default_factory=dict)

    @property
    def params(self) -> Any:
        return self.message["params"]

    @property
    def meta(self) -> Any:
        return self.params["_meta"]

    def read(self) -> Request | Notification:
        body = json.dumps(self.message).encode() if self.body is None else self.body
        event = {
            "rawPath": "/mcp",
            "headers": self.headers,
            "multiValueHeaders": self.repeated,
            "requestContext": {"http": {"method": self.method}, "authorizer": self.authorizer},
            "body": self.encoded or base64.b64encode(body).decode(),
            "isBase64Encoded": True,
        }
        return read_request(read_event(event), METHODS, self.limits)

    def accepted(self) -> Request:
        request = self.read()
        assert isinstance(request, Request)
        return request

    def rejected(self) -> Rejected:
        with pytest.raises(Rejected) as rejection:
            self.read()
        return rejection.value

    def fault(self) -> Fault:
        return self.rejected().error.fault


def of_method(method: str, **params: Any) -> Draft:
    """A sound request of another method."""
    draft = Draft()
    draft.message |= {"method": method, "params": {**params, "_meta": META}}
    draft.headers = {"mcp-protocol-version": VERSION, "mcp-method": method}
    return draft


# What passes


def test_a_sound_request_is_read() -> None:
    request = Draft().accepted()
    assert (request.id, request.method, request.name) == (7, "tools/call", "delete_note")
    assert request.params["arguments"] == {"note_id": "7"}
    assert request.capabilities == {}
    assert request.client_info == {}
    assert request.meta == META


def test_methods_without_a_name_need_no_name_header() -> None:
    request = of_method("tools/list").accepted()
    assert (request.method, request.name) == ("tools/list", "")


def test_what_the_client_says_of_itself_is_kept() -> None:
    draft = Draft()
    draft.meta[PREFIX + "clientInfo"] = {"name": "client", "version": "1"}
    draft.meta[PREFIX + "clientCapabilities"] = {"elicitation": {}}
    request = draft.accepted()
    assert request.client_info == {"name": "client", "version": "1"}
    assert request.capabilities == {"elicitation": {}}


@pytest.mark.parametrize("info", [None, "client", []])
def test_client_info_of_a_wrong_type_is_as_if_it_were_not_there(info: object) -> None:
    draft = Draft()
    draft.meta[PREFIX + "clientInfo"] = info
    assert draft.accepted().client_info == {}


def test_headers_that_clients_leave_out_or_add_do_not_matter() -> None:
    draft = Draft()
    draft.headers |= {"mcp-session-id": "old", "last-event-id": "9", "content-type": "application/json; charset=utf-8"}
    assert draft.accepted().name == "delete_note"


def test_the_principal_is_the_authorizers() -> None:
    draft = Draft()
    assert draft.accepted().principal is None
    draft.authorizer = {"jwt": {"claims": {"iss": "i", "sub": "alice"}}}
    assert draft.accepted().principal == Principal("i", "alice")


def test_a_request_shows_neither_arguments_nor_answers() -> None:
    draft = Draft()
    draft.params["arguments"] = {"note_id": "secret-1"}
    draft.params["inputResponses"] = {"ask": {"action": "accept", "content": {"x": "secret-2"}}}
    draft.params["requestState"] = "secret-3"
    shown = repr(draft.accepted())
    assert "delete_note" in shown
    assert "secret" not in shown


# The ladder: one request for each rung, in the order in which they answer


def get(draft: Draft) -> None:
    draft.method = "GET"


def evil_origin(draft: Draft) -> None:
    draft.headers["origin"] = "http://evil.example.com"


def too_large(draft: Draft) -> None:
    draft.limits = Limits(max_body_bytes=10)


def bad_base64(draft: Draft) -> None:
    draft.encoded = "e30"  # padding is missing


def not_json(draft: Draft) -> None:
    draft.body = b'{"jsonrpc": "2.0", "jsonrpc": "1.0"'


def wrong_jsonrpc(draft: Draft) -> None:
    draft.message["jsonrpc"] = "1.0"


def no_capabilities(draft: Draft) -> None:
    del draft.meta[PREFIX + "clientCapabilities"]


def other_version_in_the_header(draft: Draft) -> None:
    draft.headers["mcp-protocol-version"] = "2025-11-25"


def unsupported_version(draft: Draft) -> None:
    draft.meta[PREFIX + "protocolVersion"] = "v999.0.0"
    if draft.headers["mcp-protocol-version"] == VERSION:
        draft.headers["mcp-protocol-version"] = "v999.0.0"


def other_method_in_the_header(draft: Draft) -> None:
    draft.headers["mcp-method"] = "tools/list"


def other_name_in_the_header(draft: Draft) -> None:
    draft.headers["mcp-name"] = "keep_note"


def unknown_method(draft: Draft) -> None:
    draft.message["method"] = "prompts/get"  # one that has a name, but isn't served here
    if draft.headers["mcp-method"] == "tools/call":
        draft.headers["mcp-method"] = "prompts/get"


Rung = Callable[[Draft], None]
LADDER: dict[Rung, tuple[Fault, int, int, int | None]] = {
    # what is wrong with the request: fault, HTTP status, JSON-RPC code, id in the answer
    get: (Fault.METHOD_NOT_ALLOWED, 405, -32600, None),
    evil_origin: (Fault.ORIGIN, 403, -32600, None),
    too_large: (Fault.TOO_LARGE, 413, -32600, None),
    bad_base64: (Fault.PARSE, 400, -32700, None),
    not_json: (Fault.PARSE, 400, -32700, None),
    wrong_jsonrpc: (Fault.INVALID_REQUEST, 400, -32600, 7),
    no_capabilities: (Fault.INVALID_PARAMS, 400, -32602, 7),
    other_version_in_the_header: (Fault.HEADER_MISMATCH, 400, -32020, 7),
    unsupported_version: (Fault.UNSUPPORTED_VERSION, 400, -32022, 7),
    other_method_in_the_header: (Fault.HEADER_MISMATCH, 400, -32020, 7),
    other_name_in_the_header: (Fault.HEADER_MISMATCH, 400, -32020, 7),
    unknown_method: (Fault.METHOD_NOT_FOUND, 404, -32601, 7),
}


def _named(rung: Any) -> str:
    return str(rung.__name__)


@pytest.mark.parametrize("rung", LADDER, ids=_named)
def test_each_rung_has_its_status_its_code_and_the_id_as_far_as_it_was_read(rung: Rung) -> None:
    draft = Draft()
    rung(draft)
    rejected = draft.rejected()
    fault = rejected.error.fault
    assert (fault, fault.status, fault.code, rejected.request_id) == LADDER[rung]


PAIRS = [pair for pair in itertools.combinations(LADDER, 2) if pair != (too_large, bad_base64)]
"""All pairs but one: how large a body is that can't be decoded, nobody knows."""


@pytest.mark.parametrize(("first", "second"), PAIRS, ids=_named)
def test_of_two_things_that_are_wrong_the_one_on_the_lower_rung_answers(first: Rung, second: Rung) -> None:
    alone, both = Draft(), Draft()
    first(alone)
    first(both)
    second(both)
    assert str(both.rejected()) == str(alone.rejected())
    assert both.fault() is LADDER[first][0]


@pytest.mark.parametrize("rung", list(LADDER)[6:], ids=_named)
def test_a_notification_is_accepted_whatever_later_rungs_would_say(rung: Rung) -> None:
    draft = Draft()
    rung(draft)
    del draft.message["id"]
    assert isinstance(draft.read(), Notification)


@pytest.mark.parametrize("rung", list(LADDER)[:6], ids=_named)
def test_a_notification_climbs_the_rungs_before_it(rung: Rung) -> None:
    draft = Draft()
    del draft.message["id"]
    rung(draft)
    assert draft.fault() is LADDER[rung][0]


# HTTP method, Origin, size


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_only_post_is_taken(method: str) -> None:
    assert Draft(method=method).fault() is Fault.METHOD_NOT_ALLOWED


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost",
        "http://localhost:3000",
        "http://127.0.0.1:6274",
        "https://127.0.0.1",
        "http://[::1]:80",
        "https://app.example.com",
    ],
)
def test_origins_of_this_machine_and_those_that_are_allowed_pass(origin: str) -> None:
    draft = Draft(limits=Limits(allowed_origins=frozenset({"https://app.example.com"})))
    draft.headers["origin"] = origin
    assert draft.accepted().id == 7


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://localhost.evil.example.com",
        "http://localhost:3000.evil.example.com",
        "http://localhost:",
        "http://localhost@evil.example.com",
        "http://127.0.0.1.evil.example.com",
        "http://127.0.0.2",
        "ftp://localhost",
        "localhost",
        "https://app.example.com:8443",
        "http://app.example.com",
        "https://app.example.com.evil.example.com",
        "https://app.example.com, https://app.example.com",
    ],
)
def test_any_other_origin_is_refused(origin: str) -> None:
    draft = Draft(limits=Limits(allowed_origins=frozenset({"https://app.example.com"})))
    draft.headers["origin"] = origin
    assert draft.fault() is Fault.ORIGIN


def test_of_two_origins_both_must_pass() -> None:
    draft = Draft(repeated={"origin": ["http://localhost", "http://evil.example.com"]})
    assert draft.fault() is Fault.ORIGIN


def test_a_body_of_just_the_limit_passes_and_one_byte_more_does_not() -> None:
    size = len(json.dumps(CALL).encode())
    assert Draft(limits=Limits(max_body_bytes=size)).accepted().id == 7
    rejected = Draft(limits=Limits(max_body_bytes=size - 1)).rejected()
    assert rejected.error.fault is Fault.TOO_LARGE
    assert str(size - 1) in rejected.error.message


def test_the_default_limit_is_one_mebibyte() -> None:
    padding = 1024 * 1024 - len(json.dumps(CALL).encode())
    assert Draft(body=json.dumps(CALL).encode() + b" " * padding).accepted().id == 7
    assert Draft(body=json.dumps(CALL).encode() + b" " * (padding + 1)).fault() is Fault.TOO_LARGE


# JSON and JSON-RPC


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b'"\xff"', id="invalid UTF-8"),
        pytest.param(b'{"id": 1, "id": 2}', id="a name twice"),
        pytest.param(b'{"id": NaN}', id="NaN"),
        pytest.param(b"[" * 65 + b"]" * 65, id="nested too deep"),
    ],
)
def test_what_is_not_strict_json_is_a_parse_error_without_an_id(body: bytes) -> None:
    rejected = Draft(body=body).rejected()
    assert (rejected.error.fault, rejected.request_id) == (Fault.PARSE, None)


@pytest.mark.parametrize("message", [[CALL], [], "text", 1, True, None])
def test_a_batch_or_anything_that_is_no_object_is_an_invalid_request(message: Any) -> None:
    rejected = Draft(message=message).rejected()
    assert (rejected.error.fault, rejected.request_id) == (Fault.INVALID_REQUEST, None)


@pytest.mark.parametrize("request_id", [0, -1, 1_800_000_000_000, 2**70, "", "a", "ünï📝"])
def test_an_id_is_text_or_an_integer_and_comes_back_as_it_is(request_id: object) -> None:
    draft = Draft()
    draft.message["id"] = request_id
    assert draft.accepted().id == request_id
    unknown_method(draft)
    assert draft.rejected().request_id == request_id


@pytest.mark.parametrize("request_id", [None, True, False, 1.0, 1.5, [], {}])
def test_an_id_of_any_other_type_is_an_invalid_request_and_is_not_repeated(request_id: object) -> None:
    draft = Draft()
    draft.message["id"] = request_id
    rejected = draft.rejected()
    assert (rejected.error.fault, rejected.request_id) == (Fault.INVALID_REQUEST, None)


@pytest.mark.parametrize(
    "change", [{"jsonrpc": "2"}, {"jsonrpc": 2.0}, {"jsonrpc": None}, {"method": None}, {"method": 3}, {"method": []}]
)
def test_a_wrong_jsonrpc_or_method_is_an_invalid_request(change: dict[str, Any]) -> None:
    draft = Draft()
    draft.message |= change
    assert draft.fault() is Fault.INVALID_REQUEST


@pytest.mark.parametrize("member", ["jsonrpc", "method"])
def test_a_missing_jsonrpc_or_method_is_an_invalid_request(member: str) -> None:
    draft = Draft()
    del draft.message[member]
    assert draft.fault() is Fault.INVALID_REQUEST


def test_a_response_sent_by_a_client_is_an_invalid_request() -> None:
    assert Draft(message={"jsonrpc": "2.0", "id": 1, "result": {}}).fault() is Fault.INVALID_REQUEST


def test_a_notification_needs_no_params_and_no_headers() -> None:
    draft = Draft(message={"jsonrpc": "2.0", "method": "notifications/cancelled"}, headers={})
    assert isinstance(draft.read(), Notification)


# _meta


@pytest.mark.parametrize("params", [None, [], "text", 1])
def test_params_that_are_no_object_are_invalid(params: object) -> None:
    draft = Draft()
    draft.message["params"] = params
    assert draft.fault() is Fault.INVALID_PARAMS


def test_a_request_without_params_lacks_its_meta() -> None:
    draft = Draft()
    del draft.message["params"]
    rejected = draft.rejected()
    assert rejected.error.fault is Fault.INVALID_PARAMS
    assert "_meta" in rejected.error.message


@pytest.mark.parametrize("meta", [None, [], "text"])
def test_a_meta_that_is_no_object_is_named(meta: object) -> None:
    draft = Draft()
    draft.params["_meta"] = meta
    rejected = draft.rejected()
    assert rejected.error.fault is Fault.INVALID_PARAMS
    assert "params._meta " in rejected.error.message


@pytest.mark.parametrize(
    ("member", "wrong"),
    [
        ("protocolVersion", None),
        ("protocolVersion", 20260728),
        ("clientCapabilities", None),
        ("clientCapabilities", []),
    ],
)
def test_a_member_of_meta_that_is_missing_or_of_a_wrong_type_is_named(member: str, wrong: object) -> None:
    without, mistyped = Draft(), Draft()
    del without.meta[PREFIX + member]
    mistyped.meta[PREFIX + member] = wrong
    for draft in (without, mistyped):
        rejected = draft.rejected()
        assert rejected.error.fault is Fault.INVALID_PARAMS
        assert PREFIX + member in rejected.error.message


def test_an_older_clients_initialize_is_told_the_version_spoken_here() -> None:
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    draft = Draft(message={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, headers={})
    rejected = draft.rejected()
    assert rejected.error.fault.status == 400
    assert "2026-07-28" in rejected.error.message
    assert "initialize" in rejected.error.message


# Version


def test_the_supported_versions_include_the_one_spoken() -> None:
    assert VERSION in SUPPORTED_VERSIONS


@pytest.mark.parametrize(
    "header", [None, "", "2025-11-25", "2026-07-28 extra", "2026-07-28,2025-11-25", "=?base64?MjAyNi0wNy0yOA==?="]
)
def test_a_version_header_that_is_missing_or_differs_from_the_body_is_a_mismatch(header: str | None) -> None:
    draft = Draft()
    del draft.headers["mcp-protocol-version"]
    if header is not None:
        draft.headers["mcp-protocol-version"] = header
    assert draft.fault() is Fault.HEADER_MISMATCH


@pytest.mark.parametrize("version", ["v999.0.0", "2025-11-25", "2026-07-29", ""])
def test_a_version_not_spoken_here_is_told_which_are(version: str) -> None:
    draft = Draft()
    draft.meta[PREFIX + "protocolVersion"] = draft.headers["mcp-protocol-version"] = version
    rejected = draft.rejected()
    assert rejected.error.fault is Fault.UNSUPPORTED_VERSION
    assert rejected.error.data == {"supported": ["2026-07-28"], "requested": version}


# Mcp-Method and Mcp-Name


@pytest.mark.parametrize("header", ["mcp-method", "mcp-name"])
@pytest.mark.parametrize("value", [None, "", "TOOLS/CALL", "delete_note2", "delete", "tools"])
def test_a_header_that_is_missing_or_says_something_else_is_a_mismatch(header: str, value: str | None) -> None:
    draft = Draft()
    del draft.headers[header]
    if value is not None:
        draft.headers[header] = value
    assert draft.fault() is Fault.HEADER_MISMATCH


def test_header_names_are_read_in_any_case_and_values_without_the_space_around_them() -> None:
    draft = Draft()
    draft.headers = {"MCP-PROTOCOL-VERSION": f" {VERSION}\t", "MCP-METHOD": "  tools/call", "Mcp-name": "delete_note "}
    assert draft.accepted().name == "delete_note"


@pytest.mark.parametrize("name", ["löschen", "メモを消す", "🗑 note", " padded ", "a\nb", "=?base64?x?=", "حذف", ""])
def test_a_name_in_any_script_travels_encoded(name: str) -> None:
    draft = Draft()
    draft.params["name"] = name
    draft.headers["mcp-name"] = header_codec.encode(name)
    assert draft.accepted().name == name


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("löschen", id="not encoded"),
        pytest.param("=?base64?bMO2c2NoZW4?=", id="padding missing"),
        pytest.param("=?base64?bMO2c2NoZW4==?=", id="padding too much"),
        pytest.param("=?base64?bMO2c2NoZW5=?=", id="spare bits"),
        pytest.param("=?base64?b!O2c2NoZW4=?=", id="foreign character"),
        pytest.param("=?base64?bPZzY2hlbg==?=", id="another charset"),
        pytest.param("=?base64?" + "bG9lc2NoZW4=" + "?=", id="another name"),
        pytest.param("=?BASE64?bMO2c2NoZW4=?=", id="marker in capitals"),
        pytest.param("=?base64??=", id="nothing"),
    ],
)
def test_a_name_that_is_malformed_or_another_once_decoded_is_a_mismatch(header: str) -> None:
    draft = Draft()
    draft.params["name"] = "löschen"
    draft.headers["mcp-name"] = header
    assert draft.fault() is Fault.HEADER_MISMATCH


def test_the_method_header_is_never_encoded() -> None:
    draft = Draft()
    draft.headers["mcp-method"] = "=?base64?dG9vbHMvY2FsbA==?="
    assert draft.fault() is Fault.HEADER_MISMATCH


@pytest.mark.parametrize("header", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_a_repeated_header_passes_only_if_all_its_values_agree_with_the_body(header: str) -> None:
    good = HEADERS[header]
    for joined, repeated in ((f"{good},{good}", [good, good]), (f"{good} , {good}", [good])):
        draft = Draft()
        draft.headers[header] = joined
        assert draft.accepted().id == 7
        draft = Draft(repeated={header: repeated})
        assert draft.accepted().id == 7
    for joined, repeated in (
        (f"{good},other", [good, "other"]),
        (f"other,{good}", ["other", good]),
        (f"{good},", [good, ""]),
    ):
        draft = Draft()
        draft.headers[header] = joined
        assert draft.fault() is Fault.HEADER_MISMATCH
        draft = Draft(repeated={header: repeated})
        assert draft.fault() is Fault.HEADER_MISMATCH


def test_an_encoded_name_may_be_repeated_too() -> None:
    encoded, other = header_codec.encode("löschen"), header_codec.encode("behalten ö")
    draft = Draft()
    draft.params["name"] = "löschen"
    for joined in (f"{encoded},{encoded}", f"{encoded} , {encoded}"):
        draft.headers["mcp-name"] = joined
        assert draft.accepted().name == "löschen"
    draft.headers["mcp-name"] = f"{encoded},{other}"
    assert draft.fault() is Fault.HEADER_MISMATCH


@pytest.mark.parametrize("method", ["prompts/get", "resources/read"])
def test_a_method_that_is_not_served_is_not_found_before_its_params_are_read(method: str) -> None:
    assert of_method(method).fault() is Fault.METHOD_NOT_FOUND


def test_a_name_with_a_comma_in_it_is_one_name() -> None:
    draft = Draft()
    draft.params["name"] = draft.headers["mcp-name"] = "this, that"
    assert draft.accepted().name == "this, that"


@pytest.mark.parametrize("name", [None, 7, ["delete_note"]])
def test_a_call_without_a_tool_name_is_invalid(name: object) -> None:
    draft = Draft()
    draft.params["name"] = name
    rejected = draft.rejected()
    assert rejected.error.fault is Fault.INVALID_PARAMS
    assert "params.name" in rejected.error.message


def test_a_mismatch_does_not_repeat_what_was_sent() -> None:
    draft = Draft()
    draft.headers["mcp-name"] = "something-private"
    assert "private" not in str(draft.rejected())


# Methods


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "subscriptions/listen",
        "unknown/method",
        "Tools/call",
        "",
    ],
)
def test_an_unknown_method_and_those_of_the_handshake_era_are_not_found_before_their_params_are_read(
    method: str,
) -> None:
    assert of_method(method).fault() is Fault.METHOD_NOT_FOUND


def test_a_very_long_method_is_cut_short_in_the_message() -> None:
    message = of_method("x" * 5000).rejected().error.message
    assert len(message) < 200
    assert message.startswith("Method not found: xxx")


# inputResponses


def test_without_input_responses_there_are_none() -> None:
    draft = Draft()
    assert draft.accepted().input_responses == {}
    draft.params["inputResponses"] = None
    assert draft.accepted().input_responses == {}


def test_input_responses_are_given_as_they_came() -> None:
    draft = Draft()
    draft.params["inputResponses"] = {"ask": {"action": "decline"}}
    assert draft.accepted().input_responses == {"ask": {"action": "decline"}}


@pytest.mark.parametrize("responses", [[], "text", 1, True, {"ask": None}, {"ask": "yes"}, {"ask": []}, {"ask": 12345}])
def test_input_responses_of_a_wrong_shape_are_invalid(responses: object) -> None:
    draft = Draft()
    draft.params["inputResponses"] = responses
    request = draft.accepted()
    with pytest.raises(Exception, match=r"params\.inputResponses") as refusal:
        _ = request.input_responses
    assert getattr(refusal.value, "fault", None) is Fault.INVALID_PARAMS
