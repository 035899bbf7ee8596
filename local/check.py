"""`make check`: format, lint, types, template and catalog, each shown as it goes; all run even if one fails."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from local.environment import ROOT, sam_environment, say

BIN = ROOT / ".venv" / "bin"
SAM_BIN = ROOT / ".venv-sam" / "bin"
PATH_OF_MRTR = {"PYTHONPATH": str(ROOT / "layers" / "mrtr")}

# What is checked for types. Each function's app.py is its own module (functions.<name>.app), as pyproject.toml arranges.
TYPED = ("layers/mrtr/mrtr", "functions", "local", "bench", "tests")

Command = list[str | Path]


def checks() -> dict[str, tuple[Command, Mapping[str, str]]]:
    """Name, command line and what it adds to the environment."""
    typed = [folder for folder in TYPED if any((ROOT / folder).rglob("*.py"))]
    return {
        "format": ([BIN / "ruff", "format", "--check", "."], {}),
        "lint": ([BIN / "ruff", "check", "."], {}),
        "types": ([BIN / "mypy", *typed], {}),
        "template (cfn-lint)": ([SAM_BIN / "cfn-lint", "template.yaml"], {}),
        "template (sam validate)": ([SAM_BIN / "sam", "validate", "--lint"], sam_environment()),
        "catalog": ([BIN / "python", "-m", "mrtr.catalog", "functions", "--check"], PATH_OF_MRTR),
    }


def main() -> int:
    failed = []
    for name, (command, environment) in checks().items():
        started = time.monotonic()
        done = subprocess.run(
            command, check=False, cwd=ROOT, env={**os.environ, **environment}, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        say(f"{'ok    ' if done.returncode == 0 else 'FAILED'} {name} ({time.monotonic() - started:.0f} s)")
        if done.returncode:
            failed.append(name)
            say(done.stdout)
    if failed:
        say(f"failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
