"""The log of a function: JSON lines as Powertools writes them. No line holds a token, a key, an answer or an argument."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@functools.cache
def log() -> Logger:
    """The process's logger, made on first use: importing Powertools costs tens of milliseconds, and most requests log one line alone."""
    from aws_lambda_powertools import Logger

    return Logger(service=_service(), level=_level(), log_uncaught_exceptions=False)


@functools.cache
def request_log() -> logging.Logger:
    """Where the one line of each request goes: the standard library's logger, beside the process's (see `_RequestLine`)."""
    logger = logging.getLogger("mrtr.requests")
    logger.propagate = False
    logger.setLevel(_level())
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_RequestLine(_service()))
    logger.addHandler(handler)
    return logger


def log_request(message: str, **facts: object) -> None:
    """Log the one line of a request. A fact that is None is left out."""
    request_log().info(message, extra={"facts": facts})


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
        facts: Mapping[str, object] = record.__dict__["facts"]
        at = time.localtime(record.created)
        line = {
            "level": record.levelname,
            "message": record.msg,
            "timestamp": time.strftime(f"%Y-%m-%d %H:%M:%S,{int(record.msecs):03d}%z", at),
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
    level = os.environ.get("MRTR_LOG_LEVEL", "").upper()
    return level if level in _LEVELS else "INFO"
