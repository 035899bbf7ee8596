from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrtr.errors import ConfigurationError
from mrtr.keyring import read_ring
from mrtr.rotation import Timing, describe, follows, new_secret, revoke, rotate

T0 = 1_800_000_000
TIMING = Timing(ring_cache_s=300, ring_limit_s=3600, flow_ttl_s=3600, clock_skew_s=60)
LEAD_S, LEAST_LEAD_S = 600, 420
KEEP_S = 3600 + 3600 + 120


def secret(number: int) -> str:
    return f"secret-of-key-{number}-".ljust(64, "x")


FIRST = json.dumps({"kid": "k1", "key": secret(1)})
"""What the template makes."""


def keys(text: str) -> dict[str, dict[str, Any]]:
    return {entry["kid"]: entry for entry in json.loads(text)["keys"]}


def rotated(text: str, number: int, now: float) -> str:
    return rotate(text, f"version-{number - 1}", secret(number), now, TIMING)


def sealing(text: str, now: float) -> str:
    return read_ring(text).sealing_key(now).kid


def opens(text: str, kid: str, now: float) -> bool:
    return read_ring(text).opening_key(kid, now) is not None


# Rotation


def test_the_new_key_opens_at_once_and_seals_two_cache_ages_later() -> None:
    ring = rotated(FIRST, 2, T0)
    assert opens(ring, "k2", T0)
    assert sealing(ring, T0 + LEAD_S - 0.001) == "k1"
    assert sealing(ring, T0 + LEAD_S) == "k2"


def test_the_ring_of_one_key_that_the_template_makes_becomes_a_ring_of_two() -> None:
    ring = json.loads(rotated(FIRST, 2, T0))
    assert ring == {
        "made": 2,
        "after": "version-1",
        "keys": [
            {"kid": "k1", "key": secret(1), "open_until": T0 + LEAD_S + KEEP_S},
            {"kid": "k2", "key": secret(2), "seal_from": T0 + LEAD_S},
        ],
    }


def test_the_old_key_opens_what_an_instance_sealed_that_could_not_renew_its_ring_until_the_hard_limit() -> None:
    ring = rotated(FIRST, 2, T0)
    latest_fetch_without_it = T0 + LEAD_S - LEAST_LEAD_S
    for skew_s in (-60, 0, 60):
        sealed_at = latest_fetch_without_it + TIMING.ring_limit_s + skew_s
        assert opens(ring, "k1", sealed_at + TIMING.flow_ttl_s)


def test_a_key_is_dropped_once_no_clock_can_say_that_it_opens() -> None:
    ring = rotated(FIRST, 2, T0)
    end = T0 + LEAD_S + KEEP_S
    assert "k1" in keys(rotated(ring, 3, end + 119))
    assert "k1" not in keys(rotated(ring, 3, end + 120))


def test_two_rotations_within_one_flow_keep_all_three_keys_and_the_times_of_the_first() -> None:
    once = rotated(FIRST, 2, T0)
    twice = rotated(once, 3, T0 + 1800)
    assert keys(twice)["k1"]["open_until"] == keys(once)["k1"]["open_until"]
    assert keys(twice)["k2"]["seal_from"] == T0 + LEAD_S
    assert [sealing(twice, T0 + s) for s in (1800, 1800 + LEAD_S - 1, 1800 + LEAD_S)] == ["k2", "k2", "k3"]
    for kid in ("k1", "k2", "k3"):
        assert opens(twice, kid, T0 + 3600)


def test_a_rotation_before_the_last_one_took_effect_changes_nothing_about_it() -> None:
    twice = rotated(rotated(FIRST, 2, T0), 3, T0 + 5)
    assert [sealing(twice, T0 + s) for s in (LEAD_S - 1, LEAD_S, LEAD_S + 4, LEAD_S + 5)] == ["k1", "k2", "k2", "k3"]


def test_two_rotations_in_one_second_give_two_moments() -> None:
    ring = rotated(rotated(FIRST, 2, T0), 3, T0)
    assert keys(ring)["k3"]["seal_from"] == keys(ring)["k2"]["seal_from"] + 1


def test_a_kid_that_was_dropped_or_revoked_is_never_given_again() -> None:
    ring = rotated(rotated(FIRST, 2, T0), 3, T0)
    ring = revoke(ring, "k3", secret(4), T0 + 1, TIMING)
    assert "k3" not in keys(ring)
    assert "k3" not in keys(rotated(ring, 5, T0 + 2))


def test_kids_of_an_operators_own_choice_stay_and_new_ones_are_numbered() -> None:
    own = json.dumps({"keys": [{"kid": "spring", "key": secret(1)}, {"kid": "k7", "key": secret(2), "seal_from": 5}]})
    assert list(keys(rotated(own, 3, T0))) == ["spring", "k7", "k8"]


@pytest.mark.parametrize(("cache_s", "skew_s", "lead_s"), [(300, 60, 600), (60, 60, 240), (1, 60, 181), (5, 0, 10)])
def test_the_lead_covers_cached_rings_and_clocks_however_short_the_cache(
    cache_s: int, skew_s: int, lead_s: int
) -> None:
    timing = Timing(ring_cache_s=cache_s, ring_limit_s=3600, flow_ttl_s=3600, clock_skew_s=skew_s)
    assert timing.lead_s == lead_s
    assert timing.lead_s > timing.least_lead_s


