from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import (
    AnyUrl,
    AwareDatetime,
    BaseModel,
    Field,
    RootModel,
    SecretBytes,
    SecretStr,
    create_model,
    field_validator,
)

from mrtr import canonical, strict_json
from mrtr.errors import InvalidSignature
from mrtr.forms import Form, InvalidAnswer, check_form, form


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Level(Enum):
    LOW = 1
    HIGH = 2


class Inner(BaseModel):
    ok: bool


def of(annotation: Any, default: Any = ..., name: str = "x") -> Form:
    """A form with one field."""
    fields: dict[str, Any] = {name: (annotation, default)}
    return Form(create_model("Model", **fields), frozenset())


def answered(asked: Form, content: Any) -> BaseModel:
    """What a form makes of an accepted answer."""
    return asked.read(canonical.encode(content))


def shown(annotation: Any, default: Any = ...) -> dict[str, Any]:
    """How a field of this type is shown, its title left out."""
    field: dict[str, Any] = of(annotation, default).schema["properties"]["x"]
    assert field.pop("title") in {"X", "Colour"}
    return field


TITLED = Field(
    json_schema_extra={"oneOf": [{"const": "red", "title": "Warm red"}, {"const": "green", "title": "Green"}]}
)
OPTIONS = [{"const": "red", "title": "Warm red"}, {"const": "green", "title": "Green"}]

SHOWN: list[Any] = [
    pytest.param(str, {"type": "string"}, id="text"),
    pytest.param(
        Annotated[str, Field(min_length=2, max_length=5)],
        {"type": "string", "minLength": 2, "maxLength": 5},
        id="text of a length",
    ),
    pytest.param(
        Annotated[str, Field(pattern="^a")], {"type": "string"}, id="text of a pattern, which a form can't show"
    ),
    pytest.param(date, {"type": "string", "format": "date"}, id="date"),
    pytest.param(datetime, {"type": "string", "format": "date-time"}, id="date and time"),
    pytest.param(AwareDatetime, {"type": "string", "format": "date-time"}, id="date and time with zone"),
    pytest.param(AnyUrl, {"type": "string", "format": "uri", "minLength": 1}, id="URL"),
    pytest.param(
        Annotated[str, Field(json_schema_extra={"format": "email"})], {"type": "string", "format": "email"}, id="email"
    ),
    pytest.param(UUID, {"type": "string"}, id="UUID, whose format a form does not know"),
    pytest.param(int, {"type": "integer"}, id="integer"),
    pytest.param(
        Annotated[int, Field(ge=1, le=6)], {"type": "integer", "minimum": 1, "maximum": 6}, id="integer between bounds"
    ),
    pytest.param(
        Annotated[int, Field(gt=0, lt=7)],
        {"type": "integer", "minimum": 1, "maximum": 6},
        id="integer between open bounds",
    ),
    pytest.param(float, {"type": "number"}, id="number"),
    pytest.param(
        Annotated[float, Field(ge=0.5, le=1.5)],
        {"type": "number", "minimum": 0.5, "maximum": 1.5},
        id="number between bounds",
    ),
    pytest.param(
        Annotated[float, Field(gt=0)], {"type": "number"}, id="number above an open bound, which a form can't show"
    ),
    pytest.param(Annotated[int, Field(multiple_of=5)], {"type": "integer"}, id="multiple, which a form can't show"),
    pytest.param(Decimal, {"type": "number"}, id="Decimal"),
    pytest.param(
        Annotated[Decimal, Field(ge=0, max_digits=6)], {"type": "number", "minimum": 0}, id="Decimal between bounds"
    ),
    pytest.param(
        Annotated[int, Field(ge=5, gt=0, le=6, lt=9)],
        {"type": "integer", "minimum": 5, "maximum": 6},
        id="integer of which the tighter bound counts",
    ),
    pytest.param(bool, {"type": "boolean"}, id="yes or no"),
    pytest.param(Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, id="choice"),
    pytest.param(Literal["only"], {"type": "string", "enum": ["only"]}, id="a choice of one"),
    pytest.param(Colour, {"type": "string", "enum": ["red", "green"]}, id="enum"),
    pytest.param(Annotated[Colour, TITLED], {"type": "string", "oneOf": OPTIONS}, id="enum with titles"),
    pytest.param(
        Annotated[Literal["red", "green"], TITLED], {"type": "string", "oneOf": OPTIONS}, id="choice with titles"
    ),
    pytest.param(
        list[Colour], {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}}, id="several of an enum"
    ),
    pytest.param(
        set[Literal["a", "b"]],
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        id="a set of choices",
    ),
    pytest.param(
        Annotated[list[Literal["a"]], Field(min_length=1, max_length=2)],
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, "minItems": 1, "maxItems": 2},
        id="at least one and at most two choices",
    ),
    pytest.param(
        list[Annotated[Colour, TITLED]],
        {"type": "array", "items": {"anyOf": OPTIONS}},
        id="several of an enum with titles",
    ),
]


