from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr.errors import Fault, ProtocolError
from mrtr.header_codec import decode, encode, same_integer

# streamable-http, 'Value Encoding', "Encoding examples"
PUBLISHED = [
    ("us-west1", "us-west1"),
    ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    (" padded ", "=?base64?IHBhZGRlZCA=?="),
    ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
    ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
]


@pytest.mark.parametrize(("value", "header"), PUBLISHED)
def test_the_published_examples_are_encoded_and_decoded(value: str, header: str) -> None:
    assert encode(value) == header
    assert decode(header) == value


@pytest.mark.parametrize(
    "value",
    ["", "a", "a b", "a\tb", "!~", "delete_note", "file:///a?b=c", "a,b", "x?=", "=?base64?x", "=?BASE64?eA==?="],
)
def test_what_a_header_can_hold_travels_as_it_is(value: str) -> None:
    assert encode(value) == value
    assert decode(value) == value


@pytest.mark.parametrize(
    "value",
    [
        " a",
        "a ",
        "\ta",
        "a\t",
        " ",
        "a\nb",
        "a\rb",
        "\0",
        "\x1f",
        "\x7f",
        "\x80",
        "é",
        "e\u0301",
        "削除",
        "📝",
        "\u202eשלם",
        "=?base64??=",
        "=?base64?=",
    ],
)
def test_what_a_header_cannot_hold_travels_encoded(value: str) -> None:
    header = encode(value)
    assert header == f"=?base64?{base64.b64encode(value.encode()).decode()}?="
    assert decode(header) == value


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("=?base64?YQ==?=", "a"),  # encoded without need
        ("=?base64??=", ""),
        ("=?base64?=", "=?base64?="),  # prefix and suffix can't share a character
        ("=?base64?YQ==", "=?base64?YQ=="),
        ("YQ==?=", "YQ==?="),
        ("=?BASE64?YQ==?=", "=?BASE64?YQ==?="),
        ("x=?base64?YQ==?=", "x=?base64?YQ==?="),
        ("=?base64?YQ==?= ", "=?base64?YQ==?= "),
    ],
)
def test_only_a_whole_sentinel_is_decoded(header: str, value: str) -> None:
    assert decode(header) == value


def reason_of(header: str) -> str:
    with pytest.raises(ProtocolError) as caught:
        decode(header)
    assert caught.value.fault is Fault.HEADER_MISMATCH
    return caught.value.message


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ("YQ", "Base64"),  # padding missing
        ("YQ=", "Base64"),
        ("YQ===", "Base64"),  # too much of it
        ("YQ==YQ==", "Base64"),
        ("=YQ=", "Base64"),
        ("Y", "Base64"),
        ("YWJj=", "Base64"),
        ("Y*==", "Base64"),
        ("YQ= =", "Base64"),
        (" YQ==", "Base64"),
        ("YQ==\n", "Base64"),
        ("_-8=", "Base64"),  # the alphabet of URLs
        ("YQ?=", "Base64"),
        ("é===", "Base64"),
        ("YR==", "canonical"),  # spare bits set
        ("YWK=", "canonical"),
        ("/w==", "UTF-8"),
        ("7aCA", "UTF-8"),  # a surrogate
        ("wIA=", "UTF-8"),  # overlong
    ],
)
def test_a_malformed_sentinel_is_refused(payload: str, reason: str) -> None:
    assert reason in reason_of(f"=?base64?{payload}?=")


@pytest.mark.parametrize("character", ["\0", "\n", "\r", "\x1f", "\x7f", "\x80", "\xa0", "é", "世", "📝", "\ud800"])
@pytest.mark.parametrize("template", ["{}", "a{}b", "=?base64?YQ==?={}"])
def test_a_plain_value_with_a_character_no_header_can_hold_is_refused(template: str, character: str) -> None:
    assert "visible ASCII" in reason_of(template.format(character))


@pytest.mark.parametrize(
    "header", ["hunter2\n", "=?base64?hunter2?=", f"=?base64?{base64.b64encode(b'hunter2' + bytes([255])).decode()}?="]
)
def test_a_refusal_never_quotes_the_value(header: str) -> None:
    assert "hunter2" not in reason_of(header)


def test_a_lone_surrogate_cannot_be_encoded() -> None:
    with pytest.raises(UnicodeEncodeError):
        encode("\ud800")


@given(st.text(st.characters(codec="utf-8")))
@settings(derandomize=True, deadline=None, max_examples=500)
def test_every_value_comes_back_from_a_header_that_any_proxy_passes(value: str) -> None:
    header = encode(value)
    assert header.isascii()
    assert header == header.strip()
    assert header == "" or header.isprintable() or "\t" in header
    assert decode(header) == value


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")))
@settings(derandomize=True, deadline=None)
def test_two_values_never_share_a_header(one: str, other: str) -> None:
    assert (encode(one) == encode(other)) == (one == other)


@given(st.one_of(st.text(), st.builds("=?base64?{}?=".format, st.text() | st.text(alphabet="AQgw/+=Yz", max_size=12))))
@settings(derandomize=True, deadline=None, max_examples=1000)
def test_no_header_makes_anything_but_a_header_mismatch_escape(header: str) -> None:
    try:
        value = decode(header)
    except ProtocolError as error:
        assert error.fault is Fault.HEADER_MISMATCH  # noqa: PT017 -- some of these are readable
        return
    assert header in {value, f"=?base64?{base64.b64encode(value.encode()).decode()}?="}


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("42", 42),
        ("42.0", 42),
        ("42.000", 42),
        ("4.2e1", 42),
        ("420E-1", 42),
        ("-7", -7),
        ("0", 0),
        ("-0", 0),
        ("0.0", 0),
        ("9007199254740993", 9007199254740993),
        ("1e20", 10**20),
        ("9" * 4300, 10**4300 - 1),
    ],
)
def test_a_header_spells_the_same_integer(header: str, body: int) -> None:
    assert same_integer(header, body)


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("42", 43),
        ("42", -42),
        ("42.5", 42),
        ("42.0000000000000000000000001", 42),
        ("9007199254740992", 9007199254740993),
        ("1e999999999999", 1),
        ("", 0),
        ("-", 0),
        ("+42", 42),
        ("042", 42),
        (" 42", 42),
        ("42 ", 42),
        ("42\n", 42),
        ("42.", 42),
        (".0", 0),
        ("4_2", 42),
        ("0x2a", 42),
        ("٤٢", 42),
        ("NaN", 0),
        ("true", 1),
        ("42,42", 42),
        ("1e" + "0" * 4300, 1),
    ],
)
def test_a_header_spells_another_number_or_none(header: str, body: int) -> None:
    assert not same_integer(header, body)


@given(st.integers(), st.integers(), st.integers(min_value=0, max_value=9))
@settings(derandomize=True, deadline=None)
def test_integers_are_the_same_exactly_when_they_are_equal(one: int, other: int, zeros: int) -> None:
    header = f"{one}.{'0' * zeros}" if zeros else str(one)
    assert same_integer(header, one)
    assert same_integer(header, other) == (one == other)
