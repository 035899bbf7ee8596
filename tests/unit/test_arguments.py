from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, Optional, TypedDict
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from pydantic.errors import PydanticInvalidForJsonSchema

from mrtr import canonical, strict_json
from mrtr.arguments import Arguments, InvalidArguments
from mrtr.errors import InvalidSignature
from mrtr.signature import Argument
from tests.unit.test_schema import refs

REQUIRED = inspect.Parameter.empty


class Colour(Enum):
    RED = "red"
    GREEN = "green"


class Street(BaseModel):
    name: str
    number: int = 1


class Address(BaseModel):
    street: Street
    former: list[Street] = []


class Tree(BaseModel):
    label: str
    children: list[Tree] = []


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict, total=False):
    loud: bool


def of(annotation: Any, default: Any = REQUIRED, name: str = "x") -> Arguments:
    """The arguments of a tool that has one."""
    return Arguments("tool", {name: Argument(annotation, default)})


def read(arguments: Arguments, sent: str) -> dict[str, Any]:
    """What the tool gets when a client sends this JSON."""
    return arguments.read(canonical.encode(strict_json.parse(sent.encode())))


# The schema


def test_a_tool_without_arguments_takes_an_empty_object() -> None:
    arguments = Arguments("ping", {})
    assert arguments.schema == {"type": "object", "properties": {}, "title": "pingArguments"}
    assert read(arguments, "{}") == {}


def test_the_input_schema_is_an_object_with_a_title_for_every_argument() -> None:
    arguments = Arguments("move", {"note_id": Argument(str, REQUIRED), "by": Argument(int, 1)})
    assert arguments.schema == {
        "type": "object",
        "title": "moveArguments",
        "properties": {
            "note_id": {"type": "string", "title": "Note Id"},
            "by": {"type": "integer", "title": "By", "default": 1},
        },
        "required": ["note_id"],
    }


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        pytest.param(str, {"type": "string"}, id="str"),
        pytest.param(int, {"type": "integer"}, id="int"),
        pytest.param(float, {"type": "number"}, id="float"),
        pytest.param(bool, {"type": "boolean"}, id="bool"),
        pytest.param(Any, {}, id="Any"),
        pytest.param(date, {"type": "string", "format": "date"}, id="date"),
        pytest.param(datetime, {"type": "string", "format": "date-time"}, id="datetime"),
        pytest.param(timedelta, {"type": "string", "format": "duration"}, id="timedelta"),
        pytest.param(UUID, {"type": "string", "format": "uuid"}, id="UUID"),
        pytest.param(Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, id="Literal"),
        pytest.param(Literal["a"], {"type": "string", "const": "a"}, id="Literal of one"),
        pytest.param(Literal[1, "a"], {"enum": [1, "a"]}, id="Literal of several types"),
        pytest.param(list[int], {"type": "array", "items": {"type": "integer"}}, id="list"),
        pytest.param(dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, id="dict"),
        pytest.param(int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, id="union"),
        pytest.param(
            Annotated[int, Field(ge=1, le=6, description="How many.")],
            {"type": "integer", "minimum": 1, "maximum": 6, "description": "How many."},
            id="bounds and a description",
        ),
    ],
)
def test_each_type_has_its_schema_and_is_required(annotation: Any, schema: dict[str, Any]) -> None:
    built = of(annotation).schema
    assert built["properties"]["x"] == {**schema, "title": "X"}
    assert built["required"] == ["x"]


def test_an_enum_is_the_list_of_its_values() -> None:
    assert of(Colour).schema["properties"]["x"]["enum"] == ["red", "green"]
    assert refs(of(Colour).schema) == []


@pytest.mark.parametrize(
    "annotation",
    [
        Optional[int],  # noqa: UP045 - authors write it so
        int | None,
        None | int,
        Annotated[int | None, Field(description="d")],
        Annotated[int, Field(ge=0)] | None,
        None,
    ],
    ids=str,
)
def test_an_optional_argument_is_not_required_and_is_none_when_absent(annotation: Any) -> None:
    arguments = of(annotation)
    assert "required" not in arguments.schema
    assert read(arguments, "{}") == {"x": None}
    assert read(arguments, '{"x": null}') == {"x": None}


def test_none_is_no_value_of_an_argument_that_merely_has_a_default() -> None:
    with pytest.raises(InvalidArguments):
        read(of(int, 3), '{"x": null}')


