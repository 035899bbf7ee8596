from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest
from cryptography.exceptions import InvalidTag
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr.xaes import KEY_SIZE, NONCE_SIZE, TAG_SIZE, Xaes, cipher

KEY = bytes(range(KEY_SIZE))
NONCE = bytes(range(100, 100 + NONCE_SIZE))
PLAINTEXT = b"who asked, what, and until when"
AAD = b"v1.kid"
SEALED = Xaes(KEY).seal(NONCE, PLAINTEXT, AAD)


@pytest.mark.parametrize(
    ("key", "aad", "sealed"),
    [
        (b"\x01" * 32, b"", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
        (b"\x03" * 32, b"c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
    ],
    ids=["subkey without carry", "subkey with carry"],
)
def test_the_published_vectors_are_sealed_and_opened(key: bytes, aad: bytes, sealed: str) -> None:
    nonce = b"ABCDEFGHIJKLMNOPQRSTUVWX"
    assert Xaes(key).seal(nonce, b"XAES-256-GCM", aad).hex() == sealed
    assert Xaes(key).open(nonce, bytes.fromhex(sealed), aad) == b"XAES-256-GCM"


def test_ten_thousand_published_random_cases_give_the_published_hash() -> None:
    # c2sp.org/XAES-256-GCM, 'Accumulated randomized tests': inputs from one SHAKE-128 stream, outputs into another
    stream = memoryview(hashlib.shake_128(b"").digest(10_000 * (32 + 24 + 2 * 256)))
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        return bytes(stream[at - size : at])

    outputs = hashlib.shake_128()
    for _ in range(10_000):
        key, nonce = take(32), take(24)
        plaintext = take(take(1)[0])
        aad = take(take(1)[0])
        outputs.update(Xaes(key).seal(nonce, plaintext, aad))
    assert outputs.hexdigest(32) == "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939"


keys = st.binary(min_size=KEY_SIZE, max_size=KEY_SIZE)
nonces = st.binary(min_size=NONCE_SIZE, max_size=NONCE_SIZE)


@given(keys, nonces, st.binary(max_size=300), st.binary(max_size=100))
@settings(derandomize=True, deadline=None)
def test_what_is_sealed_opens_to_the_same_plaintext(key: bytes, nonce: bytes, plaintext: bytes, aad: bytes) -> None:
    sealed = Xaes(key).seal(nonce, plaintext, aad)
    assert len(sealed) == len(plaintext) + TAG_SIZE
    assert Xaes(key).open(nonce, sealed, aad) == plaintext


@given(keys, nonces, st.binary(max_size=60), st.binary(max_size=30), st.data())
@settings(derandomize=True, deadline=None)
def test_one_flipped_bit_anywhere_does_not_open(
    key: bytes, nonce: bytes, plaintext: bytes, aad: bytes, data: st.DataObject
) -> None:
    sealed = Xaes(key).seal(nonce, plaintext, aad)
    parts = [bytearray(key), bytearray(nonce), bytearray(sealed), bytearray(aad)]
    part = data.draw(st.sampled_from([part for part in parts if part]))
    part[data.draw(st.integers(0, len(part) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    key, nonce, sealed, aad = map(bytes, parts)
    with pytest.raises(InvalidTag):
        Xaes(key).open(nonce, sealed, aad)


@pytest.mark.parametrize("position", range(len(SEALED)))
def test_a_changed_byte_does_not_open(position: int) -> None:
    changed = bytearray(SEALED)
    changed[position] ^= 0xFF
    with pytest.raises(InvalidTag):
        Xaes(KEY).open(NONCE, bytes(changed), AAD)


@pytest.mark.parametrize("size", range(len(SEALED)))
def test_a_truncated_ciphertext_does_not_open_from_either_end(size: int) -> None:
    with pytest.raises(InvalidTag):
        Xaes(KEY).open(NONCE, SEALED[:size], AAD)
    with pytest.raises(InvalidTag):
        Xaes(KEY).open(NONCE, SEALED[len(SEALED) - size :], AAD)


@pytest.mark.parametrize("sealed", [SEALED + b"\0", b"\0" + SEALED, SEALED * 2, SEALED + bytes(TAG_SIZE)])
def test_an_extended_ciphertext_does_not_open(sealed: bytes) -> None:
    with pytest.raises(InvalidTag):
        Xaes(KEY).open(NONCE, sealed, AAD)


@pytest.mark.parametrize("aad", [b"", b"v1.ki", b"v1.kid\0", b"v1.KID"])
def test_other_associated_data_do_not_open(aad: bytes) -> None:
    with pytest.raises(InvalidTag):
        Xaes(KEY).open(NONCE, SEALED, aad)


@pytest.mark.parametrize("position", range(NONCE_SIZE))
def test_every_byte_of_the_nonce_changes_the_ciphertext(position: int) -> None:
    nonce = bytearray(NONCE)
    nonce[position] ^= 1
    assert Xaes(KEY).seal(bytes(nonce), PLAINTEXT, AAD)[: len(PLAINTEXT)] != SEALED[: len(PLAINTEXT)]


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_key_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Xaes(bytes(size))


@pytest.mark.parametrize("size", [0, 12, 23, 25])
def test_a_nonce_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="24 bytes"):
        Xaes(KEY).seal(bytes(size), PLAINTEXT, AAD)
    with pytest.raises(ValueError, match="24 bytes"):
        Xaes(KEY).open(bytes(size), SEALED, AAD)


def test_the_cipher_of_a_key_is_made_once() -> None:
    assert cipher(KEY) is cipher(bytes(KEY))
    assert cipher(KEY) is not cipher(bytes(KEY_SIZE))
    assert cipher(KEY).open(NONCE, SEALED, AAD) == PLAINTEXT


def test_the_repr_shows_nothing_of_the_key() -> None:
    assert repr(Xaes(KEY)) == "Xaes(...)"


def test_importing_the_module_loads_no_cryptography() -> None:
    code = "import sys, mrtr.xaes; print([name for name in sys.modules if name.startswith('cryptography')])"
    paths = {"PYTHONPATH": ":".join(path for path in sys.path if path)}
    loaded = subprocess.run([sys.executable, "-c", code], env=paths, capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"
