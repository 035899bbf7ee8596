"""Bytes to a sealed token and back. What the bytes mean, and whether they still hold, is not this module's business.

Layout: `v1.` and canonical unpadded base64url of  kid length (1) ‖ kid ‖ nonce (24) ‖ ciphertext ‖ tag (16).
The associated data are the version, what the token is for, the kid and the audience: a token of another purpose, key or server does not open.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable

from .errors import StateRefused
from .keyring import RingKey
from .xaes import NONCE_SIZE, TAG_SIZE, cipher

PREFIX = "v1."


def seal(plaintext: bytes, key: RingKey, *, purpose: str, audience: str) -> bytes:
    """Seal `plaintext` under `key`, a fresh random nonce each time."""
    kid = key.kid.encode()
    nonce = os.urandom(NONCE_SIZE)
    sealed = cipher(key.key).seal(nonce, plaintext, _associated_data(purpose, kid, audience))
    return bytes([len(kid)]) + kid + nonce + sealed


def unseal(sealed: bytes, find_key: Callable[[str], RingKey | None], *, purpose: str, audience: str) -> bytes:
    """The plaintext of `sealed`. `find_key` gives the key of a kid, or None. Raises StateRefused with a cause for the log."""
    from cryptography.exceptions import InvalidTag

    start = 1 + (sealed[0] if sealed else 0)
    if len(sealed) < start + NONCE_SIZE + TAG_SIZE or start == 1:
        raise StateRefused("malformed: too short")
    kid = sealed[1:start]
    try:
        key = find_key(kid.decode())
    except UnicodeDecodeError:
        raise StateRefused("malformed: kid") from None
    if key is None:
        raise StateRefused("unknown or retired kid")
    nonce, ciphertext = sealed[start : start + NONCE_SIZE], sealed[start + NONCE_SIZE :]
    try:
        return cipher(key.key).open(nonce, ciphertext, _associated_data(purpose, kid, audience))
    except InvalidTag:
        raise StateRefused("not authentic") from None


def to_text(sealed: bytes) -> str:
    return PREFIX + base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()


def from_text(token: str, *, max_chars: int) -> bytes:
    """The sealed bytes of a token. Only the one canonical spelling is read: no padding, no other alphabet, no spare bits set."""
    if len(token) > max_chars:
        raise StateRefused("malformed: too long")
    if not token.startswith(PREFIX):
        raise StateRefused("malformed: prefix")
    body = token[len(PREFIX) :]
    try:
        sealed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        raise StateRefused("malformed: base64") from None
    if to_text(sealed) != token:  # the lenient decoder skips foreign characters and spare bits
        raise StateRefused("malformed: not canonical")
    return sealed


def _associated_data(purpose: str, kid: bytes, audience: str) -> bytes:
    return b"\x00".join((PREFIX.encode(), purpose.encode(), bytes([len(kid)]) + kid, audience.encode()))
