"""Where a ring comes from: KMS epoch by epoch, one source in place of another under traffic, and what a broken source says."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from mrtr import aws, state
from mrtr.errors import ConfigurationError, StateRefused, Unavailable
from mrtr.keyring import KeyRing
from mrtr.kms import DEFAULT_EPOCH_S, KmsRing
from mrtr.ring_cache import RingCache
from mrtr.runtime import Runtime
from mrtr.settings import Settings, read_timing
from mrtr.sources import Sources, read_sources, secret_arns
from mrtr.testing import Clock, MemoryRing, ring_key
from tests.flow.cloud import CREDENTIALS, ROOT
from tests.keyrings import make_kms_key, make_secret

NOW = 1_800_000_000.0
EPOCH = int(NOW // DEFAULT_EPOCH_S)
START = float(EPOCH * DEFAULT_EPOCH_S)
END = START + DEFAULT_EPOCH_S


@pytest.fixture(autouse=True)
def _account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    aws.client.cache_clear()
    with mock_aws():
        yield
    aws.client.cache_clear()


@pytest.fixture
def key_arn() -> str:
    return make_kms_key().partition(":")[2]


@pytest.fixture
def macs() -> list[dict[str, Any]]:
    """Every GenerateMac request so far."""
    made: list[dict[str, Any]] = []

    def note(params: dict[str, Any], **_: object) -> None:
        made.append(params)

    aws.client("kms").meta.events.register("provide-client-params.kms.GenerateMac", note)
    return made


def settings(keyring: str, **times: Any) -> Settings:
    return dataclasses.replace(Settings(keyring, "claims", "tests"), **times)


def kids(ring: KeyRing) -> list[int]:
    return sorted(int(kid) for kid in ring.kids)


# KMS


def test_an_epochs_key_is_one_call_of_kms_with_all_that_it_depends_on(key_arn: str, macs: list[dict[str, Any]]) -> None:
    ring = KmsRing(key_arn).fetch(NOW)
    assert macs == [
        {
            "KeyId": key_arn,
            "Message": b"askback key ring v1\x00" + f"1 {DEFAULT_EPOCH_S} {EPOCH}".encode(),
            "MacAlgorithm": "HMAC_SHA_256",
        }
    ]
    assert kids(ring) == [EPOCH]
    assert ring.sealing_key(NOW).kid == str(EPOCH)


def test_two_instances_derive_the_same_keys(key_arn: str) -> None:
    assert KmsRing(key_arn).fetch(NOW).keys == KmsRing(key_arn).fetch(NOW).keys


def test_renewing_the_ring_asks_kms_nothing_until_another_epoch_is_near(
    key_arn: str, macs: list[dict[str, Any]]
) -> None:
    source = KmsRing(key_arn)
    for age_s in range(0, DEFAULT_EPOCH_S * 2, 300):
        source.fetch(START + 5000 + age_s)
    assert len(macs) == 3


def test_the_next_epochs_key_is_there_as_long_before_as_a_ring_may_stay_in_use(key_arn: str) -> None:
    source = KmsRing(key_arn, ring_limit_s=3600)
    assert kids(source.fetch(END - 3600 - 121)) == [EPOCH]
    assert kids(source.fetch(END - 3600 - 120)) == [EPOCH, EPOCH + 1]


def test_a_ring_fetched_before_the_change_of_epoch_seals_with_the_next_key_after_it(key_arn: str) -> None:
    ring = KmsRing(key_arn).fetch(END - 3600)
    assert ring.sealing_key(END - 0.001).kid == str(EPOCH)
    assert ring.sealing_key(END).kid == str(EPOCH + 1)


def test_the_previous_epochs_key_opens_until_its_last_flow_has_ended_on_the_slowest_clock(key_arn: str) -> None:
    source = KmsRing(key_arn, flow_ttl_s=3600)
    for late_s, there in ((3600 + 119, True), (3600 + 120, False)):
        ring = source.fetch(END + late_s)
        assert (ring.opening_key(str(EPOCH), END + late_s) is not None) is there


@pytest.mark.parametrize("skew_s", [-60, 60])
def test_a_question_asked_across_the_change_of_epoch_is_answered_whatever_the_clocks(key_arn: str, skew_s: int) -> None:
    asking, answering = (RingCache(KmsRing(key_arn)) for _ in range(2))
    for real in (END - 61, END - 1, END, END + 60):
        sealed_by = asking.sealing_key(real + skew_s).kid
        assert answering.opening_key(sealed_by, real - skew_s) is not None
        assert answering.opening_key(sealed_by, real + 3599) is not None


@pytest.mark.parametrize(("epoch_s", "ttl_s"), [(3600, 3600), (60, 60), (600, 61)])
def test_epochs_as_short_as_a_flow_still_open_all_that_a_flow_may_hold(key_arn: str, epoch_s: int, ttl_s: int) -> None:
    times: dict[str, Any] = {"epoch_s": epoch_s, "flow_ttl_s": ttl_s, "ring_limit_s": 3600}
    asking, answering = (RingCache(KmsRing(key_arn, **times)) for _ in range(2))
    for sealed_at in range(int(NOW), int(NOW) + 3 * epoch_s, max(1, epoch_s // 7)):
        kid = asking.sealing_key(sealed_at).kid
        for opened_at in (sealed_at - 60, sealed_at + ttl_s - 1, sealed_at + ttl_s + 60):
            assert answering.opening_key(kid, opened_at) is not None


def test_an_epoch_shorter_than_a_flow_is_refused_and_says_what_to_set(key_arn: str) -> None:
    with pytest.raises(ConfigurationError, match=r"MRTR_KMS_EPOCH_S is 3599.*at least MRTR_FLOW_TTL_S \(3600\)"):
        KmsRing(key_arn, epoch_s=3599, flow_ttl_s=3600)


def test_another_generation_has_other_keys_under_other_kids(key_arn: str) -> None:
    first = read_sources(settings(f"kms:{key_arn}")).fetch(NOW)
    same = read_sources(settings(f"kms:{key_arn}#1")).fetch(NOW)
    second = read_sources(settings(f"kms:{key_arn}#2")).fetch(NOW)
    assert first.keys == same.keys
    assert first.kids.isdisjoint(second.kids)
    assert {key.key for key in first.keys}.isdisjoint(key.key for key in second.keys)


def test_another_length_of_epochs_has_other_kids(key_arn: str) -> None:
    week = read_sources(settings(f"kms:{key_arn}")).fetch(NOW)
    day = read_sources(settings(f"kms:{key_arn}", kms_epoch_s=86_400)).fetch(NOW)
    assert week.kids.isdisjoint(day.kids)


# What a broken source says


def fail(service: str, operation: str, code: str) -> None:
    def failing(**_: object) -> None:
        raise ClientError({"Error": {"Code": code, "Message": "some detail"}}, operation)

    aws.client(service).meta.events.register(f"before-call.{service}.{operation}", failing)


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException", "DisabledException"])
def test_a_failure_names_the_action_and_the_resource(key_arn: str, code: str) -> None:
    secret = make_secret()
    fail("kms", "GenerateMac", code)
    fail("secretsmanager", "GetSecretValue", code)
    for keyring, action in ((f"kms:{key_arn}", "kms:GenerateMac"), (secret, "secretsmanager:GetSecretValue")):
        with pytest.raises(Unavailable) as failure:
            read_sources(settings(keyring)).fetch(NOW)
        assert str(failure.value) == f"{action} on {keyring.partition(':')[2]} failed: {code}"


def test_a_key_of_another_kind_is_named(key_arn: str) -> None:
    del key_arn
    client: Any = boto3.client("kms")
    other = client.create_key(KeySpec="SYMMETRIC_DEFAULT")["KeyMetadata"]["Arn"]
    with pytest.raises(Unavailable, match=f"kms:GenerateMac on {other} failed: InvalidKeyUsageException"):
        KmsRing(other).fetch(NOW)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "is empty|not JSON"),
        ("{", "not JSON"),
        ('{"keys": []}', "empty"),
        ('{"kid": "k1", "key": "short"}', "too short"),
    ],
)
def test_a_secret_that_holds_no_ring_refuses_and_says_why(value: str, says: str) -> None:
    keyring = make_secret()
    client: Any = boto3.client("secretsmanager")
    client.put_secret_value(SecretId=keyring.partition(":")[2], SecretString=value or " ")
    with pytest.raises(ConfigurationError, match=says):
        read_sources(settings(keyring)).fetch(NOW)


def test_a_secret_of_bytes_is_named() -> None:
    keyring = make_secret()
    client: Any = boto3.client("secretsmanager")
    client.put_secret_value(SecretId=keyring.partition(":")[2], SecretBinary=b"\x00")
    with pytest.raises(ConfigurationError, match="holds no text"):
        read_sources(settings(keyring)).fetch(NOW)


# MRTR_KEYRING


@pytest.mark.parametrize(
    "keyring", ["", "  ", ",", "vault:x", "secretsmanager:", "kms:", "kms:arn#x", "arn:aws:kms:x", "kms"]
)
def test_a_source_that_is_unknown_is_refused_with_what_to_write(keyring: str) -> None:
    with pytest.raises(ConfigurationError, match="MRTR_KEYRING must list"):
        read_sources(settings(keyring))


@pytest.mark.parametrize("twice", ["secretsmanager:a secretsmanager:a", "kms:k,kms:k#1"])
def test_a_source_named_twice_is_refused(twice: str) -> None:
    with pytest.raises(ConfigurationError, match="the same source twice"):
        read_sources(settings(twice))


@pytest.mark.parametrize("between", [" ", ",", ", ", "\n  "])
def test_several_sources_stand_between_spaces_or_commas(key_arn: str, between: str) -> None:
    secret = make_secret()
    assert len(read_sources(settings(f"{secret}{between}kms:{key_arn}")).fetch(NOW).kids) == 2


def test_the_secrets_of_a_list_are_those_that_a_rotation_may_touch() -> None:
    assert secret_arns("secretsmanager:arn:a kms:arn:k, secretsmanager:arn:b") == ["arn:a", "arn:b"]


# Several sources


def test_only_the_first_source_seals(key_arn: str) -> None:
    secret = make_secret()
    first = read_sources(settings(f"{secret} kms:{key_arn}")).fetch(NOW)
    second = read_sources(settings(f"kms:{key_arn} {secret}")).fetch(NOW)
    assert first.kids == second.kids
    assert first.sealing_key(NOW).kid.endswith("k1")
    assert second.sealing_key(NOW).kid.endswith(str(EPOCH))
    assert [key.seal_from for key in first.keys].count(math.inf) == 1


def test_two_secrets_that_both_hold_a_k1_stand_side_by_side() -> None:
    both = f"{make_secret(name='old')} {make_secret(name='new')}"
    ring = read_sources(settings(both)).fetch(NOW)
    assert len(ring.kids) == 2
    assert all(kid.endswith("k1") for kid in ring.kids)


def test_without_one_of_its_sources_a_ring_is_not_had_at_all() -> None:
    good, bad = MemoryRing(ring_key("a")), MemoryRing(ring_key("b"))
    bad.down = True
    with pytest.raises(Unavailable):
        Sources([("1", good), ("2", bad)]).fetch(NOW)


def test_a_switch_under_traffic_refuses_no_live_flow_at_any_step(key_arn: str) -> None:
    """docs/rotation.md, 'Changing the source': list both, swap them, and after one flow's life drop the old one."""
    old, new = make_secret(), f"kms:{key_arn}"
    steps = [old, f"{old} {new}", f"{new} {old}", new]
    clock = Clock(NOW)

    def asked(keyring: str) -> str:
        runtime = Runtime(settings(keyring), clock=clock)
        asking = state.new_flow(clock.now, 3600)
        asking = dataclasses.replace(asking, round=1, expires=asking.issued + 600)
        bound = state.bind(asking, "tools/call", "t", "{}", None)
        return state.seal(bound, runtime.ring.sealing_key(clock.now), "tests")

    def answered(keyring: str, token: str) -> None:
        runtime = Runtime(settings(keyring), clock=clock)
        state.unseal(token, lambda kid: runtime.ring.opening_key(kid, clock.now), "tests")

    # between two steps some instances run with the one, some with the other
    for before, after in ((steps[0], steps[1]), (steps[1], steps[2])):
        for asking, answering in ((before, after), (after, before), (after, after)):
            answered(answering, asked(asking))
    last_of_old = asked(steps[1])
    clock.advance(3599)
    answered(steps[2], last_of_old)
    clock.advance(1)
    answered(steps[3], asked(steps[2]))
    answered(steps[2], asked(steps[3]))
    with pytest.raises(StateRefused, match="kid"):
        answered(steps[3], last_of_old)


