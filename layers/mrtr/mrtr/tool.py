"""A tool: an author's function with what the protocol says and needs to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import canonical
from .arguments import Arguments
from .errors import InvalidSignature
from .feature import described, name_of
from .output import Output, failure, message, return_annotation
from .param_headers import check, find
from .protocol import Request
from .signature import analyse

if TYPE_CHECKING:
    from .content import Icon


@dataclass(frozen=True, slots=True)
class ToolAnnotations:
    """Hints about a tool (schema, 'ToolAnnotations'). None leaves a hint out.

    read_only_hint is more than a hint here: a tool that only reads needs no single use, so its calls write nothing to the claim table.
    """

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None

    def wire(self) -> dict[str, Any]:
        hints = {
            "title": self.title,
            "readOnlyHint": self.read_only_hint,
            "destructiveHint": self.destructive_hint,
            "idempotentHint": self.idempotent_hint,
            "openWorldHint": self.open_world_hint,
        }
        return {name: value for name, value in hints.items() if value is not None}


class Tool:
    """One tool. Raises InvalidSignature when its function can't be served."""

    method = "tools/call"

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Icon] | None = None,
        annotations: ToolAnnotations | None = None,
        meta: Mapping[str, Any] | None = None,
        input_schema: Mapping[str, Any] | None = None,
        rerun_after_crash: bool = False,
    ) -> None:
        self.name = name_of(fn, name)
        self.annotations = annotations
        self.single_use = not (annotations and annotations.read_only_hint)
        self.rerun_after_crash = rerun_after_crash
        self.plan = analyse(fn)
        self.arguments = Arguments(self.name, self.plan.arguments)
        self.output = Output(self.name, return_annotation(fn))
        self._words = described(fn, title, description, icons)
        self._meta = meta
        self._input_schema = self.arguments.schema if input_schema is None else _checked(self, input_schema)
        self._mirrored = find(self.name, self._input_schema)

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def definition(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        definition: dict[str, Any] = {"name": self.name, **self._words, "inputSchema": self._input_schema}
        if self.output.schema is not None:
            definition["outputSchema"] = self.output.schema
        hints = self.annotations.wire() if self.annotations is not None else {}
        if hints:
            definition["annotations"] = hints
        return definition if self._meta is None else {**definition, "_meta": dict(self._meta)}

    def read(self, request: Request, canonical_arguments: str) -> dict[str, Any]:
        if self._mirrored:
            check(self._mirrored, request.http.headers, canonical.decode(canonical_arguments))
        return self.arguments.read(canonical_arguments)

    def result(self, request: Request, value: Any) -> dict[str, Any]:  # noqa: ARG002 - Feature's signature
        return self.output.result(value)

    def notice(self, request: Request, text: str) -> dict[str, Any]:  # noqa: ARG002 - Feature's signature
        return message(text)

    def failure(self, text: str) -> dict[str, Any]:
        return failure(text)

    def crash(self, text: str) -> dict[str, Any]:
        return failure(text)


def _checked(tool: Tool, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema written by hand: it describes the function's own arguments, or the function is refused."""
    properties = schema.get("properties", {})
    if schema.get("type") != "object" or not isinstance(properties, Mapping):
        raise InvalidSignature(f'{tool.name}: an input_schema is of "type": "object"')
    foreign = sorted(set(properties) - set(tool.plan.arguments))
    if foreign:
        raise InvalidSignature(
            f"{tool.name}: input_schema names {', '.join(foreign)}, which the function does not take"
        )
    return dict(schema)
