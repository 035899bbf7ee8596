"""The log of a function: Powertools' JSON lines. No line holds a token, a key, an answer or an argument."""

from __future__ import annotations

import functools
import logging
import os
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger


_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@functools.cache
def log() -> Logger:
    """The process's logger, made on first use: importing Powertools costs tens of milliseconds, and not every command logs."""
    from aws_lambda_powertools import Logger

    service = os.environ.get("POWERTOOLS_SERVICE_NAME") or os.environ.get("AWS_LAMBDA_FUNCTION_NAME") or "mrtr"
    level = os.environ.get("MRTR_LOG_LEVEL", "").upper()
    return Logger(service=service, level=level if level in _LEVELS else "INFO", log_uncaught_exceptions=False)


def log_exception(message: str, error: BaseException, **fields: object) -> None:
    """Log that something broke and where, without the exception's message: it may quote an argument. At DEBUG the message is there too."""
    cause = error.__cause__
    if cause is not None:
        fields["cause"] = type(cause).__name__
    began = cause or error
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(began.__traceback__)]
    detail = error if log().log_level <= logging.DEBUG else None
    log().error(message, extra={**fields, "error": type(error).__name__, "where": frames[-8:]}, exc_info=detail)