# Floods, clones


def test_ten_thousand_junk_tokens_are_a_handful_of_fetches() -> None:
    source, clock = MemoryRing(), Clock()
    cache = RingCache(source)
    asking = dataclasses.replace(state.new_flow(clock.now, 3600), request=bytes(12))
    for number in range(10_000):
        junk = state.seal(asking, ring_key(f"{number:04x}"), "tests")
        with pytest.raises(StateRefused, match="kid"):
            state.unseal(junk, lambda kid: cache.opening_key(kid, clock.now), "tests")
        clock.advance(0.002)
    assert source.fetches <= 4


# The runbook's numbers


def test_the_settings_and_times_in_the_runbook_are_the_codes() -> None:
    text = (ROOT / "docs" / "rotation.md").read_text(encoding="utf-8")
    listed = {name: int(value) for name, value in re.findall(r"^\| `(MRTR_\w+)` \| (\d+) \|", text, re.MULTILINE)}
    defaults, timing = settings("kms:k"), read_timing({})
    assert listed == {
        "MRTR_RING_CACHE_S": defaults.ring_cache_s,
        "MRTR_RING_LIMIT_S": defaults.ring_limit_s,
        "MRTR_FLOW_TTL_S": defaults.flow_ttl_s,
        "MRTR_KMS_EPOCH_S": defaults.kms_epoch_s,
        "MRTR_CLOCK_SKEW_S": timing.clock_skew_s,
    }
    assert timing.lead_s == 10 * 60
    assert "| 10 minutes | the new key seals" in text
    assert timing.lead_s + timing.keep_s == (2 * 60 + 12) * 60
    assert "| 2 hours and 12 minutes | the old key is over" in text