# What a form shows (client/elicitation, 'Requested Schema')


@pytest.mark.parametrize(("annotation", "field"), SHOWN)
def test_each_kind_of_field_is_shown_in_the_words_of_the_specification(annotation: Any, field: dict[str, Any]) -> None:
    assert shown(annotation) == field
    assert of(annotation).schema["required"] == ["x"]


@pytest.mark.parametrize(("annotation", "field"), SHOWN)
def test_an_optional_field_is_shown_the_same_but_is_not_required(annotation: Any, field: dict[str, Any]) -> None:
    for optional in (of(annotation | None), of(annotation | None, None)):
        assert "required" not in optional.schema
        assert {name: optional.schema["properties"]["x"].get(name) for name in field} == field
        assert "default" not in optional.schema["properties"]["x"]


@pytest.mark.parametrize(
    ("annotation", "default", "written"),
    [
        (str, "", ""),
        (str, "Anna", "Anna"),
        (int, 0, 0),
        (float, 1.5, 1.5),
        (bool, False, False),
        (bool, True, True),
        (date, date(2026, 7, 28), "2026-07-28"),
        (Literal["a", "b"], "b", "b"),
        (Colour, Colour.GREEN, "green"),
        (list[Colour], [Colour.RED], ["red"]),
        (Decimal, Decimal("1.5"), 1.5),
        (str | None, "Anna", "Anna"),
    ],
)
def test_a_default_is_shown_as_json_and_its_field_is_not_required(annotation: Any, default: Any, written: Any) -> None:
    built = of(annotation, default)
    assert built.schema["properties"]["x"]["default"] == written
    assert type(built.schema["properties"]["x"]["default"]) is type(written)
    assert "required" not in built.schema


def test_titles_and_descriptions_are_kept_and_all_else_is_left_out() -> None:
    class Booking(BaseModel):
        """Said of the model, not of a field."""

        guests: int = Field(title="How many?", description="Children count.", examples=[3], deprecated=True)
        day: date

    assert form(Booking).schema == {
        "type": "object",
        "properties": {
            "guests": {"type": "integer", "title": "How many?", "description": "Children count."},
            "day": {"type": "string", "format": "date", "title": "Day"},
        },
        "required": ["guests", "day"],
    }


def test_fields_are_named_by_their_alias() -> None:
    class Model(BaseModel):
        first_name: str = Field(alias="firstName")

    built = form(Model)
    assert list(built.schema["properties"]) == built.schema["required"] == ["firstName"]
    assert answered(built, {"firstName": "Anna"}) == Model(firstName="Anna")


def test_a_form_without_fields_only_asks_to_confirm() -> None:
    class Nothing(BaseModel):
        pass

    assert form(Nothing).schema == {"type": "object", "properties": {}}
    assert answered(form(Nothing), {}) == Nothing()


ALLOWED = {
    "string": {"type", "title", "description", "minLength", "maxLength", "format", "default", "enum", "oneOf"},
    "integer": {"type", "title", "description", "minimum", "maximum", "default"},
    "number": {"type", "title", "description", "minimum", "maximum", "default"},
    "boolean": {"type", "title", "description", "default"},
    "array": {"type", "title", "description", "minItems", "maxItems", "items", "default"},
}
kinds = st.sampled_from([param.values[0] for param in SHOWN])
fields = kinds | kinds.map(lambda kind: kind | None) | kinds.map(lambda kind: Annotated[kind, Field(description="d")])


@given(st.lists(fields, min_size=1, max_size=6))
@settings(derandomize=True, deadline=None)
def test_a_form_of_any_such_fields_stays_within_the_restricted_schema(annotations: list[Any]) -> None:
    definitions: dict[str, Any] = {f"f{number}": (annotation, ...) for number, annotation in enumerate(annotations)}
    schema = Form(create_model("Model", **definitions), frozenset()).schema
    assert set(schema) <= {"type", "properties", "required"}
    assert list(schema["properties"]) == [f"f{number}" for number in range(len(annotations))]
    for field in schema["properties"].values():
        assert set(field) <= ALLOWED[field["type"]]
        assert field.get("format", "date") in {"email", "uri", "date", "date-time"}


# What a form can't show


@dataclass
class Plain:
    x: int


