from __future__ import annotations

import base64
import traceback
from collections.abc import Callable

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr import token
from mrtr.errors import StateRefused, Unavailable
from mrtr.keyring import RingKey, derive_key
from mrtr.xaes import Xaes

KID = "k1"
KEY = RingKey(KID, derive_key(KID, b"s" * 64))
OTHER = RingKey("k2", derive_key("k2", b"s" * 64))
RING = {key.kid: key for key in (KEY, OTHER)}.get
PURPOSE, AUDIENCE = "state", "stack-a"
PLAINTEXT = b"the phone number is 0123456789"
MAX_CHARS = 200

SEALED = token.seal(PLAINTEXT, KEY, purpose=PURPOSE, audience=AUDIENCE)
TEXT = token.to_text(SEALED)

REGIONS = {"kid length": 0, "kid": 1, "nonce": 3, "ciphertext": 27, "tag": len(SEALED) - 16, "end": len(SEALED)}
"""Where each part of SEALED starts."""
BYTES = [
    pytest.param(at, id=f"{region} byte {at - start}")
    for (region, start), end in zip(REGIONS.items(), list(REGIONS.values())[1:], strict=False)
    for at in range(start, end)
]


def opened(text: str, find_key: Callable[[str], RingKey | None] = RING, audience: str = AUDIENCE) -> bytes:
    return token.unseal(token.from_text(text, max_chars=MAX_CHARS), find_key, purpose=PURPOSE, audience=audience)


def refused(text: str) -> str:
    """The cause for which `text` is refused; neither it nor anything a traceback shows holds plaintext or key."""
    with pytest.raises(StateRefused) as refusal:
        opened(text)
    shown = "".join(traceback.format_exception(refusal.value))
    assert PLAINTEXT.decode() not in shown
    assert repr(KEY.key) not in shown
    assert refusal.value.cause
    return refusal.value.cause


def test_what_was_sealed_opens() -> None:
    assert opened(TEXT) == PLAINTEXT


@given(st.binary(max_size=80), st.text(max_size=30), st.text(max_size=30))
@settings(derandomize=True, deadline=None)
def test_whatever_is_sealed_opens_for_the_same_purpose_and_audience(
    plaintext: bytes, purpose: str, audience: str
) -> None:
    sealed = token.seal(plaintext, KEY, purpose=purpose, audience=audience)
    assert token.from_text(token.to_text(sealed), max_chars=500) == sealed
    assert token.unseal(sealed, RING, purpose=purpose, audience=audience) == plaintext


def test_the_layout_is_prefix_then_kid_nonce_ciphertext_and_tag() -> None:
    assert TEXT.startswith("v1.")
    assert base64.urlsafe_b64decode(TEXT[3:] + "==") == SEALED
    assert SEALED[:3] == b"\x02k1"
    assert len(SEALED) == 1 + len(KID) + 24 + len(PLAINTEXT) + 16
    associated_data = b"v1.\x00state\x00\x02k1\x00stack-a"
    assert Xaes(KEY.key).open(SEALED[3:27], SEALED[27:], associated_data) == PLAINTEXT


def test_sealing_the_same_twice_gives_two_tokens_with_nonces_of_their_own() -> None:
    tokens = [token.seal(PLAINTEXT, KEY, purpose=PURPOSE, audience=AUDIENCE) for _ in range(50)]
    assert len({sealed[3:27] for sealed in tokens}) == 50


def test_the_plaintext_is_not_readable_in_the_token() -> None:
    assert PLAINTEXT not in SEALED
    assert b"phone" not in SEALED


# Bytes that were changed


@pytest.mark.parametrize("at", BYTES)
def test_a_token_with_any_byte_changed_is_refused(at: int) -> None:
    for mask in (0x01, 0x80, 0xFF):
        changed = bytearray(SEALED)
        changed[at] ^= mask
        refused(token.to_text(bytes(changed)))


@pytest.mark.parametrize("at", range(len(TEXT)))
def test_a_token_with_any_character_changed_is_refused(at: int) -> None:
    for character in "A_-=.+/ é\n\x00":
        if TEXT[at] != character:
            refused(TEXT[:at] + character + TEXT[at + 1 :])


@pytest.mark.parametrize("at", range(len(TEXT)))
def test_a_token_cut_off_anywhere_is_refused(at: int) -> None:
    refused(TEXT[:at])


@pytest.mark.parametrize("at", range(len(TEXT)))
def test_a_token_with_a_character_missing_anywhere_is_refused(at: int) -> None:
    refused(TEXT[:at] + TEXT[at + 1 :])


@pytest.mark.parametrize("extension", ["A", "AA", "AAAA", "-TAMPERED", "=", "==", " ", "\n", ".", TEXT])
def test_a_token_with_anything_after_it_is_refused(extension: str) -> None:
    refused(TEXT + extension)


@pytest.mark.parametrize("extension", [b"\x00", b"\xff", PLAINTEXT])
def test_a_token_with_bytes_after_its_tag_is_refused(extension: bytes) -> None:
    assert refused(token.to_text(SEALED + extension)) == "not authentic"


@pytest.mark.parametrize("extension", ["A", " ", "\n", "\ufeff"])
def test_a_token_with_anything_before_it_is_refused(extension: str) -> None:
    assert refused(extension + TEXT) == "malformed: prefix"


def test_the_parts_of_two_tokens_do_not_make_a_third() -> None:
    other = token.seal(PLAINTEXT, KEY, purpose=PURPOSE, audience=AUDIENCE)
    for start, end in ((3, 27), (27, len(SEALED) - 16), (len(SEALED) - 16, len(SEALED))):
        assert refused(token.to_text(SEALED[:start] + other[start:end] + SEALED[end:])) == "not authentic"


