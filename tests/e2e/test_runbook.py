"""docs/rotation.md, carried out: every command of it, in its order, on a deployed stack with questions waiting for answers."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local import stack
from local.environment import ROOT, aws_environment
from local.soak import Answer, post
from mrtr.testing import accept, call_event

BLOCKS = re.findall(
    r"^```sh\n(.*?)^```$", (ROOT / "docs" / "rotation.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)
Carrier = Callable[[int], list[str]]
LOOK, ROTATE, REVOKE, BOTH_OPEN, OTHER_SEALS, OLD_ONE_GONE, GENERATION = range(7)


@pytest.fixture(scope="module")
def own() -> Iterator[stack.Stack]:
    """A stack of this module's: it ends with other keys than it began with."""
    with stack.running() as askback:
        yield askback


@pytest.fixture
def run(own: stack.Stack, tmp_path: Path) -> Carrier:
    commands = {
        "aws": f'exec {sys.executable} -m tests.e2e.commands aws "$@"',
        "sam": f'exec {sys.executable} -m tests.e2e.commands sam "$@"',
        "python": f'exec {sys.executable} "$@"',
    }
    for name, line in commands.items():
        (tmp_path / name).write_text(
            f"#!/bin/sh\nPYTHONPATH=$PYTHONPATH:{ROOT}:{ROOT}/layers/mrtr\nexport PYTHONPATH\n{line}\n"
        )
        (tmp_path / name).chmod(0o755)
    environment = aws_environment(own.aws_endpoint_url) | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "STACK": json.dumps(dataclasses.asdict(own), default=str),
    }

    def block(number: int) -> list[str]:
        before = BLOCKS[LOOK].rpartition("python -m")[0] if number != LOOK and "$RING" in BLOCKS[number] else ""
        done = subprocess.run(
            ["bash", "-eu", "-c", before + BLOCKS[number]], cwd=ROOT, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout.splitlines()

    return block


def ask(own: stack.Stack, note: str = "7") -> Answer:
    own.seed()
    asked = post(own.endpoint, call_event("delete_note", {"note_id": note}))
    assert asked.asks, asked
    return asked


def answer(own: stack.Stack, asked: Answer, note: str = "7") -> Answer:
    """On a process that has read the ring anew, as every one has after some minutes."""
    own.fresh()
    return post(
        own.endpoint,
        call_event(
            "delete_note",
            {"note_id": note},
            state=asked.result["requestState"],
            answers={"ask_to_confirm": accept(confirm=True)},
        ),
    )


def test_the_runbook_has_the_commands_that_are_carried_out_here() -> None:
    assert len(BLOCKS) == 7


def test_the_runbook_works_from_its_first_command_to_its_last(own: stack.Stack, run: Carrier) -> None:
    assert run(LOOK) == ["k1 seals and opens"]

    waiting = ask(own)
    lines = run(ROTATE)
    assert [line.split()[0] for line in lines[-2:]] == ["k1", "k2"]
    assert "k2 opens, and seals from" in lines[-1]
    assert answer(own, waiting).text == "Deleted note 7."

    waiting = ask(own)
    lines = run(REVOKE)
    assert lines[0].startswith("k1 is revoked.")
    assert lines[-1] == "k2 seals and opens"
    assert answer(own, waiting).status == 400
    assert answer(own, ask(own)).text == "Deleted note 7."

    before, also_before = ask(own), ask(own, "12")
    run(BOTH_OPEN)
    assert answer(own, before).text == "Deleted note 7."
    between = ask(own)
    run(OTHER_SEALS)
    assert answer(own, also_before, "12").text == "Deleted note 12."
    assert answer(own, between).text == "Deleted note 7."
    under_kms, also_under_kms = ask(own), ask(own, "12")
    run(OLD_ONE_GONE)
    assert answer(own, under_kms).text == "Deleted note 7."

    run(GENERATION)
    assert answer(own, also_under_kms, "12").status == 400
    assert answer(own, ask(own)).text == "Deleted note 7."