@pytest.mark.parametrize(
    "annotation",
    [
        Inner,
        Inner | None,
        list[Inner],
        list[str],
        list[int],
        list[list[Colour]],
        dict[str, str],
        tuple[Literal["a"], Literal["b"]],
        Any,
        str | int,
        Literal[1, 2],
        Literal["a", 1],
        Literal[True],
        Level,
        list[Level],
        Plain,
        None,
        bool | Literal["maybe"],
        list[Decimal],
    ],
    ids=str,
)
def test_a_field_that_a_form_cannot_show_is_refused_by_name_with_the_mend(annotation: Any) -> None:
    with pytest.raises(InvalidSignature, match=r"^Model\.x can't be shown in a form: use .*split anything nested"):
        of(annotation)


def test_titles_that_are_no_list_of_options_are_refused() -> None:
    wrong: list[Any] = [[], ["red"], [{"title": "Red"}], [{"const": 1, "title": "One"}], "red"]
    for options in wrong:
        with pytest.raises(InvalidSignature, match="can't be shown"):
            of(Annotated[str, Field(json_schema_extra={"oneOf": options})])


@pytest.mark.parametrize("model", [list[Inner], Inner | None, str, Plain, Inner(ok=True), None], ids=str)
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(InvalidSignature, match="BaseModel"):
        Form(model, frozenset())


class Tree(BaseModel):
    label: str
    parent: Tree | None = None


@pytest.mark.parametrize("model", [Tree, RootModel[list[Colour]], RootModel[str]], ids=["recursive", "list", "text"])
def test_a_model_without_fields_of_one_level_is_no_form(model: Any) -> None:
    with pytest.raises(InvalidSignature, match=f"{re.escape(model.__name__)} can't be a form: a form is flat"):
        Form(model, frozenset())


def test_a_form_is_checked_at_import_and_built_once() -> None:
    check_form(Inner)
    assert form(Inner) is form(Inner)
    nested = create_model("Nested", inner=(Inner, ...))
    with pytest.raises(InvalidSignature, match=r"Nested\.inner"):
        check_form(nested)


# Secrets (client/elicitation: servers must not ask for them with a form)

