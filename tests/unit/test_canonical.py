from __future__ import annotations

import json
import math
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from mrtr import strict_json
from mrtr.canonical import decompose, encode, lengthen, shorten
from mrtr.errors import ProtocolError


def canonical(text: str) -> str:
    return encode(strict_json.parse(text.encode()))


@pytest.mark.parametrize(
    ("spellings", "text"),
    [
        (["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000000000000000000000000000000E+0"], "1"),
        (["0", "-0", "0.0", "-0.0", "0e999", "-0E-999", "0.000"], "0"),
        (["-7", "-7.0", "-70e-1"], "-7"),
        (["0.1", "0.10", "1e-1", "1E-1", "0.01e1", "100e-3"], "1e-1"),
        (["1.5", "15e-1", "0.15e1", "1.50"], "15e-1"),
        (["-1.5", "-15e-1"], "-15e-1"),
        (["100", "1e2", "1E+2", "100.00", "0.01e4"], "100"),
        (["123456789012345678901234567890", "123456789012345678901234567890.0"], "123456789012345678901234567890"),
        (["0.1234567890123456789012345", "1234567890123456789012345e-25"], "1234567890123456789012345e-25"),
        (["1e308", "1" + "0" * 308, "1" + "0" * 308 + ".0"], "1" + "0" * 308),
        (["1e-300", "0." + "0" * 299 + "1"], "1e-300"),
        (["1e-999999"], "1e-999999"),
        (['{"b":1,"a":2}', '{ "a" : 2.0 , "b" : 10e-1 }', '\n{"a":2,\t"b":1}'], '{"a":2,"b":1}'),
        (['{"b":[{"d":0.5,"c":[]}],"a":{}}', '{"a":{},"b":[{"c":[],"d":5e-1}]}'], '{"a":{},"b":[{"c":[],"d":5e-1}]}'),
        ([r'"\u0041"', '"A"'], '"A"'),
        ([r'"é"', r'"\u00e9"', r'"\u00E9"'], r'"\u00e9"'),
        ([r'"\ud83d\udcdd"', '"📝"'], r'"\ud83d\udcdd"'),
        ([r'"\/"', '"/"'], '"/"'),
        ([r'"\ud800"', r'"\uD800"'], r'"\ud800"'),
        (["[true, false, null]"], "[true,false,null]"),
    ],
)
def test_every_spelling_of_a_value_has_one_text(spellings: list[str], text: str) -> None:
    assert [canonical(spelling) for spelling in spellings] == [text] * len(spellings)


@pytest.mark.parametrize(
    "texts",
    [
        ["1", '"1"', "true", "null", "[1]", '{"1":1}', '"true"', '"null"', "0", "false", '""', "[]", "{}", "-1"],
        ['{"a":1}', '{"a":1,"b":null}', '{"a":null,"b":1}', '{"a":"1"}', '{"A":1}'],
        ['"é"', '"e\u0301"'],
        ["9007199254740992", "9007199254740993", "9007199254740992.5"],
        ["0.1", "0.1000000000000000055511151231257827", "0.10000000000000001"],
        ["1e-400", "0", "-1e-400"],
        ["[1,2]", "[2,1]", "[[1],2]", "[1,[2]]", "[1,2,null]", "[12]", "[1.2]"],
        [r'"\ud800"', r'"\udc00"', r'"\\ud800"', '"?"', '"\ufffd"'],
    ],
)
def test_different_values_have_different_texts(texts: list[str]) -> None:
    assert len({canonical(text) for text in texts}) == len(texts)


def test_object_names_are_sorted_by_code_point_at_every_level_with_and_without_fractions() -> None:
    whole = '{"😀":{"b":1,"a":1},"é":1,"z":1,"Z":1,"":1}'
    names = r'{"":1,"Z":1,"z":1,"\u00e9":1,"\ud83d\ude00":{"a":1,"b":1}}'
    assert canonical(whole) == names
    assert canonical(whole.replace('"Z":1', '"Z":0.5')) == names.replace('"Z":1', '"Z":5e-1')


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "1e-1"), (1.0, "1"), (-0.0, "0"), (1e22, "1" + "0" * 22), (2.5e-9, "25e-10")]
)
def test_a_plain_float_counts_as_its_shortest_spelling(value: float, text: str) -> None:
    assert encode([value]) == f"[{text}]"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_a_number_has_no_text(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON"):
        encode({"a": [value]})


@pytest.mark.parametrize("value", [{"a": b"bytes"}, {"a": [0.5, {1, 2}]}])
def test_what_is_not_json_has_no_text(value: object) -> None:
    with pytest.raises(TypeError):
        encode(value)


def test_a_huge_exponent_is_not_expanded() -> None:
    assert decompose("1e999999999999") == (False, "1", 999999999999)
    assert decompose("-12.50E-3") == (True, "125", -4)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("1.0", int),
        ("1e308", float),
        ("0.1", float),
        ("2.5", Decimal),
        ("1" * 400, int),
        ("-0.0", float),
        ("5e-324", float),
    ],
)
def test_pydantic_reads_a_canonical_number_as_the_same_number(text: str, kind: type[Any]) -> None:
    assert TypeAdapter(kind).validate_json(canonical(text), strict=True) == kind(
        text if kind is not int else Decimal(text)
    )


