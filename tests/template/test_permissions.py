"""Each function's role holds what the function's code does, on its own resources, and nothing else.

That a role holds enough is shown end to end: the local stack refuses what a role does not allow.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from local.environment import ROOT
from tests.template.processed import Grant, attribute, deployed, grants, resources

TEMPLATE = deployed()
FUNCTIONS = resources(TEMPLATE, "AWS::Lambda::Function")
ROLES = resources(TEMPLATE, "AWS::IAM::Role")
SHARED = resources(TEMPLATE, "AWS::IAM::ManagedPolicy")

# Methods of a DynamoDB table or client, and the action that each needs.
DYNAMODB = {
    "get_item": "GetItem",
    "put_item": "PutItem",
    "update_item": "UpdateItem",
    "delete_item": "DeleteItem",
    "query": "Query",
    "scan": "Scan",
    "batch_writer": "BatchWriteItem",
    "batch_get_item": "BatchGetItem",
}

# The folder of each function that may ask, and the table that it uses.
TABLES = {
    "DeleteNoteFunction": ("delete_note", "NotesTable"),
    "ProvisionDatabaseFunction": ("provision_database", "DatabasesTable"),
    "BookTableFunction": ("book_table", "BookingsTable"),
    "NoteResourceFunction": ("note_resource", "NotesTable"),
    "WriteMinutesFunction": ("write_minutes", None),
}
READ_ONLY = {"NoteResourceFunction", "WriteMinutesFunction"}


def dynamodb_actions(source: Path) -> set[str]:
    """The actions that the calls in a module need."""
    nodes = list(ast.walk(ast.parse(source.read_text(encoding="utf-8"))))
    names = {node.func.attr for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    # a method that is looked up by its name
    names |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {f"dynamodb:{action}" for method, action in DYNAMODB.items() if method in names}


def role_of(function: str) -> dict[str, Any]:
    reference = FUNCTIONS[function]["Role"]["Fn::GetAtt"]
    assert reference[1] == "Arn"
    return ROLES[reference[0]]


def log_group_of(function: str) -> str:
    name: str = FUNCTIONS[function]["LoggingConfig"]["LogGroup"]["Ref"]
    return name


def own_grants(function: str) -> set[Grant]:
    return {grant for policy in role_of(function)["Policies"] for grant in grants(policy["PolicyDocument"])}


def own_log(function: str) -> set[Grant]:
    group = attribute(log_group_of(function), "Arn")
    return {Grant("logs:CreateLogStream", group), Grant("logs:PutLogEvents", group)}


def test_every_function_has_a_role_that_no_other_has() -> None:
    roles = [json.dumps(function["Role"]) for function in FUNCTIONS.values()]
    assert len(set(roles)) == len(FUNCTIONS)


def test_the_only_roles_are_those_written_in_the_template() -> None:
    assert {json.dumps(function["Role"]) for function in FUNCTIONS.values()} == {
        json.dumps({"Fn::GetAtt": [role, "Arn"]}) for role in ROLES
    }


@pytest.mark.parametrize("role", ROLES)
def test_only_lambda_takes_a_role_on(role: str) -> None:
    assert ROLES[role]["AssumeRolePolicyDocument"]["Statement"] == [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    ]


@pytest.mark.parametrize("function", TABLES)
def test_a_function_may_do_with_its_table_what_its_code_does_and_nothing_else(function: str) -> None:
    folder, table = TABLES[function]
    used = dynamodb_actions(ROOT / "functions" / folder / "app.py")
    assert bool(used) is (table is not None)
    allowed = {Grant(action, attribute(table, "Arn")) for action in used} if table else set()
    assert own_grants(function) == own_log(function) | allowed


@pytest.mark.parametrize("function", TABLES)
def test_a_function_shares_with_others_the_right_to_ask_and_to_claim_unless_it_only_reads(function: str) -> None:
    claims = [] if function in READ_ONLY else [{"Ref": "ClaimPolicy"}]
    assert role_of(function)["ManagedPolicyArns"] == [{"Ref": "AskPolicy"}, *claims]


@pytest.mark.parametrize("function", TABLES)
def test_those_that_may_not_claim_are_those_whose_code_says_that_it_only_reads(function: str) -> None:
    folder, _ = TABLES[function]
    source = (ROOT / "functions" / folder / "app.py").read_text(encoding="utf-8")
    assert ("read_only=True" in source) is (function in READ_ONLY)


def test_asking_needs_the_key_ring_and_claiming_what_the_runtime_does_with_claims_and_nothing_else() -> None:
    used = dynamodb_actions(ROOT / "layers" / "mrtr" / "mrtr" / "claim_table.py")
    assert used
    assert set(SHARED) == {"AskPolicy", "ClaimPolicy"}
    assert set(grants(SHARED["AskPolicy"]["PolicyDocument"])) == {
        Grant("secretsmanager:GetSecretValue", attribute("KeyRingSecret", "Id"))
    }
    assert set(grants(SHARED["ClaimPolicy"]["PolicyDocument"])) == {
        Grant(action, attribute("ClaimTable", "Arn")) for action in used
    }


def test_the_rotation_may_do_with_the_secret_what_its_code_does_and_nothing_else() -> None:
    source = (ROOT / "layers" / "mrtr" / "mrtr" / "secretsmanager.py").read_text(encoding="utf-8")
    used = set(re.findall(r'"([A-Z][A-Za-z]+)": "[a-z_]+",', source))
    assert used == {"DescribeSecret", "GetSecretValue", "PutSecretValue", "UpdateSecretVersionStage"}
    assert role_of("RotateKeyFunction").get("ManagedPolicyArns", []) == []
    assert own_grants("RotateKeyFunction") == own_log("RotateKeyFunction") | {
        Grant(f"secretsmanager:{action}", attribute("KeyRingSecret", "Id")) for action in used
    }


def test_only_secrets_manager_may_call_the_rotation_and_only_for_this_account() -> None:
    permission = resources(TEMPLATE, "AWS::Lambda::Permission")["RotateKeyPermission"]
    assert permission == {
        "Action": "lambda:InvokeFunction",
        "FunctionName": {"Fn::GetAtt": ["RotateKeyFunction", "Arn"]},
        "Principal": "secretsmanager.amazonaws.com",
        "SourceAccount": {"Ref": "AWS::AccountId"},
    }


def test_every_function_but_the_front_door_is_checked_here() -> None:
    assert set(FUNCTIONS) == {"FrontDoorFunction", "RotateKeyFunction", *TABLES}


def test_the_front_door_may_invoke_the_tools_of_its_own_stack_and_nothing_else() -> None:
    tools = "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${AWS::StackName}-tool-*"
    assert role_of("FrontDoorFunction").get("ManagedPolicyArns", []) == []
    assert own_grants("FrontDoorFunction") == own_log("FrontDoorFunction") | {
        Grant("lambda:InvokeFunction", json.dumps({"Fn::Sub": tools}))
    }


def test_every_action_is_named_in_full() -> None:
    documents = [policy["PolicyDocument"] for role in ROLES.values() for policy in role["Policies"]]
    documents += [policy["PolicyDocument"] for policy in SHARED.values()]
    assert not [grant for document in documents for grant in grants(document) if "*" in grant.action]


def test_only_the_gateway_may_invoke_the_other_functions_and_only_for_the_stacks_own_api() -> None:
    permissions = resources(TEMPLATE, "AWS::Lambda::Permission")
    del permissions["RotateKeyPermission"]
    assert permissions
    for permission in permissions.values():
        assert permission["Principal"] == "apigateway.amazonaws.com"
        assert permission["Action"] == "lambda:InvokeFunction"
        source, names = permission["SourceArn"]["Fn::Sub"]
        assert "${__ApiId__}" in source
        assert names["__ApiId__"] == {"Ref": "McpApi"}