@pytest.mark.parametrize(
    ("annotation", "default", "written"),
    [
        (int, 0, 0),
        (str, "", ""),
        (bool, False, False),
        (int | None, 5, 5),
        (int | None, None, None),
        (date, date(2026, 7, 28), "2026-07-28"),
        (Colour, Colour.RED, "red"),
        (UUID, UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (list[int], [1, 2], [1, 2]),
        (Street, Street(name="a"), {"name": "a", "number": 1}),
    ],
)
def test_a_default_is_in_the_schema_and_in_the_call(annotation: Any, default: Any, written: Any) -> None:
    arguments = of(annotation, default)
    assert arguments.schema["properties"]["x"]["default"] == written
    assert "required" not in arguments.schema
    assert read(arguments, "{}") == {"x": default}


def test_a_mutable_default_is_not_shared_between_calls() -> None:
    arguments = of(list[int], [1])
    read(arguments, "{}")["x"].append(2)
    assert read(arguments, "{}") == {"x": [1]}


def test_a_field_as_default_gives_description_bounds_and_default() -> None:
    arguments = Arguments(
        "tool",
        {
            "a": Argument(int, Field(ge=1, description="At least one.")),
            "b": Argument(int, Field(default=2, title="Bee")),
            "c": Argument(list[int], Field(default_factory=list)),
        },
    )
    assert arguments.schema["properties"]["a"] == {
        "type": "integer",
        "minimum": 1,
        "description": "At least one.",
        "title": "A",
    }
    assert arguments.schema["properties"]["b"] == {"type": "integer", "default": 2, "title": "Bee"}
    assert arguments.schema["required"] == ["a"]
    assert read(arguments, '{"a": 1}') == {"a": 1, "b": 2, "c": []}
    with pytest.raises(InvalidArguments, match=r"^a: Input should be greater"):
        read(arguments, '{"a": 0}')


def test_a_default_within_the_annotation_counts_as_one_behind_it() -> None:
    arguments = Arguments(
        "tool",
        {
            "a": Argument(Annotated[int, Field(default=3)], REQUIRED),
            "b": Argument(Annotated[list[int], Field(default_factory=list)], REQUIRED),
            "c": Argument(Annotated[int, Field(default=3)], 4),
        },
    )
    assert "required" not in arguments.schema
    assert arguments.schema["properties"]["a"]["default"] == 3
    assert read(arguments, "{}") == {"a": 3, "b": [], "c": 4}


def test_an_optional_argument_with_a_field_as_default_is_optional_still() -> None:
    arguments = of(str | None, Field(description="d"))
    assert "required" not in arguments.schema
    assert arguments.schema["properties"]["x"]["description"] == "d"
    assert read(arguments, "{}") == {"x": None}


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    size: int = 1


def test_a_choice_of_models_is_written_out_without_a_trace_of_refs() -> None:
    arguments = of(Annotated[Cat | Dog, Field(discriminator="kind")])
    assert "$defs" not in json.dumps(arguments.schema)
    assert [option["title"] for option in arguments.schema["properties"]["x"]["oneOf"]] == ["Cat", "Dog"]
    assert read(arguments, '{"x": {"kind": "dog"}}') == {"x": Dog(kind="dog")}


class Socket:
    """Nothing that JSON knows."""


@pytest.mark.parametrize("annotation", [Socket, list[Socket], Callable[[], int], Socket | None], ids=str)
def test_an_argument_that_no_schema_describes_refuses_to_start_and_is_named_with_the_mend(annotation: Any) -> None:
    with pytest.raises(InvalidSignature, match=r"^tool: argument 'odd' .*Resolve"):
        Arguments("tool", {"fine": Argument(int, REQUIRED), "odd": Argument(annotation, REQUIRED)})


class Fussy:
    """Describes itself once, and not beside others."""

    described = 0

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        return handler(int)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        cls.described += 1
        if cls.described == 1:
            raise PydanticInvalidForJsonSchema("not yet")
        return handler(core_schema)


def test_where_no_single_argument_is_to_blame_all_are_named() -> None:
    with pytest.raises(InvalidSignature, match="argument 'a, b' has a type"):
        Arguments("tool", {"a": Argument(int, REQUIRED), "b": Argument(Fussy, REQUIRED)})


def test_a_field_in_the_annotation_goes_together_with_a_plain_default() -> None:
    arguments = of(Annotated[str, Field(min_length=2, title="Name", alias="ignored")], "none")
    assert arguments.schema["properties"] == {
        "x": {"type": "string", "minLength": 2, "title": "Name", "default": "none"}
    }
    assert read(arguments, "{}") == {"x": "none"}
    assert read(arguments, '{"x": "ab"}') == {"x": "ab"}


NAMES = [
    "json",
    "copy",
    "dict",
    "schema",
    "_x",
    "__x",
    "model_config",
    "model_fields",
    "self",
    "cls",
    "class_",
    "validate",
    "größe",
    "a0",
    "type",
]


def test_an_argument_may_have_any_name() -> None:
    arguments = Arguments("tool", {name: Argument(str, REQUIRED) for name in NAMES})
    assert list(arguments.schema["properties"]) == arguments.schema["required"] == NAMES
    sent = {name: f"value of {name}" for name in NAMES}
    assert arguments.read(canonical.encode(sent)) == sent


def test_models_within_arguments_are_written_out_and_only_recursive_ones_keep_refs() -> None:
    assert refs(of(Address).schema) == []
    assert of(Address).schema["properties"]["x"]["properties"]["street"]["properties"]["name"]["type"] == "string"
    assert set(refs(of(Tree).schema)) == {"#/$defs/Tree"}
    both = Arguments("tool", {"a": Argument(Address, REQUIRED), "t": Argument(Tree | None, None)}).schema
    assert set(both["$defs"]) == {"Tree"}


@pytest.mark.parametrize("annotation", [Address, Tree, Colour, Point, Options, int | None, list[Address], Decimal])
def test_every_schema_is_valid_json_schema(annotation: Any) -> None:
    Draft202012Validator.check_schema(of(annotation).schema)


# Reading


@pytest.mark.parametrize(
    ("annotation", "sent", "value"),
    [
        (int, "3", 3),
        (int, "1.0", 1),
        (int, "1e2", 100),
        (int, "-0", 0),
        (int, "123456789012345678901234567890", 123456789012345678901234567890),
        (int, "1" + "0" * 4000, 10**4000),
        (float, "1", 1.0),
        (float, "0.1", 0.1),
        (float, "5e-324", 5e-324),
        (float, "1.7976931348623157e308", 1.7976931348623157e308),
        (bool, "true", True),
        (str, '"ñ 📝 שלום"', "ñ 📝 שלום"),
        (str, '"\\u00e9"', "é"),
        (str, '"e\\u0301"', "e\u0301"),
        (date, '"2026-07-28"', date(2026, 7, 28)),
        (timedelta, '"PT90S"', timedelta(seconds=90)),
        (UUID, '"00000000-0000-0000-0000-000000000001"', UUID(int=1)),
        (Decimal, '"0.10"', Decimal("0.10")),
        (Decimal, "0.1", Decimal("0.1")),
        (Decimal, "12", Decimal(12)),
        (Decimal, "123456789012.345", Decimal("123456789012.345")),
        (Decimal, "0.00000123456789012345", Decimal("0.00000123456789012345")),
        (Decimal, "123456789012345678901234567890", Decimal(123456789012345678901234567890)),
        (Decimal, '"0.12345678901234567890123"', Decimal("0.12345678901234567890123")),
        (Colour, '"green"', Colour.GREEN),
        (Literal["a", 1], "1", 1),
        (list[int], "[1, 2.0]", [1, 2]),
        (set[str], '["a", "a"]', {"a"}),
        (tuple[int, str], '[1, "a"]', (1, "a")),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (int | str, '"1"', "1"),
        (int | str, "1", 1),
        (Any, '{"a": [1, null]}', {"a": [1, None]}),
        (Point, '{"x": 1}', Point(1)),
        (Options, '{"loud": true}', {"loud": True}),
        (Address, '{"street": {"name": "a"}}', Address(street=Street(name="a"))),
        (Tree, '{"label": "a", "children": [{"label": "b"}]}', Tree(label="a", children=[Tree(label="b")])),
    ],
)
def test_an_argument_that_fits_becomes_its_type(annotation: Any, sent: str, value: Any) -> None:
    got = read(of(annotation), f'{{"x": {sent}}}')["x"]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("annotation", "sent"),
    [
        (int, '"3"'),
        (int, "true"),
        (int, "1.5"),
        (int, "null"),
        (int, "[1]"),
        (float, '"1"'),
        (float, "false"),
        (bool, "1"),
        (bool, '"true"'),
        (str, "1"),
        (str, "null"),
        (date, '"28.7.2026"'),
        (date, "1"),
        (UUID, "1"),
        (Colour, '"blue"'),
        (Literal["a"], '"b"'),
        (list[int], '{"0": 1}'),
        (list[int], '["1"]'),
        (dict[str, int], "[]"),
        (Address, '{"street": {"name": 1}}'),
        (Address, '"street"'),
        (Annotated[str, Field(max_length=2)], '"abc"'),
    ],
)
def test_an_argument_is_taken_strictly_as_json(annotation: Any, sent: str) -> None:
    with pytest.raises(InvalidArguments, match=r"^x(\.\w+)*: \w+"):
        read(of(annotation), f'{{"x": {sent}}}')


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(InvalidArguments, match=r"^note_id: Field required$"):
        read(of(str, name="note_id"), "{}")


