"""A client for the few AWS actions that the runtime itself needs: one signed POST each (AWS Signature Version 4), over the standard library.

It is there for cold starts. botocore reads its models of every service and endpoint before its first request, which takes longer than
everything else that a function does before it has answered; this takes a tenth of it. It looks like botocore's client to its callers and
raises botocore's exceptions. `aws.client` says when it is used.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import select
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BytesIO
from typing import Any
from urllib.parse import quote, urlsplit

from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
)

_JSON_TARGETS = {
    "dynamodb": ("application/x-amz-json-1.0", "DynamoDB_20120810"),
    "secretsmanager": ("application/x-amz-json-1.1", "secretsmanager"),
    "kms": ("application/x-amz-json-1.1", "TrentService"),
}
SERVICES = frozenset({*_JSON_TARGETS, "lambda"})

_AGAIN = frozenset(
    {
        *(
            "ThrottlingException",
            "ProvisionedThroughputExceededException",
            "RequestLimitExceeded",
            "TransactionInProgressException",
        ),
        *(
            "InternalServerError",
            "InternalServiceError",
            "InternalFailure",
            "ServiceUnavailable",
            "KMSInternalException",
        ),
    }
)
_PAUSE_S = 0.2
"""The longest pause before another attempt; how long it is, is drawn, so that many instances do not come back at one moment."""
_IDLE_S = 20
"""A connection that was unused for longer is made anew: a frozen instance does not see that the other side has closed it."""


class Credentials:
    """What requests are signed with. Its repr shows nothing."""

    __slots__ = ("access_key", "secret_key", "token")

    def __init__(self, access_key: str, secret_key: str, token: str | None) -> None:
        self.access_key = access_key
        self.secret_key = secret_key
        self.token = token


class SignedClient:
    """service: one of SERVICES. endpoint: its URL. credentials: read anew for every request. Times in seconds.

    Methods are named as botocore's, `put_item(TableName=…, …)`, and answer likewise; `invoke` is Lambda's.
    """

    def __init__(
        self,
        service: str,
        region: str,
        endpoint: str,
        credentials: Callable[[], Credentials],
        *,
        connect_timeout_s: float,
        read_timeout_s: float,
        attempts: int,
    ) -> None:
        self._service = service
        self._region = region
        self._endpoint = urlsplit(endpoint)
        self._credentials = credentials
        self._connect_timeout_s = connect_timeout_s
        self._read_timeout_s = read_timeout_s
        self._attempts = attempts
        self._lock = threading.Lock()
        self._connection: HTTPConnection | None = None
        self._used_at = 0.0

    def __repr__(self) -> str:
        return f"SignedClient({self._service!r})"

    def __getattr__(self, method: str) -> Callable[..., dict[str, Any]]:
        if method.startswith("_") or self._service not in _JSON_TARGETS:
            raise AttributeError(method)
        action = "".join(part.title() for part in method.split("_"))

        def call(**request: Any) -> dict[str, Any]:
            return self._json_action(action, request)

        return call

    def invoke(self, *, FunctionName: str, Payload: bytes) -> dict[str, Any]:  # noqa: N803 - AWS's names
        """Lambda's Invoke, and wait for the answer: `Payload` (a readable) and, if the function failed, `FunctionError`."""
        path = f"/2015-03-31/functions/{quote(FunctionName, safe='')}/invocations"
        response, body = self._send("Invoke", path, {"content-type": "application/json"}, Payload)
        answer: dict[str, Any] = {"StatusCode": response.status, "Payload": BytesIO(body)}
        failed = response.headers.get("X-Amz-Function-Error")
        return {**answer, "FunctionError": failed} if failed else answer

    def _json_action(self, action: str, request: Mapping[str, Any]) -> dict[str, Any]:
        content_type, target = _JSON_TARGETS[self._service]
        headers = {"content-type": content_type, "x-amz-target": f"{target}.{action}"}
        body = json.dumps(request, default=_base64).encode()
        _, answer = self._send(action, "/", headers, body)
        parsed: dict[str, Any] = json.loads(answer, object_hook=_with_bytes) if answer else {}
        return parsed

    def _send(self, action: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[HTTPResponse, bytes]:
        """One request, again as often as `attempts` allow when it failed in passing. Raises ClientError or a connection's error."""
        for left in range(self._attempts - 1, -1, -1):
            try:
                response, answer = self._exchange(path, headers, body)
            except (ConnectTimeoutError, EndpointConnectionError, ConnectionClosedError, ReadTimeoutError):
                if not left:
                    raise
            else:
                if response.status < 300:
                    return response, answer
                error = _client_error(response, answer, action)
                if not left or not (response.status >= 500 or error.response["Error"].get("Code") in _AGAIN):
                    raise error
            time.sleep(_PAUSE_S * os.urandom(1)[0] / 255)
        raise AssertionError("there is at least one attempt")

    def _exchange(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[HTTPResponse, bytes]:
        with self._lock:
            connection = self._connected()
            url = self._endpoint.geturl()
            try:
                connection.request("POST", path, body, self._signed(path, headers, body, datetime.now(UTC)))
                response = connection.getresponse()
                answer = response.read()
            except TimeoutError as error:
                self.close()
                raise ReadTimeoutError(endpoint_url=url, error=error) from None
            except (HTTPException, OSError) as error:
                self.close()
                raise ConnectionClosedError(endpoint_url=url, error=error) from None
            self._used_at = time.monotonic()
            return response, answer

    def _connected(self) -> HTTPConnection:
        connection = self._connection
        if connection is not None and (connection.sock is None or self._is_stale(connection)):
            self.close()
            connection = None
        if connection is None:
            kind = HTTPSConnection if self._endpoint.scheme == "https" else HTTPConnection
            host = self._endpoint.hostname or ""
            connection = kind(host, self._endpoint.port, timeout=self._connect_timeout_s)
            try:
                connection.connect()
            except TimeoutError as error:
                raise ConnectTimeoutError(endpoint_url=self._endpoint.geturl(), error=error) from None
            except OSError as error:
                raise EndpointConnectionError(endpoint_url=self._endpoint.geturl(), error=error) from None
            connection.sock.settimeout(self._read_timeout_s)
            self._connection = connection
        return connection

    def _is_stale(self, connection: HTTPConnection) -> bool:
        """Whether the other side may have closed it: unused for long, or something to read where nothing was asked."""
        return time.monotonic() - self._used_at > _IDLE_S or bool(select.select([connection.sock], [], [], 0)[0])

    def close(self) -> None:
        """End the connection; the next request makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _signed(self, path: str, headers: Mapping[str, str], body: bytes, at: datetime) -> dict[str, str]:
        """The headers with a signature over all of them and the body (AWS Signature Version 4, 'Create a signed request')."""
        credentials = self._credentials()
        now = at.strftime("%Y%m%dT%H%M%SZ")
        scope = f"{now[:8]}/{self._region}/{self._service}/aws4_request"
        signed = {**headers, "host": self._endpoint.netloc, "x-amz-date": now}
        if credentials.token:
            signed["x-amz-security-token"] = credentials.token
        names = ";".join(sorted(signed))
        lines = "".join(f"{name}:{signed[name].strip()}\n" for name in sorted(signed))
        canonical = f"POST\n{quote(path)}\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        key = f"AWS4{credentials.secret_key}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        signature = hmac.new(key, f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{digest}".encode(), "sha256").hexdigest()
        credential = f"Credential={credentials.access_key}/{scope}"
        signed["authorization"] = f"AWS4-HMAC-SHA256 {credential}, SignedHeaders={names}, Signature={signature}"
        del signed["host"]  # http.client sends it itself
        return signed


def _client_error(response: HTTPResponse, body: bytes, action: str) -> ClientError:
    try:
        parsed = json.loads(body, object_hook=_with_bytes)
    except ValueError:
        parsed = {}
    if not isinstance(parsed, dict):
        parsed = {}
    named = (
        response.headers.get("x-amzn-ErrorType") or parsed.get("__type") or parsed.get("code") or str(response.status)
    )
    code = str(named).split(":", 1)[0].rsplit("#", 1)[-1]
    error = {"Code": code, "Message": str(parsed.get("message") or parsed.get("Message") or "")}
    answer: Any = {"Error": error, "ResponseMetadata": {"HTTPStatusCode": response.status}}
    if "Item" in parsed:
        answer["Item"] = parsed["Item"]  # of a conditional write that failed
    return ClientError(answer, action)


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} does not go into a request")


def _with_bytes(value: dict[str, Any]) -> dict[str, Any]:
    """The members that hold bytes: a DynamoDB attribute of type B, and KMS's Mac."""
    for name in ("B", "Mac"):
        if isinstance(value.get(name), str):
            value[name] = base64.b64decode(value[name])
    return value
