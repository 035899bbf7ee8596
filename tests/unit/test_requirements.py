"""The manifest of requirements (tests/requirements.toml) names tests that are there, and leaves no requirement without a word."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.flow.tools.legs import ROOT

MANIFEST = ROOT / "tests" / "requirements.toml"
REQUIREMENTS: list[dict[str, Any]] = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["requirement"]
NAMED = sorted({test for requirement in REQUIREMENTS for test in requirement.get("tests", [])})

# Pages of the specification that bind a server of this kind.
PAGES = {
    "basic/index",
    "basic/patterns/index",
    "basic/patterns/mrtr",
    "basic/patterns/progress",
    "basic/transports/index",
    "basic/transports/streamable-http",
    "basic/versioning",
    "client/elicitation",
    "server/discover",
    "server/prompts",
    "server/resources",
    "server/tools",
    "server/utilities/caching",
    "server/utilities/completion",
    "server/utilities/logging",
    "server/utilities/pagination",
}


@cache
def defined_in(file: Path) -> frozenset[str]:
    """The tests that pytest finds in a file: functions of the module, none of which is defined twice."""
    names = [
        node.name
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    assert len(names) == len(set(names)), f"{file} has two tests of one name: pytest runs the last"
    return frozenset(names)


@pytest.mark.parametrize("test", NAMED)
def test_a_named_test_is_there(test: str) -> None:
    file, _, name = test.partition("::")

    assert (ROOT / file).is_file()
    assert Path(file).name.startswith("test_")
    assert name in defined_in(ROOT / file)


@pytest.mark.parametrize("number", range(len(REQUIREMENTS)), ids=lambda n: f"{REQUIREMENTS[n]['page']}-{n}")
def test_a_requirement_has_a_test_or_a_reason(number: int) -> None:
    requirement = REQUIREMENTS[number]

    assert set(requirement) <= {"page", "section", "level", "says", "tests", "reason"}
    assert requirement["level"] in ("MUST", "SHOULD")
    assert requirement["section"]
    assert requirement["says"].endswith(".")
    assert requirement.get("tests") or requirement.get("reason")


def test_every_page_that_binds_a_server_is_covered() -> None:
    assert {requirement["page"] for requirement in REQUIREMENTS} == PAGES


def test_no_requirement_stands_there_twice() -> None:
    texts = [(r["page"], r["section"], r["says"]) for r in REQUIREMENTS]

    assert len(set(texts)) == len(texts)
