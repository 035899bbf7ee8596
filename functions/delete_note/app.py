"""delete_note: one note, deleted for good once the person has ticked the box."""

import os
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field

from mrtr import (
    AcceptedElicitation,
    CancelledElicitation,
    Elicit,
    ElicitationResult,
    Resolve,
    Server,
    ToolAnnotations,
    ToolError,
)

server = Server("notes", version="1.0.0", instructions="Keeps short notes. Deleting one asks the person first.")


class Confirm(BaseModel):
    confirm: bool = Field(description="Tick to delete the note for good.")


@cache
def notes() -> Any:  # boto3 makes its resource classes at run time, so there is no class to name here
    """The notes table. Imported and connected on first use: discovery and lists must not pay for it."""
    import boto3
    from botocore.config import Config

    # A write that boto3 repeats, since its answer was lost, would find itself done already and take that for somebody else's.
    once = Config(retries={"total_max_attempts": 1})
    return boto3.resource("dynamodb", config=once).Table(os.environ["NOTES_TABLE"])


def ask_to_confirm(note_id: str) -> Elicit[Confirm]:
    """The question, with the note as it is now: if the note changes while the person reads, it is asked again."""
    note = notes().get_item(Key={"note_id": note_id}).get("Item")
    if note is None:
        raise ToolError(f"There is no note {note_id}.")
    return Elicit(f"Delete note {note_id} for good? It says: {note['text']}", Confirm)


@server.tool(
    title="Delete a note",
    annotations=ToolAnnotations(
        read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
    ),
)
def delete_note(
    note_id: Annotated[str, Field(min_length=1, max_length=64, description="The note's id, such as 7.")],
    answer: Annotated[ElicitationResult[Confirm], Resolve(ask_to_confirm)],
) -> str:
    """Delete one note for good. The person is shown its text and must confirm; without that the note is kept."""
    if isinstance(answer, CancelledElicitation):
        return f"Kept note {note_id}: the question was closed without an answer."
    if not isinstance(answer, AcceptedElicitation):
        return f"Kept note {note_id}: the person said no."
    if not answer.data.confirm:
        return f"Kept note {note_id}: the box was left unticked."

    table = notes()
    try:
        table.delete_item(Key={"note_id": note_id}, ConditionExpression="attribute_exists(note_id)")
    except table.meta.client.exceptions.ConditionalCheckFailedException:
        return f"Note {note_id} was already gone: somebody else deleted it in the meantime."
    return f"Deleted note {note_id}."


handler = server.lambda_handler
