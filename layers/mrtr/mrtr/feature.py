"""What a tool, a prompt and a resource have in common: an author's function that a flow can run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from .errors import InvalidSignature
from .protocol import Request
from .signature import Plan

if TYPE_CHECKING:
    from .content import Icon


class Feature(Protocol):
    """One of the three things that may ask. `method`: the request that reaches it."""

    method: str
    name: str
    plan: Plan
    single_use: bool
    rerun_after_crash: bool

    def read(self, request: Request, canonical_arguments: str) -> dict[str, Any]:
        """The arguments of the function. Raises InvalidArguments, or ProtocolError where the table of errors says so."""

    def result(self, request: Request, value: Any) -> dict[str, Any]:
        """The result for what the function returned. Raises ValueError when JSON or the promised type can't hold it."""

    def notice(self, request: Request, text: str) -> dict[str, Any]:
        """A normal result that only says something."""

    def failure(self, text: str) -> dict[str, Any]:
        """The result for a failure that the author or the schema foresaw; raises ProtocolError where that is no result."""

    def crash(self, text: str) -> dict[str, Any]:
        """The result for any other failure; raises ProtocolError where that is no result."""


def described(
    fn: Callable[..., Any], title: str | None, description: str | None, icons: Sequence[Icon] | None
) -> dict[str, Any]:
    """What a definition says in words and pictures."""
    words = description if description is not None else inspect.cleandoc(_origin(fn).__doc__ or "")
    definition: dict[str, Any] = {} if title is None else {"title": title}
    definition["description"] = words
    if icons:
        definition["icons"] = [icon.wire() for icon in icons]
    return definition


def name_of(fn: Callable[..., Any], name: str | None) -> str:
    """What the feature is called: the name given, or the function's. Raises InvalidSignature where there is neither."""
    found = name or getattr(_origin(fn), "__name__", None)
    if not found:
        raise InvalidSignature(f"{type(fn).__name__} has no name of its own; give one: name=…")
    return str(found)


def _origin(fn: Callable[..., Any]) -> Callable[..., Any]:
    while isinstance(fn, functools.partial):
        fn = fn.func
    return fn


def is_retry(request: Request) -> bool:
    """Whether the request carries answers or a state: then its result is not to be cached (server/utilities/caching, 'Cache Key')."""
    return request.params.get("requestState") is not None or request.params.get("inputResponses") is not None
