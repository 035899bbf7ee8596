"""The small AWS client: signed as botocore signs, answers as botocore answers, and given up as quickly."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

from mrtr import aws
from mrtr.signed import Credentials, SignedClient

ACCESS_KEY, SECRET_KEY, SESSION = "AKIDEXAMPLE", "made-up-secret-key", "made-up-session"
Answer = tuple[int, dict[str, str], bytes]


class Stand:
    """A server on loopback that gives the answers it was told to, in turn, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer | None] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.connections: set[int] = set()
        stand = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                stand.requests.append((self.path, headers, body))
                stand.connections.add(self.client_address[1])
                answer = stand.answers.pop(0)
                if answer is None:  # the connection ends without a word
                    self.close_connection = True
                    return
                status, extra, content = answer
                self.send_response(status)
                for name, value in {**extra, "content-length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.block_on_close = False  # a client may still hold its connection
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def stand() -> Iterator[Stand]:
    stand = Stand()
    yield stand
    stand.close()


OPEN: list[SignedClient] = []


@pytest.fixture(autouse=True)
def no_connection_is_left_open() -> Iterator[None]:
    yield
    while OPEN:
        OPEN.pop().close()


def client(service: str, url: str, *, attempts: int = 1, read_timeout_s: float = 5, token: str | None = None) -> Any:
    made = SignedClient(
        service,
        "eu-central-1",
        url,
        lambda: Credentials(ACCESS_KEY, SECRET_KEY, token),
        connect_timeout_s=1,
        read_timeout_s=read_timeout_s,
        attempts=attempts,
    )
    OPEN.append(made)
    return made


def ok(value: object) -> Answer:
    return 200, {}, json.dumps(value).encode()


def refusal(code: str, status: int = 400, **more: object) -> Answer:
    return status, {}, json.dumps({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", **more}).encode()


@pytest.mark.parametrize("token", [None, SESSION])
@pytest.mark.parametrize(
    ("service", "path", "body"),
    [
        ("dynamodb", "/", b'{"TableName":"claims"}'),
        ("lambda", "/2015-03-31/functions/stack-tool-a_b/invocations", "é".encode()),
    ],
)
def test_a_request_is_signed_as_botocore_signs_it(service: str, path: str, body: bytes, token: str | None) -> None:
    at = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
    url = f"https://{service}.eu-central-1.amazonaws.com"
    headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": "DynamoDB_20120810.PutItem"}
    ours = client(service, url, token=token)._signed(path, headers, body, at)

    request = AWSRequest("POST", url + path, headers=headers, data=body)
    request.headers["X-Amz-Date"] = ours["x-amz-date"]
    request.context["timestamp"] = ours["x-amz-date"]
    if token:
        request.headers["X-Amz-Security-Token"] = token
    signer = SigV4Auth(BotoCredentials(ACCESS_KEY, SECRET_KEY, token), service, "eu-central-1")
    to_sign = signer.string_to_sign(request, signer.canonical_request(request))
    assert ours["x-amz-date"] == "20261130T120000Z"
    assert ours["authorization"].endswith(f"Signature={signer.signature(to_sign, request)}")
    assert ("x-amz-security-token" in ours) == (token is not None)


def test_bytes_go_out_as_base64_and_come_back_as_bytes(stand: Stand) -> None:
    stand.answers = [ok({"Item": {"id": {"B": base64.b64encode(b"\x00\xff").decode()}, "status": {"S": "done"}}})]
    answer = client("dynamodb", stand.url).get_item(TableName="claims", Key={"id": {"B": b"\x00\xff"}})
    path, headers, body = stand.requests[0]
    assert (path, headers["x-amz-target"]) == ("/", "DynamoDB_20120810.GetItem")
    assert json.loads(body) == {"TableName": "claims", "Key": {"id": {"B": "AP8="}}}
    assert answer == {"Item": {"id": {"B": b"\x00\xff"}, "status": {"S": "done"}}}


def test_a_failed_condition_carries_the_item_that_was_there(stand: Stand) -> None:
    stand.answers = [refusal("ConditionalCheckFailedException", Item={"owner": {"B": "AQ=="}}, message="no")]
    with pytest.raises(ClientError) as caught:
        client("dynamodb", stand.url, attempts=2).put_item(TableName="claims", Item={})
    response: Any = caught.value.response
    assert response["Error"]["Code"] == "ConditionalCheckFailedException"
    assert response["Item"] == {"owner": {"B": b"\x01"}}
    assert len(stand.requests) == 1


@pytest.mark.parametrize("answer", [refusal("ThrottlingException"), (503, {}, b""), (500, {}, b"not JSON"), None])
def test_what_failed_in_passing_is_tried_again_and_no_more_than_allowed(stand: Stand, answer: Answer | None) -> None:
    stand.answers = [answer, ok({"Item": {}})]
    assert client("dynamodb", stand.url, attempts=2).get_item(TableName="claims", Key={}) == {"Item": {}}
    stand.answers = [answer, answer, ok({})]
    with pytest.raises((ClientError, ConnectionClosedError)):
        client("dynamodb", stand.url, attempts=2).get_item(TableName="claims", Key={})
    assert len(stand.requests) == 4


def test_one_connection_serves_many_requests(stand: Stand) -> None:
    dynamodb = client("dynamodb", stand.url)
    stand.answers = [ok({}), ok({}), refusal("ValidationException"), ok({})]
    dynamodb.get_item(TableName="claims", Key={})
    dynamodb.get_item(TableName="claims", Key={})
    with pytest.raises(ClientError, match="ValidationException"):
        dynamodb.get_item(TableName="claims", Key={})
    dynamodb.get_item(TableName="claims", Key={})
    assert len(stand.connections) == 1


def test_a_connection_that_the_other_side_closed_is_made_anew(stand: Stand) -> None:
    lambda_ = client("lambda", stand.url)
    stand.answers = [(200, {"connection": "close"}, b"{}"), ok({})]
    lambda_.invoke(FunctionName="f", Payload=b"{}")
    lambda_.invoke(FunctionName="f", Payload=b"{}")
    assert len(stand.connections) == 2


def test_a_function_is_invoked_with_its_payload_as_it_is_and_its_failure_is_told(stand: Stand) -> None:
    stand.answers = [
        (200, {"X-Amz-Function-Error": "Unhandled"}, b'{"errorMessage": "x"}'),
        (200, {}, b'{"statusCode": 200}'),
    ]
    lambda_ = client("lambda", stand.url)
    failed = lambda_.invoke(FunctionName="stack-tool-delete_note", Payload=b'{"a": 1}')
    assert failed["FunctionError"] == "Unhandled"
    assert stand.requests[0][0] == "/2015-03-31/functions/stack-tool-delete_note/invocations"
    assert stand.requests[0][2] == b'{"a": 1}'
    answered = lambda_.invoke(FunctionName="stack-tool-delete_note", Payload=b"{}")
    assert "FunctionError" not in answered
    assert answered["Payload"].read() == b'{"statusCode": 200}'


def test_lambdas_own_refusal_has_its_code(stand: Stand) -> None:
    stand.answers = [(429, {"x-amzn-ErrorType": "TooManyRequestsException:http://internal"}, b'{"Reason": "x"}')]
    with pytest.raises(ClientError) as caught:
        client("lambda", stand.url).invoke(FunctionName="f", Payload=b"{}")
    assert caught.value.response["Error"]["Code"] == "TooManyRequestsException"


def test_nobody_listening_is_an_error_of_the_connection() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    with pytest.raises(EndpointConnectionError):
        client("kms", f"http://127.0.0.1:{free}", attempts=2).generate_mac(KeyId="k")


def test_silence_is_a_read_timeout() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()  # the kernel accepts, nobody answers
        with pytest.raises(ReadTimeoutError):
            client("kms", f"http://127.0.0.1:{silent.getsockname()[1]}", read_timeout_s=0.05).generate_mac(KeyId="k")


def test_a_connection_that_is_not_taken_is_a_connect_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object, **__: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("http.client.HTTPConnection.connect", slow)
    with pytest.raises(ConnectTimeoutError):
        client("kms", "http://127.0.0.1:9").generate_mac(KeyId="k")


def test_neither_client_nor_credentials_show_a_key() -> None:
    shown = repr(client("dynamodb", "http://127.0.0.1:9", token=SESSION)) + repr(
        Credentials(ACCESS_KEY, SECRET_KEY, SESSION)
    )
    assert not any(secret in shown for secret in (ACCESS_KEY, SECRET_KEY, SESSION))


@pytest.mark.parametrize("method", ["_private", "meta"])
def test_what_is_no_action_is_no_method(method: str) -> None:
    with pytest.raises(AttributeError):
        getattr(client("lambda", "http://127.0.0.1:9"), method)


LAMBDA_ENV = {
    "AWS_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
    "AWS_SESSION_TOKEN": SESSION,
}


@pytest.mark.parametrize(
    "change",
    [
        {"AWS_ACCESS_KEY_ID": ""},
        {"AWS_CA_BUNDLE": "/etc/ssl/own.pem"},
        {"HTTPS_PROXY": "http://proxy.example.com"},
        {"AWS_USE_FIPS_ENDPOINT": "true"},
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566/behind/a/path"},
    ],
)
def test_an_environment_that_is_not_a_plain_functions_is_left_to_botocore(change: dict[str, str]) -> None:
    assert aws._is_plain(LAMBDA_ENV, "eu-central-1")
    assert not aws._is_plain({**LAMBDA_ENV, **change}, "eu-central-1")


@pytest.mark.parametrize("region", ["", "local", "us-iso-east-1", "us-isob-east-1"])
def test_a_region_of_another_kind_is_left_to_botocore(region: str) -> None:
    assert not aws._is_plain(LAMBDA_ENV, region)


@pytest.mark.parametrize(
    ("env", "service", "region", "endpoint"),
    [
        ({}, "dynamodb", "eu-central-1", "https://dynamodb.eu-central-1.amazonaws.com"),
        ({}, "kms", "cn-north-1", "https://kms.cn-north-1.amazonaws.com.cn"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:4566"}, "lambda", "eu-central-1", "http://127.0.0.1:4566"),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://127.0.0.1:2"},
            "secretsmanager",
            "eu-central-1",
            "http://127.0.0.1:2",
        ),
        (
            {"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
            "kms",
            "us-gov-west-1",
            "https://kms.us-gov-west-1.amazonaws.com",
        ),
    ],
)
def test_the_endpoint_is_the_regions_or_the_one_configured(
    env: dict[str, str], service: str, region: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SECRETS_MANAGER", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert aws._endpoint(service, region) == endpoint
