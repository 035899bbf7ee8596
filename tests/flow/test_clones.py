"""Lambda SnapStart resumes many instances from one process's memory: whatever was drawn before must not be drawn again by each of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from mrtr import state, token
from mrtr.testing import SETTINGS, MemoryRing
from tests.flow.cloud import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'layers/mrtr'}:{ROOT}"}

CLONES = """
import json, os, sys
from tests.flow.instance import load, server_of
from mrtr.testing import Client, offline

module = load("tests/flow/workshop.py")
tool = sys.argv[1]
runtime = offline(server_of(module))
client = Client(module.handler)
client.call(tool, {"what": "a sword"})
answers = []
for _ in range(3):
    read, write = os.pipe()
    if not os.fork():
        reply = client.call(tool, {"what": "a sword"})
        os.write(write, json.dumps(reply.message).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        answers.append(json.load(pipe))
    os.wait()
print(json.dumps(answers), file=sys.stderr)
"""


def states(tool: str) -> list[str]:
    """What three clones of one warm process sealed for the same call at the same moment."""
    done = subprocess.run(
        [sys.executable, "-c", CLONES, tool],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = json.loads(done.stderr.splitlines()[-1])
    return [answer["result"]["requestState"] for answer in answers]


@pytest.mark.parametrize("tool", ["forge", "paint"])
def test_clones_of_one_process_start_flows_of_their_own(tool: str) -> None:
    opened = [
        state.unseal(text, lambda kid: MemoryRing().fetch(0).opening_key(kid, 0), SETTINGS.audience)
        for text in states(tool)
    ]
    assert len({one.flow for one in opened}) == 3


def test_clones_of_one_process_never_share_a_nonce() -> None:
    nonces = [token.from_text(text, max_chars=8192)[5:29] for text in states("forge")]
    assert len(set(nonces)) == 3
