from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, computed_field

from mrtr.content import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mrtr.errors import InvalidSignature
from mrtr.input_required import InputRequiredResult
from mrtr.output import Output, failure, message, return_annotation
from tests.unit.test_schema import refs


class Colour(Enum):
    RED = "red"


class Note(BaseModel):
    """A note."""

    note_id: str
    day: date = date(2026, 7, 28)

    @computed_field  # type: ignore[prop-decorator]  # as pydantic's documentation has it
    @property
    def length(self) -> int:
        return len(self.note_id)


class Shelf(BaseModel):
    notes: list[Note]


class Tree(BaseModel):
    label: str
    children: list[Tree] = []


@dataclass
class Point:
    x: int
    colour: Colour = Colour.RED


class Options(TypedDict):
    loud: bool


class Socket:
    """Nothing that JSON knows."""


# Objects are structured as they are

OBJECTS: list[Any] = [
    pytest.param(Note, Note(note_id="7"), {"note_id": "7", "day": "2026-07-28", "length": 1}, id="model"),
    pytest.param(
        Shelf,
        Shelf(notes=[Note(note_id="")]),
        {"notes": [{"note_id": "", "day": "2026-07-28", "length": 0}]},
        id="nested",
    ),
    pytest.param(
        Tree,
        Tree(label="a", children=[Tree(label="b")]),
        {"label": "a", "children": [{"label": "b", "children": []}]},
        id="recursive",
    ),
    pytest.param(Point, Point(1), {"x": 1, "colour": "red"}, id="dataclass"),
    pytest.param(Options, {"loud": True}, {"loud": True}, id="TypedDict"),
    pytest.param(dict[str, int], {"a": 1}, {"a": 1}, id="dict of text"),
    pytest.param(Note, {"note_id": "7"}, {"note_id": "7", "day": "2026-07-28", "length": 1}, id="a dict for a model"),
]


class Aliased(BaseModel):
    note_id: str = Field(alias="noteId")
    made: int = Field(default=1, serialization_alias="createdAt")


OBJECTS += [
    pytest.param(
        Annotated[Note, "said of it"],
        Note(note_id="7"),
        {"note_id": "7", "day": "2026-07-28", "length": 1},
        id="annotated model",
    ),
    pytest.param(Annotated[Options, "said of it"], {"loud": True}, {"loud": True}, id="annotated TypedDict"),
    pytest.param(Aliased, Aliased(noteId="7"), {"noteId": "7", "createdAt": 1}, id="model with aliases"),
]
WRAPPED: list[Any] = [
    pytest.param(str, "Deleted 📝.", "Deleted 📝.", "Deleted 📝.", id="text"),
    pytest.param(int, 7, 7, "7", id="integer"),
    pytest.param(bool, True, True, "true", id="boolean"),
    pytest.param(float, 0.5, 0.5, "0.5", id="number"),
    pytest.param(date, date(2026, 7, 28), "2026-07-28", "2026-07-28", id="date"),
    pytest.param(Decimal, Decimal("1.50"), "1.50", "1.50", id="Decimal"),
    pytest.param(Colour, Colour.RED, "red", "red", id="enum"),
    pytest.param(list[int], [1, 2], [1, 2], "[1,2]", id="list"),
    pytest.param(list[Note], [], [], "[]", id="empty list"),
    pytest.param(dict, {"a": 1}, {"a": 1}, '{"a":1}', id="bare dict"),
    pytest.param(dict[int, str], {1: "ä"}, {"1": "ä"}, '{"1":"ä"}', id="dict of numbers"),
    pytest.param(Note | None, None, None, None, id="nothing of an optional"),
    pytest.param(int | str, "a", "a", "a", id="union"),
    pytest.param(Literal["a"], "a", "a", "a", id="Literal"),
    pytest.param(Any, {"a": [None]}, {"a": [None]}, '{"a":[null]}', id="Any"),
    pytest.param(type(None), None, None, None, id="None"),
    pytest.param(
        list[Aliased],
        [Aliased(noteId="7")],
        [{"noteId": "7", "createdAt": 1}],
        '[{"noteId":"7","createdAt":1}]',
        id="models with aliases",
    ),
]


