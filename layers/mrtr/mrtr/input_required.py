"""The low-level form: for authors who build an InputRequiredResult themselves and read the raw answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .outcomes import AcceptedElicitation
from .questions import Question

_CAPABILITY: dict[str, dict[str, Any]] = {"sampling/createMessage": {"sampling": {}}, "roots/list": {"roots": {}}}


@dataclass(frozen=True, kw_only=True)
class InputRequiredResult:
    """Return this from a body to ask. On the retry the body runs again, with `ctx.input_responses` and `ctx.request_state`.

    input_requests: by key, questions or requests as the wire has them. request_state: plain text of yours; it travels sealed, comes back
    opened, and counts only for the same request and principal. At least one of the two (basic/patterns/mrtr, 'Server Requirements').
    """

    input_requests: Mapping[str, Question | Mapping[str, Any]] = field(default_factory=dict)
    request_state: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.input_requests and self.request_state is None:
            raise ValueError("an InputRequiredResult has input_requests, a request_state, or both")


class WireRequest(Question):
    """A request as the wire has it."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        if request.get("method") not in ("elicitation/create", *_CAPABILITY):
            raise ValueError("an input request is elicitation/create, sampling/createMessage or roots/list")
        self._request = dict(request)

    def wire(self, allow: frozenset[str]) -> dict[str, Any]:  # noqa: ARG002 - Question's signature
        return self._request

    def missing_capability(self, capabilities: Mapping[str, Any]) -> dict[str, Any] | None:
        required = _CAPABILITY.get(self._request["method"])
        if required is not None:
            return None if isinstance(capabilities.get(next(iter(required))), dict) else required
        by_url = self._request.get("params", {}).get("mode") == "url"
        elicitation = capabilities.get("elicitation")
        declared = isinstance(elicitation, dict) and (
            isinstance(elicitation.get("url" if by_url else "form"), dict) or (not by_url and "url" not in elicitation)
        )
        return None if declared else {"elicitation": {"url" if by_url else "form": {}}}

    def read(self, answer: str, allow: frozenset[str]) -> Any:  # noqa: ARG002 - Question's signature
        return AcceptedElicitation(answer)


def as_question(request: Question | Mapping[str, Any]) -> Question:
    return request if isinstance(request, Question) else WireRequest(request)
