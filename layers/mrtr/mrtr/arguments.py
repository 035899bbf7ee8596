"""A tool's arguments: the input schema they are published with, and their validation."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from . import canonical, strict_json
from .errors import ProtocolError
from .forms import describe
from .schema import inline_refs
from .signature import Argument


class InvalidArguments(Exception):
    """The arguments do not fit the schema; the text says which and why, never what was sent."""


class Arguments:
    """The arguments of one tool. `schema` is its inputSchema (server/tools, 'Tool')."""

    def __init__(self, tool_name: str, arguments: Mapping[str, Argument]) -> None:
        # Fields have names of their own and the argument's name as alias: an argument may be called `json`, `copy` or `_x`.
        self._fields = {f"a{number}": name for number, name in enumerate(arguments)}
        fields: dict[str, Any] = {field: _field(name, arguments[name]) for field, name in self._fields.items()}
        self._model: type[BaseModel] = create_model(
            f"{tool_name}Arguments", __config__=ConfigDict(arbitrary_types_allowed=False, extra="ignore"), **fields
        )
        self._title = f"{tool_name}Arguments"

    @property
    def schema(self) -> dict[str, Any]:
        rendered = inline_refs(self._model.model_json_schema(by_alias=True))
        rendered.setdefault("properties", {})
        return {"type": "object", **rendered, "title": self._title}

    def read(self, canonical_json: str) -> dict[str, Any]:
        """The arguments by name, validated strictly as JSON and with defaults filled in. Raises InvalidArguments."""
        try:
            return self._by_name(self._model.model_validate_json(canonical_json, strict=True))
        except ValidationError as error:
            repaired = self._repaired(canonical_json)
            if repaired is None:
                raise InvalidArguments(describe(error)) from None
            return self.read(repaired)

    def read_texts(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """The same from texts alone, as prompts and resource templates have them: a number or a date is read from its text."""
        try:
            return self._by_name(self._model.model_validate_strings(texts))
        except ValidationError as error:
            raise InvalidArguments(describe(error)) from None

    def _by_name(self, model: BaseModel) -> dict[str, Any]:
        values = model.__dict__
        return {name: values[field] for field, name in self._fields.items()}

    def _repaired(self, canonical_json: str) -> str | None:
        """The arguments with objects and lists that came as JSON text put right; None when there are none.

        Some models send them so. Only an argument that must be an object or a list is touched: a text stays byte for byte what it was.
        """
        given = strict_json.parse(canonical_json.encode())
        properties = self.schema["properties"]
        mended = False
        for name, value in given.items():
            if isinstance(value, str) and name in properties:
                kinds = _kinds(properties[name])
                inner = _parsed(value) if kinds and kinds <= {"object", "array", "null"} else None
                if (isinstance(inner, dict) and "object" in kinds) or (isinstance(inner, list) and "array" in kinds):
                    given[name] = inner
                    mended = True
        return canonical.encode(given) if mended else None


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that `schema` admits; {} when it does not say."""
    if "type" in schema:
        return {schema["type"]} if isinstance(schema["type"], str) else set(schema["type"])
    options = [_kinds(option) for option in schema.get("anyOf", ())]
    return set().union(*options) if options and all(options) else set()


def _parsed(text: str) -> Any:
    try:
        return strict_json.parse(text.encode("utf-8", "surrogatepass"))
    except ProtocolError:
        return None


def _field(name: str, argument: Argument) -> tuple[Any, Any]:
    default = argument.default
    if default is inspect.Parameter.empty:
        default = None if _admits_none(argument.annotation) else ...
    title = name.replace("_", " ").strip().title()
    given = _given_field(argument)
    if given is not None:  # the author's own Field: its title wins, and the alias stays ours
        extra: dict[str, Any] = {} if given.title else {"title": title}
        return (Annotated[argument.annotation, Field(alias=name, **extra)], given if default is given else default)
    return (argument.annotation, Field(default=default, alias=name, title=title))


def _given_field(argument: Argument) -> Any:
    from pydantic.fields import FieldInfo

    if isinstance(argument.default, FieldInfo):
        return argument.default
    if get_origin(argument.annotation) is Annotated:
        return next((extra for extra in get_args(argument.annotation)[1:] if isinstance(extra, FieldInfo)), None)
    return None


def _admits_none(annotation: Any) -> bool:
    if get_origin(annotation) is Annotated:
        return _admits_none(get_args(annotation)[0])
    return annotation is None or (
        get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation)
    )
