"""XAES-256-GCM: AES-256-GCM with a 192-bit nonce, safe to choose at random (c2sp.org/XAES-256-GCM). No I/O.

Half of the nonce derives a key of its own for each message, the other half is that message's AES-GCM nonce. So the
limit of 2^32 random nonces under one AES-GCM key doesn't bind a key that thousands of processes share.
"""

from __future__ import annotations

from functools import lru_cache

KEY_SIZE = 32
NONCE_SIZE = 24
TAG_SIZE = 16


class Xaes:
    """Seals and opens under one 256-bit key; what depends on the key alone is computed once."""

    __slots__ = ("_counter_1", "_counter_2", "_gcm", "_new_encryptor", "_tail")

    def __init__(self, key: bytes) -> None:
        # Imported with the first key, not with the module: loading the library takes longer than all else here, and a
        # process that only lists tools needs none of it.
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
        from cryptography.hazmat.primitives.ciphers.algorithms import AES
        from cryptography.hazmat.primitives.ciphers.modes import ECB

        if len(key) != KEY_SIZE:
            raise ValueError(f"an XAES-256-GCM key has {KEY_SIZE} bytes")
        self._gcm = AESGCM
        # The bare block cipher, for single blocks that derive a key; no message is encrypted with it. Made anew for each
        # derivation, since an encryptor may not be shared by threads.
        self._new_encryptor = Cipher(AES(key), ECB()).encryptor  # noqa: S305
        # CMAC's first subkey (NIST SP 800-38B, 6.1): the encrypted zero block, doubled in GF(2^128)
        doubled = int.from_bytes(self._new_encryptor().update(bytes(16))) << 1
        if doubled >> 128:
            doubled ^= 1 << 128 | 0b10000111
        # Both blocks of the key derivation are  counter ‖ "X" ‖ 0 ‖ nonce[:12], each XORed with the subkey.
        head, self._tail = divmod(doubled, 1 << 96)
        self._counter_1 = (head ^ 0x0001_5800).to_bytes(4)
        self._counter_2 = (head ^ 0x0002_5800).to_bytes(4)

    def seal(self, nonce: bytes, plaintext: bytes, aad: bytes) -> bytes:
        """Ciphertext and tag. `nonce`: 24 bytes, random, never used twice under the key."""
        return self._gcm(self._message_key(nonce)).encrypt(nonce[12:], plaintext, aad)

    def open(self, nonce: bytes, ciphertext: bytes, aad: bytes) -> bytes:
        """The plaintext. Raises cryptography.exceptions.InvalidTag unless all four were sealed together."""
        return self._gcm(self._message_key(nonce)).decrypt(nonce[12:], ciphertext, aad)

    def _message_key(self, nonce: bytes) -> bytes:
        if len(nonce) != NONCE_SIZE:
            raise ValueError(f"an XAES-256-GCM nonce has {NONCE_SIZE} bytes")
        tail = (int.from_bytes(nonce[:12]) ^ self._tail).to_bytes(12)
        return self._new_encryptor().update(self._counter_1 + tail + self._counter_2 + tail)

    def __repr__(self) -> str:
        return "Xaes(...)"


@lru_cache(maxsize=16)  # a key ring holds a few keys; those it drops are pushed out by the next
def cipher(key: bytes) -> Xaes:
    """The Xaes of a key, made once per process."""
    return Xaes(key)
