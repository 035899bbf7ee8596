"""Bytes from the wire to JSON values and back, refusing whatever two readers could understand differently. No I/O.

The standard library's scanner (in C) does the work. What it lets through is closed here: a name given twice in one
object (which one counts?), NaN and the infinities (not JSON), numbers that overflow to infinity, and nesting deep
enough to trouble whoever walks the value later.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn, Self

from .errors import Fault, ProtocolError

MAX_DEPTH = 64
# Python's own default limit on the digits of an integer; the same for fractions, so that no number's text is unbounded.
MAX_DIGITS = 4300

_BOM = b"\xef\xbb\xbf"
_TO_BRACKETS = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class Number(float):
    """A JSON number with a fraction or an exponent: a float that remembers how it was spelled.

    `text` is the exact source, and `str()` gives it too: `Decimal(str(number))` loses nothing that the float lost.
    Raises ValueError where the float would be infinite.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        self = super().__new__(cls, text)
        if not math.isfinite(self):
            raise ValueError("number too large")
        self.text = text
        return self

    def __str__(self) -> str:
        return self.text

    def __getnewargs__(self) -> tuple[str]:  # type: ignore[override]  # float's own gives the rounded value
        return (self.text,)


def parse(body: bytes) -> Any:
    """Read one JSON text; numbers with a fraction or exponent become `Number`, integers stay exact.

    Raises ProtocolError(Fault.PARSE) for anything else than strict JSON in UTF-8 without a byte order mark.
    """
    if not body:
        raise _refused("The body is empty; a JSON object was expected.")
    if body.startswith(_BOM):
        raise _refused("The body starts with a byte order mark; send plain UTF-8.")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _refused(f"The body is not valid UTF-8 (byte {error.start}).") from None
    # Fewer opening brackets than the limit can't nest too deep: the usual body pays for two counts alone.
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _nests_too_deep(body):
        raise _refused(f"The body is nested deeper than {MAX_DEPTH} levels.")
    try:
        return _decode(text)
    except json.JSONDecodeError as error:
        raise _refused(f"The body is not valid JSON ({error.msg} at character {error.pos}).") from None
    except ValueError:
        # the integer limit of Python itself, the same for fractions, or Number's
        raise _refused("The body holds a number that is too long or too large.") from None


def dump(value: Any) -> str:
    """Write `value` as compact JSON on one line, other scripts unescaped.

    A lone surrogate can't travel as UTF-8: a value that holds one is written all in escapes.
    Raises ValueError for NaN and the infinities.
    """
    text = _dump_readable(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _dump_escaped(value)
    return text


def _nests_too_deep(body: bytes) -> bool:
    # Without escaped quotes, every second piece between quotes lies outside strings. Of those only the brackets stay,
    # and each pass takes the innermost pairs away: what is still there after MAX_DEPTH passes was nested deeper.
    # All of it runs in C and is linear; on a body that isn't JSON the answer may be wrong, but the scanner refuses
    # that body anyway, at the first wrong character.
    pieces = body.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
    brackets = b"".join(pieces[::2]).translate(_TO_BRACKETS, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        shallower = brackets.replace(b"[]", b"")
        if len(shallower) == len(brackets):
            # all that is left never closes (or nothing is left); 1 MB of "[" must not reach the scanner's recursion
            return brackets.count(b"[") > MAX_DEPTH
        brackets = shallower
    return bool(brackets)


def _refused(message: str) -> ProtocolError:
    return ProtocolError(Fault.PARSE, message)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _refused("An object in the body has the same name twice.")
    return members


def _fraction(text: str) -> Number:
    if len(text) > MAX_DIGITS:
        raise ValueError("number too long")
    return Number(text)


def _constant(name: str) -> NoReturn:
    raise _refused(f"{name} is not JSON.")


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_float=_fraction, parse_constant=_constant).decode
_dump_readable = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_dump_escaped = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
