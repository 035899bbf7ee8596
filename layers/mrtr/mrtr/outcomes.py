"""What a person's answer to a question came to: accepted with data, declined, or cancelled (client/elicitation, 'Response Actions')."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, Self, TypeVar

from typing_extensions import TypeAliasType

T = TypeVar("T")


class _Awaitable:
    """May be awaited: `await ctx.elicit(…)` in an async tool gives the outcome that the plain call gives."""

    def __await__(self) -> Generator[Any, None, Self]:
        yield from ()
        return self


@dataclass(frozen=True)
class AcceptedElicitation(_Awaitable, Generic[T]):
    """The person submitted the form; `data` is the validated model."""

    data: T = field(repr=False)
    action: ClassVar[Literal["accept"]] = "accept"


@dataclass(frozen=True)
class DeclinedElicitation(_Awaitable):
    """The person said no."""

    action: ClassVar[Literal["decline"]] = "decline"


@dataclass(frozen=True)
class CancelledElicitation(_Awaitable):
    """The person closed the question without choosing."""

    action: ClassVar[Literal["cancel"]] = "cancel"


class Done:
    """What a call gives that has nothing to give, so that it may be awaited."""

    def __await__(self) -> Generator[Any, None, None]:
        yield from ()


ElicitationResult = TypeAliasType(
    "ElicitationResult", AcceptedElicitation[T] | DeclinedElicitation | CancelledElicitation, type_params=(T,)
)
"""Any of the three outcomes; `Annotated[ElicitationResult[Model], Resolve(f)]` hands the outcome to the function."""
