"""Arguments mirrored into headers: `x-mcp-header` (streamable-http, 'Custom Headers from Tool Parameters')."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import header_codec
from .errors import Fault, InvalidSignature, ProtocolError
from .http import Headers

_MEMBER = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_SAFE_INTEGER = 2**53 - 1


class McpHeader:
    """`Annotated[str, McpHeader("Region")]`: clients mirror the argument into the header `Mcp-Param-Region`.

    For text, integers and yes/no only, and never for anything secret: headers are seen by everything on the way.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = handler(core_schema)
        options = [option for option in schema.get("anyOf", ()) if option.get("type") != "null"]
        if len(options) == 1:  # clients look for a primitive `type`; an absent argument has no header anyway
            schema = {**options[0], **{name: value for name, value in schema.items() if name != "anyOf"}}
        return {**schema, _MEMBER: self.name}


@dataclass(frozen=True, slots=True)
class ParamHeader:
    """A mirrored argument: its header and the path to its value."""

    header: str
    path: tuple[str, ...]


def find(tool_name: str, schema: Mapping[str, Any]) -> tuple[ParamHeader, ...]:
    """The mirrored arguments of an input schema. Raises InvalidSignature where one breaks a rule of the specification."""
    found: dict[str, ParamHeader] = {}
    allowed = set()
    for path, node in _properties(schema, ()):
        name = node.get(_MEMBER)
        if name is None:
            continue
        allowed.add(id(node))
        where = f"{tool_name}: argument {'.'.join(path)!r}"
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise InvalidSignature(f"{where}: {name!r} is no header name; use letters, digits and hyphens")
        if node.get("type") not in ("string", "integer", "boolean"):
            raise InvalidSignature(f"{where}: only text, integers and yes/no can be mirrored into a header")
        if name.lower() in found:
            raise InvalidSignature(f"{where}: another argument is mirrored into {name!r} already")
        found[name.lower()] = ParamHeader(f"Mcp-Param-{name}", path)
    if any(_MEMBER in node and id(node) not in allowed for node in _nodes(schema)):
        raise InvalidSignature(
            f"{tool_name}: McpHeader works on arguments and on fields of nested objects, not inside lists or choices"
        )
    return tuple(found.values())


def check(mirrored: tuple[ParamHeader, ...], headers: Headers, arguments: Mapping[str, Any]) -> None:
    """Compare each recognised header with the body. Raises ProtocolError (-32020)."""
    for param in mirrored:
        expected = _value(arguments, param.path)
        values = headers.get_all(param.header)
        if expected is None or not isinstance(expected, str | int | bool | float):
            if values:
                raise _mismatch(param, "has no value in the body")
            continue
        if not values:
            raise _mismatch(param, "is missing")
        for value in values:
            if not _same(header_codec.decode(value), expected):
                raise _mismatch(param, "does not match the body")


def _same(header: str, body: str | float) -> bool:
    if isinstance(body, bool):
        return header == ("true" if body else "false")
    if isinstance(body, int):
        return abs(body) <= _SAFE_INTEGER and header_codec.same_integer(header, body)
    if isinstance(body, float):
        return body.is_integer() and abs(body) <= _SAFE_INTEGER and header_codec.same_integer(header, int(body))
    return header == body


def _mismatch(param: ParamHeader, problem: str) -> ProtocolError:
    return ProtocolError(Fault.HEADER_MISMATCH, f"Header mismatch: the {param.header} header {problem}")


def _value(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        arguments = arguments.get(step) if isinstance(arguments, dict) else None
    return arguments


def _properties(
    schema: Mapping[str, Any], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, dict) else ():
        if isinstance(node, dict):
            yield (*path, name), node
            yield from _properties(node, (*path, name))


def _nodes(node: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from _nodes(value)
