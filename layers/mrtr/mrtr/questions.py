"""The questions a resolver or a body may ask, each as the wire sees it and as its answer is read (basic/patterns/mrtr, 'InputRequests')."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from . import canonical
from .content import ContentBlock, TextContent, Wire, to_wire
from .errors import Fault, ProtocolError
from .forms import Confirmation, InvalidAnswer, form
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation

T = TypeVar("T", bound=BaseModel)

_DECLINED, _CANCELLED, _ACCEPTED_EMPTY, _RESULT = "decline", "cancel", "accept", "="


class Question(ABC):
    """Something only the client, or the person behind it, can answer."""

    @abstractmethod
    def wire(self, allow: frozenset[str]) -> dict[str, Any]:
        """The `inputRequests` value."""

    @abstractmethod
    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the client would have to declare for this question; None if it does."""

    @abstractmethod
    def read(self, answer: str, allow: frozenset[str]) -> Any:
        """The outcome of a normalised answer. Raises InvalidAnswer when the question has to be asked again."""


class Elicit(Question, Generic[T]):
    """Ask the person with a form (client/elicitation, 'Form Mode').

    message: shown above the form. schema: a flat pydantic model; its fields are the form's.
    """

    def __init__(self, message: str, schema: type[T]) -> None:
        self.message = message
        self.schema = schema

    def __repr__(self) -> str:
        return f"Elicit(schema={getattr(self.schema, '__name__', self.schema)!r})"

    def wire(self, allow: frozenset[str]) -> dict[str, Any]:
        params = {"mode": "form", "message": self.message, "requestedSchema": form(self.schema, allow).schema}
        return {"method": "elicitation/create", "params": params}

    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        """`elicitation: {}` means form; url alone means no form."""
        elicitation = capabilities.get("elicitation")
        if isinstance(elicitation, dict) and (isinstance(elicitation.get("form"), dict) or "url" not in elicitation):
            return None
        return {"elicitation": {"form": {}}}

    def read(self, answer: str, allow: frozenset[str]) -> Any:
        turned_down = _turned_down(answer)
        if turned_down is not None:
            return turned_down
        if answer.startswith((_ACCEPTED_EMPTY, _RESULT)):
            raise InvalidAnswer("the answer has no content")
        return AcceptedElicitation(form(self.schema, allow).read(json.loads(answer)))


def confirm(message: str) -> Elicit[Confirmation]:
    """A yes/no question: a form with one box to tick. Accepted means the form was sent; `data.confirm` is whether the box was ticked."""
    return Elicit(message, Confirmation)


class ElicitUrl(Question):
    """Send the person to a page, for what must not pass through the client (client/elicitation, 'URL Mode').

    url: absolute, http(s), without credentials in it. Accepting means the person agreed to open it, not that they are done: a resolver that
    returns this looks first whether the page has been dealt with, and is asked again until it finds so or the person turns it down.
    """

    def __init__(self, message: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.password:
            raise ValueError("an ElicitUrl takes an absolute http(s) URL without credentials")
        self.message = message
        self.url = url

    def __repr__(self) -> str:
        return "ElicitUrl(…)"

    def wire(self, allow: frozenset[str]) -> dict[str, Any]:  # noqa: ARG002 - Question's signature
        return {"method": "elicitation/create", "params": {"mode": "url", "message": self.message, "url": self.url}}

    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        elicitation = capabilities.get("elicitation")
        if isinstance(elicitation, dict) and isinstance(elicitation.get("url"), dict):
            return None
        return {"elicitation": {"url": {}}}

    def read(self, answer: str, allow: frozenset[str]) -> Any:  # noqa: ARG002 - Question's signature
        turned_down = _turned_down(answer)
        return AcceptedElicitation(None) if turned_down is None else turned_down


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


def normalise(answer: Mapping[str, Any]) -> str:
    """A client's answer as the text that is compared, recorded and read.

    The action's name for a decline, a cancel, or an accept without content; an accepted answer's content in canonical JSON; for answers
    that are no ElicitResult, `=` and the whole result in canonical JSON. Raises ProtocolError (-32602) for what is none of these.
    """
    if "action" not in answer:
        if "role" in answer or "roots" in answer:
            return _RESULT + canonical.encode({name: value for name, value in answer.items() if name != "_meta"})
        raise _malformed()
    action, content = answer["action"], answer.get("content")
    if action in (_DECLINED, _CANCELLED):
        return str(action)
    if action != _ACCEPTED_EMPTY or not (content is None or isinstance(content, dict)):
        raise _malformed()
    return _ACCEPTED_EMPTY if content is None else canonical.encode(content)


def _malformed() -> ProtocolError:
    return ProtocolError(
        Fault.INVALID_PARAMS,
        "an inputResponses entry is the result of its request: an action of accept, decline or cancel with content an object,"
        " a sampling result, or a list of roots",
    )


def _turned_down(answer: str) -> DeclinedElicitation | CancelledElicitation | None:
    if answer == _DECLINED:
        return DeclinedElicitation()
    return CancelledElicitation() if answer == _CANCELLED else None


def _result(answer: str) -> dict[str, Any]:
    if not answer.startswith(_RESULT):
        raise InvalidAnswer("the answer is of another kind than the question")
    result: dict[str, Any] = json.loads(answer[len(_RESULT) :])
    return result


def _is_sound(block: dict[str, Any]) -> bool:
    return isinstance(block.get("type"), str) and (block["type"] != "text" or isinstance(block.get("text"), str))


def _optional_text(value: object) -> str | None:
    return value if isinstance(value, str) else None
