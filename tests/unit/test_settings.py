from __future__ import annotations

import pytest

from mrtr.errors import ConfigurationError
from mrtr.protocol import Limits
from mrtr.settings import Settings, read_limits, read_settings, read_timing

NEEDED = {"MRTR_KEYRING": "secretsmanager:arn", "MRTR_CLAIM_TABLE": "claims", "MRTR_AUDIENCE": "stack"}


def test_three_variables_are_enough() -> None:
    assert read_settings(NEEDED) == Settings("secretsmanager:arn", "claims", "stack", 600, 3600, 300)


def test_times_can_be_set() -> None:
    times = {"MRTR_ROUND_TTL_S": "60", "MRTR_FLOW_TTL_S": " 120 ", "MRTR_RING_CACHE_S": "1"}
    settings = read_settings({**NEEDED, **times})
    assert (settings.round_ttl_s, settings.flow_ttl_s, settings.ring_cache_s) == (60, 120, 1)


@pytest.mark.parametrize("name", NEEDED)
@pytest.mark.parametrize("value", [None, "", "   "])
def test_a_variable_that_is_needed_and_missing_is_named_with_what_it_is_for(name: str, value: str | None) -> None:
    environ = {key: text for key, text in NEEDED.items() if key != name} | ({} if value is None else {name: value})
    with pytest.raises(ConfigurationError, match=rf"^{name} is not set: \w+"):
        read_settings(environ)


@pytest.mark.parametrize("name", ["MRTR_ROUND_TTL_S", "MRTR_FLOW_TTL_S", "MRTR_RING_CACHE_S"])
@pytest.mark.parametrize("value", ["0", "-5", "1.5", "ten", "1e3", "1000000000", "²"])
def test_a_time_that_is_no_whole_number_above_zero_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name} must be a whole number above 0"):
        read_settings({**NEEDED, name: value})


def test_an_empty_time_is_its_default() -> None:
    assert read_settings({**NEEDED, "MRTR_ROUND_TTL_S": " "}).round_ttl_s == 600


def test_settings_come_from_the_environment_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NEEDED.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MRTR_FLOW_TTL_S", "77")
    assert read_settings().flow_ttl_s == 77
    monkeypatch.setenv("MRTR_MAX_BODY_BYTES", "99")
    assert read_limits().max_body_bytes == 99


def test_by_default_a_body_may_have_one_mebibyte_and_no_origin_is_named() -> None:
    assert read_limits({}) == Limits(1024 * 1024, frozenset())


def test_origins_are_a_list_with_commas_and_spaces_between() -> None:
    limits = read_limits({"MRTR_ALLOWED_ORIGINS": " https://a.example , https://b.example:8443,, "})
    assert limits.allowed_origins == {"https://a.example", "https://b.example:8443"}


def test_a_body_limit_that_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="MRTR_MAX_BODY_BYTES"):
        read_limits({"MRTR_MAX_BODY_BYTES": "1MiB"})


# What a rotation goes by


def test_a_rotation_goes_by_the_times_of_the_deployment() -> None:
    timing = read_timing({})
    assert (timing.ring_cache_s, timing.ring_limit_s, timing.flow_ttl_s, timing.clock_skew_s) == (300, 3600, 3600, 60)
    times = {"MRTR_RING_CACHE_S": "10", "MRTR_RING_LIMIT_S": "20", "MRTR_FLOW_TTL_S": "30", "MRTR_CLOCK_SKEW_S": "0"}
    timing = read_timing(times)
    assert (timing.ring_cache_s, timing.ring_limit_s, timing.flow_ttl_s, timing.clock_skew_s) == (10, 20, 30, 0)


def test_a_ring_is_never_given_up_before_it_is_old() -> None:
    assert read_timing({"MRTR_RING_CACHE_S": "500", "MRTR_RING_LIMIT_S": "20"}).ring_limit_s == 500


def test_a_clock_skew_that_is_no_whole_number_is_refused_by_name() -> None:
    with pytest.raises(ConfigurationError, match="MRTR_CLOCK_SKEW_S must be a whole number of 0 or more"):
        read_timing({"MRTR_CLOCK_SKEW_S": "-1"})
