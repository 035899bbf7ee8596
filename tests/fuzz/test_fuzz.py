"""Whatever arrives, the handler answers: it never raises, never fails, and says a sound message of the protocol or nothing at all.

A fixed, small number of cases by default, the same ones every time for the same code (Hypothesis also tries what it finds in that). `make fuzz` runs many, other ones every time.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from mrtr import FrontDoor, catalog, front_door
from mrtr.errors import ProtocolError
from mrtr.strict_json import parse
from mrtr.testing import Handler, LambdaContext, MemoryRuntime, offline
from tests import published
from tests.fuzz.cases import events
from tests.fuzz.target import loaded

CASES = int(os.environ.get("FUZZ_CASES", "1500"))
SEED = int(os.environ.get("FUZZ_SEED", "0"))
ENOUGH = 1000
"""Cases among which every kind of answer must be."""
CHUNK = 2000
"""Cases of one run of Hypothesis, which remembers what it has tried: a longer run would only get slower."""


def sent(event: Any) -> Any:
    """The message in an event, as a reader at the far end would have it; None where there is none."""
    try:
        context = event.get("requestContext")
        http = context.get("http") if isinstance(context, dict) else None
        if not isinstance(http["method"] if isinstance(http, dict) and "method" in http else event["httpMethod"], str):
            return None
        body = event["body"]
        encoded = event.get("isBase64Encoded") is True
        return parse(base64.b64decode(body, validate=True) if encoded else body.encode("utf-8", "surrogatepass"))
    except (AttributeError, KeyError, TypeError, ValueError, ProtocolError):
        return None


def check(handler: Handler, event: Any) -> tuple[int, Any]:
    """Hand the event over and look at the answer; its status, and the kind of its result or the code of its error."""
    response = handler(event, LambdaContext())

    status = response["statusCode"]
    assert status < 500, response
    response["body"].encode()  # what has no UTF-8 can't leave Lambda
    several = response.get("multiValueHeaders", {}).items()  # what a load balancer may want instead
    headers = {
        name.lower(): value for name, value in (*response.get("headers", {}).items(), *((n, v[0]) for n, v in several))
    }
    request = sent(event)
    assert published.of_response(request, status, headers, response["body"]) == [], response
    if not response["body"]:
        return status, None
    message = list(published.messages(response["body"], headers["content-type"]))[-1]
    assert isinstance(message, dict)
    known = request.get("id") if isinstance(request, dict) else None
    if isinstance(known, str | int) and not isinstance(known, bool) and status not in (403, 413):
        assert message.get("id") == known, response
    return status, message["error"]["code"] if "error" in message else message["result"]["resultType"]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> MemoryRuntime:
    monkeypatch.setenv("MRTR_LOG_LEVEL", "CRITICAL")
    return offline(loaded())


@pytest.fixture(params=["a function", "the front door"])
def handler(
    request: pytest.FixtureRequest, runtime: MemoryRuntime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Handler]:
    server = loaded()
    table = runtime.table

    def fresh(event: Any, context: Any) -> dict[str, Any]:
        if len(table.items) > 100:
            table.items.clear()
            table.actions.clear()
        return server.lambda_handler(event, context)

    if request.param == "a function":
        yield fresh
        return
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps(catalog.combine([("everything", server)], "fuzz", "1")), encoding="utf-8")
    monkeypatch.setenv("MRTR_TOOL_FUNCTION_PREFIX", "fuzz-tool-")
    monkeypatch.setattr(front_door, "_invoke", lambda _, event: fresh(json.loads(json.dumps(event)), LambdaContext()))
    yield FrontDoor(file).lambda_handler


REACHED = {
    (200, "complete"), (200, "input_required"), (202, None), (400, -32700), (400, -32600), (400, -32602), (400, -32020),
    (400, -32021), (400, -32022), (403, -32600), (404, -32601), (405, None),
}  # fmt: skip


def test_every_case_is_answered_with_a_sound_message(handler: Handler, capsys: pytest.CaptureFixture[str]) -> None:
    answers: Counter[tuple[int, Any]] = Counter()
    started = time.monotonic()
    first = SEED + (CASES if isinstance(getattr(handler, "__self__", None), FrontDoor) else 0)  # no case for both
    for start in range(0, CASES, CHUNK):

        @seed(first + start)
        @settings(
            max_examples=min(CHUNK, CASES - start),
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(events(handler))
        def run(event: Any) -> None:
            answers[check(handler, event)] += 1

        run()

    if CASES >= ENOUGH:
        assert set(answers) >= REACHED, "the cases are not as varied as they were"
    with capsys.disabled():
        told = ", ".join(
            f"{status} {kind or ''}".strip() + f": {n}" for (status, kind), n in sorted(answers.items(), key=str)
        )
        print(f"\n{answers.total()} cases in {time.monotonic() - started:.0f} s from seed {first}: {told}")  # noqa: T201
