"""MCP tools on AWS Lambda that ask back: multi round-trip requests (MCP revision 2026-07-28) with nothing kept between invocations."""

from .completion import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
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
from .context import Context
from .errors import ConfigurationError, InvalidSignature, MrtrError, ToolError
from .forms import Confirmation
from .front_door import FrontDoor
from .input_required import InputRequiredResult
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from .param_headers import McpHeader
from .principal import Principal
from .questions import (
    CreateMessageResult,
    Elicit,
    ElicitUrl,
    ListRoots,
    ListRootsResult,
    Root,
    Sample,
    SamplingMessage,
    confirm,
)
from .resource import ResourceNotFoundError
from .server import Server
from .signature import Resolve
from .tool import ToolAnnotations

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
