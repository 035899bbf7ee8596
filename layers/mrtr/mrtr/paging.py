"""Pages of a list, and the opaque cursors between them (server/utilities/pagination)."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import Fault, ProtocolError

PAGE_SIZE = 100


def page(
    entries: Sequence[Mapping[str, Any]], cursor: object, member: str
) -> tuple[Sequence[Mapping[str, Any]], str | None]:
    """The page that `cursor` points at (None: the first), and the cursor of the next one, None at the end.

    A cursor names the entry that came last, by `member`, so every instance can read it, and one from before a deployment that added or
    removed other entries still leads on from there. Raises ProtocolError (-32602) for a cursor that is none of ours, or whose entry is gone.
    """
    start = 0 if cursor is None else _after(entries, cursor, member)
    chosen = entries[start : start + PAGE_SIZE]
    more = start + PAGE_SIZE < len(entries)
    return chosen, _cursor(chosen[-1][member]) if more else None


def _cursor(last: str) -> str:
    return base64.urlsafe_b64encode(last.encode()).rstrip(b"=").decode()


def _after(entries: Sequence[Mapping[str, Any]], cursor: object, member: str) -> int:
    last = _last(cursor) if isinstance(cursor, str) else None
    for number, entry in enumerate(entries if last is not None else ()):
        if entry[member] == last:
            return number + 1
    raise ProtocolError(Fault.INVALID_PARAMS, "Unknown cursor; start again from the first page")


def _last(cursor: str) -> str | None:
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except ValueError:
        return None
