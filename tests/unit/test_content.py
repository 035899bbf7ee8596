from __future__ import annotations

from typing import Any

import pytest

from mrtr.content import (
    Annotations,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    Icon,
    ImageContent,
    PromptMessage,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Wire,
    to_wire,
)

HINTS = Annotations(audience=["user"], priority=0.0, last_modified="2026-07-28")


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (TextContent(text=""), {"type": "text", "text": ""}),
        (TextContent(text="a", meta={"b": 1}), {"type": "text", "text": "a", "_meta": {"b": 1}}),
        (
            ImageContent(data=b"\xfb\xff", mime_type="image/png", annotations=HINTS),
            {
                "type": "image",
                "data": "+/8=",
                "mimeType": "image/png",
                "annotations": {"audience": ["user"], "priority": 0.0, "lastModified": "2026-07-28"},
            },
        ),
        (AudioContent(data="+/8=", mime_type="audio/wav"), {"type": "audio", "data": "+/8=", "mimeType": "audio/wav"}),
        (
            EmbeddedResource(resource=BlobResourceContents(uri="a:b", blob=b"")),
            {"type": "resource", "resource": {"uri": "a:b", "blob": ""}},
        ),
        (
            EmbeddedResource(resource=TextResourceContents(uri="a:b", mime_type="text/plain", text="c")),
            {"type": "resource", "resource": {"uri": "a:b", "mimeType": "text/plain", "text": "c"}},
        ),
        (
            ResourceLink(uri="a:b", name="c", size=0, icons=[Icon(src="data:,x", sizes=("any",))]),
            {
                "type": "resource_link",
                "uri": "a:b",
                "name": "c",
                "size": 0,
                "icons": [{"src": "data:,x", "sizes": ["any"]}],
            },
        ),
        (CallToolResult(content=[]), {"content": [], "isError": False}),
        (PromptMessage(role="user", content="a"), {"role": "user", "content": {"type": "text", "text": "a"}}),
        (
            PromptMessage(role="assistant", content=TextContent(text="a")),
            {"role": "assistant", "content": {"type": "text", "text": "a"}},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_content_has_the_names_of_the_specification_and_nothing_that_was_not_given(
    value: Wire, wire: dict[str, Any]
) -> None:
    assert value.wire() == wire == to_wire(value)


def test_content_within_lists_is_written_too_and_other_values_stay() -> None:
    assert to_wire([TextContent(text="a"), ("b", b"c"), {"d": 1}, None]) == [
        {"type": "text", "text": "a"},
        ["b", "Yw=="],
        {"d": 1},
        None,
    ]


@pytest.mark.parametrize("src", ["http://example.com/i.png", "javascript:alert(1)", "i.png", ""])
def test_an_icon_comes_by_https_or_is_written_out(src: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Icon(src=src)


def test_content_does_not_show_what_it_holds() -> None:
    held = [
        TextContent(text="secret"),
        ImageContent(data="secret", mime_type="image/png"),
        EmbeddedResource(resource=TextResourceContents(uri="a:b", text="secret")),
        PromptMessage(role="user", content="secret"),
    ]
    assert "secret" not in repr(held)
