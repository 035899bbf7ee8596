"""What a tool returns, as a CallToolResult (server/tools, 'Tool Result'), and the output schema that promises it."""

from __future__ import annotations

import sys
import types
import typing
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ConfigDict, TypeAdapter, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from . import strict_json
from .errors import InvalidSignature
from .input_required import InputRequiredResult
from .schema import inline_refs

UNKNOWN: Any = object()
"""Stands for the return annotation that an author did not write."""

_BYTES_AS_BASE64 = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


class Output:
    """Turns a return value into `content` and `structuredContent`. `schema`: the outputSchema, None where the author promised nothing.

    Objects (models, dataclasses, TypedDicts, `dict[str, T]`) are structured as they are; anything else goes under `result`.
    Without a return annotation there is no schema and no structured content, nor where the annotation is content itself.
    """

    def __init__(self, tool_name: str, annotation: Any = UNKNOWN) -> None:
        self._annotation = UNKNOWN if _holds_content(annotation) else annotation
        self._plain_text = annotation is str
        self._wrapped = self._annotation is not UNKNOWN and not _is_object(annotation)
        self._adapter: TypeAdapter[Any] | None = None
        self._title = f"{tool_name}Output"
        try:
            self.schema = self._schema()
        except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema) as error:
            raise InvalidSignature(
                f"{tool_name}: its return type can't be described in JSON Schema; return a model"
            ) from error

    def _schema(self) -> dict[str, Any] | None:
        if self._annotation is UNKNOWN:
            return None
        if self._wrapped:
            model: type[BaseModel] = create_model(
                self._title, __config__=_BYTES_AS_BASE64, result=(self._annotation, ...)
            )
            return inline_refs(model.model_json_schema(mode="serialization"))
        return inline_refs({"title": self._title, **self._typed().json_schema(mode="serialization")})

    def result(self, value: Any) -> dict[str, Any]:
        """The result for `value`. Raises ValueError when it is not what the annotation promises or JSON can't hold it."""
        if self._plain_text and isinstance(value, str):
            return _complete([text(value)], {"result": value})
        content = _content_module()
        if content is not None and isinstance(value, content.CallToolResult):
            whole: dict[str, Any] = value.wire()
            return whole
        blocks = None if content is None else _blocks(value, content)
        if blocks is not None:
            return _complete(blocks)
        adapter = self._typed()
        if self._annotation is UNKNOWN:
            return _complete(_content(adapter.dump_python(value, mode="json", by_alias=True)))
        plain = adapter.dump_python(adapter.validate_python(value), mode="json", by_alias=True)
        return _complete(_content(plain), {"result": plain} if self._wrapped else plain)

    def _typed(self) -> TypeAdapter[Any]:
        if self._adapter is None:
            annotation = Any if self._annotation is UNKNOWN else self._annotation
            takes_config = not _has_own_config(annotation)
            self._adapter = TypeAdapter(annotation, config=_BYTES_AS_BASE64 if takes_config else None)
        return self._adapter


def return_annotation(fn: Any) -> Any:
    """What `fn` promises to return, UNKNOWN where it promises nothing."""
    target = fn if hasattr(fn, "__annotations__") else getattr(fn, "func", None) or type(fn).__call__
    annotation = typing.get_type_hints(target, include_extras=True).get("return", UNKNOWN)
    if get_origin(annotation) in (typing.Union, types.UnionType):
        results = tuple(arm for arm in get_args(annotation) if arm is not InputRequiredResult)
        return typing.Union[results] if results else UNKNOWN  # noqa: UP007 - made at run time
    return UNKNOWN if annotation is InputRequiredResult else annotation


def failure(reason: str) -> dict[str, Any]:
    """A tool execution error, for the model to read (server/tools, 'Error Handling')."""
    return {"content": [text(reason)], "isError": True}


def message(notice: str) -> dict[str, Any]:
    """A normal result that only says something."""
    return _complete([text(notice)])


def text(value: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": value}


def _complete(content: list[dict[str, Any]], structured: Any = UNKNOWN) -> dict[str, Any]:
    result: dict[str, Any] = {"content": content}
    if structured is not UNKNOWN:
        result["structuredContent"] = structured
    return {**result, "isError": False}


def _content(plain: Any) -> list[dict[str, Any]]:
    if plain is None:
        return []
    return [text(plain if isinstance(plain, str) else strict_json.dump(plain))]


def _content_module() -> Any:
    """The module of content classes, if it is loaded: an author who returns content has loaded it, and the others needn't pay for it."""
    return sys.modules.get(f"{__package__}.content")


def _blocks(value: Any, content: Any) -> list[dict[str, Any]] | None:
    """A content block, or a list of blocks and texts with at least one block; None for anything else."""
    items = value if isinstance(value, list | tuple) else [value]
    if not any(isinstance(item, content.CONTENT_TYPES) for item in items):
        return None
    if not all(isinstance(item, (*content.CONTENT_TYPES, str)) for item in items):
        raise ValueError("a list of content holds content blocks and texts only")
    return [text(item) if isinstance(item, str) else item.wire() for item in items]


def _holds_content(annotation: Any) -> bool:
    content = _content_module()
    if content is None:
        return False
    if isinstance(annotation, type) and issubclass(annotation, (*content.CONTENT_TYPES, content.CallToolResult)):
        return True
    return any(_holds_content(inner) for inner in get_args(annotation))


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


def _has_own_config(annotation: Any) -> bool:
    """Types whose configuration is their own: pydantic refuses one from outside."""
    if get_origin(annotation) is Annotated:
        return _has_own_config(get_args(annotation)[0])
    return isinstance(annotation, type) and (
        issubclass(annotation, BaseModel)
        or hasattr(annotation, "__dataclass_fields__")
        or typing.is_typeddict(annotation)
    )
