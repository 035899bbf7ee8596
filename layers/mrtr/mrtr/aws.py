"""AWS clients with short time limits, made on first use and kept: the only thing of AWS that outlives an invocation."""

from __future__ import annotations

import functools
from typing import Any

CONNECT_TIMEOUT_S = 1
READ_TIMEOUT_S = 2
ATTEMPTS = 2


@functools.cache
def client(service: str, *, read_timeout_s: float = READ_TIMEOUT_S, attempts: int = ATTEMPTS) -> Any:
    """A client of `service` that gives up within a few seconds, well inside a function's own time limit.

    botocore is loaded here rather than at import: a cold start that asks a question needs no DynamoDB.
    """
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
