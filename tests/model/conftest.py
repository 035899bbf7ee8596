"""The model speaks for itself; the log of the code under it would fill the report of a failure."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from mrtr.log import log


@pytest.fixture(autouse=True)
def _silence() -> Iterator[None]:
    logger = logging.getLogger(log().name)
    logger.disabled = True
    yield
    logger.disabled = False
