"""Suggestions for the arguments of prompts and resource templates (server/utilities/completion)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import Fault, ProtocolError
from .protocol import Request

MAX_VALUES = 100


@dataclass(frozen=True, slots=True)
class PromptReference:
    """Completes an argument of the prompt `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class ResourceTemplateReference:
    """Completes a variable of the resource template `uri`."""

    uri: str


@dataclass(frozen=True, slots=True)
class CompletionArgument:
    """What is being typed."""

    name: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """What has been filled in already."""

    arguments: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Completion:
    """Suggestions, best first. total: how many there are in all; has_more: whether there are more than these."""

    values: Sequence[str]
    total: int | None = None
    has_more: bool | None = None

    def wire(self) -> dict[str, Any]:
        """At most 100 values go out; what is cut is told."""
        shown = list(self.values[:MAX_VALUES])
        cut = len(self.values) > MAX_VALUES
        completion: dict[str, Any] = {"values": shown}
        total = len(self.values) if cut and self.total is None else self.total
        if total is not None:
            completion["total"] = total
        if cut or self.has_more is not None:
            completion["hasMore"] = cut or bool(self.has_more)
        return completion


Reference = PromptReference | ResourceTemplateReference


def read_reference(request: Request) -> Reference:
    """What `completion/complete` is about. Raises ProtocolError (-32602)."""
    ref = request.params.get("ref")
    if isinstance(ref, dict):
        if ref.get("type") == "ref/prompt" and isinstance(ref.get("name"), str):
            return PromptReference(ref["name"])
        if ref.get("type") == "ref/resource" and isinstance(ref.get("uri"), str):
            return ResourceTemplateReference(ref["uri"])
    raise ProtocolError(
        Fault.INVALID_PARAMS, "params.ref must name a prompt (ref/prompt) or a resource template (ref/resource)"
    )


def read_argument(request: Request) -> tuple[CompletionArgument, CompletionContext]:
    """What is being typed, and what stands already. Raises ProtocolError (-32602)."""
    argument, context = request.params.get("argument"), request.params.get("context") or {}
    if (
        not isinstance(argument, dict)
        or not isinstance(argument.get("name"), str)
        or not isinstance(argument.get("value"), str)
    ):
        raise ProtocolError(Fault.INVALID_PARAMS, "params.argument must have a name and a value, both strings")
    filled = (context.get("arguments") or {}) if isinstance(context, dict) else None
    if not isinstance(filled, dict) or not all(isinstance(value, str) for value in filled.values()):
        raise ProtocolError(Fault.INVALID_PARAMS, "params.context.arguments must map names to strings")
    return CompletionArgument(argument["name"], argument["value"]), CompletionContext(filled)


def as_completion(value: Any) -> Completion:
    """What a completion function returned. Raises ValueError when it is none of None, Completion, and a list of texts."""
    if value is None:
        return Completion([])
    if isinstance(value, Completion):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return Completion(list(value))
    raise ValueError("a completion function returns a list of texts, a Completion, or None")
