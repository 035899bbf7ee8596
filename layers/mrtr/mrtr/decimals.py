"""Numbers for `Decimal`, exactly as they were sent: pydantic's JSON reader would make floats of them first."""

from __future__ import annotations

import json
import types
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin

from . import canonical
from .strict_json import Number


def decimal_names(annotations: Mapping[str, Any]) -> frozenset[str]:
    """Of the members of an object, by name, those that hold a Decimal and nothing else, None apart."""
    return frozenset(name for name, annotation in annotations.items() if _is_decimal(annotation))


def exactly(content: str, names: Collection[str]) -> str:
    """An object in canonical JSON with the fractions of these members as text, which pydantic reads as Decimals without a float between."""
    if not names:
        return content
    members = canonical.decode(content)
    fractions = {name: str(members[name]) for name in names if isinstance(members.get(name), Number)}
    return json.dumps({**members, **fractions}) if fractions else content


def _is_decimal(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_decimal(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        options = [option for option in get_args(annotation) if option is not type(None)]
        return len(options) == 1 and _is_decimal(options[0])
    return annotation is Decimal
