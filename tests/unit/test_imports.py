"""What importing the runtime costs: a cold start pays for every module."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

HEAVY = {
    "boto3",
    "botocore",
    "cryptography",
    "mcp",
    "mcp_types",
    "opentelemetry",
    "aws_lambda_powertools",
    "aws_xray_sdk",
    "asyncio",
    "moto",
}

DEFINE_A_TOOL = """
from typing import Annotated
from pydantic import BaseModel
from mrtr import Elicit, ElicitationResult, FrontDoor, Resolve, Server, ToolAnnotations

class Confirm(BaseModel):
    confirm: bool

def ask(note_id: str) -> Elicit[Confirm]:
    return Elicit("Sure?", Confirm)

server = Server("notes")

@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def delete_note(note_id: str, sure: Annotated[ElicitationResult[Confirm], Resolve(ask)]) -> str:
    "Delete a note."
    return "Deleted."

handler = server.lambda_handler
"""


def modules_after(script: str) -> set[str]:
    """The top-level modules that a fresh process has loaded once it ran `script`."""
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


@pytest.mark.parametrize("script", ["import mrtr", DEFINE_A_TOOL], ids=["the import alone", "a module with a tool"])
def test_a_fresh_process_loads_nothing_that_its_first_answer_may_not_need(script: str) -> None:
    loaded = modules_after(script)
    assert "mrtr" in loaded
    assert loaded & HEAVY == set()


def test_a_flow_that_goes_well_does_without_powertools() -> None:
    loaded = modules_after(f"""
{DEFINE_A_TOOL}
from mrtr.testing import Client, accept, offline
offline(server)
client = Client(handler)
assert client.answer(client.call("delete_note", {{"note_id": "7"}}), {{"ask": accept(confirm=True)}}).text == "Deleted."
""")
    assert loaded & HEAVY == {"cryptography"}


def test_the_probe_would_see_a_heavy_module() -> None:
    assert modules_after("import mrtr.aws; mrtr.aws.client") & HEAVY == set()
    assert "cryptography" in modules_after("from mrtr.xaes import cipher; cipher(bytes(32))")


def test_importing_draws_no_randomness_and_reads_no_environment() -> None:
    # SnapStart clones the process after import: what was random there would be shared by all its copies
    script = f"""
import os, random, secrets, sys, uuid
def drawn(*_):
    raise AssertionError("something random was drawn at import")
import pydantic, typing_extensions, urllib.parse, http, base64, json, hmac, hashlib
os.urandom = drawn
class NoSettings(dict):
    def get(self, name, default=None):
        if str(name).startswith("MRTR_"):
            raise AssertionError(f"{{name}} was read at import")
        return super().get(name, default)
os.environ = NoSettings(os.environ)
{DEFINE_A_TOOL}
"""
    assert "mrtr" in modules_after(script)
