# Annotations are evaluated as they stand: tools within tests name resolvers within tests.
import functools
from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from mrtr import canonical, strict_json
from mrtr.content import Icon
from mrtr.context import Context
from mrtr.errors import InvalidSignature, ProtocolError
from mrtr.http import read_event
from mrtr.outcomes import ElicitationResult
from mrtr.param_headers import McpHeader
from mrtr.protocol import Limits, Request, read_request
from mrtr.questions import Elicit
from mrtr.server import Server
from mrtr.signature import Resolve
from mrtr.testing import call_event
from mrtr.tool import Tool, ToolAnnotations


class Confirm(BaseModel):
    confirm: bool


class Found(BaseModel):
    count: int


def ask(note_id: str) -> Elicit[Confirm]:
    return Elicit(note_id, Confirm)


def delete_note(
    note_id: Annotated[str, Field(description="The note's id.")],
    answer: Annotated[ElicitationResult[Confirm], Resolve(ask)],
    ctx: Context,
    trace: bool = False,
) -> str:
    """Delete one note.

    The person must confirm.
    """
    return f"{note_id}{answer}{ctx}{trace}"


def request_for(name: str, **arguments: object) -> Request:
    request = read_request(read_event(call_event(name, arguments)), ("tools/call",), Limits())
    assert isinstance(request, Request)
    return request


# Hints


def test_hints_that_were_not_given_are_not_sent() -> None:
    assert ToolAnnotations().wire() == {}
    assert ToolAnnotations(destructive_hint=False, title="").wire() == {"destructiveHint": False, "title": ""}


def test_hints_have_the_names_of_the_specification() -> None:
    hints = ToolAnnotations(
        title="t", read_only_hint=True, destructive_hint=True, idempotent_hint=True, open_world_hint=True
    )
    assert hints.wire() == {
        "title": "t",
        "readOnlyHint": True,
        "destructiveHint": True,
        "idempotentHint": True,
        "openWorldHint": True,
    }


# Definitions


def test_a_definition_shows_what_the_model_needs_and_nothing_that_is_resolved() -> None:
    tool = Tool(delete_note, title="Delete a note", annotations=ToolAnnotations(destructive_hint=True))
    assert tool.definition() == {
        "name": "delete_note",
        "title": "Delete a note",
        "description": "Delete one note.\n\nThe person must confirm.",
        "inputSchema": {
            "type": "object",
            "title": "delete_noteArguments",
            "properties": {
                "note_id": {"type": "string", "description": "The note's id.", "title": "Note Id"},
                "trace": {"type": "boolean", "default": False, "title": "Trace"},
            },
            "required": ["note_id"],
        },
        "outputSchema": {
            "type": "object",
            "title": "delete_noteOutput",
            "properties": {"result": {"type": "string", "title": "Result"}},
            "required": ["result"],
        },
        "annotations": {"destructiveHint": True},
    }


def test_what_was_not_given_is_not_in_the_definition() -> None:
    def tool(): ...  # type: ignore[no-untyped-def]  # noqa: ANN202

    definition = Tool(tool, annotations=ToolAnnotations()).definition()
    assert definition == {
        "name": "tool",
        "description": "",
        "inputSchema": {"type": "object", "properties": {}, "title": "toolArguments"},
    }


def test_name_description_and_meta_can_be_given() -> None:
    definition = Tool(delete_note, name="🗑 löschen", description="Löscht.", meta={"com.example/x": 1}).definition()
    assert (definition["name"], definition["description"]) == ("🗑 löschen", "Löscht.")
    assert definition["inputSchema"]["title"] == "🗑 löschenArguments"
    assert definition["_meta"] == {"com.example/x": 1}


def test_icons_are_shown() -> None:
    icons = [Icon(src="https://example.com/i.png", mime_type="image/png", sizes=["48x48"])]
    shown = {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"]}
    assert Tool(delete_note, icons=icons).definition()["icons"] == [shown]


def test_a_description_given_as_empty_stays_empty() -> None:
    assert Tool(delete_note, description="").definition()["description"] == ""


def test_a_tool_shows_its_name_alone() -> None:
    assert repr(Tool(delete_note)) == "Tool('delete_note')"


def test_a_partial_is_a_tool_with_the_name_and_the_words_of_its_function() -> None:
    definition = Tool(functools.partial(delete_note, trace=True)).definition()
    assert definition["name"] == "delete_note"
    assert definition["description"].startswith("Delete one note.")


def test_a_callable_object_needs_a_name() -> None:
    class Delete:
        def __call__(self, note_id: str) -> str:
            return note_id

    with pytest.raises(InvalidSignature, match="name="):
        Tool(Delete())
    assert Tool(Delete(), name="delete").definition()["name"] == "delete"


# A schema written by hand

BY_HAND = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"note_id": {"$ref": "#/$defs/id"}},
    "$defs": {"id": {"$anchor": "id", "type": "string"}},
    "additionalProperties": False,
}


