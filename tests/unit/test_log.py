from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

import pytest

from mrtr.log import log, log_exception, log_request, request_log
from tests.unit.conftest import Logged


def blow_up(secret: str) -> None:
    raise ValueError(f"can't use {secret}")


def failure() -> ValueError:
    with pytest.raises(ValueError, match="hunter2") as raised:
        blow_up("hunter2")
    return raised.value


def test_a_line_is_json_with_its_fields(logged: Logged) -> None:
    log().info("answered", extra={"method": "tools/call", "status": 200})
    line = logged.line("answered")
    assert (line["level"], line["method"], line["status"]) == ("INFO", "tools/call", 200)


def test_the_line_of_a_request_reads_like_every_other(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
    log_request("answered", method="tools/call", status=200)
    log().info("other", extra={"method": "tools/call", "status": 200})
    ours, powertools = logged.line("answered"), logged.line("other")
    assert ours == {
        **{key: value for key, value in powertools.items() if key != "location"},
        "message": "answered",
        "timestamp": ours["timestamp"],
    }
    first, second = (datetime.fromisoformat(line["timestamp"]) for line in (ours, powertools))
    assert timedelta(0) <= second - first < timedelta(minutes=1)


def test_times_are_rfc_3339_in_utc_or_lambda_would_take_every_line_for_info(
    logged: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        log_request("answered")
        log().error("failed")
    finally:
        monkeypatch.undo()
        time.tzset()
    for line in logged.lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["timestamp"])
        assert abs(datetime.fromisoformat(line["timestamp"]) - datetime.now(UTC)) < timedelta(minutes=1)


def test_outside_of_a_trace_the_line_of_a_request_names_none(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("_X_AMZN_TRACE_ID", raising=False)
    log_request("answered", status=200)
    assert set(logged.line("answered")) == {"level", "message", "timestamp", "service", "status"}


def test_a_fact_of_a_request_that_is_not_known_is_left_out_and_any_other_is_written(logged: Logged) -> None:
    log_request("answered", correlation_id=None, status=200, odd=PurePosixPath("a/b"), text='"\n\udfff')
    line = logged.line("answered")
    assert (line["status"], line["odd"], line["text"]) == (200, "a/b", '"\n\udfff')
    assert "correlation_id" not in line


def test_whatever_else_is_written_to_the_log_of_requests_is_a_line_too(logged: Logged) -> None:
    request_log().info("from elsewhere")
    assert set(logged.line("from elsewhere")) == {"level", "message", "timestamp", "service"}


def test_a_factory_of_records_that_an_author_sets_changes_no_answer(logged: Logged) -> None:
    made = logging.getLogRecordFactory()

    def with_facts(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = made(*args, **kwargs)
        record.facts = "the author's"
        return record

    logging.setLogRecordFactory(with_facts)
    try:
        log_request("answered", status=200)
    finally:
        logging.setLogRecordFactory(made)
    assert logged.line("answered")["status"] == 200


def test_a_line_that_cant_be_written_stops_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    closed = io.StringIO()
    closed.close()
    handler: Any = request_log().handlers[0]
    before = handler.setStream(closed)
    try:
        log_request("answered", status=200)
    finally:
        handler.setStream(before)
    assert "closed file" in capsys.readouterr().err


def test_an_exception_is_logged_by_its_kind_and_place_and_not_by_its_words(logged: Logged) -> None:
    log_exception("tool failed", failure(), tool="delete_note")
    line = logged.line("tool failed")
    assert (line["level"], line["error"], line["tool"]) == ("ERROR", "ValueError", "delete_note")
    assert line["where"][-1].endswith(" blow_up")
    assert "hunter2" not in logged.text


def test_a_deep_failure_is_logged_by_its_last_frames(logged: Logged) -> None:
    def down(levels: int) -> None:
        if levels == 0:
            blow_up("hunter2")
        down(levels - 1)

    with pytest.raises(ValueError, match="hunter2") as raised:
        down(30)
    log_exception("tool failed", raised.value)
    where = logged.line("tool failed")["where"]
    assert len(where) == 8
    assert where[-1].endswith(" blow_up")


def test_at_debug_the_words_of_an_exception_are_there_too(logged: Logged) -> None:
    level = log().log_level
    log().setLevel("DEBUG")
    try:
        log_exception("tool failed", failure())
    finally:
        log().setLevel(level)
    assert "hunter2" in logged.text


def in_a_fresh_process(**environ: str) -> list[dict[str, object]]:
    """What a fresh process with these variables logs of a request, and then at each level."""
    script = (
        "from mrtr.log import log, log_request; log_request('request')\n"
        "for level in ('debug', 'info', 'warning', 'error'): getattr(log(), level)(level)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("level", "logged_levels"),
    [
        (None, ["request", "info", "warning", "error"]),
        ("INFO", ["request", "info", "warning", "error"]),
        ("warning", ["warning", "error"]),
        ("ERROR", ["error"]),
        ("debug", ["request", "debug", "info", "warning", "error"]),
        ("LOUD", ["request", "info", "warning", "error"]),
        ("", ["request", "info", "warning", "error"]),
    ],
)
def test_the_level_comes_from_the_environment_and_nonsense_is_the_default(
    level: str | None, logged_levels: list[str]
) -> None:
    lines = in_a_fresh_process(**({} if level is None else {"MRTR_LOG_LEVEL": level}))
    assert [line["message"] for line in lines] == logged_levels


@pytest.mark.parametrize(
    ("lambdas", "ours", "logged_levels"),
    [
        ("WARN", "DEBUG", ["warning", "error"]),
        ("DEBUG", "ERROR", ["request", "debug", "info", "warning", "error"]),
        ("FATAL", "INFO", []),
        ("", "ERROR", ["error"]),
    ],
)
def test_the_level_that_lambda_is_set_to_goes_before(lambdas: str, ours: str, logged_levels: list[str]) -> None:
    lines = in_a_fresh_process(AWS_LAMBDA_LOG_LEVEL=lambdas, MRTR_LOG_LEVEL=ours, PYTHONWARNINGS="ignore")
    assert [line["message"] for line in lines] == logged_levels


@pytest.mark.parametrize(
    ("environ", "service"),
    [
        ({}, "mrtr"),
        ({"AWS_LAMBDA_FUNCTION_NAME": "stack-tool-delete_note"}, "stack-tool-delete_note"),
        ({"POWERTOOLS_SERVICE_NAME": "notes", "AWS_LAMBDA_FUNCTION_NAME": "stack-tool-delete_note"}, "notes"),
    ],
)
def test_a_line_says_which_service_wrote_it(environ: dict[str, str], service: str) -> None:
    assert {line["service"] for line in in_a_fresh_process(**environ)} == {service}
