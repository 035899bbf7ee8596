"""What a tool returns, as a CallToolResult (server/tools, 'Tool Result'), and the output schema that promises it."""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, TypeAdapter, create_model

from . import strict_json
from .schema import inline_refs

_UNKNOWN: Any = object()


class Output:
    """Turns a return value into `content` and `structuredContent`.

    Objects (models, dataclasses, TypedDicts, `dict[str, T]`) are structured as they are; anything else goes under `result`.
    Without a return annotation there is no schema and no structured content.
    """

    def __init__(self, tool_name: str, annotation: Any = _UNKNOWN) -> None:
        self._plain_text = annotation is str
        self._wrapped = annotation is not _UNKNOWN and not _is_object(annotation)
        self._adapter: TypeAdapter[Any] | None = None
        self._annotation = annotation
        self._title = f"{tool_name}Output"

    @property
    def schema(self) -> dict[str, Any] | None:
        """The outputSchema; None where the author promised nothing."""
        if self._annotation is _UNKNOWN:
            return None
        if self._wrapped:
            model: type[BaseModel] = create_model(self._title, result=(self._annotation, ...))
            return inline_refs(model.model_json_schema(mode="serialization"))
        return inline_refs({"title": self._title, **self._typed().json_schema(mode="serialization")})

    def result(self, value: Any) -> dict[str, Any]:
        """The result for `value`. Raises ValueError when it is not what the annotation promises or JSON can't hold it."""
        if self._plain_text and isinstance(value, str):
            return _complete([_text(value)], {"result": value})
        if self._annotation is _UNKNOWN:
            return _complete(_content(TypeAdapter(Any).dump_python(value, mode="json")))
        adapter = self._typed()
        plain = adapter.dump_python(adapter.validate_python(value), mode="json")
        return _complete(_content(plain), {"result": plain} if self._wrapped else plain)

    def _typed(self) -> TypeAdapter[Any]:
        if self._adapter is None:
            self._adapter = TypeAdapter(self._annotation)
        return self._adapter


def return_annotation(fn: Any) -> Any:
    """What `fn` promises to return, `Output`'s 'unknown' where it promises nothing."""
    target = fn if hasattr(fn, "__annotations__") else getattr(fn, "func", None) or type(fn).__call__
    return typing.get_type_hints(target, include_extras=True).get("return", _UNKNOWN)


def failure(text: str) -> dict[str, Any]:
    """A tool execution error, for the model to read (server/tools, 'Error Handling')."""
    return {"content": [_text(text)], "isError": True}


def message(text: str) -> dict[str, Any]:
    """A normal result that only says something."""
    return _complete([_text(text)])


def _complete(content: list[dict[str, Any]], structured: Any = _UNKNOWN) -> dict[str, Any]:
    result: dict[str, Any] = {"content": content}
    if structured is not _UNKNOWN:
        result["structuredContent"] = structured
    return {**result, "isError": False}


def _content(plain: Any) -> list[dict[str, Any]]:
    if plain is None:
        return []
    return [_text(plain if isinstance(plain, str) else strict_json.dump(plain))]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _is_object(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _is_object(get_args(annotation)[0])
    origin = get_origin(annotation)
    if origin is dict:
        return get_args(annotation)[0] is str
    if origin in (typing.Union, types.UnionType):
        return False
    kind = origin or annotation
    return isinstance(kind, type) and (
        issubclass(kind, BaseModel) or hasattr(kind, "__dataclass_fields__") or typing.is_typeddict(kind)
    )
