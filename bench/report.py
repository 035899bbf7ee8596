"""The table in docs/performance.md, between two marks."""

import json
import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path

from bench.processes import PYTHON, output
from local.environment import ROOT

PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- made by make bench: begin -->", "<!-- made by make bench: end -->"


def machine(interpreter: Path = PYTHON) -> str:
    """What the figures were taken on. interpreter: the measured one, with the SDK beside it."""
    found = (
        re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        if Path("/proc/cpuinfo").exists()
        else None
    )
    model = found[1] if found else platform.processor()
    ask = "import json, platform, importlib.metadata as of; print(json.dumps([platform.python_version(), of.version('mcp')]))"
    python, sdk = json.loads(output([interpreter, "-c", ask], os.environ))
    day = datetime.now(UTC).date().isoformat()
    return (
        f"Medians, with the quartiles around them; {day}, {os.cpu_count()} cores ({model}), CPython {python}, "
        f"official SDK {sdk}."
    )


def write(table: str) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"{PAGE} has no place for the table: {BEGIN} … {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}")
