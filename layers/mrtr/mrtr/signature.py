"""The resolver graph of a tool, read from signatures once at import."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from .context import Context
from .errors import InvalidSignature
from .forms import check_form
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation
from .questions import Question

_OUTCOMES = (AcceptedElicitation, DeclinedElicitation, CancelledElicitation)


class Resolve:
    """`Annotated[T, Resolve(f)]`: the parameter is what `f` returns, or the answer to the question it returns.

    Such a parameter is not part of the tool's input schema, and a client that sends one is ignored. `allow` names form fields that only
    sound like secrets.
    """

    def __init__(self, fn: Callable[..., Any], *, allow: typing.Collection[str] = ()) -> None:
        self.fn = fn
        self.allow = frozenset(allow)

    def __repr__(self) -> str:
        return f"Resolve({_name(self.fn)})"


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter that the model fills: its annotation and its default (`inspect.Parameter.empty` for none)."""

    annotation: Any
    default: Any


@dataclass(slots=True)
class Resolver:
    """A resolver of the graph. key: what its question is called on the wire."""

    fn: Callable[..., Any]
    key: str
    allow: frozenset[str]
    is_async: bool
    parameters: dict[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parameter:
    """How one parameter is filled. takes_outcome: it gets the outcome itself rather than the accepted data."""

    kind: Literal["argument", "context", "resolver"]
    resolver: Resolver | None = None
    takes_outcome: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """How to call a tool's function: every parameter's source, and the arguments that make up its input schema.

    is_async: whether the function or any resolver it reaches is async.
    """

    fn: Callable[..., Any]
    parameters: dict[str, Parameter]
    arguments: dict[str, Argument]
    body_is_async: bool
    is_async: bool


def analyse(fn: Callable[..., Any]) -> Plan:
    """Read `fn` and every resolver it reaches.

    Raises InvalidSignature for cycles, for resolver parameters that nothing can fill, and for questions whose form can't be shown.
    """
    return _Analysis(fn).plan()


class _Analysis:
    def __init__(self, fn: Callable[..., Any]) -> None:
        self._fn = fn
        self._resolvers: dict[Any, Resolver] = {}
        self._path: list[Any] = []
        self._keys: set[str] = set()
        self._arguments: dict[str, Argument] = {}

    def plan(self) -> Plan:
        hints = _hints(self._fn)
        signature = inspect.signature(self._fn)
        for name, parameter in signature.parameters.items():
            _check_kind(self._fn, parameter)
            annotation = hints.get(name, Any)
            if self._marker(name, annotation) is None and not _is_context(annotation):
                self._arguments[name] = Argument(annotation, parameter.default)
        parameters = {name: self._parameter(self._fn, name, hints.get(name, Any)) for name in signature.parameters}
        body_is_async = is_async(self._fn)
        any_is_async = body_is_async or any(resolver.is_async for resolver in self._resolvers.values())
        return Plan(self._fn, parameters, self._arguments, body_is_async, any_is_async)

    def _parameter(self, owner: Callable[..., Any], name: str, annotation: Any) -> Parameter:
        marker = self._marker(name, annotation)
        if marker is not None:
            target = get_args(annotation)[0]
            return Parameter("resolver", self._resolver(marker), _takes_outcome(target))
        if _is_context(annotation):
            return Parameter("context")
        if owner is self._fn or name in self._arguments:
            return Parameter("argument")
        raise InvalidSignature(
            f"resolver {_name(owner)}: nothing fills parameter {name!r}; name it like an argument of {_name(self._fn)},"
            " annotate it with Resolve(…), or with Context"
        )

    def _resolver(self, marker: Resolve) -> Resolver:
        identity = _identity(marker.fn)
        if identity in self._path:
            names = " → ".join(
                _name(self._resolvers[step].fn) for step in [*self._path[self._path.index(identity) :], identity]
            )
            raise InvalidSignature(f"resolvers form a cycle: {names}; let one of them ask without the other")
        known = self._resolvers.get(identity)
        if known is not None:
            known.allow |= marker.allow
            return known
        hints = _hints(marker.fn)
        resolver = Resolver(marker.fn, self._key(marker.fn), marker.allow, is_async(marker.fn))
        _check_return(marker, hints.get("return"))
        self._resolvers[identity] = resolver
        self._path.append(identity)
        for name, parameter in inspect.signature(marker.fn).parameters.items():
            _check_kind(marker.fn, parameter)
            annotation = hints.get(name, Any)
            special = self._marker(name, annotation) is not None or _is_context(annotation)
            if special or name in self._arguments or parameter.default is parameter.empty:
                resolver.parameters[name] = self._parameter(marker.fn, name, annotation)
        self._path.pop()
        return resolver

    def _key(self, fn: Callable[..., Any]) -> str:
        base = key = _name(fn)
        number = 2
        while key in self._keys:
            key, number = f"{base}_{number}", number + 1
        self._keys.add(key)
        return key

    def _marker(self, name: str, annotation: Any) -> Resolve | None:
        if get_origin(annotation) is Annotated:
            return next((extra for extra in get_args(annotation)[1:] if isinstance(extra, Resolve)), None)
        if any(
            isinstance(extra, Resolve) for inner in get_args(annotation) for extra in getattr(inner, "__metadata__", ())
        ):
            raise InvalidSignature(
                f"{_name(self._fn)}: parameter {name!r} has Resolve(…) inside another type; write Annotated[T, Resolve(f)] around the whole"
            )
        return None


def _check_kind(fn: Callable[..., Any], parameter: inspect.Parameter) -> None:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise InvalidSignature(f"{_name(fn)}: parameter {parameter.name!r} must be an ordinary named parameter")


def _check_return(marker: Resolve, annotation: Any) -> None:
    arms = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)
    questions = [arm for arm in arms if _is_question(get_origin(arm) or arm)]
    if len(questions) > 1:
        raise InvalidSignature(f"resolver {_name(marker.fn)} may ask one question; split it into a resolver for each")
    for question in questions:
        for model in get_args(question):  # Elicit alone has an argument: its form's model
            if isinstance(model, typing.TypeVar):
                continue
            try:
                check_form(model, marker.allow)
            except InvalidSignature as error:
                raise InvalidSignature(f"resolver {_name(marker.fn)}: {error}") from None


