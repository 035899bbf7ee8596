"""AWS Labs' handler for MCP on Lambda: it can't ask, so it serves only the tool that doesn't."""

from typing import Any

from awslabs.mcp_lambda_handler import MCPLambdaHandler

NOTES = {"7": "Buy milk"}


def read_note(note_id: str, width: int) -> str:
    """Read one note, cut to a width.

    Args:
        note_id: The note's id, such as 7.
    """
    return NOTES.get(note_id, "nothing")[:width]


server = MCPLambdaHandler(name="notes", version="1.0.0")
server.tool()(read_note)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    answer: dict[str, Any] = server.handle_request(event, context)
    return answer
