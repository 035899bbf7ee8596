"""A key ring from Secrets Manager: one secret whose value holds the ring."""

from __future__ import annotations

from . import aws
from .errors import ConfigurationError, Unavailable
from .keyring import KeyRing, read_ring


class SecretsManagerRing:
    """Reads the ring from the secret `arn`. See `keyring.read_ring` for what its value looks like."""

    def __init__(self, arn: str) -> None:
        self._arn = arn

    def fetch(self, now: float) -> KeyRing:  # noqa: ARG002 - RingSource's signature
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            value = aws.client("secretsmanager").get_secret_value(SecretId=self._arn)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(aws.cause(error, "secretsmanager:GetSecretValue", self._arn)) from None
        text = value.get("SecretString")
        if not isinstance(text, str):
            raise ConfigurationError(f"secret {self._arn} holds no text; store the key ring as JSON text")
        return read_ring(text)
