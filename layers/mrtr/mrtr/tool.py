"""A tool: an author's function with what the protocol says and needs to know of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .arguments import Arguments
from .output import Output, return_annotation
from .signature import analyse


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

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        rerun_after_crash: bool = False,
    ) -> None:
        self.name = name or fn.__name__
        self.title = title
        self.description = description if description is not None else inspect.cleandoc(fn.__doc__ or "")
        self.annotations = annotations
        self.rerun_after_crash = rerun_after_crash
        self.plan = analyse(fn)
        self.arguments = Arguments(self.name, self.plan.arguments)
        self.output = Output(self.name, return_annotation(fn))

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    @property
    def single_use(self) -> bool:
        """Whether a confirmed call must run once: all but those that only read."""
        return not (self.annotations and self.annotations.read_only_hint)

    def definition(self) -> dict[str, Any]:
        """The tool as `tools/list` shows it."""
        definition: dict[str, Any] = {"name": self.name}
        if self.title:
            definition["title"] = self.title
        definition["description"] = self.description
        definition["inputSchema"] = self.arguments.schema
        if self.output.schema is not None:
            definition["outputSchema"] = self.output.schema
        if self.annotations is not None and self.annotations.wire():
            definition["annotations"] = self.annotations.wire()
        return definition
