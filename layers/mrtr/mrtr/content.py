"""Content of results and messages (server/tools, 'Tool Result'; server/prompts, 'PromptMessage'; server/resources, 'Resource Contents').

Names and keywords are the official SDK's, so that code ports. Binary data may be given as bytes; the wire has Base64.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

_WIRE_NAMES = {
    "mime_type": "mimeType",
    "last_modified": "lastModified",
    "meta": "_meta",
    "is_error": "isError",
    "structured_content": "structuredContent",
    "website_url": "websiteUrl",
}


class Wire:
    """A dataclass that knows its form on the wire: absent members for None, camel case, Base64 for bytes."""

    def wire(self) -> dict[str, Any]:
        values = ((item.name, getattr(self, item.name)) for item in fields(self))  # type: ignore[arg-type]
        return {_WIRE_NAMES.get(name, name): to_wire(value) for name, value in values if value is not None}


def to_wire(value: Any) -> Any:
    """`value` as JSON carries it, contents and all below it included."""
    if isinstance(value, Wire):
        return value.wire()
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, list | tuple):
        return [to_wire(item) for item in value]
    return value


@dataclass(frozen=True, kw_only=True)
class Annotations(Wire):
    """Hints on who content is for and how much it matters. priority: 0 (optional) to 1 (required). last_modified: ISO 8601."""

    audience: Sequence[Literal["user", "assistant"]] | None = None
    priority: float | None = None
    last_modified: str | None = None


@dataclass(frozen=True, kw_only=True)
class Icon(Wire):
    """An icon. src: an https or data URI. sizes: such as "48x48", or "any"."""

    src: str
    mime_type: str | None = None
    sizes: Sequence[str] | None = None
    theme: Literal["light", "dark"] | None = None

    def __post_init__(self) -> None:
        if not self.src.startswith(("https://", "data:")):
            raise ValueError("an icon's src is an https: or a data: URI")


@dataclass(frozen=True, kw_only=True)
class TextContent(Wire):
    type: Literal["text"] = "text"
    text: str = field(repr=False)
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ImageContent(Wire):
    """data: bytes, or Base64 text."""

    type: Literal["image"] = "image"
    data: bytes | str = field(repr=False)
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class AudioContent(Wire):
    """data: bytes, or Base64 text."""

    type: Literal["audio"] = "audio"
    data: bytes | str = field(repr=False)
    mime_type: str
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class TextResourceContents(Wire):
    uri: str
    mime_type: str | None = None
    text: str = field(repr=False)
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class BlobResourceContents(Wire):
    """blob: bytes, or Base64 text."""

    uri: str
    mime_type: str | None = None
    blob: bytes | str = field(repr=False)
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class EmbeddedResource(Wire):
    type: Literal["resource"] = "resource"
    resource: TextResourceContents | BlobResourceContents
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ResourceLink(Wire):
    """A link to a resource that the client may read."""

    type: Literal["resource_link"] = "resource_link"
    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    icons: Sequence[Icon] | None = None
    annotations: Annotations | None = None
    meta: Mapping[str, Any] | None = None


ContentBlock = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink
CONTENT_TYPES = (TextContent, ImageContent, AudioContent, EmbeddedResource, ResourceLink)


@dataclass(frozen=True, kw_only=True)
class CallToolResult(Wire):
    """A tool's whole result, for those who build it themselves. structured_content: any JSON value."""

    content: Sequence[ContentBlock]
    structured_content: Any = None
    is_error: bool = False
    meta: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class PromptMessage(Wire):
    """One message of a prompt; plain text is text content."""

    role: Literal["user", "assistant"]
    content: ContentBlock | str = field(repr=False)

    def wire(self) -> dict[str, Any]:
        block = TextContent(text=self.content) if isinstance(self.content, str) else self.content
        return {"role": self.role, "content": block.wire()}