def _is_question(arm: Any) -> bool:
    return isinstance(arm, type) and issubclass(arm, Question)


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    target = fn if inspect.isroutine(fn) else getattr(fn, "func", None) or type(fn).__call__
    try:
        return typing.get_type_hints(target, include_extras=True)
    except Exception as error:
        raise InvalidSignature(
            f"{_name(fn)}: its annotations can't be read ({error}); define what they name at module level"
        ) from error


def _identity(fn: Callable[..., Any]) -> Any:
    """A bound method is a new object at every access; its function and its object are not."""
    owner = getattr(fn, "__self__", None)
    return id(fn) if owner is None else (id(owner), getattr(fn, "__func__", _name(fn)))


def _takes_outcome(target: Any) -> bool:
    """Whether the annotation is an outcome, the alias of all three, or a union with either in it."""
    alias = getattr(target, "__value__", None) or getattr(get_origin(target), "__value__", None)
    if alias is not None:
        return _takes_outcome(alias)
    if get_origin(target) in (Union, types.UnionType):
        return any(_takes_outcome(arm) for arm in get_args(target))
    return (get_origin(target) or target) in _OUTCOMES


def _is_context(annotation: Any) -> bool:
    if get_origin(annotation) in (Union, types.UnionType):
        return any(_is_context(arm) for arm in get_args(annotation))
    return isinstance(annotation, type) and issubclass(annotation, Context)


def is_async(fn: Any) -> bool:
    """Whether calling `fn` gives a coroutine: a partial's and a callable object's function counts."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None))  # noqa: B004 - not a test


def _name(fn: Callable[..., Any]) -> str:
    return getattr(fn, "__name__", None) or type(fn).__name__
