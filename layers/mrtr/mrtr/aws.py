"""AWS clients with short time limits, made on first use and kept: the only thing of AWS that outlives an invocation."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

CONNECT_TIMEOUT_S = 1
READ_TIMEOUT_S = 2
ATTEMPTS = 2

_FOR_BOTOCORE = (
    "AWS_CA_BUNDLE",
    "AWS_USE_FIPS_ENDPOINT",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
)
"""Settings that only botocore knows how to follow."""


@functools.cache
def client(service: str, *, read_timeout_s: float = READ_TIMEOUT_S, attempts: int = ATTEMPTS) -> Any:
    """A client of `service` that gives up within a few seconds, well inside a function's own time limit.

    It is the small one of `signed` where that can do what is asked: nothing has loaded botocore yet (a tool that uses boto3 has, and so
    have tests that put a stand-in for AWS behind it), and the environment is that of a plain Lambda function. Otherwise it is botocore's.
    """
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""
    if "botocore.session" not in sys.modules and _is_plain(os.environ, region):
        return _signed_client(service, region, read_timeout_s, attempts)
    from botocore.config import Config
    from botocore.session import get_session

    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": attempts},
    )
    return get_session().create_client(service, config=config)


def cause(error: Exception, service_action: str, resource: str) -> str:
    """What failed, for the log: the action, the resource and the error's code; never a message that could quote a request."""
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return f"{service_action} on {resource} failed: {code or type(error).__name__}"


def _is_plain(env: Mapping[str, str], region: str) -> bool:
    """Credentials in the environment, as Lambda puts them there, a region of the usual partitions, and nothing that changes endpoints."""
    has_keys = bool(env.get("AWS_ACCESS_KEY_ID") and env.get("AWS_SECRET_ACCESS_KEY"))
    usual = region.count("-") >= 2 and not region.startswith(("us-iso", "eu-iso"))
    rooted = all(urlsplit(url).path in ("", "/") for name, url in env.items() if name.startswith("AWS_ENDPOINT_URL"))
    return has_keys and usual and rooted and not any(env.get(name) for name in _FOR_BOTOCORE)


def _signed_client(service: str, region: str, read_timeout_s: float, attempts: int) -> Any:
    from .signed import Credentials, SignedClient

    def credentials() -> Credentials:
        env = os.environ
        return Credentials(env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"], env.get("AWS_SESSION_TOKEN"))

    return SignedClient(
        service,
        region,
        _endpoint(service, region),
        credentials,
        connect_timeout_s=CONNECT_TIMEOUT_S,
        read_timeout_s=read_timeout_s,
        attempts=attempts,
    )


def _endpoint(service: str, region: str) -> str:
    own = f"AWS_ENDPOINT_URL_{service.upper().replace('SECRETSMANAGER', 'SECRETS_MANAGER')}"
    given = os.environ.get(own) or os.environ.get("AWS_ENDPOINT_URL")
    if given and os.environ.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "").lower() != "true":
        return given
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://{service}.{region}.{suffix}"
