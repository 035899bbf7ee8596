"""What is wrong with arguments or an answer, in words."""

from __future__ import annotations

from pydantic import ValidationError

_MOST = 10
_LONGEST = 200


def describe(error: ValidationError) -> str:
    """What is wrong, field by field, without any value that was sent; an author's own validator may quote one.

    Bounded: a list of 200,000 wrong entries must not make an answer that is too large to be sent.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    told = [
        f"{_shown('.'.join(str(part) for part in one['loc']) or 'answer')}: {_shown(one['msg'])}"
        for one in found[:_MOST]
    ]
    if len(found) > _MOST:
        told.append(f"and {len(found) - _MOST:,} more")
    return "; ".join(told)


def _shown(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
