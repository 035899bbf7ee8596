"""What a resolver or a body may know of its request beyond the arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from .dialogue import Dialogue
from .log import log
from .notifications import Outbox
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, Done
from .principal import Principal
from .protocol import Request
from .questions import Elicit, ElicitUrl

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

T = TypeVar("T", bound=BaseModel)


class Context:
    """The request at hand. A parameter annotated `Context` gets it; it is never part of a tool's schema.

    principal: who calls, by the authorizer's word; None where no authorizer ran.
    client_capabilities, client_info: as this request's `_meta` declares them (self-reported: for display, never for a decision on access).
    headers: as the client sent them, names in lower case. Never an identity.
    lambda_context: the Lambda context object; None in tests that pass none.
    input_responses, request_state: for those who return InputRequiredResult: the answers as they came, unchecked, and the opened text.
    """

    def __init__(
        self,
        request: Request,
        principal: Principal | None,
        dialogue: Dialogue,
        outbox: Outbox,
        lambda_context: Any,
        request_state: str | None,
    ) -> None:
        self._dialogue = dialogue
        self._outbox = outbox
        self.principal = principal
        self.client_capabilities: Mapping[str, Any] = request.capabilities
        self.client_info: Mapping[str, Any] = request.client_info
        self.request_id: str | int = request.id
        self.headers = request.http.headers
        self.lambda_context = lambda_context
        self.input_responses: Mapping[str, Mapping[str, Any]] = request.input_responses
        self.request_state = request_state
        self._unnamed = 0

    def __class_getitem__(cls, _: Any) -> type[Context]:
        """`Context[…]` is `Context`: ported code may carry type arguments."""
        return cls

    def __repr__(self) -> str:
        return f"Context(request_id={self.request_id!r})"

    @property
    def logger(self) -> Logger:
        """The function's own log. What the client should see goes through `log`."""
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
        outcome: AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation = self._dialogue.outcome(
            self._key(key), Elicit(message, schema), frozenset(allow)
        )
        return outcome

    def elicit_url(
        self, message: str, url: str, *, key: str | None = None
    ) -> AcceptedElicitation[None] | DeclinedElicitation | CancelledElicitation:
        """Send the person to a page, as `elicit` asks: accepted means they agreed to open it, so look whether they are done."""
        outcome: AcceptedElicitation[None] | DeclinedElicitation | CancelledElicitation = self._dialogue.outcome(
            self._key(key), ElicitUrl(message, url)
        )
        return outcome

    def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> Done:
        """Tell the client how far the work is, if its request asked for it. Progress must grow. May be awaited."""
        self._outbox.progress(progress, total, message)
        return Done()

    def log(self, level: str, data: Any, *, logger: str | None = None) -> Done:
        """Send the client a log message, if its request asked for that level. No secret belongs in it. May be awaited."""
        self._outbox.log(level, data, logger)
        return Done()

    def debug(self, data: Any) -> Done:
        return self.log("debug", data)

    def info(self, data: Any) -> Done:
        return self.log("info", data)

    def warning(self, data: Any) -> Done:
        return self.log("warning", data)

    def error(self, data: Any) -> Done:
        return self.log("error", data)

    def _key(self, key: str | None) -> str:
        if key is not None:
            return key
        self._unnamed += 1
        return f"question_{self._unnamed}"


def remaining_ms(lambda_context: Any) -> int:
    """Milliseconds until Lambda ends this invocation; 15 minutes, Lambda's own limit, where there is no Lambda context."""
    remaining = getattr(lambda_context, "get_remaining_time_in_millis", None)
    return int(remaining()) if callable(remaining) else 900_000
