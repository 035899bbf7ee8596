"""MCP tools on AWS Lambda that ask back: multi round-trip requests (MCP revision 2026-07-28) with nothing kept between invocations.

What every tool needs is loaded with the package; the rest when it is first named, since a cold start pays for each module.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import built_for as _built_for  # noqa: F401 - first, so that it speaks before anything else fails
from .context import Context
from .errors import ConfigurationError, InvalidSignature, MrtrError, ResourceNotFoundError, ToolError
from .input_required import InputRequiredResult
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from .param_headers import McpHeader
from .principal import Principal
from .questions import Elicit, ElicitUrl
from .server import Server
from .signature import Resolve
from .tool import ToolAnnotations

if TYPE_CHECKING:
    from .client_questions import CreateMessageResult, ListRoots, ListRootsResult, Root, Sample, SamplingMessage
    from .completion import (
        Completion,
        CompletionArgument,
        CompletionContext,
        PromptReference,
        ResourceTemplateReference,
    )
    from .confirmation import Confirmation, confirm
    from .content import (
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
    )
    from .front_door import FrontDoor

__all__ = [
    "AcceptedElicitation",
    "Annotations",
    "AudioContent",
    "BlobResourceContents",
    "CallToolResult",
    "CancelledElicitation",
    "Completion",
    "CompletionArgument",
    "CompletionContext",
    "ConfigurationError",
    "Confirmation",
    "Context",
    "CreateMessageResult",
    "DeclinedElicitation",
    "Elicit",
    "ElicitUrl",
    "ElicitationResult",
    "EmbeddedResource",
    "FrontDoor",
    "Icon",
    "ImageContent",
    "InputRequiredResult",
    "InvalidSignature",
    "ListRoots",
    "ListRootsResult",
    "McpHeader",
    "MrtrError",
    "Principal",
    "PromptMessage",
    "PromptReference",
    "Resolve",
    "ResourceLink",
    "ResourceNotFoundError",
    "ResourceTemplateReference",
    "Root",
    "Sample",
    "SamplingMessage",
    "Server",
    "TextContent",
    "TextResourceContents",
    "ToolAnnotations",
    "ToolError",
    "confirm",
]

_ON_FIRST_USE = {
    "client_questions": ("CreateMessageResult", "ListRoots", "ListRootsResult", "Root", "Sample", "SamplingMessage"),
    "completion": (
        *("Completion", "CompletionArgument", "CompletionContext"),
        *("PromptReference", "ResourceTemplateReference"),
    ),
    "confirmation": ("Confirmation", "confirm"),
    "content": (
        *("Annotations", "AudioContent", "BlobResourceContents", "CallToolResult", "EmbeddedResource", "Icon"),
        *("ImageContent", "PromptMessage", "ResourceLink", "TextContent", "TextResourceContents"),
    ),
    "front_door": ("FrontDoor",),
}
_MODULE_OF = {name: module for module, names in _ON_FIRST_USE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
