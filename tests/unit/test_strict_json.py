from __future__ import annotations

import copy
import json
import math
import pickle
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mrtr.errors import Fault, ProtocolError
from mrtr.strict_json import MAX_DEPTH, MAX_DIGITS, Number, dump, parse

MEGABYTE = 1 << 20

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def refusal(body: bytes) -> str:
    with pytest.raises(ProtocolError) as caught:
        parse(body)
    assert caught.value.fault is Fault.PARSE
    return caught.value.message


def nested(depth: int, opening: bytes = b"[", closing: bytes = b"]", core: bytes = b"") -> bytes:
    return opening * depth + core + closing * depth


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b" \t\r\n[1, -2]\n", [1, -2]),
        (b'"x"', "x"),
        (b"null", None),
        (b"true", True),
        (b"-0", 0),
        (b'{"a":{"b":1},"b":{"a":1}}', {"a": {"b": 1}, "b": {"a": 1}}),
        ('{"名前":"ノート 📝"}'.encode(), {"名前": "ノート 📝"}),
        (rb'"\ud83d\udcdd"', "📝"),
        (rb'"\ud800"', "\ud800"),
        (rb'"\u0000"', "\0"),
    ],
)
def test_valid_json_is_read(body: bytes, value: object) -> None:
    assert parse(body) == value


@pytest.mark.parametrize(
    ("body", "part_of_message"),
    [
        (b"", "empty"),
        (b" ", "not valid JSON"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b'{"a":"\xff"}', "UTF-8 (byte 6)"),
        (b'"\xed\xa0\x80"', "UTF-8 (byte 1)"),  # a surrogate written as if it were a character
        (b'"\xc0\x80"', "UTF-8 (byte 1)"),  # an overlong NUL
        (b'"\xc3', "UTF-8 (byte 1)"),  # cut short
        ("{}".encode("utf-16-le"), "not valid JSON"),
        (b"{'a':1}", "not valid JSON"),
        (b'{"a":1,}', "not valid JSON"),
        (b"[1,]", "not valid JSON"),
        (b"[1 2]", "not valid JSON"),
        (b"{} {}", "not valid JSON"),
        (b"{}\0", "not valid JSON"),
        (b"\x0c{}", "not valid JSON"),
        ("\u00a0{}".encode(), "not valid JSON"),
        (b"// a comment\n{}", "not valid JSON"),
        (b'"a\nb"', "not valid JSON"),
        (b'"\x1f"', "not valid JSON"),
        (rb'"\x41"', "not valid JSON"),
        (rb'"\u12"', "not valid JSON"),
        (b"{1:2}", "not valid JSON"),
        (b"01", "not valid JSON"),
        (b"+1", "not valid JSON"),
        (b".5", "not valid JSON"),
        (b"1.", "not valid JSON"),
        (b"1e", "not valid JSON"),
        (b"0x10", "not valid JSON"),
        (b"1_000", "not valid JSON"),
        ("١٢".encode(), "not valid JSON"),  # digits of another script
        (b"True", "not valid JSON"),
        (b"NaN", "NaN"),
        (b"[Infinity]", "Infinity"),
        (b'{"a":-Infinity}', "-Infinity"),
        (b'{"a":1,"a":1}', "same name twice"),
        (b'{"a":1,"b":2,"a":null}', "same name twice"),
        (rb'{"a":1,"\u0061":2}', "same name twice"),
        (b'[{"x":{"a":1,"a":2}}]', "same name twice"),
        (b'{"":1,"":2}', "same name twice"),
    ],
)
def test_anything_but_strict_json_is_refused_with_its_reason(body: bytes, part_of_message: str) -> None:
    assert part_of_message in refusal(body)


