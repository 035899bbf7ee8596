"""KeySource and what goes with it: only what the choice needs is made, and a switch never leaves a step without both."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.template.processed import Grant, attribute, deployed, grants, resources

SECRET = {"KeyRingSecret", "RotateKeyFunction", "RotateKeyRole", "RotateKeyLog", "RotateKeyPermission"}
KMS = {"KeyRingKey"}
SCHEDULE = {"KeyRingRotation"}

SECRETS_MANAGER_ENTRY = "secretsmanager:${KeyRingSecret.Id}"
KMS_ENTRY = "kms:${KeyRingKey.Arn}#${KmsGeneration}"


def parameters(first: str, second: str = "none", days: str = "30") -> dict[str, str]:
    return {"KeySource": first, "SecondKeySource": second, "RotationDays": days}


CHOICES = [
    (parameters("secretsmanager"), SECRET | SCHEDULE, SECRETS_MANAGER_ENTRY),
    (parameters("secretsmanager", days="0"), SECRET, SECRETS_MANAGER_ENTRY),
    (parameters("secretsmanager", "secretsmanager"), SECRET | SCHEDULE, SECRETS_MANAGER_ENTRY),
    (parameters("secretsmanager", "kms"), SECRET | SCHEDULE | KMS, f"{SECRETS_MANAGER_ENTRY} {KMS_ENTRY}"),
    (parameters("kms", "secretsmanager"), SECRET | SCHEDULE | KMS, f"{KMS_ENTRY} {SECRETS_MANAGER_ENTRY}"),
    (parameters("kms"), KMS, KMS_ENTRY),
    (parameters("kms", "kms"), KMS, KMS_ENTRY),
]
choices = pytest.mark.parametrize(("given", "made", "keyring"), CHOICES)


@choices
def test_only_what_the_choice_needs_is_made(given: dict[str, str], made: set[str], keyring: str) -> None:
    del keyring
    assert set(deployed(**given)["Resources"]) & (SECRET | SCHEDULE | KMS) == made


@choices
def test_every_function_gets_the_sources_in_their_order(given: dict[str, str], made: set[str], keyring: str) -> None:
    del made
    for function in resources(deployed(**given), "AWS::Lambda::Function").values():
        assert function["Environment"]["Variables"]["MRTR_KEYRING"] == {"Fn::Sub": keyring}


@choices
def test_whoever_asks_may_read_the_sources_and_nothing_else(
    given: dict[str, str], made: set[str], keyring: str
) -> None:
    del keyring
    policy = resources(deployed(**given), "AWS::IAM::ManagedPolicy")["AskPolicy"]["PolicyDocument"]
    expected = set()
    if "KeyRingSecret" in made:
        expected.add(Grant("secretsmanager:GetSecretValue", attribute("KeyRingSecret", "Id")))
    if "KeyRingKey" in made:
        expected.add(Grant("kms:GenerateMac", attribute("KeyRingKey", "Arn")))
    assert set(grants(policy)) == expected


@choices
def test_nothing_refers_to_what_is_not_made(given: dict[str, str], made: set[str], keyring: str) -> None:
    del keyring
    text = json.dumps(deployed(**given))
    for absent in (SECRET | KMS | SCHEDULE) - made:
        assert absent not in text


def test_a_switch_keeps_at_every_step_what_the_step_before_it_sealed_with() -> None:
    steps = [parameters(*step) for step in (("secretsmanager", "none"), ("secretsmanager", "kms"),
                                            ("kms", "secretsmanager"), ("kms", "none"))]  # fmt: skip
    made = [set(deployed(**step)["Resources"]) for step in steps]
    assert "KeyRingSecret" in made[1] & made[2]
    assert "KeyRingKey" in made[1] & made[2] & made[3]


def test_the_secret_is_rotated_on_its_schedule_and_not_at_each_deploy() -> None:
    schedule = resources(deployed(), "AWS::SecretsManager::RotationSchedule")["KeyRingRotation"]
    assert schedule["RotationRules"] == {"AutomaticallyAfterDays": {"Ref": "RotationDays"}}
    assert schedule["RotateImmediatelyOnUpdate"] is False
    assert deployed()["Parameters"]["RotationDays"]["Default"] == 30


# The KMS key


def key() -> dict[str, Any]:
    return resources(deployed(KeySource="kms"), "AWS::KMS::Key")["KeyRingKey"]


def statement(sid: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in key()["KeyPolicy"]["Statement"] if one["Sid"] == sid)
    return found


def test_the_key_can_make_macs_and_nothing_else() -> None:
    assert (key()["KeySpec"], key()["KeyUsage"]) == ("HMAC_256", "GENERATE_VERIFY_MAC")


def test_the_key_derives_for_roles_of_this_stack_alone() -> None:
    derive = statement("Derive")
    assert derive["Action"] == "kms:GenerateMac"
    roles = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/${AWS::StackName}/*"
    assert derive["Condition"] == {"ArnLike": {"aws:PrincipalArn": {"Fn::Sub": roles}}}


def test_every_role_has_the_path_that_the_key_knows_them_by() -> None:
    roles = resources(deployed(KeySource="kms"), "AWS::IAM::Role")
    assert {json.dumps(role["Path"]) for role in roles.values()} == {json.dumps({"Fn::Sub": "/${AWS::StackName}/"})}


def test_whoever_manages_keys_derives_nothing() -> None:
    actions = statement("Manage")["Action"]
    assert not [
        action for action in actions if "Mac" in action or "*" in action or ("Grant" in action and "Create" in action)
    ]
    assert "kms:PutKeyPolicy" in actions, "a key that nobody can manage can't be mended"


def test_no_statement_of_the_key_allows_everybody() -> None:
    root = {"AWS": {"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
    assert all(one["Principal"] == root for one in key()["KeyPolicy"]["Statement"])