SECRET_NAMES = [
    "password",
    "Password",
    "user_password",
    "passwordAgain",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "client_secret",
    "token",
    "access_token",
    "accessToken",
    "api_key",
    "apiKey",
    "apikey",
    "API_KEY",
    "APIKey",
    "private_key",
    "access_key",
    "secret_key",
    "credential",
    "credentials",
    "card_number",
    "cardNumber",
    "credit_card",
    "creditCardNo",
    "cvv",
    "cvc",
    "security_code",
    "pin",
    "new_pin",
    "passwords",
    "tokens",
    "secrets",
    "api_keys",
    "pwd",
    "otp",
]
HARMLESS_NAMES = [
    "key",
    "name",
    "number",
    "card",
    "code",
    "pint",
    "spin",
    "shipping",
    "tokenise",
    "secretary",
    "passenger",
    "keyboard",
    "api",
    "x",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_field_that_sounds_like_a_secret_is_refused_and_sent_to_a_url(name: str) -> None:
    with pytest.raises(InvalidSignature, match=rf"Model\.{name} looks like a secret.*URL.*allow=\{{'{name}'\}}"):
        of(str, name=name)


@pytest.mark.parametrize("name", HARMLESS_NAMES)
def test_a_field_that_only_resembles_a_secret_is_shown(name: str) -> None:
    assert name in of(str, name=name).schema["properties"]


def test_a_false_alarm_can_be_allowed_by_name() -> None:
    model = create_model("Model", token=(str, ...), pin=(str, ...))
    assert set(Form(model, frozenset({"token", "pin"})).schema["properties"]) == {"token", "pin"}
    with pytest.raises(InvalidSignature, match=r"Model\.pin"):
        Form(model, frozenset({"token"}))
    check_form(model, ["token", "pin"])


@pytest.mark.parametrize(
    "annotation",
    [SecretStr, SecretBytes, SecretStr | None, Annotated[str, Field(json_schema_extra={"format": "password"})]],
    ids=["SecretStr", "SecretBytes", "optional", "format"],
)
def test_a_secret_type_is_refused_whatever_is_allowed(annotation: Any) -> None:
    model = create_model("Model", x=(annotation, ...))
    with pytest.raises(InvalidSignature, match=r"Model\.x looks like a secret") as refusal:
        Form(model, frozenset({"x"}))
    assert "allow" not in str(refusal.value)


def test_a_secret_is_found_under_the_name_it_has_on_the_wire() -> None:
    with pytest.raises(InvalidSignature, match=r"Model\.password"):
        Form(create_model("Model", x=(str, Field(alias="password"))), frozenset())


# Answers

GOOD: list[tuple[Any, Any, Any]] = [
    (bool, True, True),
    (bool, False, False),
    (int, 3, 3),
    (int, -(2**70), -(2**70)),
    (int, strict_json.Number("1.0"), 1),
    (int, strict_json.Number("3e2"), 300),
    (float, 3, 3.0),
    (float, strict_json.Number("0.25"), 0.25),
    (str, "", ""),
    (str, "Zoë 👩‍👩‍👧 שלום", "Zoë 👩‍👩‍👧 שלום"),
    (date, "2026-07-28", date(2026, 7, 28)),
    (UUID, "00000000-0000-4000-8000-000000000001", UUID("00000000-0000-4000-8000-000000000001")),
    (Colour, "green", Colour.GREEN),
    (Literal["a", "b"], "b", "b"),
    (list[Colour], ["red", "red"], [Colour.RED, Colour.RED]),
    (list[Colour], [], []),
    (set[Literal["a", "b"]], ["b"], {"b"}),
    (Annotated[Colour, TITLED], "red", Colour.RED),
    (str | None, "x", "x"),
    (str | None, None, None),
    (Decimal, strict_json.Number("1.10"), Decimal("1.1")),
    (Decimal, 3, Decimal(3)),
]
BAD: list[tuple[Any, Any]] = [
    (bool, 1),
    (bool, 0),
    (bool, "true"),
    (bool, "on"),
    (bool, None),
    (bool, [True]),
    (int, "3"),
    (int, True),
    (int, strict_json.Number("3.5")),
    (int, None),
    (Annotated[int, Field(gt=0)], 0),
    (float, "0.5"),
    (float, True),
    (Annotated[float, Field(gt=0)], 0),
    (str, 3),
    (str, True),
    (str, None),
    (str, ["a"]),
    (Annotated[str, Field(pattern="^a")], "b"),
    (Annotated[str, Field(min_length=2)], "b"),
    (date, "28.7.2026"),
    (date, 1),
    (date, "2026-02-30"),
    (UUID, "1"),
    (Colour, "blue"),
    (Colour, "RED"),
    (Literal["a", "b"], "c"),
    (list[Colour], "red"),
    (list[Colour], ["red", "blue"]),
    (Annotated[list[Colour], Field(min_length=1)], []),
    (str | None, 3),
    (Decimal, True),
    (Annotated[Decimal, Field(gt=0)], 0),
]


@pytest.mark.parametrize(("annotation", "sent", "value"), GOOD)
def test_an_answer_that_fits_becomes_the_model(annotation: Any, sent: Any, value: Any) -> None:
    read = answered(of(annotation), {"x": sent})
    assert read.__dict__ == {"x": value}
    assert type(read.__dict__["x"]) is type(value)


@pytest.mark.parametrize(("annotation", "sent"), BAD)
def test_an_answer_is_taken_strictly_as_json(annotation: Any, sent: Any) -> None:
    with pytest.raises(InvalidAnswer, match=r"^x(\.\d)?: \w+"):
        answered(of(annotation), {"x": sent})


def test_a_field_that_is_left_out_is_asked_for_again_unless_it_is_optional() -> None:
    with pytest.raises(InvalidAnswer, match=r"^x: Field required$"):
        answered(of(str), {})
    assert answered(of(str | None), {}).__dict__ == {"x": None}
    assert answered(of(str | None, None), {}).__dict__ == {"x": None}
    assert answered(of(int, 7), {}).__dict__ == {"x": 7}


@pytest.mark.parametrize("annotation", [str, str | None])
def test_a_fraction_as_long_as_the_wire_allows_is_no_matter_beside_a_field(annotation: Any) -> None:
    longest = strict_json.Number("0." + "1" * (strict_json.MAX_DIGITS - 2))
    assert answered(of(annotation), {"x": "a", "y": longest}).__dict__ == {"x": "a"}


def test_fields_that_were_not_asked_for_are_left_aside() -> None:
    assert answered(of(bool), {"x": True, "y": 1, "admin": True}).__dict__ == {"x": True}


def test_everything_that_is_wrong_is_said_and_nothing_that_was_sent() -> None:
    class Contact(BaseModel):
        name: str = Field(max_length=5)
        phone: int
        colour: Literal["red", "green"]
        day: date

    sent = {"name": "Bartholomew", "phone": "0123456789", "colour": "ultraviolet", "day": "tomorrowish"}
    with pytest.raises(InvalidAnswer) as wrong:
        answered(form(Contact), sent)
    said = str(wrong.value)
    assert [part.split(":")[0] for part in said.split("; ")] == ["name", "phone", "colour", "day"]
    for value in sent.values():
        assert value not in said
    assert "http" not in said
    assert wrong.value.__suppress_context__


def test_a_rule_of_the_author_is_told_in_the_authors_words() -> None:
    class Even(BaseModel):
        number: int

        @field_validator("number")
        @classmethod
        def is_even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("only even numbers go")
            return value

    assert answered(form(Even), {"number": 4}) == Even(number=4)
    with pytest.raises(InvalidAnswer, match="only even numbers go"):
        answered(form(Even), {"number": 3})
