# Annotations are evaluated as they stand.
from datetime import date
from typing import Annotated, Any

import pytest
from pydantic import Field

from mrtr import canonical
from mrtr.arguments import InvalidArguments
from mrtr.content import Icon, ImageContent, PromptMessage, TextContent
from mrtr.context import Context
from mrtr.errors import Fault, ProtocolError
from mrtr.http import read_event
from mrtr.prompt import Prompt
from mrtr.protocol import Limits, Request, read_request
from mrtr.testing import request_event


def summary(
    note_id: Annotated[str, Field(description="The note.")], ctx: Context, until: date | None = None, lines: int = 3
) -> str:
    """Sum up a note."""
    return f"{note_id}{ctx}{until}{lines}"


def request_for(**arguments: Any) -> Request:
    event = request_event("prompts/get", {"name": "summary", "arguments": arguments})
    request = read_request(read_event(event), ("prompts/get",), Limits())
    assert isinstance(request, Request)
    return request


def test_a_prompt_is_listed_with_its_arguments_and_which_are_required() -> None:
    assert Prompt(summary, title="Summary", icons=[Icon(src="data:,x")]).definition() == {
        "name": "summary",
        "title": "Summary",
        "description": "Sum up a note.",
        "icons": [{"src": "data:,x"}],
        "arguments": [
            {"name": "note_id", "description": "The note.", "required": True},
            {"name": "until", "required": False},
            {"name": "lines", "required": False},
        ],
    }


def test_a_prompt_without_arguments_lists_none() -> None:
    def hello() -> str:
        return "Hello."

    prompt = Prompt(hello, name="hi", description="Greets.")
    assert prompt.definition() == {"name": "hi", "description": "Greets."}
    assert repr(prompt) == "Prompt('hi')"


def arguments(**given: object) -> str:
    return canonical.encode(given)


def test_arguments_are_texts_from_which_their_types_are_read() -> None:
    prompt = Prompt(summary)
    assert prompt.read(request_for(), arguments(note_id="7", until="2026-07-28", lines="5")) == {
        "note_id": "7",
        "until": date(2026, 7, 28),
        "lines": 5,
    }
    assert prompt.read(request_for(), arguments(note_id="7"))["lines"] == 3
    with pytest.raises(InvalidArguments, match="lines"):
        prompt.read(request_for(), arguments(note_id="7", lines="five"))


def test_arguments_that_are_no_texts_are_invalid() -> None:
    with pytest.raises(ProtocolError) as refusal:
        Prompt(summary).read(request_for(), arguments(note_id="7", lines=5))
    assert refusal.value.fault is Fault.INVALID_PARAMS


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("a", [("user", {"type": "text", "text": "a"})]),
        (TextContent(text="a"), [("user", {"type": "text", "text": "a"})]),
        (PromptMessage(role="assistant", content="a"), [("assistant", {"type": "text", "text": "a"})]),
        ({"role": "assistant", "content": "a"}, [("assistant", {"type": "text", "text": "a"})]),
        ({"role": "user", "content": {"type": "text", "text": "a"}}, [("user", {"type": "text", "text": "a"})]),
        (
            ["a", ImageContent(data=b"", mime_type="image/png")],
            [("user", {"type": "text", "text": "a"}), ("user", {"type": "image", "data": "", "mimeType": "image/png"})],
        ),
        ([], []),
    ],
)
def test_a_prompt_may_return_text_content_or_messages(value: Any, messages: list[tuple[str, Any]]) -> None:
    assert Prompt(summary).result(request_for(), value) == {
        "messages": [{"role": role, "content": content} for role, content in messages],
        "description": "Sum up a note.",
    }


@pytest.mark.parametrize(
    "value", [7, None, ["a", 7], {"role": "system", "content": "a"}, {"role": "user"}, {"content": "a"}]
)
def test_anything_else_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="a prompt returns"):
        Prompt(summary, description="").result(request_for(), value)


def test_a_notice_is_a_message_and_failures_are_protocol_errors() -> None:
    prompt = Prompt(summary, description="")
    assert prompt.notice(request_for(), "Kept.") == {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Kept."}}]
    }
    assert "description" not in prompt.result(request_for(), "a")
    for fail, fault in ((prompt.failure, Fault.INVALID_PARAMS), (prompt.crash, Fault.INTERNAL)):
        with pytest.raises(ProtocolError, match="why") as refusal:
            fail("why")
        assert refusal.value.fault is fault


def test_a_prompt_that_only_reads_needs_no_single_use() -> None:
    assert Prompt(summary).single_use
    assert not Prompt(summary, read_only=True).single_use
