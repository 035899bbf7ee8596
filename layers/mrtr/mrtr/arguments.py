"""A tool's arguments: the input schema they are published with, and their validation."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from . import canonical, strict_json
from .decimals import decimal_names, exactly
from .errors import InvalidSignature, ProtocolError
from .problems import describe
from .schema import inline_refs
from .signature import Argument

_CANT_DESCRIBE = (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema)


class InvalidArguments(Exception):
    """The arguments do not fit the schema; the text says which and why, never what was sent."""


class Arguments:
    """The arguments of one tool. `schema` is its inputSchema (server/tools, 'Tool'). Raises InvalidSignature naming the argument."""

    def __init__(self, tool_name: str, arguments: Mapping[str, Argument]) -> None:
        # Fields have names of their own and the argument's name as alias: an argument may be called `json`, `copy` or `_x`.
        self._fields = {f"a{number}": name for number, name in enumerate(arguments)}
        self._decimals = decimal_names({name: argument.annotation for name, argument in arguments.items()})
        title = f"{tool_name}Arguments"
        try:
            self._model = _model(title, {field: _field(name, arguments[name]) for field, name in self._fields.items()})
            rendered = inline_refs(self._model.model_json_schema(by_alias=True))
        except _CANT_DESCRIBE as error:
            raise InvalidSignature(_culprit(tool_name, arguments)) from error
        rendered.setdefault("properties", {})
        self.schema: dict[str, Any] = {"type": "object", **rendered, "title": title}

    def read(self, canonical_json: str) -> dict[str, Any]:
        """The arguments by name, validated strictly as JSON and with defaults filled in. Raises InvalidArguments."""
        try:
            return self._by_name(self._model.model_validate_json(exactly(canonical_json, self._decimals), strict=True))
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
        given = canonical.decode(canonical_json)
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


def _model(title: str, fields: dict[str, Any]) -> type[BaseModel]:
    model: type[BaseModel] = create_model(title, __config__=ConfigDict(extra="ignore", cache_strings="keys"), **fields)
    return model


def _culprit(tool_name: str, arguments: Mapping[str, Argument]) -> str:
    """Which argument can't be described, and what to do about it."""
    for name, argument in arguments.items():
        try:
            _model("probe", {"a0": _field(name, argument)}).model_json_schema()
        except _CANT_DESCRIBE:
            break
    else:
        name = ", ".join(arguments)
    return (
        f"{tool_name}: argument {name!r} has a type that JSON Schema can't describe; use JSON's types or a pydantic model,"
        " or fill it with Resolve(…)"
    )


def _field(name: str, argument: Argument) -> tuple[Any, Any]:
    """The argument as a field whose alias is the argument's name. An author's own Field keeps its title and default."""
    annotation, default = argument.annotation, argument.default
    given = _given_field(argument)
    if given is default:
        annotation, default = Annotated[annotation, given], inspect.Parameter.empty
    settings: dict[str, Any] = {"alias": name}
    if given is None or not given.title:
        settings["title"] = name.replace("_", " ").strip().title()
    if default is not inspect.Parameter.empty:
        settings["default"] = default
    elif given is not None and not given.is_required():
        settings["default"], settings["default_factory"] = given.default, given.default_factory
        del settings["default" if given.default_factory is not None else "default_factory"]
    elif _admits_none(annotation):
        settings["default"] = None
    return annotation, Field(**settings)


def _given_field(argument: Argument) -> FieldInfo | None:
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
