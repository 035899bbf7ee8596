"""The front door's catalog is what the functions say today."""

from __future__ import annotations

from mrtr import catalog
from tests.flow.tools.legs import ROOT


def test_the_catalog_is_up_to_date() -> None:
    assert catalog.main([str(ROOT / "functions"), "--check"]) == 0, "run `make catalog`"
