"""A prompt: an author's function that writes messages, with what the protocol says of it (server/prompts)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import strict_json
from .arguments import Arguments
from .content import CONTENT_TYPES, Icon, PromptMessage
from .errors import Fault, ProtocolError
from .feature import described, name_of
from .output import text
from .protocol import Request
from .signature import analyse


class Prompt:
    """One prompt. Raises InvalidSignature when its function can't be served."""

    method = "prompts/get"

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Icon] | None = None,
        read_only: bool = False,
        rerun_after_crash: bool = False,
    ) -> None:
        self.name = name_of(fn, name)
        self.single_use = not read_only
        self.rerun_after_crash = rerun_after_crash
        self.plan = analyse(fn)
        self.arguments = Arguments(self.name, self.plan.arguments)
        self._words = described(fn, title, description, icons)

    def __repr__(self) -> str:
        return f"Prompt({self.name!r})"

    def definition(self) -> dict[str, Any]:
        """The prompt as `prompts/list` shows it."""
        schema = self.arguments.schema
        required = schema.get("required", [])
        arguments = []
        for name, argument in schema["properties"].items():
            entry: dict[str, Any] = {"name": name}
            if "description" in argument:
                entry["description"] = argument["description"]
            arguments.append({**entry, "required": name in required})
        definition = {"name": self.name, **self._words}
        return {**definition, "arguments": arguments} if arguments else definition

    def read(self, request: Request, canonical_arguments: str) -> dict[str, Any]:  # noqa: ARG002 - Feature's signature
        given: dict[str, Any] = strict_json.parse(canonical_arguments.encode())
        if not all(isinstance(value, str) for value in given.values()):
            raise ProtocolError(Fault.INVALID_PARAMS, "A prompt's arguments are strings")
        return self.arguments.read_texts(given)

    def result(self, request: Request, value: Any) -> dict[str, Any]:  # noqa: ARG002 - Feature's signature
        messages = [_message(item) for item in (value if isinstance(value, list | tuple) else [value])]
        result: dict[str, Any] = {"messages": messages}
        if self._words["description"]:
            result["description"] = self._words["description"]
        return result

    def notice(self, request: Request, text_: str) -> dict[str, Any]:  # noqa: ARG002 - Feature's signature
        return {"messages": [{"role": "user", "content": text(text_)}]}

    def failure(self, text_: str) -> dict[str, Any]:
        raise ProtocolError(Fault.INVALID_PARAMS, text_)

    def crash(self, text_: str) -> dict[str, Any]:
        raise ProtocolError(Fault.INTERNAL, text_)


def _message(item: Any) -> dict[str, Any]:
    if isinstance(item, PromptMessage):
        return item.wire()
    if isinstance(item, str):
        return {"role": "user", "content": text(item)}
    if isinstance(item, CONTENT_TYPES):
        return {"role": "user", "content": item.wire()}
    if isinstance(item, Mapping) and item.get("role") in ("user", "assistant") and "content" in item:
        content = item["content"]
        return {"role": item["role"], "content": text(content) if isinstance(content, str) else content}
    raise ValueError("a prompt returns text, content, PromptMessage, or a list of them")
