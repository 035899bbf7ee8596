"""The key ring: which keys open a sealed state, and which one seals. Pure values; where a ring comes from is another module's business."""

from __future__ import annotations

import hmac
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import ConfigurationError

MIN_SECRET_CHARS = 43
"""What 256 random bits take in base64url: a shorter secret can't hold a full-strength key."""

_MAX_KID_BYTES = 32  # of a stored key; every byte of it makes each state longer
_KID_LENGTH_BYTE = 255  # a token writes a kid's length in one byte
_INFO = b"askback sealing key v1 "


@dataclass(frozen=True, slots=True)
class RingKey:
    """One key of the ring.

    `seal_from` and `open_until` are Unix seconds: the key seals from the one on (math.inf: never), and opens until the other (None: no end).
    """

    kid: str
    key: bytes = field(repr=False)
    seal_from: float = 0.0
    open_until: float | None = None


class KeyRing:
    """Keys by kid. At any time one key seals: the one whose `seal_from` passed last.

    Raises ConfigurationError when there is no key, when two share a kid or a `seal_from`, or when a key has the wrong length.
    """

    def __init__(self, keys: Iterable[RingKey]) -> None:
        by_kid: dict[str, RingKey] = {}
        for key in keys:
            _check(key)
            if key.kid in by_kid:
                raise ConfigurationError(f"the key ring has two keys with kid {key.kid!r}; give each key its own kid")
            by_kid[key.kid] = key
        if not by_kid:
            raise ConfigurationError("the key ring is empty; put at least one key into it")
        begins = [key.seal_from for key in by_kid.values() if key.seal_from != math.inf]
        if len(set(begins)) < len(begins):
            raise ConfigurationError(
                "two keys of the ring start to seal at the same moment; give each its own seal_from"
            )
        self._by_kid = by_kid

    def __repr__(self) -> str:
        return f"KeyRing(kids={sorted(self._by_kid)})"

    @property
    def keys(self) -> tuple[RingKey, ...]:
        return tuple(self._by_kid.values())

    @property
    def kids(self) -> frozenset[str]:
        return frozenset(self._by_kid)

    def sealing_key(self, now: float) -> RingKey:
        """The key to seal with at `now` (Unix seconds). Raises ConfigurationError when no key may seal yet or any more."""
        usable = [
            k for k in self._by_kid.values() if k.seal_from <= now and (k.open_until is None or now < k.open_until)
        ]
        if not usable:
            raise ConfigurationError("no key of the ring may seal now; check seal_from and open_until")
        return max(usable, key=lambda k: k.seal_from)

    def opening_key(self, kid: str, now: float) -> RingKey | None:
        """The key named `kid` if it may still open at `now`; None for an unknown or outlived one."""
        key = self._by_kid.get(kid)
        if key is None or (key.open_until is not None and now >= key.open_until):
            return None
        return key


def read_ring(text: str) -> KeyRing:
    """Read a ring from a secret's value.

    Either `{"kid": …, "key": …}` (the one-key ring that the template makes) or `{"keys": [{"kid", "key", "seal_from", "open_until"}, …]}`.
    `key` is random text of at least 43 characters; the AES key is derived from it with HKDF-SHA256 (RFC 5869).
    Raises ConfigurationError, whose message never holds any part of the value.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigurationError('the key ring is not JSON; store {"kid": …, "key": …} or {"keys": […]}') from None
    entries = value.get("keys", [value]) if isinstance(value, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigurationError('the key ring has the wrong shape; store {"kid": …, "key": …} or {"keys": […]}')
    return KeyRing(_read_key(entry, f"key {number} of the ring") for number, entry in enumerate(entries, 1))


def derive_key(kid: str, secret: bytes) -> bytes:
    """The 256-bit AES key for `kid` from its secret (HKDF-SHA256, one block)."""
    pseudo_random_key = hmac.digest(b"\x00" * 32, secret, "sha256")
    return hmac.digest(pseudo_random_key, _INFO + kid.encode() + b"\x01", "sha256")


def _read_key(entry: Mapping[str, Any], which: str) -> RingKey:
    """`which`: what messages call the key. They don't quote its kid: where kid and key were swapped, that is the key."""
    kid, secret = entry.get("kid"), entry.get("key")
    if not isinstance(kid, str) or not isinstance(secret, str):
        raise ConfigurationError(f"{which} lacks its kid or its key; both are text")
    if not (kid.isascii() and 1 <= len(kid) <= _MAX_KID_BYTES):
        raise ConfigurationError(f"{which} has a kid that is not 1 to {_MAX_KID_BYTES} ASCII characters")
    if not secret.isascii() or len(secret) < MIN_SECRET_CHARS:
        raise ConfigurationError(f"{which} is too short; use at least {MIN_SECRET_CHARS} random ASCII characters")
    seal_from, open_until = entry.get("seal_from", 0), entry.get("open_until")
    if not _is_time(seal_from) or not (open_until is None or _is_time(open_until)):
        raise ConfigurationError(f"{which} has a seal_from or open_until that is not a number of Unix seconds")
    return RingKey(
        kid, derive_key(kid, secret.encode()), float(seal_from), None if open_until is None else float(open_until)
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12


def _check(key: RingKey) -> None:
    if not 1 <= len(key.kid.encode()) <= _KID_LENGTH_BYTE:
        raise ConfigurationError(f"a kid has 1 to {_MAX_KID_BYTES} bytes; {key.kid!r} has not")
    if len(key.key) != 32:
        raise ConfigurationError(f"key {key.kid!r} of the ring is not 256 bits long")
