"""What `make conformance` makes of the suite's reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local.conformance import SCORED, WANTED, Report, read, show


def write(folder: Path, scenario: str, *statuses: str, message: str | None = None) -> None:
    report = folder / f"server-{scenario}-2026-11-30T01-45-47-123Z"
    report.mkdir(parents=True)
    checks = [{"name": "Check", "status": status, "errorMessage": message} for status in statuses]
    (report / "checks.json").write_text(json.dumps(checks), encoding="utf-8")


def clean(folder: Path) -> None:
    for number in range(SCORED):
        write(folder, f"scenario-{number}", "SUCCESS", "INFO", "SKIPPED")
    for scenario in WANTED:
        write(folder, scenario, "SUCCESS")


def test_a_run_without_failures_and_warnings_is_clean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean(tmp_path)

    report = read(tmp_path)
    show(report, "here")

    assert report.is_clean()
    assert report.scenarios == {f"scenario-{number}" for number in range(SCORED)} | WANTED
    assert "here: 37/37 scored scenarios, 3/3 of" in capsys.readouterr().out


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
def test_one_failure_or_warning_is_shown_and_spoils_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], status: str
) -> None:
    clean(tmp_path)
    (one,) = tmp_path.glob("server-scenario-7-*")
    checks = [{"name": "Check", "status": "SUCCESS"}, {"name": "Check", "status": status, "errorMessage": "was wrong"}]
    (one / "checks.json").write_text(json.dumps(checks), encoding="utf-8")

    report = read(tmp_path)
    show(report, "here")

    assert not report.is_clean()
    assert f"{status} scenario-7: Check: was wrong" in capsys.readouterr().out


def test_a_scenario_that_did_not_run_spoils_the_run(tmp_path: Path) -> None:
    clean(tmp_path)

    assert not Report([check for check in read(tmp_path).checks if check.scenario != "scenario-3"]).is_clean()


def test_the_extension_that_is_not_offered_is_left_out(tmp_path: Path) -> None:
    clean(tmp_path)
    write(tmp_path, "tasks-lifecycle", "FAILURE", message="not offered")

    report = read(tmp_path)

    assert report.is_clean()
    assert not report.problems
