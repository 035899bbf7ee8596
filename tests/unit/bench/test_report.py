"""The table's place in docs/performance.md."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from bench import report


def test_the_table_takes_the_place_of_the_one_before_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "performance.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    monkeypatch.setattr(report, "PAGE", page)
    report.write("new")
    assert page.read_text() == f"before\n{report.BEGIN}\n\nnew\n\n{report.END}\nafter\n"


def test_a_page_without_a_place_for_it_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "performance.md"
    page.write_text("nothing here")
    monkeypatch.setattr(report, "PAGE", page)
    with pytest.raises(SystemExit, match="no place for the table"):
        report.write("new")
    assert page.read_text() == "nothing here"


def test_the_documentation_has_a_place_for_it() -> None:
    assert report.PAGE.read_text().count(report.BEGIN) == report.PAGE.read_text().count(report.END) == 1


def test_the_head_of_the_table_says_what_was_measured_where() -> None:
    told = report.machine(Path(sys.executable))
    assert f"CPython {platform.python_version()}, official SDK {version('mcp')}." in told
    assert f"{os.cpu_count()} cores" in told
