"""The simulation that docs/cost-and-scale.md gives figures of, on a small scale."""

from __future__ import annotations

import pytest

from bench import simulate_fleet
from mrtr.rotation import Timing


def test_a_small_fleet_refuses_no_live_flow_runs_nothing_twice_and_loses_no_result(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert simulate_fleet.main(["--flows", "3000", "--instances", "40"]) == 0
    assert "no live flow refused" in capsys.readouterr().out


def test_the_simulation_notices_keys_that_end_too_soon(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Timing, "keep_s", 0)
    assert simulate_fleet.main(["--flows", "3000", "--instances", "40"]) == 1
    assert "NOT AS IT MUST BE" in capsys.readouterr().out
