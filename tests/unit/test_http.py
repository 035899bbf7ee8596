from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr.errors import Fault, ProtocolError
from mrtr.http import Headers, HttpRequest, HttpResponse, Kind, read_event, write_response

BODY = '{"jsonrpc":"2.0","名":"📝"}'


def http_api_event(**changes: Any) -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "POST /mcp",
        "rawPath": "/mcp",
        "rawQueryString": "",
        "headers": {"content-type": "application/json", "mcp-method": "tools/call"},
        "requestContext": {
            "apiId": "abc123",
            "domainName": "abc123.execute-api.eu-central-1.amazonaws.com",
            "stage": "$default",
            "http": {"method": "POST", "path": "/mcp", "protocol": "HTTP/1.1"},
        },
        "body": BODY,
        "isBase64Encoded": False,
    } | changes


def function_url_event(**changes: Any) -> dict[str, Any]:
    event = http_api_event(routeKey="$default")
    event["requestContext"]["domainName"] = "abc123.lambda-url.eu-central-1.on.aws"
    return event | changes


def rest_api_event(**changes: Any) -> dict[str, Any]:
    return {
        "resource": "/mcp",
        "path": "/mcp",
        "httpMethod": "POST",
        "headers": {"Content-Type": "application/json", "Mcp-Method": "tools/call"},
        "multiValueHeaders": {"Content-Type": ["application/json"], "Mcp-Method": ["tools/call"]},
        "requestContext": {"stage": "prod", "path": "/prod/mcp", "httpMethod": "POST"},
        "body": BODY,
        "isBase64Encoded": False,
    } | changes


def alb_event(**changes: Any) -> dict[str, Any]:
    return {
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:::targetgroup/x"}},
        "httpMethod": "POST",
        "path": "/mcp",
        "queryStringParameters": {},
        "headers": {"content-type": "application/json", "mcp-method": "tools/call"},
        "body": BODY,
        "isBase64Encoded": False,
    } | changes


SENDERS = [
    (http_api_event, Kind.HTTP_API),
    (function_url_event, Kind.FUNCTION_URL),
    (rest_api_event, Kind.REST_API),
    (alb_event, Kind.ALB),
]
each_sender = pytest.mark.parametrize("make_event", [make_event for make_event, _ in SENDERS])


@pytest.mark.parametrize(("make_event", "kind"), SENDERS)
def test_the_same_request_is_read_from_every_sender(make_event: Any, kind: Kind) -> None:
    event = make_event()
    request = read_event(event)
    assert request.kind is kind
    assert request.method == "POST"
    assert request.path == "/mcp"
    assert request.body == BODY.encode()
    assert request.headers["Mcp-Method"] == "tools/call"
    assert request.headers["content-type"] == "application/json"
    assert request.authorizer == {}
    assert request.event is event


def test_an_http_api_with_payload_1_is_read_like_a_rest_api() -> None:
    event = rest_api_event(version="1.0", requestContext={"stage": "$default", "path": "/mcp", "httpMethod": "POST"})
    assert read_event(event).kind is Kind.REST_API
    assert read_event(event).path == "/mcp"


def test_the_method_is_upper_case_however_it_came() -> None:
    assert read_event(rest_api_event(httpMethod="post")).method == "POST"


@pytest.mark.parametrize(
    "event",
    [
        None,
        "POST /mcp",
        [],
        {},
        {"note_id": "n1"},
        {"Records": [{"eventSource": "aws:sqs", "body": "{}"}]},
        {"version": "2.0", "rawPath": "/mcp", "headers": {}},
        {"version": "2.0", "requestContext": None},
        {"requestContext": {"http": "POST"}},
        {"requestContext": {"http": {"method": None}}},
        {"httpMethod": 1},
    ],
)
def test_what_is_not_an_http_event_is_refused_with_a_clear_message(event: object) -> None:
    with pytest.raises(ProtocolError, match="not an HTTP request") as caught:
        read_event(event)
    assert caught.value.fault is Fault.INVALID_REQUEST