@pytest.mark.parametrize(("annotation", "value", "structured"), OBJECTS)
def test_an_object_is_its_own_structured_content_and_its_json_is_the_text(
    annotation: Any, value: Any, structured: dict[str, Any]
) -> None:
    result = Output("tool", annotation).result(value)
    assert result["structuredContent"] == structured
    (block,) = result["content"]
    assert Output("tool", dict[str, Any]).result(structured)["content"] == [block]
    assert result["isError"] is False


@pytest.mark.parametrize(("annotation", "value", "structured", "text"), WRAPPED)
def test_anything_else_goes_under_result(annotation: Any, value: Any, structured: Any, text: str | None) -> None:
    result = Output("tool", annotation).result(value)
    assert result["structuredContent"] == {"result": structured}
    assert result["content"] == ([] if text is None else [{"type": "text", "text": text}])
    assert result["isError"] is False


@pytest.mark.parametrize(("annotation", "value"), [param.values[:2] for param in (*OBJECTS, *WRAPPED)])
def test_every_result_fits_the_schema_that_promises_it(annotation: Any, value: Any) -> None:
    output = Output("tool", annotation)
    assert output.schema is not None
    Draft202012Validator.check_schema(output.schema)
    assert Draft202012Validator(output.schema).is_valid(output.result(value)["structuredContent"])
    assert not Draft202012Validator(output.schema).is_valid("something else")


def test_the_output_schema_of_a_text_tool_is_an_object_with_a_result() -> None:
    assert Output("delete_note", str).schema == {
        "title": "delete_noteOutput",
        "type": "object",
        "properties": {"result": {"type": "string", "title": "Result"}},
        "required": ["result"],
    }


def test_output_schemas_hold_no_refs_but_of_recursive_models() -> None:
    assert refs(Output("tool", Shelf).schema) == []
    assert set(refs(Output("tool", Tree).schema)) == {"#/$defs/Tree"}
    assert refs(Output("tool", list[Shelf]).schema) == []


def test_without_an_annotation_there_is_neither_schema_nor_structured_content() -> None:
    output = Output("tool")
    assert output.schema is None
    assert output.result("text") == {"content": [{"type": "text", "text": "text"}], "isError": False}
    assert output.result({"a": date(2026, 7, 28)})["content"] == [{"type": "text", "text": '{"a":"2026-07-28"}'}]
    assert output.result(None) == {"content": [], "isError": False}


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "seven"),
        (str, 7),
        (str, None),
        (Note, {"note": "7"}),
        (Note, None),
        (Options, {"loud": "perhaps"}),
        (dict[str, int], ["a"]),
        (Literal["a"], "b"),
    ],
)
def test_a_value_that_is_not_what_was_promised_is_refused(annotation: Any, value: Any) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Output("tool", annotation).result(value)


@pytest.mark.parametrize("annotation", [Socket, list[Socket], Callable[[], int], dict[str, Socket] | None], ids=str)
def test_a_return_type_that_no_schema_describes_refuses_to_start_and_names_the_tool(annotation: Any) -> None:
    with pytest.raises(InvalidSignature, match=r"^tool: its return type"):
        Output("tool", annotation)


def test_a_value_that_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="serialize"):
        Output("tool").result(object())


@given(st.text())
@settings(derandomize=True, deadline=None)
def test_any_text_is_handed_on_as_it_is(text: str) -> None:
    result = Output("tool", str).result(text)
    assert result == {
        "content": [{"type": "text", "text": text}],
        "structuredContent": {"result": text},
        "isError": False,
    }


