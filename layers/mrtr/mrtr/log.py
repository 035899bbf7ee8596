"""The log of a function: JSON lines as Powertools writes them. No line holds a token, a key, an answer or an argument."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_OF_LAMBDA = {"TRACE": "DEBUG", "WARN": "WARNING", "FATAL": "CRITICAL"}
"""Lambda's names of levels where they are not Python's."""
_FACTS = "mrtr_facts"


@functools.cache
def log() -> Logger:
    """The process's logger, made on first use: a cold start that goes well does without Powertools.

    Times are RFC 3339: Lambda takes a line with any other for INFO when it filters by level (LoggingConfig, ApplicationLogLevel).
    """
    from aws_lambda_powertools import Logger

    return Logger(service=_service(), level=_level(), log_uncaught_exceptions=False, use_rfc3339=True, utc=True)


@functools.cache
def request_log() -> logging.Logger:
    """Where the one line of each request goes: the standard library's logger, beside the process's (see `_RequestLine`)."""
    logger = logging.getLogger("mrtr.requests")
    logger.propagate = False
    logger.setLevel(_level())
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_RequestLine(_service()))
    logger.handlers[:] = [handler]  # one, even where two threads are here at the same time
    return logger


def log_request(message: str, **facts: object) -> None:
    """Log the one line of a request. A fact that is None is left out."""
    request_log().info(message, extra={_FACTS: facts})


def log_exception(message: str, error: BaseException, **fields: object) -> None:
    """Log that something broke and where, without the exception's message: it may quote an argument. At DEBUG the message is there too."""
    cause = error.__cause__
    if cause is not None:
        fields["cause"] = type(cause).__name__
    began = cause or error
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(began.__traceback__)]
    detail = error if log().log_level <= logging.DEBUG else None
    log().error(message, extra={**fields, "error": type(error).__name__, "where": frames[-8:]}, exc_info=detail)


class _RequestLine(logging.Formatter):
    """The keys that Powertools' lines have, `location` apart.

    Its own formatter and logger take a sixth of a warm leg's time and a twentieth of a cold start's, for what this line does not use.
    """

    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def format(self, record: logging.LogRecord) -> str:
        facts = getattr(record, _FACTS, {})
        line = {
            "level": record.levelname,
            "message": record.msg,
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "service": self._service,
            **{name: fact for name, fact in facts.items() if fact is not None},
        }
        trace = os.environ.get("_X_AMZN_TRACE_ID")
        if trace:
            line["xray_trace_id"] = trace.partition(";")[0].removeprefix("Root=")
        return _line(line)


_line = json.JSONEncoder(default=str, separators=(",", ":")).encode


def _service() -> str:
    return os.environ.get("POWERTOOLS_SERVICE_NAME") or os.environ.get("AWS_LAMBDA_FUNCTION_NAME") or "mrtr"


def _level() -> str:
    """Lambda's own setting goes before, as with Powertools: what it would drop need not be written."""
    for name in ("AWS_LAMBDA_LOG_LEVEL", "MRTR_LOG_LEVEL"):
        level = os.environ.get(name, "").upper()
        level = _OF_LAMBDA.get(level, level)
        if level in _LEVELS:
            return level
    return "INFO"