@each_sender
def test_a_base64_body_is_decoded(make_event: Any) -> None:
    event = make_event(body=base64.b64encode(BODY.encode()).decode(), isBase64Encoded=True)
    assert read_event(event).body == BODY.encode()


def test_a_base64_body_may_hold_any_bytes() -> None:
    data = bytes(range(256))
    assert read_event(http_api_event(body=base64.b64encode(data).decode(), isBase64Encoded=True)).body == data


@pytest.mark.parametrize("body", ["{}", "e30", "e30=\n", "e30==", "e3*0", "====", "=e30", "é", "e30=e30="])
def test_bad_base64_is_a_parse_error_that_does_not_quote_it(body: str) -> None:
    request = read_event(http_api_event(body=body, isBase64Encoded=True))
    with pytest.raises(ProtocolError) as caught:
        _ = request.body
    assert caught.value.fault is Fault.PARSE
    assert caught.value.message == "The event's body is not valid base64."


@pytest.mark.parametrize("changes", [{"body": None}, {"body": ""}, {"body": "", "isBase64Encoded": True}])
@each_sender
def test_no_body_is_an_empty_body(make_event: Any, changes: dict[str, Any]) -> None:
    assert read_event(make_event(**changes)).body == b""


def test_an_event_without_the_member_body_has_an_empty_body() -> None:
    event = http_api_event()
    del event["body"], event["isBase64Encoded"]
    assert read_event(event).body == b""


@pytest.mark.parametrize("body", [{"jsonrpc": "2.0"}, 0, False, []])
def test_a_body_that_is_not_text_is_refused(body: object) -> None:
    request = read_event(http_api_event(body=body))
    with pytest.raises(ProtocolError, match="not a string") as caught:
        _ = request.body
    assert caught.value.fault is Fault.INVALID_REQUEST


def test_a_lone_surrogate_in_the_body_becomes_invalid_utf_8() -> None:
    with pytest.raises(UnicodeDecodeError):
        read_event(http_api_event(body='"\ud800"')).body.decode()


@pytest.mark.parametrize(
    ("path", "stage", "normalised"),
    [
        ("/mcp", "$default", "/mcp"),
        ("/mcp/", "$default", "/mcp"),
        ("/mcp//", "$default", "/mcp"),
        ("/prod/mcp", "prod", "/mcp"),
        ("/prod/mcp/delete_note/", "prod", "/mcp/delete_note"),
        ("/mcp", "prod", "/mcp"),
        ("/production/mcp", "prod", "/production/mcp"),
        ("/mcp/mcp", "mcp", "/mcp"),
        ("/mcp", "mcp", "/mcp"),
        ("/prod/prod/mcp", "prod", "/prod/mcp"),
        ("/$default/mcp", "$default", "/$default/mcp"),
        ("/prod/mcp", None, "/prod/mcp"),
        ("/prod/mcp", "", "/prod/mcp"),
        ("/prod/mcp", 7, "/prod/mcp"),
        ("/", "prod", "/"),
        ("", "prod", "/"),
        (None, "prod", "/"),
        (7, "prod", "/"),
    ],
)
def test_the_path_has_neither_stage_nor_trailing_slash(path: object, stage: object, normalised: str) -> None:
    event = http_api_event(rawPath=path)
    event["requestContext"]["stage"] = stage
    assert read_event(event).path == normalised


def test_a_resource_of_a_rest_api_may_bear_the_stages_name() -> None:
    event = rest_api_event(path="/prod/mcp", requestContext={"stage": "prod", "path": "/prod/prod/mcp"})
    assert read_event(event).path == "/prod/mcp"


def test_a_stage_in_the_path_of_a_rest_event_is_removed() -> None:
    event = rest_api_event(path="/prod/mcp", requestContext={"stage": "prod", "path": "/prod/mcp"})
    assert read_event(event).path == "/mcp"


