"""A function's settings, read from its environment on the first request, never at import."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .errors import ConfigurationError
from .protocol import Limits

if TYPE_CHECKING:
    from .rotation import Timing


@dataclass(frozen=True, slots=True)
class Settings:
    """keyring: where the ring comes from (`secretsmanager:<arn>`, `kms:<arn>`, or several: see `sources`). claim_table: the table's name.
    audience: the one name that every function of the deployment seals for. round_ttl_s: how long a question may wait for its answer;
    flow_ttl_s: how long a flow may take in all. ring_cache_s: how old the cached ring may get; ring_limit_s: how old while its source is
    down. kms_epoch_s: how long one derived key seals.
    """

    keyring: str
    claim_table: str
    audience: str
    round_ttl_s: int = 600
    flow_ttl_s: int = 3600
    ring_cache_s: int = 300
    ring_limit_s: int = 3600
    kms_epoch_s: int = 604_800


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Raises ConfigurationError naming the variable and the mend."""
    env = os.environ if environ is None else environ
    return Settings(
        keyring=_needed(env, "MRTR_KEYRING", "say where the key ring is, such as secretsmanager:<secret arn>"),
        claim_table=_needed(env, "MRTR_CLAIM_TABLE", "name the DynamoDB table that makes a flow single-use"),
        audience=_needed(
            env, "MRTR_AUDIENCE", "give every function of the deployment the same name, such as the stack's"
        ),
        round_ttl_s=_positive(env, "MRTR_ROUND_TTL_S", 600),
        flow_ttl_s=_positive(env, "MRTR_FLOW_TTL_S", 3600),
        ring_cache_s=_positive(env, "MRTR_RING_CACHE_S", 300),
        ring_limit_s=_positive(env, "MRTR_RING_LIMIT_S", 3600),
        kms_epoch_s=_positive(env, "MRTR_KMS_EPOCH_S", 604_800),
    )


def read_timing(environ: Mapping[str, str] | None = None) -> Timing:
    """The times that a rotation goes by: those that the functions of the deployment have."""
    from .rotation import Timing

    env = os.environ if environ is None else environ
    ring_cache_s = _positive(env, "MRTR_RING_CACHE_S", 300)
    return Timing(
        ring_cache_s=ring_cache_s,
        ring_limit_s=max(_positive(env, "MRTR_RING_LIMIT_S", 3600), ring_cache_s),
        flow_ttl_s=_positive(env, "MRTR_FLOW_TTL_S", 3600),
        clock_skew_s=_whole(env, "MRTR_CLOCK_SKEW_S", 60),
    )


def read_limits(environ: Mapping[str, str] | None = None) -> Limits:
    """What the server accepts: MRTR_MAX_BODY_BYTES (1 MiB), MRTR_ALLOWED_ORIGINS (comma-separated; loopback origins always pass)."""
    env = os.environ if environ is None else environ
    origins = frozenset(origin.strip() for origin in env.get("MRTR_ALLOWED_ORIGINS", "").split(",") if origin.strip())
    return Limits(max_body_bytes=_positive(env, "MRTR_MAX_BODY_BYTES", 1024 * 1024), allowed_origins=origins)


def _needed(env: Mapping[str, str], name: str, mend: str) -> str:
    value = env.get(name, "").strip()
    if not value:
        raise ConfigurationError(f"{name} is not set: {mend}")
    return value


def _positive(env: Mapping[str, str], name: str, default: int) -> int:
    return _whole(env, name, default, least=1)


def _whole(env: Mapping[str, str], name: str, default: int, least: int = 0) -> int:
    text = env.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal() or not least <= int(text) < 10**9:
        raise ConfigurationError(f"{name} must be a whole number {'above 0' if least else 'of 0 or more'}")
    return int(text)
