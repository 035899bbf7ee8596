"""The table in docs/performance.md, between two marks."""

import os
import platform
import re
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from local.environment import ROOT

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- made by make bench: begin -->", "<!-- made by make bench: end -->"


def machine() -> str:
    """What the figures were taken on."""
    found = (
        re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        if Path("/proc/cpuinfo").exists()
        else None
    )
    model = found[1] if found else platform.processor()
    day = datetime.now(UTC).date().isoformat()
    return (
        f"Medians, with the quartiles around them; {day}, {os.cpu_count()} cores ({model}), CPython {platform.python_version()}, "
        f"official SDK {version('mcp')}."
    )


def write(table: str) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE} has no place for the table: {BEGIN} … {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")
