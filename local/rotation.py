"""What Secrets Manager does to rotate a secret, against the local stack: the emulated one rotates nothing by itself.

On AWS, `aws secretsmanager rotate-secret` does all of this.
"""

import json
import uuid
from typing import Any

from local.stack import Stack

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")
FUNCTION = "RotateKeyFunction"


class RotationError(Exception):
    """The rotation function failed; the message holds what it raised."""


def rotate(askback: Stack, *, retry_of: str | None = None) -> str:
    """One rotation: a pending version, and the four steps for it. The version's id; a failed rotation is retried by giving it back."""
    secrets = askback.client("secretsmanager")
    token = retry_of or begin(secrets, askback.key_ring)
    for step in STEPS:
        run(askback, token, step)
    return token


def begin(secrets: Any, secret: str) -> str:
    """Make the pending version that Secrets Manager makes, without a value as yet."""
    if not secrets.describe_secret(SecretId=secret)["RotationEnabled"]:
        # In the emulator this copies the version in use into a new one, and nothing else.
        secrets.rotate_secret(SecretId=secret)
    # Secrets Manager moves the label with the next call; the emulator leaves it on the versions before as well.
    for version, labels in secrets.describe_secret(SecretId=secret)["VersionIdsToStages"].items():
        if "AWSPENDING" in labels:
            secrets.update_secret_version_stage(SecretId=secret, VersionStage="AWSPENDING", RemoveFromVersionId=version)
    token = str(uuid.uuid4())
    secrets.put_secret_value(SecretId=secret, ClientRequestToken=token, VersionStages=["AWSPENDING"])
    return token


def run(askback: Stack, token: str, step: str) -> None:
    """One step, as Secrets Manager calls it."""
    arn = askback.client("secretsmanager").describe_secret(SecretId=askback.key_ring)["ARN"]
    event = {"SecretId": arn, "ClientRequestToken": token, "Step": step}
    answer = askback.client("lambda").invoke(
        FunctionName=askback.functions[FUNCTION], Payload=json.dumps(event).encode()
    )
    if answer.get("FunctionError"):
        raise RotationError(f"{step}: {answer['Payload'].read().decode()}")