def test_pydantic_reads_canonical_strings_as_they_were_sent() -> None:
    value = {"名前": ["é", "e\u0301", "📝", '"\\/\b\n\x7f\u2028', "\u202eשלם"]}
    assert TypeAdapter(dict[str, list[str]]).validate_json(encode(value), strict=True) == value


texts = st.text(st.characters(codec="utf-8"), max_size=8)
decimals = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**300), max_value=10**300)
leaves = st.none() | st.booleans() | st.integers() | decimals | texts
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


def respelled(value: Any, rng: random.Random) -> str:
    """`value` as some JSON text: spelling of numbers, order of names, escapes and white space at random."""
    space = rng.choice(["", " ", "\n", "\t "])
    if isinstance(value, dict):
        names = rng.sample(list(value), len(value))
        members = [
            f"{json.dumps(name, ensure_ascii=rng.random() < 0.5)}{space}:{respelled(value[name], rng)}"
            for name in names
        ]
        return "{" + space + ",".join(members) + "}"
    if isinstance(value, list):
        return "[" + f"{space},".join(respelled(item, rng) for item in value) + space + "]"
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return respelled_number(Decimal(value), rng)
    return space + json.dumps(value, ensure_ascii=rng.random() < 0.5) + space


def respelled_number(value: Decimal, rng: random.Random) -> str:
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    moved = rng.randint(0, 3)
    whole, power = "".join(map(str, digits)) + "0" * moved, exponent - moved
    return (
        ("-" if sign else "")
        + (whole.lstrip("0") or "0")
        + (f"{rng.choice('eE')}{power}" if power or rng.random() < 0.5 else ".0")
    )


@given(values, st.integers())
@settings(derandomize=True, deadline=None, max_examples=300)
def test_spelling_order_and_white_space_never_matter(value: Any, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 -- seeded so that a failure repeats
    assert canonical(respelled(value, rng)) == canonical(respelled(value, rng))


def meaning(value: Any) -> Any:
    """A comparable image in which exactly the values that mean the same are equal."""
    if isinstance(value, dict):
        return ("object", frozenset((name, meaning(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(meaning(item) for item in value))
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        return ("number", Decimal(value))
    return (type(value).__name__, value)


@given(values, values, st.integers())
@settings(derandomize=True, deadline=None, max_examples=300)
def test_texts_are_equal_exactly_when_the_values_are(one: Any, other: Any, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 -- seeded so that a failure repeats
    equal = canonical(respelled(one, rng)) == canonical(respelled(other, rng))
    assert equal == (meaning(one) == meaning(other))


@given(values, st.integers())
@settings(derandomize=True, deadline=None, max_examples=300)
def test_a_canonical_text_reads_back_as_the_same_value_and_is_its_own_canonical_text(value: Any, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 -- seeded so that a failure repeats
    text = canonical(respelled(value, rng))
    assert text.isascii()
    assert meaning(json.loads(text, parse_float=Decimal)) == meaning(value)
    assert canonical(text) == text


@given(st.text(alphabet='[]{}":,\\0.e-+123 ', max_size=60))
@settings(derandomize=True, deadline=None, max_examples=500)
def test_everything_that_can_be_read_has_a_canonical_text(text: str) -> None:
    try:
        value = strict_json.parse(text.encode())
    except ProtocolError:
        return
    assert canonical(encode(value)) == encode(value)


@pytest.mark.parametrize("exponent", ["-" + "9" * 4290, "-" + "0" * 4290 + "1"])
def test_the_longest_exponents_that_can_be_read_have_a_text(exponent: str) -> None:
    assert canonical("1e" + exponent) == "1e-" + exponent.lstrip("-0")


# Shorter, for storing


@pytest.mark.parametrize(
    ("value", "short"),
    [
        ("plain", '"plain"'),
        ("é", '"é"'),
        ("漢字", '"漢字"'),
        ("📝", '"📝"'),
        ("\\u00e9", r'"\\u00e9"'),
        ("\\é", r'"\\é"'),
        ('"\n\t\x00\x1f\x7f\x80', '"\\"\\n\\t\\u0000\\u001f\\u007f\x80"'),
        ("\ud83d alone \udcdd", '"\ud83d alone \udcdd"'),
        ({"ключ": ["значение", 1.5, None]}, '{"ключ":["значение",15e-1,null]}'),
    ],
)
def test_letters_of_every_script_are_stored_as_themselves(value: Any, short: str) -> None:
    assert shorten(encode(value)) == short
    assert lengthen(short) == encode(value)


@given(
    st.recursive(
        st.text(st.characters(exclude_categories=())), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
@settings(derandomize=True, deadline=None)
def test_what_was_shortened_comes_back_to_the_letter_and_is_never_longer(value: Any) -> None:
    text = encode(value)
    assert lengthen(shorten(text)) == text
    assert len(shorten(text).encode("utf-8", "surrogatepass")) <= len(text)