# Other spellings of the same bytes


def token_of_length_modulo_three(remainder: int) -> str:
    """A valid token whose base64 ends in a group of `remainder` bytes."""
    for padding in range(3):
        sealed = token.seal(b"x" * padding, KEY, purpose=PURPOSE, audience=AUDIENCE)
        if len(sealed) % 3 == remainder:
            text = token.to_text(sealed)
            assert opened(text) == b"x" * padding
            return text
    raise AssertionError


@pytest.mark.parametrize("remainder", [1, 2])
def test_a_token_with_padding_is_refused(remainder: int) -> None:
    text = token_of_length_modulo_three(remainder)
    assert refused(text + "=" * (3 - remainder)) == "malformed: not canonical"


@pytest.mark.parametrize(("remainder", "spare_bits"), [(1, 4), (2, 2)])
def test_a_token_with_spare_bits_set_is_refused(remainder: int, spare_bits: int) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    text = token_of_length_modulo_three(remainder)
    value = alphabet.index(text[-1])
    assert value % (1 << spare_bits) == 0
    for spare in range(1, 1 << spare_bits):
        assert refused(text[:-1] + alphabet[value + spare]) == "malformed: not canonical"


@pytest.mark.parametrize("text", ["v1.+_-_", "v1.-/-_", "v1.+/+/"])
def test_a_token_in_the_standard_alphabet_is_refused(text: str) -> None:
    assert token.from_text("v1.-_-_", max_chars=MAX_CHARS) == b"\xfb\xff\xbf"
    assert refused(text) == "malformed: not canonical"


@pytest.mark.parametrize("junk", ["!", " ", "\n", "=", ".", "\x00"])
def test_a_token_with_characters_that_a_lenient_decoder_skips_is_refused(junk: str) -> None:
    for at in (3, 10, len(TEXT) - 1):
        refused(TEXT[:at] + junk + TEXT[at:])


@pytest.mark.parametrize(
    "text", ["", "v1.", "v1", "v2" + TEXT[2:], TEXT[3:], "V" + TEXT[1:], "v1." + TEXT, "v1.A", "v1.é", "v1.\ud800"]
)
def test_what_is_no_token_is_refused(text: str) -> None:
    assert refused(text).startswith("malformed: ")


def test_a_token_of_just_the_longest_length_is_read_and_one_character_more_is_not() -> None:
    assert token.from_text(TEXT, max_chars=len(TEXT)) == SEALED
    with pytest.raises(StateRefused, match="too long"):
        token.from_text(TEXT, max_chars=len(TEXT) - 1)


# Bytes that never were a token


@pytest.mark.parametrize(
    "sealed",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"\x02k1", id="a kid alone"),
        pytest.param(b"\x02k1" + bytes(24 + 15), id="one byte short of the tag"),
        pytest.param(b"\x00" + bytes(24 + 16), id="a kid without a byte"),
        pytest.param(b"\xff" + bytes(24 + 16), id="a kid longer than the token"),
    ],
)
def test_bytes_that_can_hold_no_token_are_refused(sealed: bytes) -> None:
    with pytest.raises(StateRefused, match="malformed"):
        token.unseal(sealed, RING, purpose=PURPOSE, audience=AUDIENCE)


def test_a_kid_that_is_no_text_is_refused_before_a_key_is_looked_for() -> None:
    def never(kid: str) -> RingKey | None:
        raise AssertionError(kid)

    with pytest.raises(StateRefused, match="kid"):
        token.unseal(b"\x02\xff\xfe" + SEALED[3:], never, purpose=PURPOSE, audience=AUDIENCE)


# Keys


def test_a_token_whose_kid_is_unknown_or_outlived_is_refused() -> None:
    with pytest.raises(StateRefused, match="unknown or retired kid"):
        opened(TEXT, lambda _: None)


def test_a_token_under_another_key_of_the_same_kid_is_refused() -> None:
    with pytest.raises(StateRefused, match="not authentic"):
        opened(TEXT, lambda kid: RingKey(kid, derive_key(kid, b"t" * 64)))


def test_a_token_that_names_another_key_of_the_ring_is_refused() -> None:
    assert refused(token.to_text(b"\x02k2" + SEALED[3:])) == "not authentic"


def test_a_ring_that_cannot_be_had_is_not_a_refusal() -> None:
    def down(kid: str) -> RingKey | None:
        raise Unavailable(kid)

    with pytest.raises(Unavailable):
        opened(TEXT, down)


# What else is bound


def test_a_token_of_another_audience_is_refused() -> None:
    with pytest.raises(StateRefused, match="not authentic"):
        opened(TEXT, audience="stack-b")


def test_a_token_of_another_purpose_is_refused() -> None:
    with pytest.raises(StateRefused, match="not authentic"):
        token.unseal(SEALED, RING, purpose="record", audience=AUDIENCE)


def test_purpose_and_audience_cannot_borrow_from_each_other() -> None:
    sealed = token.seal(PLAINTEXT, KEY, purpose="a", audience="b\x00c")
    with pytest.raises(StateRefused, match="not authentic"):
        token.unseal(sealed, RING, purpose="a\x00b", audience="c")


def test_a_token_sealed_with_plain_gcm_under_the_ring_key_is_refused() -> None:
    nonce = bytes(24)
    plain = AESGCM(KEY.key).encrypt(nonce[12:], PLAINTEXT, b"v1.\x00state\x00\x02k1\x00stack-a")
    assert refused(token.to_text(b"\x02k1" + nonce + plain)) == "not authentic"
