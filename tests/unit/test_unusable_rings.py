"""A secret that holds no usable ring: what the operator, and so the log, is told of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mrtr.errors import ConfigurationError
from mrtr.keyring import read_ring

SECRET = "Zq3v" * 16


def written(**entry: Any) -> str:
    return json.dumps({"kid": "k1", "key": SECRET} | entry)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(written(kid=SECRET, key="k1"), id="kid and key swapped"),
        pytest.param(written(kid=SECRET), id="the key as kid too"),
        pytest.param(written(kid=SECRET[:30], key=""), id="half the key as kid"),
    ],
)
def test_a_key_that_stands_where_the_kid_belongs_is_not_quoted(text: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        read_ring(text)
    assert SECRET[:30] not in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(written(kid="\ud800"), id="kid with a lone surrogate"),
        pytest.param(written(key=SECRET + "\ud800"), id="key with a lone surrogate"),
        pytest.param("[" * 100_000, id="nested without end"),
    ],
)
def test_what_no_ring_can_be_read_from_is_a_matter_of_configuration(text: str) -> None:
    with pytest.raises(ConfigurationError):
        read_ring(text)
