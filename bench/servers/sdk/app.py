"""The official SDK's side: the same tools, stateless, JSON responses, its keys given. `handler` is what Lambda calls, by way of Mangum."""

from typing import Annotated, Any

from asgi import Asgi  # type: ignore[import-not-found]  # stands beside this file
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.request_state import RequestStateSecurity
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

NOTES = {"7": "Buy milk"}


class Confirm(BaseModel):
    confirm: bool = Field(description="Tick to delete the note for good.")


class Text(BaseModel):
    text: str


def ask_to_confirm(note_id: str) -> Elicit[Confirm]:
    if note_id == "0":
        raise ToolError("There is no note 0.")
    return Elicit(f"Delete note {note_id} for good? It says: {NOTES.get(note_id, 'nothing')}", Confirm)


def delete_note(
    note_id: Annotated[str, Field(min_length=1, max_length=64, description="The note's id, such as 7.")],
    answer: Annotated[ElicitationResult[Confirm], Resolve(ask_to_confirm)],
) -> str:
    """Delete one note for good. The person is shown its text and must confirm; without that the note is kept."""
    if isinstance(answer, AcceptedElicitation) and answer.data.confirm:
        return f"Deleted note {note_id}."
    return f"Kept note {note_id}."


def read_note(note_id: Annotated[str, Field(description="The note's id, such as 7.")], width: int = 80) -> str:
    """Read one note, cut to a width."""
    return NOTES.get(note_id, "nothing")[:width]


def first(size: int) -> Elicit[Text]:
    return Elicit(f"{size} characters, please.", Text)


def second(size: int, before: Annotated[Text, Resolve(first)]) -> Elicit[Text]:
    return Elicit(f"{size} more, please.", Text)


def third(size: int, before: Annotated[Text, Resolve(second)]) -> Elicit[Text]:
    return Elicit(f"{size} more, please.", Text)


def fourth(size: int, before: Annotated[Text, Resolve(third)]) -> Elicit[Text]:
    return Elicit(f"{size} more, please.", Text)


def fifth(size: int, before: Annotated[Text, Resolve(fourth)]) -> Elicit[Text]:
    return Elicit(f"{size} more, please.", Text)


def write_up(size: int, last: Annotated[Text, Resolve(fifth)]) -> str:
    """Ask five questions, each after the answer to the one before."""
    return last.text


def build(tools: int = 1) -> MCPServer[Any]:
    """delete_note alone, or among as many tools as told."""
    made: MCPServer[Any] = MCPServer(
        "notes",
        version="1.0.0",
        instructions="Keeps short notes.",
        request_state_security=RequestStateSecurity(keys=["0123456789abcdef" * 4]),
    )
    about = ToolAnnotations(destructive_hint=True, idempotent_hint=True)
    made.tool(title="Delete a note", annotations=about)(delete_note)
    for number in range(1, tools):
        made.tool(f"read_note_{number}")(read_note)
    return made


def build_long() -> MCPServer[Any]:
    """A call with five rounds of questions."""
    made = build()
    made.tool()(write_up)
    return made


server = build()
asgi = Asgi(server.streamable_http_app(stateless_http=True, json_response=True, host="0.0.0.0"))  # noqa: S104 - nothing listens: this turns the check of Host off


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    answer: dict[str, Any] = asgi.lambda_handler(event, context)
    return answer