def test_a_2_0_event_without_raw_path_has_the_path_of_its_context() -> None:
    event = http_api_event()
    del event["rawPath"]
    assert read_event(event).path == "/mcp"


@pytest.mark.parametrize(
    ("make_event", "authorizer"),
    [
        (http_api_event, {"jwt": {"claims": {"sub": "p1"}, "scopes": None}}),
        (rest_api_event, {"claims": {"sub": "p1"}}),
        (function_url_event, {"iam": {"accountId": "1"}}),
    ],
)
def test_the_authorizer_is_handed_on_as_it_came(make_event: Any, authorizer: dict[str, Any]) -> None:
    event = make_event()
    event["requestContext"]["authorizer"] = authorizer
    assert read_event(event).authorizer == authorizer


@pytest.mark.parametrize("authorizer", [None, "p1", [], 1])
def test_an_authorizer_that_is_no_object_vouches_for_nobody(authorizer: object) -> None:
    event = http_api_event()
    event["requestContext"]["authorizer"] = authorizer
    assert read_event(event).authorizer == {}


@pytest.mark.parametrize("name", ["Mcp-Name", "mcp-name", "MCP-NAME", "mCp-nAmE"])
def test_a_header_is_found_whatever_the_case_of_its_name(name: str) -> None:
    for sent in ("Mcp-Name", "mcp-name", "MCP-NAME"):
        headers = Headers({sent: "delete_note"})
        assert headers[name] == headers.get(name) == "delete_note"
        assert name in headers


def test_header_values_keep_their_case_and_lose_the_white_space_around_them() -> None:
    headers = Headers({"A": " \tOne two\t "}, {"B": ["  x", "y  "]})
    assert headers["a"] == "One two"
    assert headers.get_all("b") == ("x", "y")


def test_only_space_and_tab_count_as_white_space_around_a_header_value() -> None:
    assert Headers({"a": "\u00a0x\n"})["a"] == "\u00a0x\n"


@pytest.mark.parametrize(
    ("single", "multi", "values"),
    [
        ({"A": "1"}, None, ("1",)),
        (None, {"A": ["1", "2"]}, ("1", "2")),
        ({"A": "2"}, {"A": ["1", "2"]}, ("1", "2")),
        ({"A": "3"}, {"A": ["1", "2"]}, ("1", "2", "3")),
        ({"A": "1", "a": "2"}, None, ("1", "2")),
        (None, {"A": ["1"], "a": ["1"]}, ("1", "1")),
        ({"A": "1"}, {"B": ["2"]}, ("1",)),
        ({"A": "1,1"}, None, ("1,1",)),
        ({"A": ""}, None, ("",)),
        ({}, {}, ()),
        (None, None, ()),
        ("A: 1", ["A"], ()),
        ({"A": None}, {"A": None}, ()),
        ({"A": 1}, {"A": [None, 1, ["1"]]}, ()),
        ({"A": ["1"]}, {"A": "1"}, ()),
        ({1: "1"}, {None: ["1"]}, ()),
    ],
)
def test_single_and_multi_value_headers_are_merged_and_odd_types_passed_over(
    single: object, multi: object, values: tuple[str, ...]
) -> None:
    headers = Headers(single, multi)
    assert headers.get_all("a") == values
    assert headers.get("a") == (values[0] if values else None)
    assert ("a" in headers) == bool(values)


def test_headers_are_a_mapping_of_lower_case_names_to_first_values() -> None:
    headers = Headers({"Mcp-Method": "tools/call"}, {"X": ["1", "2"]})
    assert dict(headers) == {"mcp-method": "tools/call", "x": "1"}
    assert len(headers) == 2
    no_name: object = 1
    assert no_name not in headers
    with pytest.raises(KeyError):
        headers["y"]


@each_sender
def test_null_headers_are_no_headers(make_event: Any) -> None:
    event = make_event(headers=None)
    event.pop("multiValueHeaders", None)
    assert len(read_event(event).headers) == 0


