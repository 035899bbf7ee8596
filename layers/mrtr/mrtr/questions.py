"""The questions a resolver or a tool body may ask, each as the wire sees it and as its answer is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from . import canonical
from .errors import Fault, ProtocolError
from .forms import InvalidAnswer, form
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation

T = TypeVar("T", bound=BaseModel)

_DECLINED, _CANCELLED, _ACCEPTED_EMPTY = "decline", "cancel", "accept"


class Elicit(Generic[T]):
    """Ask the person with a form (client/elicitation, 'Form Mode').

    message: shown above the form. schema: a flat pydantic model; its fields are the form's.
    """

    def __init__(self, message: str, schema: type[T]) -> None:
        self.message = message
        self.schema = schema

    def __repr__(self) -> str:
        return f"Elicit(schema={getattr(self.schema, '__name__', self.schema)!r})"

    def wire(self, allow: frozenset[str]) -> dict[str, Any]:
        """The `inputRequests` value."""
        return {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": self.message, "requestedSchema": form(self.schema, allow).schema},
        }

    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the client would have to declare, None if it does. `elicitation: {}` means form; url alone means no form."""
        elicitation = capabilities.get("elicitation")
        if isinstance(elicitation, dict) and (isinstance(elicitation.get("form"), dict) or "url" not in elicitation):
            return None
        return {"elicitation": {"form": {}}}

    def read(self, answer: str, allow: frozenset[str]) -> Any:
        """The outcome of a normalised answer. Raises InvalidAnswer."""
        if answer == _DECLINED:
            return DeclinedElicitation()
        if answer == _CANCELLED:
            return CancelledElicitation()
        if answer == _ACCEPTED_EMPTY:
            raise InvalidAnswer("the answer has no content")
        content = json.loads(answer)
        return AcceptedElicitation(form(self.schema, allow).read(content))


def normalise(answer: Mapping[str, Any]) -> str:
    """A client's answer as the text that is compared, recorded and read: an action's name, or an accepted answer's content in canonical JSON.

    Raises ProtocolError (-32602) when it is no ElicitResult.
    """
    action, content = answer.get("action"), answer.get("content")
    if action in (_DECLINED, _CANCELLED):
        return str(action)
    if action != "accept" or not (content is None or isinstance(content, dict)):
        raise ProtocolError(
            Fault.INVALID_PARAMS,
            "an inputResponses entry must be a result with action accept, decline or cancel, and content an object",
        )
    return _ACCEPTED_EMPTY if content is None else canonical.encode(content)
