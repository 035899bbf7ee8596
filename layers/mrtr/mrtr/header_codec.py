"""Values of the body as header values and back (streamable-http, 'Value Encoding'). No I/O.

A value that is safe as plain ASCII travels as it is; any other as `=?base64?` + Base64 of its UTF-8 + `?=`. What only
looks half like that, the prefix or the suffix missing, is plain text.
"""

from __future__ import annotations

import binascii
import re

from .canonical import decompose
from .errors import Fault, ProtocolError
from .strict_json import MAX_DIGITS

_PREFIX = "=?base64?"
_SUFFIX = "?="
# RFC 9110, section 5.5: visible ASCII, space, tab
_PLAIN = re.compile(r"[\x20-\x7e\t]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def encode(value: str) -> str:
    """`value` as a header value. Raises UnicodeEncodeError for a lone surrogate, which has no UTF-8."""
    looks_encoded = value.startswith(_PREFIX) and value.endswith(_SUFFIX)
    if _PLAIN.fullmatch(value) and value == value.strip(" \t") and not looks_encoded:
        return value
    return _PREFIX + binascii.b2a_base64(value.encode(), newline=False).decode() + _SUFFIX


def decode(value: str) -> str:
    """The value that a header value stands for, white space around it being gone already.

    Raises ProtocolError(Fault.HEADER_MISMATCH) for characters a header can't hold, for Base64 that isn't the one
    canonical encoding (foreign characters, padding missing or too much, spare bits set), and for invalid UTF-8.
    """
    # The length tells `=?base64?=`, where prefix and suffix share a character, from an encoded value.
    if not (value.startswith(_PREFIX) and value.endswith(_SUFFIX) and len(value) >= len(_PREFIX) + len(_SUFFIX)):
        if not _PLAIN.fullmatch(value):
            raise _malformed("a header value holds characters other than visible ASCII, space and tab")
        return value
    payload = value[len(_PREFIX) : -len(_SUFFIX)]
    try:
        data = binascii.a2b_base64(payload, strict_mode=True)
    except ValueError:  # binascii.Error, and payloads that aren't ASCII
        raise _malformed("an encoded header value is not valid Base64") from None
    if binascii.b2a_base64(data, newline=False) != payload.encode():  # spare bits set: the decoder takes them
        raise _malformed("an encoded header value is not canonical Base64")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise _malformed("an encoded header value is not UTF-8") from None


def same_integer(header: str, body: int) -> bool:
    """Whether a header value spells the integer `body`, as any JSON number may: `42.0` and `4.2e1` are 42.

    False for what isn't a number in JSON's spelling.
    """
    # Compared digit by digit: neither a float's rounding nor the expansion of a huge exponent comes into it.
    return len(header) <= MAX_DIGITS and bool(_NUMBER.fullmatch(header)) and decompose(header) == decompose(str(body))


def _malformed(reason: str) -> ProtocolError:
    return ProtocolError(Fault.HEADER_MISMATCH, f"Header mismatch: {reason}")
