"""note_resource: every note as note://{note_id}; a private one only once the person has ticked the box."""

import os
from functools import cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field

from mrtr import (
    AcceptedElicitation,
    Completion,
    CompletionArgument,
    CompletionContext,
    Elicit,
    ElicitationResult,
    PromptReference,
    Resolve,
    ResourceNotFoundError,
    ResourceTemplateReference,
    Server,
)

server = Server("note-reader", version="1.0.0", instructions="Reads notes. A private note asks the person first.")


class Note(NamedTuple):
    text: str
    private: bool


class Show(BaseModel):
    show: bool = Field(description="Tick to let the note be read.")


@cache
def notes() -> Any:  # boto3 makes its resource classes at run time, so there is no class to name here
    """The notes table, connected on first use."""
    import boto3

    return boto3.resource("dynamodb").Table(os.environ["NOTES_TABLE"])


def find_note(note_id: str) -> Note:
    item = notes().get_item(Key={"note_id": note_id}).get("Item")
    if item is None:
        raise ResourceNotFoundError
    return Note(item["text"], bool(item.get("private")))


def ask_to_show(note_id: str, note: Annotated[Note, Resolve(find_note)]) -> Elicit[Show] | Show:
    """The question names the note and doesn't quote it: whoever may not read it may not read it here either."""
    if not note.private:
        return Show(show=True)
    return Elicit(f"Note {note_id} is private. Let it be read?", Show)


@server.resource("note://{note_id}", name="note", title="A note", mime_type="text/plain", read_only=True)
def read_note(
    note_id: Annotated[str, Field(min_length=1, max_length=64)],
    note: Annotated[Note, Resolve(find_note)],
    answer: Annotated[ElicitationResult[Show], Resolve(ask_to_show)],
) -> str:
    """A note's text. For a private note the person is asked first, every time."""
    if isinstance(answer, AcceptedElicitation) and answer.data.show:
        return note.text
    return f"Note {note_id} is private, and the person did not let it be read."


@server.completion()
def suggest(
    ref: PromptReference | ResourceTemplateReference,  # noqa: ARG001  there is one template
    argument: CompletionArgument,
    context: CompletionContext,  # noqa: ARG001  and it has one variable
) -> Completion:
    """Ids of notes that start as typed: those on the table's first page, and whether there may be more."""
    page = notes().scan(ProjectionExpression="note_id")
    ids = [item["note_id"] for item in page["Items"] if item["note_id"].startswith(argument.value)]
    ids.sort(key=lambda note_id: (len(note_id), note_id))
    return Completion(ids, has_more="LastEvaluatedKey" in page)


handler = server.lambda_handler
