"""What a sealed state says: claims about a flow, their compact binary form, and whether they hold for the request at hand."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from . import canonical, tags, token
from .errors import MrtrError, StateRefused
from .keyring import RingKey
from .principal import Principal

MAX_CHARS = 8192
"""Longest `requestState` that is sealed or opened."""
MAX_ROUNDS = 10
CLOCK_SKEW_S = 60

_FORMAT = 1
_PURPOSE = "state"
_FLOW = 16
_HAS_PRINCIPAL, _HAS_NOTE = 1, 2


class StateTooLarge(MrtrError):
    """The state would be over 8 KiB."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the round: which `inputResponses` key it has, and the digest of how it was shown."""

    key: bytes
    question: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """A recorded answer: the digest of the question it belongs to, and the client's answer as canonical JSON."""

    question: bytes
    json: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class FlowState:
    """The claims of a sealed state. Times are Unix seconds.

    round: rounds of questions asked so far, this one included (1 for the first question).
    claimed_round: the round at which the flow's item in the claim table waits for this state's answers; 0 while there is no item.
    note: text of an author who builds results by hand.
    """

    flow: bytes = field(repr=False)
    round: int
    issued: int
    expires: int
    deadline: int
    request: bytes
    principal: bytes | None
    claimed_round: int = 0
    asked: tuple[Asked, ...] = ()
    answers: tuple[Answer, ...] = ()
    note: str | None = field(default=None, repr=False)


def new_flow(now: float, flow_ttl_s: int) -> FlowState:
    """A flow that is about to ask its first question: a fresh flow id, round 0, bound to nothing yet."""
    issued = int(now)
    return FlowState(os.urandom(_FLOW), 0, issued, issued, issued + flow_ttl_s, b"", None)


def bind(state: FlowState, method: str, name: str, arguments: str, principal: Principal | None) -> FlowState:
    """The state bound to its request and to who sent it."""
    request, sender = _ties(state.flow, method, name, arguments, principal)
    return replace(state, request=request, principal=sender)


def check(
    state: FlowState, *, now: float, method: str, name: str, arguments: str, principal: Principal | None
) -> FlowState:
    """The state itself if it holds for this request now. Raises StateRefused with the cause.

    A state is good until just before `expires`. One issued up to 60 s in the future passes: instances' clocks differ.
    """
    if now >= state.expires or now >= state.deadline:
        raise StateRefused("expired")
    if state.issued > now + CLOCK_SKEW_S:
        raise StateRefused("issued in the future")
    if state.round > MAX_ROUNDS:
        raise StateRefused("malformed: round")
    if (state.principal is None) != (principal is None):
        raise StateRefused("principal: present on one side only")
    request, sender = _ties(state.flow, method, name, arguments, principal)
    if not hmac.compare_digest(state.principal or b"", sender or b""):
        raise StateRefused("principal: another one")
    if not hmac.compare_digest(state.request, request):
        raise StateRefused("request: another one")
    return state


def seal(state: FlowState, key: RingKey, audience: str) -> str:
    """The `requestState` of `state`. Raises StateTooLarge."""
    text = token.to_text(token.seal(_encode(state), key, purpose=_PURPOSE, audience=audience))
    if len(text) > MAX_CHARS:
        raise StateTooLarge(
            "its answers, and what it carries beside them, are too long: some 6,000 bytes fit. Call it again and answer more briefly"
        )
    return text


def unseal(text: str, find_key: Callable[[str], RingKey | None], audience: str) -> FlowState:
    """Open a `requestState`. Raises StateRefused with the cause; whether its claims hold is `check`'s to say."""
    sealed = token.from_text(text, max_chars=MAX_CHARS)
    return _decode(token.unseal(sealed, find_key, purpose=_PURPOSE, audience=audience))


def _ties(
    flow: bytes, method: str, name: str, arguments: str, principal: Principal | None
) -> tuple[bytes, bytes | None]:
    """What a flow is tied to: its request, and who sent it."""
    sender = None if principal is None else tags.principal_tag(flow, principal.parts)
    return tags.request_tag(flow, method, name, arguments), sender


def _encode(state: FlowState) -> bytes:
    flags = (_HAS_PRINCIPAL if state.principal is not None else 0) | (_HAS_NOTE if state.note is not None else 0)
    out = bytearray((_FORMAT, flags, state.round, state.claimed_round))
    out += state.flow + state.issued.to_bytes(5, "big")
    out += _varint(state.expires - state.issued) + _varint(max(0, state.deadline - state.issued))
    out += state.request + (state.principal or b"")
    out += _varint(len(state.asked))
    for asked in state.asked:
        out += asked.key + asked.question
    out += _varint(len(state.answers))
    for answer in state.answers:
        out += answer.question + _text(canonical.shorten(answer.json))
    if state.note is not None:
        out += _text(state.note)
    return bytes(out)


def _decode(data: bytes) -> FlowState:
    reader = _Reader(data)
    version, flags, round_, claimed_round = reader.take(4)
    if version != _FORMAT:
        raise StateRefused("malformed: format of another release")
    flow, issued = reader.take(_FLOW), int.from_bytes(reader.take(5), "big")
    expires, deadline = issued + reader.varint(), issued + reader.varint()
    request = reader.take(tags.TAG)
    principal = reader.take(tags.TAG) if flags & _HAS_PRINCIPAL else None
    asked = tuple(Asked(reader.take(tags.KEY_TAG), reader.take(tags.QUESTION)) for _ in range(reader.varint()))
    answers = tuple(
        Answer(reader.take(tags.QUESTION), canonical.lengthen(reader.text())) for _ in range(reader.varint())
    )
    note = reader.text() if flags & _HAS_NOTE else None
    reader.end()
    return FlowState(flow, round_, issued, expires, deadline, request, principal, claimed_round, asked, answers, note)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return _varint(len(data)) + data


class _Reader:
    """Takes a plaintext apart. It was authentic, so a miss means another release's format: refused, never an exception of another kind."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) < size:
            raise StateRefused("malformed: truncated claims")
        self._at += size
        return part

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 35:
                raise StateRefused("malformed: varint")

    def text(self) -> str:
        try:
            return self.take(self.varint()).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            raise StateRefused("malformed: text") from None

    def end(self) -> None:
        if self._at != len(self._data):
            raise StateRefused("malformed: trailing claims")
