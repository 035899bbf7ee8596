"""Short tags of things a sealed state is bound to.

Each is an HMAC-SHA256 keyed with the flow id, which is random and known only inside the seal: nobody outside can search for two requests,
principals or questions that share a shortened tag.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from . import canonical

TAG = 12
KEY_TAG = 6
QUESTION = 10


def request_tag(flow: bytes, method: str, name: str, arguments: str) -> bytes:
    """Binds a flow to its request: method, tool name (or uri), and the arguments in canonical JSON."""
    return _tag(flow, b"request", TAG, method, name, arguments)


def principal_tag(flow: bytes, principal: tuple[str, str, str]) -> bytes:
    """Binds a flow to who started it: issuer, subject, client id."""
    return _tag(flow, b"principal", TAG, *principal)


def key_tag(flow: bytes, key: str) -> bytes:
    """Recognises the key of an `inputResponses` entry as one that was asked."""
    return _tag(flow, b"key", KEY_TAG, key)


def question_digest(flow: bytes, key: str, request: dict[str, Any]) -> bytes:
    """Pins an answer to the exact question that was shown under `key`."""
    return _tag(flow, b"question", QUESTION, key, canonical.encode(request))


def answers_tag(flow: bytes, answers: list[tuple[bytes, str]]) -> bytes:
    """One tag for all the answers of a leg, in whatever order they came: (question digest, canonical JSON of the answer)."""
    return _tag(flow, b"answers", TAG, *(digest.hex() + answer for digest, answer in sorted(answers)))


def item_id(flow: bytes) -> bytes:
    """The flow's name outside the seal (claim table, log); it does not lead back to the flow id."""
    return hashlib.sha256(b"askback claim " + flow).digest()[:16]


def _tag(flow: bytes, label: bytes, size: int, *parts: str) -> bytes:
    message = bytearray(label)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        message += len(data).to_bytes(8, "big") + data  # length first, so that no two lists of parts read the same
    return hmac.digest(flow, bytes(message), "sha256")[:size]
