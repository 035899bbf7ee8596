"""Secrets Manager's part in a rotation, which moto leaves out: the pending version, and calling the steps in order."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

import boto3
from moto.secretsmanager.models import secretsmanager_backends

from local.environment import REGION
from mrtr.rotation import Timing
from mrtr.rotator import handle

STEPS = ("createSecret", "setSecret", "testSecret", "finishSecret")
TIMING = Timing(ring_cache_s=300, ring_limit_s=3600, flow_ttl_s=3600, clock_skew_s=60)


class RotatedSecret:
    """A secret of moto in this process, set up for rotation by `mrtr.rotator`."""

    def __init__(self, arn: str, clock: Callable[[], float]) -> None:
        self.arn = arn
        self._clock = clock
        self.client: Any = boto3.client("secretsmanager")
        secret: Any = secretsmanager_backends[arn.split(":")[4]][REGION].secrets[arn]
        self._secret = secret
        self._secret.rotation_requested = self._secret.rotation_enabled = True

    def begin(self) -> str:
        """A new pending version, without a value as yet. Its id is the token of the steps."""
        token = str(uuid.uuid4())
        for version in self._secret.versions.values():
            if "AWSPENDING" in version["version_stages"]:
                version["version_stages"].remove("AWSPENDING")
        self._secret.versions[token] = {
            "createdate": int(time.time()),
            "version_id": token,
            "version_stages": ["AWSPENDING"],
        }
        return token

    def step(self, step: str, token: str, **changed: object) -> None:
        event = {"SecretId": self.arn, "ClientRequestToken": token, "Step": step, **changed}
        handle(event, [self.arn], TIMING, self._clock)

    def rotate(self, token: str | None = None) -> str:
        """All four steps; as a retry of a rotation when its token is given."""
        token = self.begin() if token is None else token
        for step in STEPS:
            self.step(step, token)
        return token

    @property
    def text(self) -> str:
        text: str = self.client.get_secret_value(SecretId=self.arn, VersionStage="AWSCURRENT")["SecretString"]
        return text

    @property
    def stages(self) -> dict[str, list[str]]:
        stages: dict[str, list[str]] = self.client.describe_secret(SecretId=self.arn)["VersionIdsToStages"]
        return stages

    @property
    def rotation_is_over(self) -> bool:
        """As Secrets Manager sees it: no version is pending, or the one that is in use."""
        return all("AWSCURRENT" in labels for labels in self.stages.values() if "AWSPENDING" in labels)
