"""Questions to the client itself: to its model, and for its roots. Both are deprecated in revision 2026-07-28, and few tools need them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from .content import ContentBlock, TextContent, Wire, to_wire
from .forms import InvalidAnswer
from .outcomes import AcceptedElicitation
from .questions import RESULT, Question


@dataclass(frozen=True, kw_only=True)
class SamplingMessage(Wire):
    """One message of the conversation that the client's model is to continue; plain text is text content."""

    role: Literal["user", "assistant"]
    content: ContentBlock | Sequence[ContentBlock] | str | Mapping[str, Any] = field(repr=False)

    def wire(self) -> dict[str, Any]:
        content = TextContent(text=self.content) if isinstance(self.content, str) else self.content
        return {"role": self.role, "content": to_wire(content)}


@dataclass(frozen=True)
class CreateMessageResult:
    """What the client's model said. content: one block or a list of them, as on the wire."""

    role: str
    content: Any = field(repr=False)
    model: str
    stop_reason: str | None = None

    @property
    def text(self) -> str:
        """All the text blocks, one after the other."""
        blocks = self.content if isinstance(self.content, list) else [self.content]
        return "".join(block["text"] for block in blocks if block.get("type") == "text")


class Sample(Question):
    """Ask the client's model (client/sampling; deprecated in this revision: prefer calling a model yourself).

    The keywords are those of `sampling/createMessage`; `tools` and `tool_choice` are wire objects and need the client's `sampling.tools`.
    """

    def __init__(
        self,
        messages: Sequence[SamplingMessage],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        temperature: float | None = None,
        stop_sequences: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        model_preferences: Mapping[str, Any] | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        tool_choice: Mapping[str, Any] | None = None,
    ) -> None:
        params = {
            "messages": to_wire(list(messages)),
            "maxTokens": max_tokens,
            "systemPrompt": system_prompt,
            "temperature": temperature,
            "stopSequences": to_wire(stop_sequences),
            "metadata": metadata,
            "modelPreferences": model_preferences,
            "tools": to_wire(tools),
            "toolChoice": tool_choice,
        }
        self._params = {name: value for name, value in params.items() if value is not None}
        self._wants_tools = tools is not None or tool_choice is not None

    def __repr__(self) -> str:
        return "Sample(…)"

    def wire(self, allow: frozenset[str]) -> dict[str, Any]:  # noqa: ARG002 - Question's signature
        return {"method": "sampling/createMessage", "params": self._params}

    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        sampling = capabilities.get("sampling")
        if isinstance(sampling, dict) and (not self._wants_tools or isinstance(sampling.get("tools"), dict)):
            return None
        return {"sampling": {"tools": {}} if self._wants_tools else {}}

    def read(self, answer: str, allow: frozenset[str]) -> Any:  # noqa: ARG002 - Question's signature
        result = _result(answer)
        content = result.get("content")
        blocks = content if isinstance(content, list) else [content]
        if not (
            result.get("role") in ("user", "assistant")
            and isinstance(result.get("model"), str)
            and all(isinstance(block, dict) and _is_sound(block) for block in blocks)
        ):
            raise InvalidAnswer("the answer is no sampling result")
        reason = result.get("stopReason")
        said = CreateMessageResult(
            result["role"], content, result["model"], reason if isinstance(reason, str) else None
        )
        return AcceptedElicitation(said)


@dataclass(frozen=True)
class Root:
    """A root that the client shares: a file URI and, maybe, a name."""

    uri: str
    name: str | None = None


@dataclass(frozen=True)
class ListRootsResult:
    roots: list[Root]


class ListRoots(Question):
    """Ask for the client's roots (client/roots; deprecated in this revision: prefer an argument)."""

    def __repr__(self) -> str:
        return "ListRoots()"

    def wire(self, allow: frozenset[str]) -> dict[str, Any]:  # noqa: ARG002 - Question's signature
        return {"method": "roots/list", "params": {}}

    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        return None if isinstance(capabilities.get("roots"), dict) else {"roots": {}}

    def read(self, answer: str, allow: frozenset[str]) -> Any:  # noqa: ARG002 - Question's signature
        roots = _result(answer).get("roots")
        if not isinstance(roots, list) or not all(
            isinstance(root, dict) and isinstance(root.get("uri"), str) for root in roots
        ):
            raise InvalidAnswer("the answer is no list of roots")
        return AcceptedElicitation(
            ListRootsResult([Root(root["uri"], _optional_text(root.get("name"))) for root in roots])
        )


def _result(answer: str) -> dict[str, Any]:
    if not answer.startswith(RESULT):
        raise InvalidAnswer("the answer is of another kind than the question")
    result: dict[str, Any] = json.loads(answer[len(RESULT) :])
    return result


def _is_sound(block: dict[str, Any]) -> bool:
    return isinstance(block.get("type"), str) and (block["type"] != "text" or isinstance(block.get("text"), str))


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) else None
