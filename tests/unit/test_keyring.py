from __future__ import annotations

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from mrtr.errors import ConfigurationError
from mrtr.keyring import MIN_SECRET_CHARS, KeyRing, RingKey, derive_key, read_ring

NOW = 1_800_000_000.0
SECRET = "Zq3v" * 16


def key(kid: str = "k1", *, seal_from: float = 0.0, open_until: float | None = None) -> RingKey:
    return RingKey(kid, derive_key(kid, SECRET.encode()), seal_from, open_until)


def written(**entry: Any) -> str:
    return json.dumps({"kid": "k1", "key": SECRET} | entry)


# Reading


def test_the_secret_that_the_template_makes_is_a_ring_of_one_key() -> None:
    ring = read_ring(written())
    assert ring.kids == {"k1"}
    assert ring.sealing_key(NOW).key == derive_key("k1", SECRET.encode())


def test_a_ring_of_several_keys_keeps_each_key_with_its_times() -> None:
    old = {"kid": "old", "key": SECRET, "seal_from": 100, "open_until": 300.5}
    new = {"kid": "new", "key": SECRET, "seal_from": 200, "open_until": None}
    ring = read_ring(json.dumps({"keys": [old, new]}))
    assert ring.opening_key("old", 150) == RingKey("old", derive_key("old", SECRET.encode()), 100.0, 300.5)
    assert ring.opening_key("new", 150) == RingKey("new", derive_key("new", SECRET.encode()), 200.0, None)


def test_the_aes_key_is_derived_by_hkdf_and_differs_by_kid() -> None:
    library = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"askback sealing key v1 k1")
    assert derive_key("k1", SECRET.encode()) == library.derive(SECRET.encode())
    assert derive_key("k1", SECRET.encode()) != derive_key("k2", SECRET.encode())


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("plain text", id="not JSON"),
        pytest.param(SECRET, id="the key alone"),
        pytest.param("null", id="null"),
        pytest.param("[]", id="a list"),
        pytest.param('"text"', id="a string"),
        pytest.param("{}", id="an empty object"),
        pytest.param('{"keys": []}', id="no keys"),
        pytest.param('{"keys": {}}', id="keys that are no list"),
        pytest.param('{"keys": null}', id="keys that are null"),
        pytest.param('{"keys": ["x"]}', id="a key that is no object"),
        pytest.param(written(kid=None), id="kid null"),
        pytest.param(written(kid=1), id="kid a number"),
        pytest.param(written(kid=""), id="kid empty"),
        pytest.param(written(kid="ü" * 17), id="kid of 34 bytes"),
        pytest.param(written(key=None), id="key null"),
        pytest.param(written(key=[SECRET]), id="key a list"),
        pytest.param(written(key=""), id="key empty"),
        pytest.param(written(key="s" * (MIN_SECRET_CHARS - 1)), id="key one character short"),
        pytest.param(written(seal_from="0"), id="seal_from text"),
        pytest.param(written(seal_from=None), id="seal_from null"),
        pytest.param(written(seal_from=True), id="seal_from a boolean"),
        pytest.param(written(open_until=False), id="open_until a boolean"),
        pytest.param(written(open_until="2030-01-01"), id="open_until a date"),
        pytest.param(written(open_until=1_800_000_000_000), id="open_until in milliseconds"),
        pytest.param('{"kid": "k1", "key": "' + SECRET + '", "seal_from": NaN}', id="seal_from NaN"),
        pytest.param('{"kid": "k1", "key": "' + SECRET + '", "open_until": Infinity}', id="open_until infinite"),
    ],
)
def test_a_malformed_secret_is_refused_without_quoting_a_key(text: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        read_ring(text)
    assert SECRET[:30] not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_a_key_of_the_least_length_and_a_kid_of_the_greatest_are_read() -> None:
    ring = read_ring(json.dumps({"kid": "k" * 32, "key": "s" * MIN_SECRET_CHARS}))
    assert ring.kids == {"k" * 32}


# Choosing a key


def test_two_keys_with_one_kid_are_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="'k1'"):
        KeyRing([key("k1"), key("k1", seal_from=5)])


def test_two_keys_that_start_to_seal_at_one_moment_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="seal_from"):
        KeyRing([key("a", seal_from=7), key("b", seal_from=7)])


def test_a_key_of_another_length_than_256_bits_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="256 bits") as refusal:
        KeyRing([RingKey("k1", b"very secret")])
    assert "very secret" not in str(refusal.value)


def test_the_key_whose_time_came_last_seals_whatever_the_order_they_stand_in() -> None:
    keys = [key("a", seal_from=100), key("b", seal_from=300), key("c", seal_from=200)]
    for ring in (KeyRing(keys), KeyRing(reversed(keys))):
        assert ring.sealing_key(299.9).kid == "c"
        assert ring.sealing_key(300).kid == "b"


def test_a_new_key_opens_at_once_and_seals_only_from_its_time_on() -> None:
    ring = KeyRing([key("old"), key("new", seal_from=NOW + 600)])
    assert ring.opening_key("new", NOW) is not None
    assert ring.sealing_key(NOW + 599).kid == "old"
    assert ring.sealing_key(NOW + 600).kid == "new"


def test_a_key_opens_until_just_before_its_end() -> None:
    ring = KeyRing([key("old", open_until=NOW), key("new", seal_from=1)])
    assert ring.opening_key("old", NOW - 0.001) is not None
    assert ring.opening_key("old", NOW) is None


def test_a_key_past_its_end_does_not_seal_although_its_time_came_last() -> None:
    ring = KeyRing([key("a"), key("b", seal_from=100, open_until=200)])
    assert ring.sealing_key(199).kid == "b"
    assert ring.sealing_key(200).kid == "a"


@pytest.mark.parametrize("only", [key(seal_from=NOW + 1), key(open_until=NOW)], ids=["not yet", "no more"])
def test_a_ring_without_a_key_that_may_seal_refuses_and_says_what_to_check(only: RingKey) -> None:
    with pytest.raises(ConfigurationError, match="seal_from and open_until"):
        KeyRing([only]).sealing_key(NOW)


def test_an_unknown_kid_opens_nothing() -> None:
    assert KeyRing([key("k1")]).opening_key("k2", NOW) is None


# Keeping secrets


def test_neither_a_key_nor_a_ring_shows_key_material() -> None:
    ring = read_ring(written())
    shown = repr(ring) + str(ring) + repr(ring.sealing_key(NOW))
    assert "k1" in shown
    for secret in (SECRET, repr(ring.sealing_key(NOW).key), ring.sealing_key(NOW).key.hex()):
        assert secret not in shown
