"""What a resolver or a tool body may know of its request beyond the arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from .dialogue import Dialogue
from .log import log
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from .principal import Principal
from .protocol import Request
from .questions import Elicit

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

T = TypeVar("T", bound=BaseModel)


class Context:
    """The request at hand. A parameter annotated `Context` gets it; it is never part of a tool's schema.

    principal: who calls, by the authorizer's word; None where no authorizer ran.
    client_capabilities, client_info: as this request's `_meta` declares them (self-reported: for display, never for a decision on access).
    headers: as the client sent them, names in lower case. Never an identity.
    lambda_context: the Lambda context object; None in tests that pass none.
    """

    def __init__(self, request: Request, dialogue: Dialogue, lambda_context: Any) -> None:
        self._dialogue = dialogue
        self.principal: Principal | None = request.principal
        self.client_capabilities: Mapping[str, Any] = request.capabilities
        self.client_info: Mapping[str, Any] = request.client_info
        self.request_id: str | int = request.id
        self.headers = request.http.headers
        self.lambda_context = lambda_context
        self._unnamed = 0

    def __class_getitem__(cls, _: Any) -> type[Context]:
        """`Context[…]` is `Context`: ported code may carry type arguments."""
        return cls

    def __repr__(self) -> str:
        return f"Context(request_id={self.request_id!r})"

    @property
    def logger(self) -> Logger:
        return log()

    @property
    def remaining_ms(self) -> int:
        """Milliseconds until Lambda ends this invocation; a generous number where there is no Lambda context."""
        return remaining_ms(self.lambda_context)

    def elicit(
        self, message: str, schema: type[T], *, key: str | None = None, allow: Collection[str] = ()
    ) -> AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation:
        """Ask the person with a form, and get the outcome, as if the call waited.

        It doesn't wait: with no answer yet, the leg ends here with the question, and the function starts again from its first line on the
        retry, this time with the answer at hand. So keep side effects after the last question. `key` names the question on the wire; give
        one where the order of questions may change between legs. In an async function the result may be awaited. `allow` names fields that
        only sound like secrets.
        """
        if key is None:
            self._unnamed += 1
            key = f"question_{self._unnamed}"
        outcome: AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation = self._dialogue.outcome(
            key, Elicit(message, schema), frozenset(allow)
        )
        return outcome


def remaining_ms(lambda_context: Any) -> int:
    """Milliseconds until Lambda ends this invocation; 15 minutes, Lambda's own limit, where there is no Lambda context."""
    remaining = getattr(lambda_context, "get_remaining_time_in_millis", None)
    return int(remaining()) if callable(remaining) else 900_000
