"""A key ring from KMS: derived for each epoch under an HMAC key that never leaves KMS. Nothing is stored, nothing is rotated."""

from __future__ import annotations

from . import aws
from .errors import ConfigurationError, Unavailable
from .keyring import KeyRing, RingKey
from .ring_cache import HARD_LIMIT_S
from .state import CLOCK_SKEW_S

DEFAULT_EPOCH_S = 7 * 24 * 3600

_LABEL = b"askback key ring v1\x00"


class KmsRing:
    """The ring of the HMAC_256 key `key_arn`: for each epoch of `epoch_s` seconds since 1970 one key, whose kid is the epoch's number.

    A key seals during its epoch and opens until every flow that it sealed has ended. generation: part of what is derived; a new one gives
    wholly other keys. ring_limit_s: how long a fetched ring may stay in use; it holds what may be needed until then, so that an instance
    goes from one epoch to the next without a fetch at that moment.
    Raises ConfigurationError when an epoch is shorter than a flow may last.
    """

    def __init__(
        self,
        key_arn: str,
        *,
        generation: str = "1",
        epoch_s: int = DEFAULT_EPOCH_S,
        flow_ttl_s: int = 3600,
        ring_limit_s: int = HARD_LIMIT_S,
    ) -> None:
        if epoch_s < flow_ttl_s:
            raise ConfigurationError(
                f"MRTR_KMS_EPOCH_S is {epoch_s}, shorter than a flow may last; make it at least MRTR_FLOW_TTL_S ({flow_ttl_s})"
            )
        self._key_arn = key_arn
        self._generation = generation
        self._epoch_s = epoch_s
        self._behind_s = flow_ttl_s + 2 * CLOCK_SKEW_S
        self._ahead_s = ring_limit_s + 2 * CLOCK_SKEW_S
        self._derived: dict[int, RingKey] = {}

    def fetch(self, now: float) -> KeyRing:
        """The current epoch's key and, near an epoch's end, its neighbour's. Asks KMS once for each epoch in the life of the process."""
        first = int((now - self._behind_s) // self._epoch_s)
        last = int((now + self._ahead_s) // self._epoch_s)
        self._derived = {
            epoch: self._derived.get(epoch) or self._derive(epoch) for epoch in range(max(first, 0), last + 1)
        }
        return KeyRing(self._derived.values())

    def _derive(self, epoch: int) -> RingKey:
        return RingKey(
            str(epoch),
            self._mac(_LABEL + f"{self._generation} {self._epoch_s} {epoch}".encode()),
            seal_from=float(epoch * self._epoch_s),
            open_until=float((epoch + 1) * self._epoch_s + self._behind_s),
        )

    def _mac(self, message: bytes) -> bytes:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer = aws.client("kms").generate_mac(KeyId=self._key_arn, Message=message, MacAlgorithm="HMAC_SHA_256")
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(aws.cause(error, "kms:GenerateMac", self._key_arn)) from None
        mac: bytes = answer["Mac"]
        return mac
