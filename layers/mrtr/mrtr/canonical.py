"""Canonical JSON: one text for all spellings of the same value, so that values can be compared and digested. No I/O.

The rule. Names are sorted by code point and there is no white space. Numbers are compared as numbers: `1`, `1.0` and
`1e0` give `1`, `-0` gives `0`, `0.10` and `1e-1` give `1e-1`; integers of any size and fractions of any length are
exact. Strings stay as they were sent: no Unicode normalisation, and all but ASCII is escaped, so that even a lone
surrogate has a text. `1`, `"1"`, `true`, `null` and an absent member are all different.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from json.encoder import encode_basestring_ascii as _quote
from typing import Any

from .strict_json import Number


def encode(value: Any) -> str:
    """Canonical JSON of a JSON value (object names are strings). It is itself JSON and reads back as an equal value.

    A float that `strict_json.parse` did not make counts as its shortest spelling. Raises ValueError for NaN and the
    infinities, TypeError for what is not JSON.
    """
    return _write(value) if _holds_float(value) else _dump(value)


def decode(text: str) -> Any:
    """The value of a text that `encode` made, its fractions as `Number`.

    Not `strict_json.parse`: the canonical spelling of a number may be longer than the wire's, which was within bounds when it was read.
    """
    return _load(text)


def shorten(text: str) -> str:
    """Canonical JSON with the characters that are escaped for not being ASCII written as themselves. `lengthen` undoes it exactly.

    For whoever stores it: an escape takes six bytes, a letter of most of the world's scripts two or three.
    """
    if "\\u" not in text:
        return text
    halves = _ESCAPE.sub(_unescaped, text).encode("utf-16-le", "surrogatepass")
    return halves.decode("utf-16-le", "surrogatepass")  # the two of a pair become one


def lengthen(text: str) -> str:
    """The canonical JSON that `shorten` made `text` of."""
    return text if text.isascii() else _NOT_ASCII.sub(lambda found: _quote(found[0])[1:-1], text)


def decompose(text: str) -> tuple[bool, str, int]:
    """The one (negative, significand, power of ten) of a JSON number's text, however it was spelled.

    The significand neither starts nor ends with a zero; zero itself is (False, "", 0). Nothing is expanded:
    `1e999999999` costs no more than `1`.
    """
    mantissa, _, exponent = text.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    significand = digits.rstrip("0")
    if not significand:
        return False, "", 0
    power = int(exponent or 0) - len(fraction) + len(digits) - len(significand)
    return text.startswith("-"), significand, power


# Finds every kind of escape, so that the second of two backslashes begins none.
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|.)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def _unescaped(escape: re.Match[str]) -> str:
    code = int(escape[1] or "0", 16)
    return chr(code) if code > 0x7F else escape[0]


_load = json.JSONDecoder(parse_float=Number).decode

# Keys in C; the encoder escapes everything that is not ASCII.
_dump = json.JSONEncoder(sort_keys=True, allow_nan=False, separators=(",", ":")).encode


def _holds_float(value: Any) -> bool:
    if isinstance(value, dict):
        items: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple)):
        items = value
    else:
        return isinstance(value, float)
    for item in items:  # noqa: SIM110 -- a generator inside any() costs twice as much
        if type(item) is not str and _holds_float(item):
            return True
    return False


def _write(value: Any) -> str:
    # The encoder in C writes every float by its rounded value, subclasses too: values that hold one are written here.
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quote(name)}:{_write(value[name])}" for name in sorted(value)]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join([_write(item) for item in value]) + "]"
    return _number(value) if isinstance(value, float) else _dump(value)


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("NaN and the infinities are not JSON")
    negative, significand, power = decompose(value.text if isinstance(value, Number) else repr(value))
    sign = "-" if negative else ""
    if power < 0:
        return f"{sign}{significand}e{power}"
    # at most 309 digits: the value fits a float
    return f"{sign}{significand or '0'}{'0' * power}"
