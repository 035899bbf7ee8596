"""Fill the parameters of a call: run resolvers, take answers, gather the questions that are still open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .context import Context
from .dialogue import Dialogue, Paused
from .outcomes import AcceptedElicitation
from .questions import ElicitUrl, Question
from .signature import Parameter, Plan, Resolver


class NotAccepted(Exception):
    """A parameter needs an accepted answer and the person declined or cancelled: the body does not run."""

    def __init__(self, action: str) -> None:
        super().__init__(action)
        self.action = action


async def fill(plan: Plan, arguments: Mapping[str, Any], context: Context, dialogue: Dialogue) -> dict[str, Any]:
    """The keyword arguments of the body. Every open question that can be asked now is put to `dialogue` before Paused is raised.

    Raises Paused when a question is open, NotAccepted when one was turned down, and whatever a resolver raises.
    """
    return await _Filling(arguments, context, dialogue).parameters(plan.parameters)


class _Filling:
    def __init__(self, arguments: Mapping[str, Any], context: Context, dialogue: Dialogue) -> None:
        self._arguments = arguments
        self._context = context
        self._dialogue = dialogue
        self._outcomes: dict[str, Any] = {}

    async def parameters(self, parameters: Mapping[str, Parameter]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        paused = False
        for name, parameter in parameters.items():
            if parameter.kind == "context":
                values[name] = self._context
            elif parameter.resolver is None:
                values[name] = self._arguments[name]
            else:
                try:
                    outcome = await self._outcome(parameter.resolver)
                except Paused:
                    paused = True  # go on: independent questions travel in one round
                else:
                    values[name] = outcome if parameter.takes_outcome else _data(outcome)
        if paused:
            raise Paused
        return values

    async def _outcome(self, resolver: Resolver) -> Any:
        if resolver.key in self._outcomes:
            return self._outcomes[resolver.key]
        if resolver.key in self._dialogue.pending:
            raise Paused
        value = resolver.fn(**await self.parameters(resolver.parameters))
        if resolver.is_async:
            value = await value
        if isinstance(value, Question):
            outcome = self._dialogue.outcome(resolver.key, value, resolver.allow)
            if isinstance(value, ElicitUrl) and isinstance(outcome, AcceptedElicitation):
                # agreed to open the page, but the resolver, which looked, does not find it done
                self._dialogue.ask(resolver.key, value)
                raise Paused
        else:
            outcome = AcceptedElicitation(value)
        self._outcomes[resolver.key] = outcome
        return outcome


def _data(outcome: Any) -> Any:
    if isinstance(outcome, AcceptedElicitation):
        return outcome.data
    raise NotAccepted(outcome.action)