def test_a_fraction_as_long_as_the_wire_allows_is_no_matter_beside_an_argument_that_does_not_fit() -> None:
    longest = "0." + "1" * (strict_json.MAX_DIGITS - 2)
    with pytest.raises(InvalidArguments, match=r"^x: "):
        read(of(list[int]), f'{{"x":"[1","y":{longest}}}')


def test_arguments_that_the_tool_does_not_have_are_left_aside() -> None:
    assert read(of(int), '{"x": 1, "y": 2, "answer": {"action": "accept"}, "a0": 3}') == {"x": 1}


def test_everything_that_is_wrong_is_said_and_nothing_that_was_sent() -> None:
    arguments = Arguments(
        "tool", {"a": Argument(int, REQUIRED), "b": Argument(Address, REQUIRED), "c": Argument(str, REQUIRED)}
    )
    with pytest.raises(InvalidArguments) as wrong:
        read(arguments, '{"a": "hunter2", "b": {"street": {"name": 4711}}}')
    said = str(wrong.value)
    assert [part.split(":")[0] for part in said.split("; ")] == ["a", "b.street.name", "c"]
    assert "hunter2" not in said
    assert "4711" not in said
    assert wrong.value.__suppress_context__


# Objects and lists that a model sent as text


@pytest.mark.parametrize(
    ("annotation", "sent", "value"),
    [
        (list[int], "[1, 2]", [1, 2]),
        (list[int] | None, "[]", []),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Point, '{"x": 1}', Point(1)),
        (Street, '{"name": "a"}', Street(name="a")),
        (list[int] | dict[str, int], '{"a": 1}', {"a": 1}),
    ],
)
def test_an_object_or_list_sent_as_its_json_text_is_read_where_no_text_would_do(
    annotation: Any, sent: str, value: Any
) -> None:
    assert of(annotation).read(canonical.encode({"x": sent})) == {"x": value}


