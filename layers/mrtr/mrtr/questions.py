"""The questions a resolver or a body may ask, each as the wire sees it and as its answer is read (basic/patterns/mrtr, 'InputRequests')."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from . import canonical
from .errors import Fault, ProtocolError
from .forms import InvalidAnswer, form
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation

T = TypeVar("T", bound=BaseModel)

_DECLINED, _CANCELLED, _ACCEPTED_EMPTY = "decline", "cancel", "accept"

RESULT = "="
"""Begins the text of an answer that is no ElicitResult."""


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
        if answer.startswith((_ACCEPTED_EMPTY, RESULT)):
            raise InvalidAnswer("the answer has no content")
        return AcceptedElicitation(form(self.schema, allow).read(answer))


class ElicitUrl(Question):
    """Send the person to a page, for what must not pass through the client (client/elicitation, 'URL Mode').

    url: absolute, http(s), without credentials in it. Accepting means the person agreed to open it, not that they are done: a resolver that
    returns this looks first whether the page has been dealt with, and is asked again until it finds so or the person turns it down.
    """

    def __init__(self, message: str, url: str) -> None:
        from urllib.parse import urlsplit

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


def normalise(answer: Mapping[str, Any]) -> str:
    """A client's answer as the text that is compared, recorded and read.

    The action's name for a decline, a cancel, or an accept without content; an accepted answer's content in canonical JSON; for answers
    that are no ElicitResult, `=` and the whole result in canonical JSON. Raises ProtocolError (-32602) for what is none of these.
    """
    if "action" not in answer:
        if "role" in answer or "roots" in answer:
            return RESULT + canonical.encode({name: value for name, value in answer.items() if name != "_meta"})
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