def test_a_schema_written_by_hand_is_published_as_it_is_and_arguments_are_read_by_the_signature() -> None:
    tool = Tool(delete_note, input_schema=BY_HAND)
    assert tool.definition()["inputSchema"] == BY_HAND
    assert tool.read(request_for("delete_note"), '{"note_id":"7"}') == {"note_id": "7", "trace": False}


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": "object", "properties": []}])
def test_a_schema_of_anything_but_an_object_is_refused(schema: dict[str, object]) -> None:
    with pytest.raises(InvalidSignature, match=r'^delete_note: .*"type": "object"'):
        Tool(delete_note, input_schema=schema)


def test_a_schema_that_names_what_the_function_does_not_take_is_refused_by_name() -> None:
    schema = {"type": "object", "properties": {"note_id": {}, "ctx": {}, "b": {}, "answer": {}}}
    with pytest.raises(InvalidSignature, match="answer, b, ctx, which the function does not take"):
        Tool(delete_note, input_schema=schema)


# Single use


@pytest.mark.parametrize(
    ("annotations", "single_use"),
    [
        (None, True),
        (ToolAnnotations(), True),
        (ToolAnnotations(read_only_hint=False), True),
        (ToolAnnotations(idempotent_hint=True), True),
        (ToolAnnotations(read_only_hint=True), False),
    ],
)
def test_only_a_tool_that_merely_reads_needs_no_single_use(
    annotations: ToolAnnotations | None, single_use: bool
) -> None:
    assert Tool(delete_note, annotations=annotations).single_use is single_use


# Calls


def test_a_tool_reads_its_arguments_and_writes_its_results() -> None:
    tool = Tool(delete_note)
    request = request_for("delete_note", note_id="7")
    assert tool.read(request, '{"note_id":"7"}') == {"note_id": "7", "trace": False}
    assert tool.result(request, "Deleted.")["structuredContent"] == {"result": "Deleted."}
    assert tool.notice(request, "Kept.") == {"content": [{"type": "text", "text": "Kept."}], "isError": False}
    for failed in (tool.failure("No."), tool.crash("No.")):
        assert failed == {"content": [{"type": "text", "text": "No."}], "isError": True}


def test_an_argument_that_is_mirrored_into_a_header_must_agree_with_it() -> None:
    def tool(region: Annotated[str, McpHeader("Region")]) -> str:
        return region

    made = Tool(tool)
    assert made.definition()["inputSchema"]["properties"]["region"]["x-mcp-header"] == "Region"
    event = call_event("tool", {"region": "eu"}, headers={"mcp-param-region": "eu"})
    request = read_request(read_event(event), ("tools/call",), Limits())
    assert isinstance(request, Request)
    assert made.read(request, '{"region":"eu"}') == {"region": "eu"}
    with pytest.raises(ProtocolError, match="Mcp-Param-Region"):
        made.read(request, '{"region":"us"}')
    with pytest.raises(ProtocolError, match="Mcp-Param-Region header is missing"):
        made.read(request_for("tool", region="eu"), '{"region":"eu"}')


def test_beside_a_mirrored_argument_a_fraction_may_be_as_long_as_the_wire_allows() -> None:
    def tool(region: Annotated[str, McpHeader("Region")], share: float) -> str:
        return f"{share} of {region}"

    longest = "0." + "1" * (strict_json.MAX_DIGITS - 2)
    arguments = canonical.encode(strict_json.parse(f'{{"region":"eu","share":{longest}}}'.encode()))
    event = call_event("tool", {"region": "eu"}, headers={"mcp-param-region": "eu"})
    request = read_request(read_event(event), ("tools/call",), Limits())
    assert isinstance(request, Request)
    assert Tool(tool).read(request, arguments) == {"region": "eu", "share": float(longest)}


# Registering


def test_a_server_lists_its_tools_by_name_whatever_the_order_they_came_in() -> None:
    server = Server("notes")
    for name in ("write", "delete", "list"):
        server.tool(name)(delete_note)
    names = ["delete", "list", "write"]
    assert [definition["name"] for definition in server.tool_definitions()] == names
    server.tool("add")(delete_note)
    assert [definition["name"] for definition in server.tool_definitions()] == ["add", *names]


def test_registering_gives_the_function_back_as_it_was() -> None:
    assert Server("notes").tool()(delete_note) is delete_note


def test_two_tools_of_one_name_are_refused() -> None:
    server = Server("notes")
    server.tool()(delete_note)
    with pytest.raises(InvalidSignature, match=r"'delete_note'.*another name"):
        server.tool()(delete_note)


def test_a_decorator_without_its_parentheses_says_so() -> None:
    server = Server("notes")
    with pytest.raises(InvalidSignature, match="with parentheses"):
        server.tool(delete_note)  # type: ignore[arg-type]