@pytest.mark.parametrize(
    "use",
    [
        lambda text: rotate(text, "v", secret(2), T0, TIMING),
        lambda text: revoke(text, "k1", secret(2), T0, TIMING),
        lambda text: describe(text, T0),
        lambda text: new_secret(text, FIRST),
    ],
    ids=["rotate", "revoke", "describe", "new_secret"],
)
@pytest.mark.parametrize("broken", ["", "{}", '{"keys": []}', json.dumps({"kid": "k1", "key": "short-and-secret"})])
def test_a_broken_ring_is_left_alone_and_not_quoted(use: Callable[[str], object], broken: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        use(broken)
    assert "short-and-secret" not in str(refusal.value)


# Taking its place


def test_a_pending_ring_follows_only_the_version_it_was_made_from() -> None:
    pending = rotated(FIRST, 2, T0)
    assert follows(pending, "version-1", T0, TIMING)
    assert not follows(pending, "another-version", T0, TIMING)


def test_a_pending_ring_follows_only_while_every_cached_ring_will_be_renewed_before_its_key_seals() -> None:
    pending = rotated(FIRST, 2, T0)
    assert follows(pending, "version-1", T0 + LEAD_S - LEAST_LEAD_S, TIMING)
    assert not follows(pending, "version-1", T0 + LEAD_S - LEAST_LEAD_S + 1, TIMING)


def test_the_key_that_a_pending_ring_brings_is_known_by_its_secret_not_by_its_kid() -> None:
    pending = rotated(FIRST, 2, T0)
    assert new_secret(FIRST, pending) == secret(2)
    assert new_secret(pending, pending) is None
    meanwhile = rotated(FIRST, 3, T0)  # another key under the same kid, k2
    assert new_secret(meanwhile, pending) == secret(2)


# Revocation


def test_when_the_sealing_key_is_revoked_another_seals_at_once() -> None:
    ring = revoke(FIRST, "k1", secret(2), T0 + 0.5, TIMING)
    assert list(keys(ring)) == ["k2"]
    assert sealing(ring, T0 + 0.5) == "k2"


def test_when_the_sealing_key_is_revoked_the_next_one_in_line_takes_its_place() -> None:
    ring = revoke(rotated(FIRST, 2, T0), "k1", secret(3), T0 + 1, TIMING)
    assert list(keys(ring)) == ["k2"]
    assert sealing(ring, T0 + 1) == "k2"


def test_an_older_key_that_only_opens_does_not_come_back_to_seal() -> None:
    ring = revoke(rotated(FIRST, 2, T0), "k2", secret(3), T0 + LEAD_S, TIMING)
    assert list(keys(ring)) == ["k1", "k3"]
    assert sealing(ring, T0 + LEAD_S) == "k3"
    assert opens(ring, "k1", T0 + LEAD_S + KEEP_S - 1)


def test_a_key_that_only_opens_is_revoked_without_touching_the_others() -> None:
    ring = rotated(FIRST, 2, T0)
    left = revoke(ring, "k1", secret(3), T0 + LEAD_S, TIMING)
    assert keys(left) == {"k2": keys(ring)["k2"]}


def test_when_the_next_key_is_revoked_the_one_that_seals_gets_another_successor() -> None:
    ring = revoke(rotated(FIRST, 2, T0), "k2", secret(3), T0 + 60, TIMING)
    assert [sealing(ring, T0 + s) for s in (60, 60 + LEAD_S - 1, 60 + LEAD_S)] == ["k1", "k1", "k3"]
    assert keys(ring)["k1"]["open_until"] == T0 + 60 + LEAD_S + KEEP_S


def test_a_key_that_is_not_there_is_not_revoked_and_the_kids_are_named() -> None:
    with pytest.raises(ConfigurationError, match="no key 'k9'; it has k1, k2"):
        revoke(rotated(FIRST, 2, T0), "k9", secret(3), T0, TIMING)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["rotate", "revoke"]), st.integers(0, 9), st.integers(0, 9000)), max_size=12
    )
)
def test_whatever_is_rotated_and_revoked_the_ring_stays_readable_and_one_key_seals_without_end(
    steps: list[tuple[str, int, int]],
) -> None:
    ring, now, number, seen = FIRST, float(T0), 1, {"k1": secret(1)}
    for action, choice, pause_s in steps:
        now, number = now + pause_s, number + 1
        if action == "rotate":
            ring = rotate(ring, "v", secret(number), now, TIMING)
        else:
            kids = sorted(entry.kid for entry in read_ring(ring).keys)
            ring = revoke(ring, kids[choice % len(kids)], secret(number), now, TIMING)
        for kid, entry in keys(ring).items():
            assert seen.setdefault(kid, entry["key"]) == entry["key"], "a kid was given to two keys"
        for later_s in (0, 599, 601, 10_000, 10**6):
            assert sealing(ring, now + later_s)


# Showing it


def test_a_ring_is_described_without_its_secrets() -> None:
    ring = rotated(rotated(FIRST, 2, T0), 3, T0 + 1000)
    lines = describe(ring, T0 + 1000)
    assert lines == [
        "k1 opens until 2027-01-15T10:12:00+00:00",
        "k2 seals and opens until 2027-01-15T10:28:40+00:00",
        "k3 opens, and seals from 2027-01-15T08:26:40+00:00",
    ]
    assert describe(ring, T0 + 10_000)[0] == "k1 is over"


def test_a_ring_whose_keys_do_not_seal_yet_can_be_described_and_mended() -> None:
    waiting = json.dumps({"keys": [{"kid": "k1", "key": secret(1), "seal_from": T0 + 99}]})
    assert describe(waiting, T0) == ["k1 opens, and seals from 2027-01-15T08:01:39+00:00"]
    assert sealing(revoke(waiting, "k1", secret(2), T0, TIMING), T0) == "k2"
