"""Where `MRTR_KEYRING` says that the key ring comes from: one source, or several while one takes another's place."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import replace

from .errors import ConfigurationError
from .keyring import KeyRing
from .kms import KmsRing
from .ring_cache import RingSource
from .secretsmanager import SecretsManagerRing
from .settings import Settings

_MEND = "MRTR_KEYRING must list secretsmanager:<secret arn> or kms:<key arn>, separated by spaces; the first seals, all open"
_KMS_WHERE = re.compile(r"([^#]+)(?:#([0-9]{1,9}))?")


class Sources:
    """Several sources as one ring: the first seals and opens, the others only open.

    Each source's kids get its namespace, which depends on nothing but the source itself: two sources may both have a `k1`, and a token keeps
    its kid when the order of the list changes. A ring is had from all sources or not at all: without one of them, live flows' tokens would be
    refused.
    """

    def __init__(self, sources: Sequence[tuple[str, RingSource]]) -> None:
        self._sources = tuple(sources)

    def fetch(self, now: float) -> KeyRing:
        return KeyRing(
            replace(key, kid=namespace + key.kid, seal_from=math.inf if position else key.seal_from)
            for position, (namespace, source) in enumerate(self._sources)
            for key in source.fetch(now).keys
        )


def read_sources(settings: Settings) -> Sources:
    """Raises ConfigurationError when MRTR_KEYRING names no source, one that is unknown, or two that can't stand side by side."""
    named = [_named(text, settings) for text in split(settings.keyring)]
    if not named:
        raise ConfigurationError(_MEND)
    if len({namespace for namespace, _ in named}) < len(named):
        raise ConfigurationError("MRTR_KEYRING names the same source twice")
    return Sources(named)


def split(keyring: str) -> list[str]:
    """The entries of MRTR_KEYRING, in order."""
    return [text for text in re.split(r"[\s,]+", keyring) if text]


def secret_arns(keyring: str) -> list[str]:
    """The secrets among the entries of MRTR_KEYRING."""
    return [text.partition(":")[2] for text in split(keyring) if text.startswith("secretsmanager:")]


def _named(text: str, settings: Settings) -> tuple[str, RingSource]:
    kind, _, where = text.partition(":")
    if kind == "secretsmanager" and where:
        return _namespace(text), SecretsManagerRing(where)
    found = _KMS_WHERE.fullmatch(where) if kind == "kms" else None
    if found is None:
        raise ConfigurationError(_MEND)
    ring = KmsRing(
        found[1],
        generation=found[2] or "1",
        epoch_s=settings.kms_epoch_s,
        flow_ttl_s=settings.flow_ttl_s,
        ring_limit_s=max(settings.ring_limit_s, settings.ring_cache_s),
    )
    # the length of an epoch changes what its number means
    return _namespace(f"kms:{found[1]}#{found[2] or 1} {settings.kms_epoch_s}"), ring


def _namespace(source: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(source.encode()).digest())[:4].decode()
