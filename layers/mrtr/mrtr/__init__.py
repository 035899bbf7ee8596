"""MCP tools on AWS Lambda that ask back: multi round-trip requests (MCP revision 2026-07-28) with nothing kept between invocations."""

from .context import Context
from .errors import ConfigurationError, InvalidSignature, MrtrError, ToolError
from .front_door import FrontDoor
from .outcomes import AcceptedElicitation, CancelledElicitation, DeclinedElicitation, ElicitationResult
from .principal import Principal
from .questions import Elicit
from .server import Server
from .signature import Resolve
from .tool import ToolAnnotations

__all__ = [
    "AcceptedElicitation",
    "CancelledElicitation",
    "ConfigurationError",
    "Context",
    "DeclinedElicitation",
    "Elicit",
    "ElicitationResult",
    "FrontDoor",
    "InvalidSignature",
    "MrtrError",
    "Principal",
    "Resolve",
    "Server",
    "ToolAnnotations",
    "ToolError",
]
