"""`make conformance`: the public conformance suite against the deployed stack's runtime, by way of a front door and directly.

    python -m local.conformance [--keep FOLDER]

Deploys tests/conformance beside askback on the local stack and runs `conformance server --requirements 2026-07-28` against both
addresses. Prints every failure and warning with its message; exits with 0 only when there is none.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from local import aws, build, deploy, node
from local.environment import ROOT, WORK, say
from local.stack import NO_SCHEDULE, STACK

SOURCE = ROOT / "tests" / "conformance"
REVISION = "2026-07-28"
SCORED = 37
# Run by the suite without being scored, and wanted here all the same.
WANTED = frozenset({"http-header-validation", "http-custom-header-server-validation", "json-schema-2020-12"})
# An extension of the protocol that is not offered.
NOT_OFFERED = "tasks-"
SUITE_S = 300
# A report's folder: server-SCENARIO-TIME, the time as in 2026-11-30T01-45-47.
NAMED = re.compile(r"^server-|-\d{4}-\d\d-\d\dT.*$")


class SuiteError(Exception):
    """The suite did not run; the message holds what it printed."""


@dataclass(frozen=True)
class Check:
    """One check of a scenario. `message` says what was wrong with it."""

    scenario: str
    name: str
    status: str
    message: str


@dataclass(frozen=True)
class Report:
    """What a run of the suite found."""

    checks: Sequence[Check]

    @property
    def scenarios(self) -> set[str]:
        return {check.scenario for check in self.checks}

    @property
    def problems(self) -> list[Check]:
        return [check for check in self.checks if check.status in ("FAILURE", "WARNING")]

    def passed(self, scenarios: set[str]) -> int:
        """How many of them ran without a failure or a warning."""
        return len((scenarios & self.scenarios) - {check.scenario for check in self.problems})

    @property
    def scored(self) -> set[str]:
        return self.scenarios - WANTED

    def is_clean(self) -> bool:
        """Every scenario that counts ran, and nothing failed or warned."""
        return not self.problems and len(self.scored) == SCORED and self.scenarios >= WANTED


def staged() -> Path:
    """The template with the code that it deploys: the fixture, and the front door with the fixture's own catalog."""
    folder = WORK / "conformance"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE / "functions", folder / "functions", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCE / "template.yaml", folder)
    door = folder / "functions" / "front_door"
    door.mkdir()
    shutil.copy(ROOT / "functions" / "front_door" / "app.py", door)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "mrtr"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mrtr.catalog", folder / "functions", "--name", "conformance"],
        check=False, env=environment, text=True, capture_output=True,
    )  # fmt: skip
    if done.returncode:
        raise SuiteError(f"the fixture has no catalog:\n{done.stderr}")
    return folder / "template.yaml"


@contextmanager
def deployed() -> Iterator[str]:
    """The address of the fixture's front door; the function itself is at `<address>/everything`."""
    template = build.build()
    fixture = staged()
    with aws.running() as emulated:
        askback = deploy.deploy(emulated, template, STACK, NO_SCHEDULE).resources
        parameters = {name: askback[name] for name in ("ClaimTable", "AskPolicy", "ClaimPolicy")}
        parameters["KeyRing"] = askback["KeyRingSecret"]
        parameters["Layer"] = next(askback[name] for name in askback if name.startswith("MrtrLayer"))  # SAM adds a hash
        deploy.deploy(emulated, fixture, f"{STACK}-conformance", parameters)
        yield f"{emulated.api_url}/mcp"


def suite(program: node.Installed, url: str, output: Path, *arguments: str) -> str:
    """Run the suite; what it printed."""
    index = program.modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    done = subprocess.run(
        [program.node, index, "server", "--url", url, "--output-dir", output, *arguments],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        timeout=SUITE_S,
    )  # fmt: skip
    return done.stdout


def read(output: Path) -> Report:
    """The checks that the suite wrote down, without those of what is not offered."""
    checks = []
    for file in sorted(output.glob("server-*/checks.json")):
        scenario = NAMED.sub("", file.parent.name)
        if not scenario.startswith(NOT_OFFERED):
            found = json.loads(file.read_text(encoding="utf-8"))
            checks += [Check(scenario, one["name"], one["status"], one.get("errorMessage") or "") for one in found]
    return Report(checks)


def show(report: Report, url: str) -> None:
    for check in report.problems:
        print(f"{check.status} {check.scenario}: {check.name}: {check.message}")
    skipped = sum(check.status == "SKIPPED" for check in report.checks)
    warnings = sum(check.status == "WARNING" for check in report.checks)
    print(
        f"{url}: {report.passed(report.scored)}/{SCORED} scored scenarios, {report.passed(set(WANTED))}/{len(WANTED)} of"
        f" {', '.join(sorted(WANTED))}; {len(report.checks)} checks, {warnings} warnings, {skipped} skipped",
        flush=True,
    )


def run(program: node.Installed, url: str, output: Path) -> Report:
    """Both runs that it takes: the first warms the functions up, because some probes wait for half a second only."""
    suite(program, url, output / "warm", "--scenario", "server-stateless", "--spec-version", REVISION)
    printed = suite(program, url, output / "run", "--requirements", REVISION)
    report = read(output / "run")
    if not report.checks:
        raise SuiteError(f"the conformance suite did not run:\n{printed}")
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m local.conformance", description="Run the conformance suite.")
    parser.add_argument("--keep", type=Path, help="a folder for the suite's own reports, otherwise discarded")
    keep = parser.parse_args(arguments).keep
    good = bad = 0
    try:
        program = node.installed(SOURCE)
        with tempfile.TemporaryDirectory() as temporary, deployed() as url:
            for name, address in (("front-door", url), ("directly", f"{url}/everything")):
                started = time.monotonic()
                report = run(program, address, (keep or Path(temporary)) / name)
                show(report, address)
                say(f"took {time.monotonic() - started:.0f} s")
                good += report.passed(report.scenarios)
                bad += len(report.scenarios) - report.passed(report.scenarios) + (not report.is_clean())
    except (aws.AwsError, build.BuildError, deploy.DeployError, node.NodeError, SuiteError) as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"conformance: {good} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
