"""The key ring's secret in Secrets Manager: read by every function, changed by a rotation and by an operator. No other module touches it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import aws
from .errors import ConfigurationError, Unavailable
from .keyring import KeyRing, read_ring

CURRENT, PENDING = "AWSCURRENT", "AWSPENDING"

_STAGED = "MRTR_STAGED"


class SecretsManagerRing:
    """Reads the ring from the secret `arn`. See `keyring.read_ring` for what its value looks like."""

    def __init__(self, arn: str) -> None:
        self._secret = RingSecret(arn)

    def fetch(self, now: float) -> KeyRing:  # noqa: ARG002 - RingSource's signature
        return read_ring(self._secret.read().text)


@dataclass(frozen=True, slots=True)
class Version:
    """One version of the secret."""

    id: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Labels:
    """Which labels each version has, by version id, and whether the secret is set up for rotation."""

    stages: Mapping[str, list[str]]
    rotation_enabled: bool


class RingSecret:
    """The secret with its versions. Every method raises Unavailable, naming the action and the secret, when Secrets Manager does not do it."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def read(self) -> Version:
        """The version in use. Raises ConfigurationError when it holds no text."""
        # The label is what AWS reads without one too; moto then still reads the version that PutSecretValue put into use last.
        answer = self._call("GetSecretValue", VersionStage=CURRENT)
        text = answer.get("SecretString")
        if not isinstance(text, str):
            raise ConfigurationError(f"secret {self._arn} holds no text; store the key ring as JSON text")
        return Version(answer.get("VersionId", ""), text)

    def read_version(self, version: str) -> str | None:
        """What the version holds; None while it has no value."""
        try:
            text = self._call("GetSecretValue", VersionId=version).get("SecretString")
        except _NotFound:
            return None
        return text if isinstance(text, str) else None

    def labels(self) -> Labels:
        answer = self._call("DescribeSecret")
        return Labels(answer.get("VersionIdsToStages", {}), bool(answer.get("RotationEnabled")))

    def put_pending(self, version: str, text: str) -> None:
        """Give the pending version its value. Secrets Manager refuses another value for a version that has one (the emulators replace it)."""
        self._call("PutSecretValue", ClientRequestToken=version, SecretString=text, VersionStages=[PENDING])

    def promote(self, version: str, over: str) -> None:
        """Put the version into use in place of `over`; Unavailable when another than `over` is in use by now."""
        self._call("UpdateSecretVersionStage", VersionStage=CURRENT, MoveToVersionId=version, RemoveFromVersionId=over)

    def replace(self, text: str, over: str) -> str:
        """Put a new version with this value into use in place of `over`, likewise. The new version's id."""
        version = str(uuid.uuid4())
        # In two steps, since PutSecretValue alone would undo whatever had been put into use after `over`.
        self._call("PutSecretValue", ClientRequestToken=version, SecretString=text, VersionStages=[_STAGED])
        self.promote(version, over)
        return version

    def settle(self, pending: str, current: str) -> None:
        """Move the pending label to the version in use: what Secrets Manager takes as the end of a rotation."""
        self._call(
            "UpdateSecretVersionStage", VersionStage=PENDING, MoveToVersionId=current, RemoveFromVersionId=pending
        )

    def _call(self, action: str, **request: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        method = {
            "DescribeSecret": "describe_secret",
            "GetSecretValue": "get_secret_value",
            "PutSecretValue": "put_secret_value",
            "UpdateSecretVersionStage": "update_secret_version_stage",
        }[action]
        try:
            answer: dict[str, Any] = getattr(aws.client("secretsmanager"), method)(SecretId=self._arn, **request)
            return answer
        except (BotoCoreError, ClientError) as error:
            cause = aws.cause(error, f"secretsmanager:{action}", self._arn)
            not_found = (
                isinstance(error, ClientError) and error.response["Error"]["Code"] == "ResourceNotFoundException"
            )
            raise (_NotFound if not_found else Unavailable)(cause) from None


class _NotFound(Unavailable):
    """There is no such secret or version, or the version has no value yet."""
