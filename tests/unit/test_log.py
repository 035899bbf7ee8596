from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from mrtr.log import log, log_exception
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
    """What a fresh process with these variables logs at each level."""
    script = (
        "from mrtr.log import log; [getattr(log(), level)(level) for level in ('debug', 'info', 'warning', 'error')]"
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
        (None, ["info", "warning", "error"]),
        ("ERROR", ["error"]),
        ("debug", ["debug", "info", "warning", "error"]),
        ("LOUD", ["info", "warning", "error"]),
        ("", ["info", "warning", "error"]),
    ],
)
def test_the_level_comes_from_the_environment_and_nonsense_is_the_default(
    level: str | None, logged_levels: list[str]
) -> None:
    lines = in_a_fresh_process(**({} if level is None else {"MRTR_LOG_LEVEL": level}))
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
