"""Progress and log notifications of one request: collected while it runs, sent before its response in the same body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import strict_json
from .errors import Fault, ProtocolError

_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
MAX_NOTIFICATIONS = 1000
"""Most notifications of one request: the body is buffered, and a loop that reports each step must not make it grow without end."""


class Outbox:
    """What the client asked to be told, by the request's `_meta`, and what it is told.

    messages: the notifications, JSON. facts: what the log's one line on the request says beside the usual.

    Raises ProtocolError (-32602) for a log level that doesn't exist, or a progress token that is no string or integer.
    """

    def __init__(self, meta: Mapping[str, Any]) -> None:
        self.messages: list[str] = []
        self.facts: dict[str, object] = {}
        self._token = meta.get("progressToken")
        if self._token is not None and (isinstance(self._token, bool) or not isinstance(self._token, str | int)):
            raise ProtocolError(Fault.INVALID_PARAMS, "params._meta.progressToken must be a string or an integer")
        level = meta.get(_LOG_LEVEL)
        if level is not None and level not in LEVELS:
            raise ProtocolError(Fault.INVALID_PARAMS, f"params._meta['{_LOG_LEVEL}'] is not a log level")
        self._least = None if level is None else LEVELS.index(level)
        self._progress: float | None = None

    def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell progress if the request asked for it. A value that does not exceed the last one is not sent (basic/patterns/progress)."""
        if self._token is None or (self._progress is not None and progress <= self._progress):
            return
        self._progress = progress
        params: dict[str, Any] = {"progressToken": self._token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        self._send("notifications/progress", params)

    def log(self, level: str, data: Any, logger: str | None) -> None:
        """Send a log message if the request asked for its level (server/utilities/logging)."""
        if level not in LEVELS:
            raise ValueError(f"a log level is one of {', '.join(LEVELS)}")
        if self._least is None or LEVELS.index(level) < self._least:
            return
        params = {"level": level, "data": data}
        self._send("notifications/message", params if logger is None else {**params, "logger": logger})

    def _send(self, method: str, params: dict[str, Any]) -> None:
        if len(self.messages) < MAX_NOTIFICATIONS:
            self.messages.append(strict_json.dump({"jsonrpc": "2.0", "method": method, "params": params}))