def test_a_message_is_a_normal_result_and_a_failure_is_marked() -> None:
    assert message("Kept.") == {"content": [{"type": "text", "text": "Kept."}], "isError": False}
    assert failure("No such note.") == {"content": [{"type": "text", "text": "No such note."}], "isError": True}


# Content as it is

BLOCKS = [
    TextContent(text="a"),
    ImageContent(data=b"\xff", mime_type="image/png"),
    AudioContent(data="/w==", mime_type="audio/wav"),
    ResourceLink(uri="note://7", name="seven"),
    EmbeddedResource(resource=TextResourceContents(uri="note://7", text="b")),
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: str(block.type))
def test_a_content_block_is_sent_as_it_is_without_structured_content(block: Any) -> None:
    for annotation in (type(block), list[type(block)], TextContent | type(block), Any):  # type: ignore[misc]
        assert Output("tool", annotation).result(block) == {"content": [block.wire()], "isError": False}
    assert Output("tool", type(block)).schema is None
    assert Output("tool", list[type(block) | str]).schema is None  # type: ignore[misc]


def test_blocks_and_texts_mix_in_a_list() -> None:
    result = Output("tool").result(["first", *BLOCKS])
    assert [block["type"] for block in result["content"]] == [
        "text",
        "text",
        "image",
        "audio",
        "resource_link",
        "resource",
    ]
    assert result["content"][2]["data"] == "/w=="
    assert "structuredContent" not in result


def test_a_list_of_content_with_anything_else_in_it_is_refused() -> None:
    with pytest.raises(ValueError, match="content blocks and texts only"):
        Output("tool").result([BLOCKS[0], 7])


def test_a_list_without_any_block_is_a_value_like_another() -> None:
    assert Output("tool").result(["a", "b"])["content"] == [{"type": "text", "text": '["a","b"]'}]
    assert Output("tool", list[str]).result(["a"])["structuredContent"] == {"result": ["a"]}


def test_a_whole_result_is_the_authors_own() -> None:
    whole = CallToolResult(
        content=[TextContent(text="a")], structured_content=[1], is_error=True, meta={"com.example/a": 1}
    )
    assert Output("tool", CallToolResult).result(whole) == {
        "content": [{"type": "text", "text": "a"}],
        "structuredContent": [1],
        "isError": True,
        "_meta": {"com.example/a": 1},
    }
    assert Output("tool", CallToolResult).schema is None


def test_bytes_are_written_as_base64() -> None:
    assert (
        Output("tool", bytes).result(b"\xfb\xff")["structuredContent"]["result"].translate({45: "+", 95: "/"}) == "+/8="
    )


# What a function promises


def plain(x: int) -> Annotated[int, Field(description="how many")]:
    return x


async def later() -> str:
    return ""


def silent():  # type: ignore[no-untyped-def]  # noqa: ANN201 - that is the point
    return 1


class Reader:
    def __call__(self) -> Note:
        return Note(note_id="7")

    def method(self) -> int:
        return 1


ASKING = InputRequiredResult(request_state="mine")


def asks() -> InputRequiredResult:
    return ASKING


def asks_or_counts() -> int | InputRequiredResult:
    return ASKING


def asks_or_writes() -> str | InputRequiredResult | None:
    return ASKING


def test_a_question_asked_by_hand_is_no_part_of_the_promise() -> None:
    assert Output("tool", return_annotation(asks)).schema is None
    assert return_annotation(asks_or_counts) is int
    assert return_annotation(asks_or_writes) == (str | None)


def test_the_promise_is_read_from_functions_methods_partials_and_callable_objects() -> None:
    assert get_args(return_annotation(plain))[0] is int
    assert return_annotation(later) is str
    assert get_args(return_annotation(functools.partial(plain, 1)))[1].description == "how many"
    assert return_annotation(Reader()) is Note
    assert return_annotation(Reader().method) is int
    assert Output("tool", return_annotation(silent)).schema is None