@pytest.mark.parametrize("annotation", [str, str | None, str | list[int], Any, Literal["[1]"]])
def test_a_text_that_looks_like_a_list_stays_a_text_where_text_will_do(annotation: Any) -> None:
    assert of(annotation).read('{"x":"[1]"}') == {"x": "[1]"}


@pytest.mark.parametrize("sent", ["[1", '{"a": 1}', "1", '"[1]"', '["1"]', "", "[NaN]"])
def test_a_text_that_is_not_the_json_of_what_is_needed_is_refused(sent: str) -> None:
    with pytest.raises(InvalidArguments, match=r"^x"):
        of(list[int]).read(canonical.encode({"x": sent, "other": "[1]"}))


# Arguments that are texts alone


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (str, "7", "7"),
        (int, "7", 7),
        (bool, "true", True),
        (date, "2026-07-28", date(2026, 7, 28)),
        (Colour, "red", Colour.RED),
    ],
)
def test_where_arguments_are_texts_a_number_or_a_date_is_read_from_its_text(
    annotation: Any, text: str, value: Any
) -> None:
    assert of(annotation).read_texts({"x": text}) == {"x": value}


def test_where_arguments_are_texts_a_wrong_one_is_named_and_not_repeated() -> None:
    with pytest.raises(InvalidArguments, match=r"^x: ") as wrong:
        of(int).read_texts({"x": "hunter2"})
    assert "hunter2" not in str(wrong.value)


def test_text_that_no_utf_8_can_carry_is_refused() -> None:
    with pytest.raises(InvalidArguments):
        read(of(str), '{"x": "\\ud800"}')


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(NAMES), json_values, min_size=1))
@settings(derandomize=True, deadline=None)
def test_any_json_value_reaches_an_argument_of_any_type_unchanged(sent: dict[str, Any]) -> None:
    arguments = Arguments("tool", {name: Argument(Any, REQUIRED) for name in sent})
    text = canonical.encode(sent)
    assert canonical.encode(arguments.read(text)) == text