def test_names_that_differ_only_in_unicode_normalisation_are_two_names() -> None:
    assert len(parse('{"é":1,"e\u0301":2}'.encode())) == 2


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b'[{"a":', b"}]")])
def test_the_deepest_allowed_nesting_is_read_and_one_level_more_is_refused(opening: bytes, closing: bytes) -> None:
    levels = opening.count(b"[") + opening.count(b"{")
    parse(nested(MAX_DEPTH // levels, opening, closing, b"0"))
    assert "deeper than 64" in refusal(b"[" + nested(MAX_DEPTH // levels, opening, closing, b"0") + b"]")


def test_many_brackets_side_by_side_are_not_deep() -> None:
    body = b"[" + b",".join([nested(MAX_DEPTH - 1)] * 100) + b"]"
    assert len(parse(body)) == 100


def test_one_deep_branch_among_many_shallow_ones_is_refused() -> None:
    assert "deeper" in refusal(b"[" + b"[]," * 1000 + nested(MAX_DEPTH) + b",[]" * 1000 + b"]")


@pytest.mark.parametrize("string", [b"[" * 200, rb"\"" + b"[" * 200, rb"\\\"" + b"{" * 200, rb"\\" * 3 + b"]" * 200])
def test_brackets_inside_strings_do_not_count_as_nesting(string: bytes) -> None:
    assert parse(b'["' + string + b'", "' + string + b'"]') == [json.loads(b'"' + string + b'"')] * 2


def test_brackets_after_a_string_that_ends_in_a_backslash_do_count_as_nesting() -> None:
    assert "deeper" in refusal(rb'["\\",' + nested(MAX_DEPTH) + b"]")


@pytest.mark.parametrize(
    "body",
    [
        b"[" * MEGABYTE,
        b'{"a":' * (MEGABYTE // 5),
        b"]" * MEGABYTE,
        b"][" * (MEGABYTE // 2),
        b"[}" * (MEGABYTE // 2),
        b'"' + rb"\"" * (MEGABYTE // 2),
        b'"' * MEGABYTE,
        b"\\" * MEGABYTE,
        b'\\"[' * (MEGABYTE // 3),
        b"[" + nested(65) * 8000,
        b"-" * MEGABYTE,
        b"9" * MEGABYTE,
        b"1e" + b"9" * MEGABYTE,
    ],
    ids=lambda body: f"{body[:8]!r}",
)
def test_a_megabyte_made_to_hurt_is_refused_without_recursion_or_quadratic_work(body: bytes) -> None:
    # anything quadratic would sit here for minutes
    assert refusal(body)


@pytest.mark.parametrize("digits", [1, 16, 17, 309, MAX_DIGITS])
def test_integers_of_any_readable_size_are_exact(digits: int) -> None:
    text = "9" * digits
    assert parse(f"[{text},-{text}]".encode()) == [int(text), -int(text)]


def test_an_integer_with_one_digit_too_many_is_refused() -> None:
    assert "number" in refusal(b"9" * (MAX_DIGITS + 1))


def test_a_fraction_is_read_up_to_the_same_length_and_refused_beyond() -> None:
    longest = b"0." + b"1" * (MAX_DIGITS - 2)
    assert str(parse(longest)) == longest.decode()
    assert "number" in refusal(longest + b"1")


@pytest.mark.parametrize("text", ["1.7976931348623157e308", "-1.7976931348623157E+308", "1e308"])
def test_the_largest_floats_are_read(text: str) -> None:
    assert math.isfinite(parse(text.encode()))


@pytest.mark.parametrize("text", ["1.8e308", "1e309", "-1e309", "1e999999999"])
def test_numbers_that_overflow_a_float_are_refused(text: str) -> None:
    assert "number" in refusal(text.encode())


@pytest.mark.parametrize("text", ["0.1", "0.10", "1e0", "1E+2", "-0.0", "1e-400", "123456789.123456789123456789"])
def test_a_number_keeps_its_exact_text(text: str) -> None:
    number = parse(text.encode())
    assert type(number) is Number
    assert number == float(text)
    assert number.text == str(number) == f"{number}" == text
    assert Decimal(str(number)) == Decimal(text)
    assert repr(number) == repr(float(text))


def test_a_number_survives_copying_and_pickling_with_its_text() -> None:
    number = parse(b"0.10")
    assert copy.deepcopy(number).text == copy.copy(number).text == "0.10"
    assert pickle.loads(pickle.dumps(number)).text == "0.10"  # noqa: S301 -- pickled in this very line


@pytest.mark.parametrize(
    "body",
    [b'{"password":hunter2}', b'{"password":"hunter2"', b'{"hunter2":1,"hunter2":2}', b'"hunter2\xff"', b"hunter2"],
)
def test_a_refusal_never_quotes_the_body(body: bytes) -> None:
    assert "hunter2" not in refusal(body)


@given(st.binary(max_size=200))
@settings(derandomize=True, deadline=None, max_examples=500)
def test_no_bytes_make_anything_but_a_protocol_error_escape(body: bytes) -> None:
    try:
        parse(body)
    except ProtocolError as error:
        assert error.fault is Fault.PARSE  # noqa: PT017 -- most bytes are refused, some may be read


@given(st.text(alphabet='[]{}":,\\0.e-ntu 1Na', max_size=300))
@settings(derandomize=True, deadline=None, max_examples=1000)
def test_whatever_is_read_is_what_the_standard_library_reads(text: str) -> None:
    try:
        value = parse(text.encode())
    except ProtocolError:
        return
    assert value == json.loads(text)


@given(json_values)
@settings(derandomize=True, deadline=None)
def test_what_is_dumped_is_read_back_equal_in_value_and_type(value: Any) -> None:
    read = parse(dump(value).encode())
    assert read == value
    assert dump(read) == dump(value)


@given(json_values)
@settings(derandomize=True, deadline=None)
def test_a_dump_is_one_line_of_utf_8(value: Any) -> None:
    text = dump(value)
    text.encode()
    assert "\n" not in text
    assert "\r" not in text


def test_a_dump_is_compact_and_leaves_other_scripts_readable() -> None:
    assert dump({"a": [1, 2.5, None, True], "名": "é📝"}) == '{"a":[1,2.5,null,true],"名":"é📝"}'


def test_a_lone_surrogate_is_dumped_as_an_escape_that_reads_back() -> None:
    text = dump(["é", "\udcff"])
    assert text.isascii()
    assert parse(text.encode()) == ["é", "\udcff"]


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_is_not_dumped(number: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        dump({"a": number})
