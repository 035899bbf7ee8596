"""JSON Schemas from pydantic, written so that every client can read them: `$ref` only where a model is recursive."""

from __future__ import annotations

from typing import Any

_REF = "#/$defs/"


def inline_refs(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with each `$ref` replaced by what it names; `$defs` keeps recursive models alone."""
    defs = schema.get("$defs", {})
    recursive = {name for name in defs if _reaches(name, name, defs)}
    body = {key: value for key, value in schema.items() if key != "$defs"}
    result: dict[str, Any] = _inline(body, defs, recursive)
    kept = {name: _inline(defs[name], defs, recursive) for name in defs if name in recursive}
    return {**result, "$defs": kept} if kept else result


def _inline(node: Any, defs: dict[str, Any], recursive: set[str]) -> Any:
    if isinstance(node, list):
        return [_inline(item, defs, recursive) for item in node]
    if not isinstance(node, dict):
        return node
    name = _target(node)
    if name is None or name in recursive or name not in defs:
        # a discriminator's mapping names $defs that are no longer there, and JSON Schema doesn't know the keyword
        return {
            key: _inline(value, defs, recursive) for key, value in node.items() if not _is_discriminator(key, value)
        }
    beside = {
        key: value for key, value in node.items() if key != "$ref"
    }  # a default or description stands beside the $ref and wins
    merged: dict[str, Any] = _inline({**defs[name], **beside}, defs, recursive)
    return merged


def _is_discriminator(key: str, value: Any) -> bool:
    return key == "discriminator" and isinstance(value, dict) and "propertyName" in value


def _reaches(start: str, goal: str, defs: dict[str, Any]) -> bool:
    seen: set[str] = set()
    waiting = _targets(defs.get(start))
    while waiting:
        name = waiting.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            waiting |= _targets(defs.get(name))
    return False


def _targets(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*(_targets(item) for item in node)) if node else set()
    if not isinstance(node, dict):
        return set()
    name = _target(node)
    found = {name} if name is not None else set()
    return found.union(*(_targets(value) for value in node.values()))


def _target(node: dict[str, Any]) -> str | None:
    ref = node.get("$ref")
    return ref[len(_REF) :] if isinstance(ref, str) and ref.startswith(_REF) else None