@each_sender
def test_an_event_with_multi_value_headers_alone_is_read(make_event: Any) -> None:
    event = make_event(multiValueHeaders={"MCP-METHOD": ["tools/call"]})
    del event["headers"]
    assert read_event(event).headers.get_all("Mcp-Method") == ("tools/call",)


def test_the_repr_of_a_request_shows_no_token_claim_argument_or_body() -> None:
    event = http_api_event(headers={"Authorization": "Bearer hunter2", "cookie": "hunter2"}, body="hunter2")
    event["requestContext"]["authorizer"] = {"jwt": {"claims": {"sub": "hunter2"}}}
    request = read_event(event)
    assert "hunter2" not in repr(request)
    assert "authorization" in repr(request)
    assert "hunter2" not in repr(HttpResponse(200, {}, "hunter2"))


RESPONSE = HttpResponse(400, {"Content-Type": "application/json"}, BODY)


@pytest.mark.parametrize("make_event", [http_api_event, function_url_event, rest_api_event])
def test_api_gateway_and_function_urls_get_status_headers_and_text(make_event: Any) -> None:
    assert write_response(RESPONSE, read_event(make_event())) == {
        "statusCode": 400,
        "headers": {"Content-Type": "application/json"},
        "body": BODY,
        "isBase64Encoded": False,
    }


def test_a_load_balancer_gets_the_status_phrase_too() -> None:
    assert write_response(RESPONSE, read_event(alb_event())) == {
        "statusCode": 400,
        "statusDescription": "400 Bad Request",
        "headers": {"Content-Type": "application/json"},
        "body": BODY,
        "isBase64Encoded": False,
    }


def test_a_load_balancer_that_sends_multi_value_headers_gets_multi_value_headers() -> None:
    event = alb_event(multiValueHeaders={"content-type": ["application/json"]})
    del event["headers"]
    assert write_response(RESPONSE, read_event(event)) == {
        "statusCode": 400,
        "statusDescription": "400 Bad Request",
        "multiValueHeaders": {"Content-Type": ["application/json"]},
        "body": BODY,
        "isBase64Encoded": False,
    }


def test_an_event_that_could_not_be_read_is_answered_in_the_common_shape() -> None:
    answer = write_response(RESPONSE, None)
    assert answer == write_response(RESPONSE, read_event(http_api_event()))


@each_sender
def test_every_answer_is_json(make_event: Any) -> None:
    answer = write_response(HttpResponse(202, {}, ""), read_event(make_event()))
    assert json.loads(json.dumps(answer)) == answer
    assert answer["body"] == ""


odd = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
odder = st.recursive(
    odd,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
MEMBERS = [
    "headers",
    "multiValueHeaders",
    "body",
    "isBase64Encoded",
    "path",
    "rawPath",
    "httpMethod",
    "requestContext",
    "version",
]
CONTEXT = ["http", "stage", "path", "authorizer", "domainName", "elb"]


@given(
    st.sampled_from(SENDERS),
    st.dictionaries(st.sampled_from(MEMBERS), odder),
    st.dictionaries(st.sampled_from(CONTEXT), odder),
)
@settings(derandomize=True, deadline=None, max_examples=500)
def test_no_event_makes_anything_but_a_protocol_error_escape(
    sender: Any, members: dict[str, Any], context: dict[str, Any]
) -> None:
    make_event, _ = sender
    event = make_event()
    event["requestContext"] |= context
    event |= members
    try:
        request = read_event(event)
    except ProtocolError as error:
        assert error.fault in {Fault.INVALID_REQUEST, Fault.PARSE}  # noqa: PT017 -- some of these are readable
        return
    assert isinstance(request, HttpRequest)
    assert request.path.startswith("/")
    assert write_response(RESPONSE, request)["body"] == BODY


@given(odder)
@settings(derandomize=True, deadline=None)
def test_no_value_at_all_makes_anything_but_a_protocol_error_escape(event: object) -> None:
    with pytest.raises(ProtocolError):
        read_event(event)
