"""The four steps of a rotation against Secrets Manager's own behaviour: repeated, crashed, late, and overtaken."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Self

import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from mrtr import aws, ring_admin
from mrtr.errors import ConfigurationError, Unavailable
from mrtr.keyring import KeyRing, read_ring
from mrtr.rotator import RotationRefused, handle
from mrtr.secretsmanager import RingSecret
from mrtr.testing import Clock
from tests.flow.cloud import CREDENTIALS, ROOT
from tests.flow.rotations import STEPS, TIMING, RotatedSecret
from tests.flow.secrecy import Secrets
from tests.keyrings import KEY, make_secret


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> Iterator[RotatedSecret]:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    aws.client.cache_clear()
    with mock_aws():
        yield RotatedSecret(make_secret().partition(":")[2], clock)
    aws.client.cache_clear()


def ring(secret: RotatedSecret) -> KeyRing:
    return read_ring(secret.text)


def seals_from(secret: RotatedSecret) -> float:
    return max(key.seal_from for key in ring(secret).keys)


def test_a_rotation_puts_a_second_key_into_use_and_ends(secret: RotatedSecret, clock: Clock) -> None:
    token = secret.rotate()
    assert ring(secret).kids == {"k1", "k2"}
    assert "AWSCURRENT" in secret.stages[token]
    assert secret.rotation_is_over
    assert ring(secret).sealing_key(clock.now).kid == "k1"
    assert ring(secret).sealing_key(clock.now + TIMING.lead_s).kid == "k2"


def test_nothing_is_in_use_before_the_last_step(secret: RotatedSecret) -> None:
    token, before = secret.begin(), secret.text
    for step in STEPS[:3]:
        secret.step(step, token)
        assert secret.text == before


def test_every_step_may_be_repeated(secret: RotatedSecret) -> None:
    token = secret.begin()
    values = []
    for step in STEPS:
        for _ in range(3):
            secret.step(step, token)
            values.append(secret.client.get_secret_value(SecretId=secret.arn, VersionId=token)["SecretString"])
    assert len(set(values)) == 1
    after = secret.text
    secret.rotate(token)
    assert secret.text == after


def test_rotation_after_rotation_each_adds_one_key_and_drops_what_is_over(secret: RotatedSecret, clock: Clock) -> None:
    for _ in range(4):
        secret.rotate()
        clock.advance(3000)
    assert ring(secret).kids == {"k2", "k3", "k4", "k5"}


# Crashes


class Crashed(Exception):
    """The function was killed here."""


class CrashAt:
    """Kills the function before or after its nth call of Secrets Manager."""

    def __init__(self, number: int, point: str) -> None:
        self._left = number
        self._events = aws.client("secretsmanager").meta.events
        self._point = point

    def __enter__(self) -> Self:
        self._events.register(f"{self._point}.secretsmanager", self._pass)
        return self

    def __exit__(self, *_: object) -> None:
        self._events.unregister(f"{self._point}.secretsmanager", self._pass)

    def _pass(self, **_: object) -> None:
        if self._left == 0:
            raise Crashed
        self._left -= 1


CALLS = 11
"""More calls than a rotation makes."""

crashes = pytest.mark.parametrize(
    ("number", "point"),
    [(number, point) for number in range(CALLS) for point in ("before-call", "after-call")],
)


@crashes
def test_a_rotation_that_dies_anywhere_is_completed_by_its_retry(
    secret: RotatedSecret, clock: Clock, number: int, point: str
) -> None:
    token = secret.begin()
    with CrashAt(number, point), suppress(Crashed):
        secret.rotate(token)
    clock.advance(5)
    secret.rotate(token)
    assert ring(secret).kids == {"k1", "k2"}
    assert secret.rotation_is_over
    assert seals_from(secret) >= clock.now - 5 + TIMING.least_lead_s


@crashes
def test_a_rotation_that_is_finished_much_later_still_gives_every_instance_its_time(
    secret: RotatedSecret, clock: Clock, number: int, point: str
) -> None:
    token = secret.begin()
    for step in STEPS[:3]:
        secret.step(step, token)
    clock.advance(86_400)
    with CrashAt(number, point), suppress(Crashed):
        secret.rotate(token)
    clock.advance(5)
    secret.rotate(token)
    assert ring(secret).kids == {"k1", "k2"}
    assert secret.rotation_is_over
    assert seals_from(secret) >= clock.now - 5 + TIMING.least_lead_s
    before = secret.text
    secret.rotate(token)
    assert secret.text == before
    secret.rotate()
    assert ring(secret).kids == {"k1", "k2", "k3"}


def test_the_number_of_crash_points_covers_a_whole_rotation(secret: RotatedSecret, clock: Clock) -> None:
    token = secret.begin()
    with CrashAt(CALLS, "before-call"):
        secret.rotate(token)
    late = secret.begin()
    for step in STEPS[:3]:
        secret.step(step, late)
    clock.advance(86_400)
    with CrashAt(CALLS, "before-call"):
        secret.rotate(late)


# Changes in the meantime


def test_a_key_revoked_while_a_rotation_runs_does_not_come_back(
    secret: RotatedSecret, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    secret.rotate()
    clock.advance(1000)
    token = secret.begin()
    for step in STEPS[:3]:
        secret.step(step, token)
    assert ring_admin.main([secret.arn, "revoke", "k1"], clock) == 0
    capsys.readouterr()
    secret.step("finishSecret", token)
    assert ring(secret).kids == {"k2", "k3"}
    assert secret.rotation_is_over


def test_a_change_between_reading_and_writing_is_not_undone(secret: RotatedSecret) -> None:
    store = RingSecret(secret.arn)
    read = store.read()
    store.replace(json.dumps({"kid": "newer", "key": KEY}), over=read.id)
    with pytest.raises(Unavailable, match="UpdateSecretVersionStage"):
        store.replace(json.dumps({"kid": "older", "key": KEY}), over=read.id)
    assert ring(secret).kids == {"newer"}


# What is refused


@pytest.mark.parametrize(
    "change",
    [
        {"SecretId": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:other-abcdef"},
        {"SecretId": None},
        {"Step": "deleteSecret"},
        {"Step": None},
        {"Step": ["createSecret"]},
        {"ClientRequestToken": "11111111-1111-4111-8111-111111111111"},
        {"ClientRequestToken": None},
    ],
    ids=str,
)
def test_an_event_that_secrets_manager_would_not_send_is_refused(
    secret: RotatedSecret, change: dict[str, object]
) -> None:
    token = secret.begin()
    before = secret.text, secret.stages
    with pytest.raises(RotationRefused):
        secret.step("createSecret", token, **change)
    assert (secret.text, secret.stages) == before
    with pytest.raises(secret.client.exceptions.ResourceNotFoundException):
        secret.client.get_secret_value(SecretId=secret.arn, VersionId=token)


@pytest.mark.parametrize("event", [None, [], "createSecret", {}])
def test_what_is_no_event_is_refused(event: object) -> None:
    with pytest.raises(RotationRefused):
        handle(event, ["arn"], TIMING, Clock())


def test_a_version_that_is_not_pending_is_refused(secret: RotatedSecret) -> None:
    abandoned = secret.begin()
    secret.step("createSecret", abandoned)
    secret.begin()
    with pytest.raises(RotationRefused, match="not the pending one"):
        secret.step("finishSecret", abandoned)


def test_a_secret_that_is_not_set_up_for_rotation_is_refused(secret: RotatedSecret) -> None:
    token = secret.begin()
    secret._secret.rotation_enabled = False
    with pytest.raises(RotationRefused, match="not set up for rotation"):
        secret.step("createSecret", token)


def test_the_last_step_without_the_first_is_refused(secret: RotatedSecret) -> None:
    token = secret.begin()
    with pytest.raises(RotationRefused, match="createSecret comes first"):
        secret.step("finishSecret", token)


def test_the_test_step_alone_passes_as_when_a_schedule_is_set_up(secret: RotatedSecret) -> None:
    before = secret.text
    secret.step("testSecret", secret.begin())
    assert secret.text == before


def test_a_broken_ring_is_not_rotated(secret: RotatedSecret) -> None:
    secret.client.put_secret_value(SecretId=secret.arn, SecretString='{"kid": "k1", "key": "short-and-secret"}')
    with pytest.raises(ConfigurationError) as refusal:
        secret.step("createSecret", secret.begin())
    assert "short-and-secret" not in str(refusal.value)


def test_a_pending_value_that_is_no_ring_does_not_pass_the_test(secret: RotatedSecret) -> None:
    token = secret.begin()
    secret.client.put_secret_value(
        SecretId=secret.arn, ClientRequestToken=token, SecretString="{}", VersionStages=["AWSPENDING"]
    )
    with pytest.raises(ConfigurationError):
        secret.step("testSecret", token)


def test_a_right_that_is_missing_is_named_with_its_secret(secret: RotatedSecret) -> None:
    def denied(**_: object) -> Any:
        raise ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "PutSecretValue")

    aws.client("secretsmanager").meta.events.register("before-call.secretsmanager.PutSecretValue", denied)
    with pytest.raises(Unavailable) as failure:
        secret.rotate()
    assert str(failure.value) == f"secretsmanager:PutSecretValue on {secret.arn} failed: AccessDeniedException"


# The function, the operator's command, the log


def test_the_function_rotates_the_secret_that_its_environment_names(
    secret: RotatedSecret, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MRTR_KEYRING", f"kms:arn:aws:kms:eu-west-1:123456789012:key/1 secretsmanager:{secret.arn}")
    spec = importlib.util.spec_from_file_location("rotate_key_app", ROOT / "functions" / "rotate_key" / "app.py")
    assert spec is not None
    assert spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    token = secret.begin()
    for step in STEPS:
        app.handler({"SecretId": secret.arn, "ClientRequestToken": token, "Step": step}, None)
    assert ring(secret).kids == {"k1", "k2"}


def test_no_key_is_logged_or_printed(
    secret: RotatedSecret, secrets: Secrets, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    secret.rotate()
    keys = [entry["key"] for entry in json.loads(secret.text)["keys"]]
    assert ring_admin.main([secret.arn, "list"], clock) == 0
    assert ring_admin.main([secret.arn, "revoke", "k1"], clock) == 0
    keys += [entry["key"] for entry in json.loads(secret.text)["keys"]]
    printed = capsys.readouterr()
    for key in keys:
        secrets.add(key)
        assert key not in printed.out + printed.err
    assert any("rotation step done" in line for line in secrets.lines)


def test_the_operators_command_says_what_each_key_does_and_what_revoking_breaks(
    secret: RotatedSecret, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    secret.rotate()
    assert ring_admin.main([secret.arn, "list"], clock) == 0
    assert capsys.readouterr().out.splitlines() == [
        "k1 seals and opens until 2027-01-15T10:12:00+00:00",
        "k2 opens, and seals from 2027-01-15T08:10:00+00:00",
    ]
    assert ring_admin.main([secret.arn, "revoke", "k1"], clock) == 0
    out = capsys.readouterr().out
    assert out.startswith("k1 is revoked.")
    assert "What breaks: every question that was sealed under k1" in out
    assert out.splitlines()[-1] == "k2 seals and opens"


@pytest.mark.parametrize(
    ("secret_id", "kid", "says"),
    [
        (None, "k9", "the ring has no key 'k9'; it has k1"),
        ("nothing", "k1", "secretsmanager:GetSecretValue on nothing"),
    ],
)
def test_the_operators_command_fails_with_one_line(
    secret: RotatedSecret, clock: Clock, capsys: pytest.CaptureFixture[str], secret_id: str | None, kid: str, says: str
) -> None:
    assert ring_admin.main([secret_id or secret.arn, "revoke", kid], clock) == 1
    assert capsys.readouterr().err.startswith(says)
    assert ring(secret).kids == {"k1"}
