"""`aws` and `sam` as a runbook calls them, against the local stack: `python -m tests.e2e.commands aws secretsmanager rotate-secret …`.

STACK in the environment is the stack, as JSON. The AWS command line itself is not needed: its options are the API's names in other letters.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import boto3
import jmespath  # type: ignore[import-untyped]  # comes with boto3

from local import build, deploy, rotation, stack
from local.aws import Aws


def from_environment() -> stack.Stack:
    fields: dict[str, Any] = json.loads(os.environ["STACK"])
    return stack.Stack(**{**fields, "folder": Path(fields["folder"])})


def options(words: list[str]) -> dict[str, list[str]]:
    """Every --option with the words after it."""
    found: dict[str, list[str]] = {}
    for word in words:
        if word.startswith("--"):
            found[word.removeprefix("--")] = []
        else:
            list(found.values())[-1].append(word)
    return found


def aws(service: str, operation: str, words: list[str]) -> None:
    given = {name: values[0] for name, values in options(words).items()}
    query, output = given.pop("query", None), given.pop("output", "json")
    client: Any = boto3.client(service, endpoint_url=from_environment().aws_endpoint_url)  # type: ignore[call-overload]
    request = {"".join(part.capitalize() for part in name.split("-")): value for name, value in given.items()}
    if operation == "rotate-secret":
        rotation.rotate(from_environment())  # Secrets Manager's part, which the emulator leaves out
        answer = client.describe_secret(**request)
    else:
        answer = getattr(client, operation.replace("-", "_"))(**request)
    found = jmespath.search(query, answer) if query else answer
    sys.stdout.write("\n".join(found) if output == "text" else json.dumps(found, default=str))
    sys.stdout.write("\n")


def sam(words: list[str]) -> None:
    given = options(words)
    parameters = dict(one.split("=", 1) for one in given["parameter-overrides"])
    one = from_environment()
    emulated = Aws(one.aws_endpoint_url, one.endpoint, one.folder, 0)
    deploy.sam_deploy(emulated, build.TEMPLATE, given["stack-name"][0], {**stack.NO_SCHEDULE, **parameters})


if __name__ == "__main__":
    if sys.argv[1] == "aws":
        aws(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        sam(sys.argv[3:])
