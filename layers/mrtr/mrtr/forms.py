"""Form schemas from pydantic models, in the restricted JSON Schema that a form may use (client/elicitation, 'Requested Schema')."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ValidationError

from .decimals import decimal_names, exactly
from .errors import InvalidSignature
from .problems import describe
from .schema import inline_refs

_FORMATS = frozenset({"email", "uri", "date", "date-time"})
_COMMON = ("title", "description")

_SECRET_WORDS = frozenset(  # in the singular
    {
        *("password", "passwd", "pwd", "passphrase", "passcode", "secret", "token"),
        *("apikey", "credential", "cvv", "cvc", "pin", "otp"),
    }
)
_SECRET_PAIRS = frozenset(
    {
        *(("api", "key"), ("private", "key"), ("acces", "key"), ("secret", "key")),
        *(("card", "number"), ("credit", "card"), ("security", "code")),
    }
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class InvalidAnswer(Exception):
    """An accepted answer does not fit its form; the text says which field and why, never what was sent."""


class Form:
    """One model as a form: `schema` is the `requestedSchema`; `read` turns an answer's content into the model.

    Raises InvalidSignature for what a form can't show (nested models, lists of anything but choices) or must not ask for (secrets).
    """

    def __init__(self, model: Any, allow: frozenset[str]) -> None:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise InvalidSignature(f"a form is a pydantic model; {model!r} is not one. Wrap the field in a BaseModel")
        self.model: type[BaseModel] = model
        rendered = inline_refs(model.model_json_schema())
        if "$defs" in rendered or rendered.get("type") != "object":
            raise InvalidSignature(f"{model.__name__} can't be a form: a form is flat, a few fields of one level")
        required = rendered.get("required", [])
        self._decimals = decimal_names(
            {field.alias or name: field.annotation for name, field in model.model_fields.items()}
        )
        properties: dict[str, dict[str, Any]] = {}
        self._nullable: list[str] = []
        for name, field in rendered.get("properties", {}).items():
            _refuse_secret(model, name, field, allow)
            shown = _without_text(field) if name in self._decimals else field
            properties[name], nullable = _property(model, name, shown)
            if nullable and name in required:
                self._nullable.append(name)  # a form can't send null: the person leaves the field out
        self.schema: dict[str, Any] = {"type": "object", "properties": properties}
        asked = [name for name in required if name not in self._nullable]
        if asked:
            self.schema["required"] = asked

    def read(self, content: str) -> BaseModel:
        """Validate the JSON of an answer's content, strictly: true is not 1, "1" is not 1. Raises InvalidAnswer."""
        content = exactly(content, self._decimals)
        if self._nullable:
            content = json.dumps({**dict.fromkeys(self._nullable), **json.loads(content)})
        try:
            return self.model.model_validate_json(content, strict=True)
        except ValidationError as error:
            raise InvalidAnswer(describe(error)) from None


@functools.cache
def form(model: type[BaseModel], allow: frozenset[str] = frozenset()) -> Form:
    """The form of a model, built once a process: it depends on nothing but the class."""
    return Form(model, allow)


def check_form(model: Any, allow: Collection[str] = ()) -> None:
    """Refuse at import what would fail at the first question."""
    form(model, frozenset(allow))


def _refuse_secret(model: type[BaseModel], name: str, field: Mapping[str, Any], allow: frozenset[str]) -> None:
    hidden = field.get("format") == "password" or any(
        option.get("format") == "password" for option in field.get("anyOf", []) if isinstance(option, dict)
    )
    if hidden or (name not in allow and _sounds_secret(name)):
        raise InvalidSignature(
            f"{model.__name__}.{name} looks like a secret, and a form must not ask for one (client/elicitation). Ask through a URL"
            + ("" if hidden else f", or say allow={{{name!r}}} if it is none")
        )


def _sounds_secret(name: str) -> bool:
    words = [word.lower().removesuffix("s") for word in _WORD.findall(name)]
    return any(word in _SECRET_WORDS for word in words) or any(pair in _SECRET_PAIRS for pair in pairwise(words))


def _property(model: type[BaseModel], name: str, field: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The field as the specification's PrimitiveSchemaDefinition, and whether null is among its values."""
    field, nullable = _without_null(field)
    shape = _shape(field)
    if shape is None:
        raise InvalidSignature(
            f"{model.__name__}.{name} can't be shown in a form: use text, a number, a yes/no, a choice (Literal or Enum of strings),"
            " or a list of choices; split anything nested into fields of its own"
        )
    common = {key: field[key] for key in _COMMON if key in field}
    default = {"default": field["default"]} if field.get("default") is not None else {}
    return {**shape, **common, **default}, nullable


def _without_text(field: Mapping[str, Any]) -> Mapping[str, Any]:
    """pydantic offers a Decimal as number or text; a form has the number."""
    options = [option for option in field.get("anyOf", ()) if option.get("type") != "string"]
    default = field.get("default")
    return {**field, "anyOf": options, **({"default": float(default)} if isinstance(default, str) else {})}


def _without_null(field: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    options = field.get("anyOf")
    if not isinstance(options, list):
        return field, False
    real = [option for option in options if option.get("type") != "null"]
    outer = {key: value for key, value in field.items() if key != "anyOf"}
    if len(real) != 1:
        return field, False
    return {**real[0], **outer}, len(real) < len(options)


def _shape(field: Mapping[str, Any]) -> dict[str, Any] | None:
    kind = field.get("type")
    choices = _choices(field)
    if choices is not None:
        return {"type": "string", **choices}
    if "enum" in field or "const" in field or "oneOf" in field or "anyOf" in field:
        return None
    if kind == "string":
        return {"type": "string", **_kept(field, "minLength", "maxLength"), **_format(field)}
    if kind in ("integer", "number"):
        return {"type": kind, **_bounds(field)}
    if kind == "boolean":
        return {"type": "boolean"}
    if kind == "array":
        items = field.get("items", {})
        choices = _choices(items) if isinstance(items, dict) else None
        if choices is None:
            return None
        items = {"anyOf": choices["oneOf"]} if "oneOf" in choices else {"type": "string", **choices}
        return {"type": "array", "items": items, **_kept(field, "minItems", "maxItems")}
    return None


def _choices(field: Mapping[str, Any]) -> dict[str, Any] | None:
    titled = field.get("oneOf")
    if (
        isinstance(titled, list)
        and titled
        and all(isinstance(t, dict) and isinstance(t.get("const"), str) for t in titled)
    ):
        return {"oneOf": [{"const": t["const"], "title": str(t.get("title", t["const"]))} for t in titled]}
    values = field.get("enum", [field["const"]] if "const" in field else None)
    if isinstance(values, list) and values and all(isinstance(value, str) for value in values):
        return {"enum": list(values)}
    return None


def _kept(field: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: field[name] for name in names if name in field}


def _format(field: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": field["format"]} if field.get("format") in _FORMATS else {}


def _bounds(field: Mapping[str, Any]) -> dict[str, Any]:
    """Bounds a form knows. It has no open ones: an integer's become closed, a number's are checked on the answer alone."""
    bounds = _kept(field, "minimum", "maximum")
    if field.get("type") == "integer":
        if "exclusiveMinimum" in field:
            bounds["minimum"] = max(field["exclusiveMinimum"] + 1, bounds.get("minimum", field["exclusiveMinimum"] + 1))
        if "exclusiveMaximum" in field:
            bounds["maximum"] = min(field["exclusiveMaximum"] - 1, bounds.get("maximum", field["exclusiveMaximum"] - 1))
    return bounds
