"""The product's side. BENCH_KEYS=given serves it from a key that is at hand, as the SDK's side is; otherwise AWS is what its environment says."""

import os
import time
from typing import Annotated

from pydantic import BaseModel, Field

from mrtr import AcceptedElicitation, Elicit, ElicitationResult, Resolve, Server, ToolAnnotations, ToolError

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


def build(tools: int = 1) -> Server:
    """delete_note alone, or among as many tools as told."""
    made = Server("notes", version="1.0.0", instructions="Keeps short notes.")
    made.tool(title="Delete a note", annotations=ToolAnnotations(destructive_hint=True, idempotent_hint=True))(
        delete_note
    )
    for number in range(1, tools):
        made.tool(f"read_note_{number}")(read_note)
    if os.environ.get("BENCH_KEYS") == "given":
        from mrtr.testing import Clock, MemoryRuntime, offline

        class Now(Clock):
            def __call__(self) -> float:
                return time.time()

        offline(made, MemoryRuntime(clock=Now()))
    return made


def build_long() -> Server:
    """A call with five rounds of questions."""
    made = build()
    made.tool()(write_up)
    return made


server = build()
handler = server.lambda_handler
