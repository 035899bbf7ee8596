"""What a rotation makes of a stored key ring. Pure functions from text to text, time an argument; none says a key's text in an error.

A ring as `keyring.read_ring` reads it, and besides: `made`, how many keys were ever numbered, so that the kid of a key that is gone is never
given to another; `after`, the version of the secret that a rotation made it from.

A rotation adds one key in one step. Every instance opens with it as soon as its cached ring is renewed, and it starts to seal only after the
last cached ring without it has been renewed. The older keys stay until every flow that they may have sealed has ended.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .errors import ConfigurationError
from .keyring import read_ring

_NUMBERED = re.compile(r"k([1-9][0-9]{0,8})")

Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Timing:
    """ring_cache_s, ring_limit_s: how old an instance's ring may get, and how old while it can't be renewed. flow_ttl_s: how long a flow
    may last. clock_skew_s: how far any clock may be off, the rotation's own included.
    """

    ring_cache_s: int
    ring_limit_s: int
    flow_ttl_s: int
    clock_skew_s: int

    @property
    def least_lead_s(self) -> int:
        """From when a key can be read to when it seals, at the least: the oldest ring in use is renewed in between, whatever the clocks say."""
        return self.ring_cache_s + 2 * self.clock_skew_s

    @property
    def lead_s(self) -> int:
        """From when a key is made to when it seals: leaves time to finish the rotation."""
        return max(2 * self.ring_cache_s, self.least_lead_s + self.clock_skew_s)

    @property
    def keep_s(self) -> int:
        """How long a key opens after its successor began to seal. An instance whose ring can't be renewed seals with it for `ring_limit_s`."""
        return self.ring_limit_s + self.flow_ttl_s + 2 * self.clock_skew_s


def rotate(current: str, after: str, secret: str, now: float, timing: Timing) -> str:
    """The ring `current`, which is the secret's version `after`, with one key more, made from `secret`; keys that no live flow needs are gone.

    Raises ConfigurationError when `current` is no ring.
    """
    begins = math.ceil(now + timing.lead_s)
    return _written(*_succeeded(_entries(current), _made(current), secret, begins, now, timing), after)


def new_secret(current: str, pending: str) -> str | None:
    """The secret of the key that `pending` has and `current` has not; None when `current` has them all."""
    known = {entry["key"] for entry in _entries(current)}
    return next((entry["key"] for entry in _entries(pending) if entry["key"] not in known), None)


def follows(pending: str, after: str, now: float, timing: Timing) -> bool:
    """Whether `pending` may now take the place of the secret's version `after`.

    It may not when it was made from another version (somebody revoked a key in the meantime), nor when it was made too long ago: some
    instance would seal with the new key before every other can open it.
    """
    newest = max(_seal_from(entry) for entry in _entries(pending))
    return json.loads(pending).get("after") == after and newest >= now + timing.least_lead_s


def revoke(current: str, kid: str, secret: str, now: float, timing: Timing) -> str:
    """The ring without `kid`. `secret` makes its successor where the ring needs one.

    When `kid` seals now, its successor does from now on: the key that would have been next, or a new one.
    Raises ConfigurationError when the ring has no such key.
    """
    entries, made = _entries(current), _made(current)
    left = [entry for entry in entries if entry["kid"] != kid]
    if len(left) == len(entries):
        raise ConfigurationError(f"the ring has no key {kid!r}; it has {', '.join(entry['kid'] for entry in entries)}")
    if _sealing(current, now) not in (kid, None):
        if all(entry.get("open_until") is not None for entry in left):  # else the ring would end with its last key
            left, made = _succeeded(left, made, secret, math.ceil(now + timing.lead_s), now, timing)
        return _written(left, made)
    waiting = [entry for entry in left if _seal_from(entry) > now]
    if waiting:
        min(waiting, key=_seal_from)["seal_from"] = now
        return _written(left, made)
    return _written(*_succeeded(left, made, secret, now, now, timing))


def describe(current: str, now: float) -> list[str]:
    """One line a key, oldest first, without its secret."""
    sealing = _sealing(current, now)
    return [_line(entry, sealing, now) for entry in sorted(_entries(current), key=_seal_from)]


def _succeeded(
    entries: list[Entry], made: int, secret: str, begins: float, now: float, timing: Timing
) -> tuple[list[Entry], int]:
    kept = [entry for entry in entries if not _is_over(entry, now, timing)]
    begins = max([begins, *(_seal_from(entry) + 1 for entry in kept)])
    latest = max(kept, key=_seal_from, default=None)
    for entry in kept:
        # Only the key that seals until the new one does may need longer than it was given: the others stopped before.
        given = entry.get("open_until")
        if given is None or entry is latest:
            entry["open_until"] = max(given or 0, begins + timing.keep_s)
    return [*kept, {"kid": f"k{made + 1}", "key": secret, "seal_from": begins}], made + 1


def _sealing(text: str, now: float) -> str | None:
    try:
        return read_ring(text).sealing_key(now).kid
    except ConfigurationError:
        _entries(text)  # raises again if it is the ring that is broken; else no key of it seals
        return None


def _is_over(entry: Entry, now: float, timing: Timing) -> bool:
    """Whether no instance's clock, however slow, may still say that the key opens."""
    end = entry.get("open_until")
    return end is not None and now >= end + 2 * timing.clock_skew_s


def _seal_from(entry: Entry) -> float:
    return float(entry.get("seal_from", 0))


def _entries(text: str) -> list[Entry]:
    read_ring(text)  # says what is wrong with a ring that is broken
    value = json.loads(text)
    return [dict(entry) for entry in value.get("keys", [value])]


def _made(text: str) -> int:
    value = json.loads(text)
    counted = value.get("made", 0)
    numbers = [int(found[1]) for entry in _entries(text) if (found := _NUMBERED.fullmatch(entry["kid"]))]
    return max([counted if isinstance(counted, int) else 0, *numbers])


def _written(entries: list[Entry], made: int, after: str | None = None) -> str:
    text = json.dumps({"made": made, "keys": entries} | ({} if after is None else {"after": after}))
    read_ring(text)
    return text


def _line(entry: Entry, sealing: str | None, now: float) -> str:
    begins, ends = _seal_from(entry), entry.get("open_until")
    if entry["kid"] == sealing:
        does = "seals and opens"
    elif ends is not None and now >= ends:
        does = "is over"
    elif begins > now:
        does = f"opens, and seals from {_time(begins)}"
    else:
        does = "opens"
    return f"{entry['kid']} {does}" + (f" until {_time(ends)}" if ends is not None and now < ends else "")


def _time(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
