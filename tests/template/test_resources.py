"""What the template makes: names, keys, retention, times, and that no secret is written in it."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from aws_lambda_powertools.shared.constants import LAMBDA_ADVANCED_LOGGING_LEVELS

from local.bootstrap import VERSIONS
from local.environment import ROOT, SAM
from local.stack import TABLES
from tests.template.processed import processed, resources, written

TEMPLATE = processed()
FUNCTIONS = resources(TEMPLATE, "AWS::Lambda::Function")
STATEFUL = {"AWS::DynamoDB::Table", "AWS::SecretsManager::Secret", "AWS::Logs::LogGroup"}
API_GATEWAY_S = 30


def variables(function: str) -> dict[str, Any]:
    found: dict[str, Any] = FUNCTIONS[function]["Environment"]["Variables"]
    return found


def owners() -> set[str]:
    """The functions that the catalog's entries name."""
    catalog = json.loads((ROOT / "functions" / "front_door" / "catalog.json").read_text(encoding="utf-8"))
    return {entry["function"] for entries in catalog["entries"].values() for entry in entries}


def keys(table: str) -> list[tuple[str, str, str]]:
    properties = resources(TEMPLATE, "AWS::DynamoDB::Table")[table]
    types = {one["AttributeName"]: one["AttributeType"] for one in properties["AttributeDefinitions"]}
    return [(one["AttributeName"], types[one["AttributeName"]], one["KeyType"]) for one in properties["KeySchema"]]


def routes() -> dict[str, str]:
    """Method and path, and the logical id of the function behind it, which is called by its alias."""
    paths = TEMPLATE["Resources"]["McpApi"]["Properties"]["Body"]["paths"]
    return {
        f"{method.upper()} {path}": re.search(r"\$\{(\w+)Aliaslive\}", json.dumps(operation))[1]  # type: ignore[index]
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


def test_cfn_lint_has_nothing_to_say() -> None:
    done = subprocess.run(
        [SAM.parent / "cfn-lint", "template.yaml"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_front_door_answers_at_mcp_and_every_tool_at_its_own_address_below() -> None:
    expected = {"POST /mcp": "FrontDoorFunction", "GET /mcp": "FrontDoorFunction", "DELETE /mcp": "FrontDoorFunction"}
    names = {function["FunctionName"]["Fn::Sub"]: logical_id for logical_id, function in FUNCTIONS.items()}
    for folder in owners():
        expected[f"POST /mcp/{folder}"] = names[f"${{AWS::StackName}}-tool-{folder}"]
    assert routes() == expected


def test_the_front_door_finds_the_tools_by_the_prefix_of_their_names() -> None:
    prefix = variables("FrontDoorFunction")["MRTR_TOOL_FUNCTION_PREFIX"]["Fn::Sub"]
    tools = {f"{prefix}{owner}" for owner in owners()}
    assert tools == {
        function["FunctionName"]["Fn::Sub"]
        for name, function in FUNCTIONS.items()
        if name not in ("FrontDoorFunction", "RotateKeyFunction")
    }


def test_every_function_of_the_stack_seals_and_claims_alike() -> None:
    shared = [
        {
            name: value
            for name, value in variables(function).items()
            if name.startswith("MRTR_") and "TOOL_FUNCTION" not in name
        }
        for function in FUNCTIONS
    ]
    assert all(one == shared[0] for one in shared)
    assert shared[0]["MRTR_AUDIENCE"] == {"Ref": "AWS::StackName"}
    assert shared[0]["MRTR_CLAIM_TABLE"] == {"Ref": "ClaimTable"}


def test_no_key_is_in_the_template_and_secrets_manager_makes_the_first_one() -> None:
    secret = resources(TEMPLATE, "AWS::SecretsManager::Secret")["KeyRingSecret"]
    assert "SecretString" not in secret
    generated = secret["GenerateSecretString"]
    assert set(json.loads(generated["SecretStringTemplate"])) == {"kid"}
    assert (generated["GenerateStringKey"], generated["PasswordLength"], generated["ExcludePunctuation"]) == (
        "key",
        64,
        True,
    )


def test_no_parameter_takes_a_secret() -> None:
    assert not [name for name, one in written()["Parameters"].items() if one.get("NoEcho")]
    free = [name for name, one in written()["Parameters"].items() if "AllowedValues" not in one]
    assert not re.search(r"key|secret|password|token", " ".join(free), re.IGNORECASE)


def test_outputs_tell_names_and_addresses_alone() -> None:
    assert set(TEMPLATE["Outputs"]) == {"Endpoint", "KeyRing", "Notes", "Databases", "Bookings"}
    assert TEMPLATE["Outputs"]["KeyRing"]["Value"] == {"Fn::GetAtt": ["KeyRingSecret", "Id"]}


def test_a_claim_is_found_by_its_flow_and_expires() -> None:
    assert keys("ClaimTable") == [("id", "B", "HASH")]
    table = resources(TEMPLATE, "AWS::DynamoDB::Table")["ClaimTable"]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires", "Enabled": True}


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("NotesTable", [("note_id", "S", "HASH")]),
        ("DatabasesTable", [("name", "S", "HASH")]),
        ("BookingsTable", [("evening", "S", "HASH"), ("table_id", "S", "RANGE")]),
    ],
)
def test_a_tools_table_has_the_key_its_code_uses(table: str, expected: list[tuple[str, str, str]]) -> None:
    assert keys(table) == expected


def test_tables_cost_nothing_while_nobody_calls() -> None:
    tables = resources(TEMPLATE, "AWS::DynamoDB::Table")
    assert {table["BillingMode"] for table in tables.values()} == {"PAY_PER_REQUEST"}
    assert set(tables) == set(TABLES.values())


def test_every_function_writes_to_a_log_of_its_own_that_forgets() -> None:
    groups = resources(TEMPLATE, "AWS::Logs::LogGroup")
    used = [function["LoggingConfig"]["LogGroup"]["Ref"] for function in FUNCTIONS.values()]
    assert sorted([*used, "AccessLog"]) == sorted(groups)
    assert all(group["RetentionInDays"] == {"Ref": "LogRetentionDays"} for group in groups.values())


def test_the_level_of_the_log_is_told_to_lambdas_filter_as_to_the_code() -> None:
    names = TEMPLATE["Mappings"]["LevelOfLambda"]
    assert list(names) == TEMPLATE["Parameters"]["LogLevel"]["AllowedValues"]
    for level, name in names.items():
        assert LAMBDA_ADVANCED_LOGGING_LEVELS[name["Name"]] == level
    for function in FUNCTIONS.values():
        assert function["LoggingConfig"]["LogFormat"] == "JSON"
        assert function["LoggingConfig"]["ApplicationLogLevel"] == {
            "Fn::FindInMap": ["LevelOfLambda", {"Ref": "LogLevel"}, "Name"]
        }
        assert function["Environment"]["Variables"]["MRTR_LOG_LEVEL"] == {"Ref": "LogLevel"}


def test_deleting_the_stack_leaves_nothing_behind() -> None:
    for logical_id, resource in TEMPLATE["Resources"].items():
        if resource["Type"] in STATEFUL or resource["Type"] == "AWS::Lambda::LayerVersion":
            assert resource["DeletionPolicy"] == "Delete", logical_id


def test_whoever_waits_gives_up_after_the_one_that_works() -> None:
    timeouts = {name: function["Timeout"] for name, function in FUNCTIONS.items()}
    front_door = timeouts.pop("FrontDoorFunction")
    assert max(timeouts.values()) < front_door < API_GATEWAY_S


def test_browsers_may_send_every_header_of_the_protocol_from_the_allowed_origins() -> None:
    cors = TEMPLATE["Resources"]["McpApi"]["Properties"]["Body"]["x-amazon-apigateway-cors"]
    condition, settings, otherwise = cors["Fn::If"]
    assert condition == "HasOrigins"
    assert otherwise == {"Ref": "AWS::NoValue"}
    assert set(settings["allowMethods"]) == {"POST", "GET", "DELETE"}
    assert {"content-type", "accept", "authorization", "mcp-protocol-version", "mcp-method", "mcp-name"} <= set(
        settings["allowHeaders"]
    )
    origins = settings["allowOrigins"]["Fn::Split"]
    assert origins[0] == ","
    assert "*" not in origins[1]


def test_the_endpoint_stands_at_the_hosts_root_and_is_throttled() -> None:
    (stage,) = resources(TEMPLATE, "AWS::ApiGatewayV2::Stage").values()
    assert stage["StageName"] == "$default"
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] > 0
    assert stage["DefaultRouteSettings"]["ThrottlingBurstLimit"] > 0


def test_access_logs_name_neither_headers_nor_bodies() -> None:
    (stage,) = resources(TEMPLATE, "AWS::ApiGatewayV2::Stage").values()
    line = json.loads(stage["AccessLogSettings"]["Format"])
    assert not [value for value in line.values() if "authorizer" in value or "input" in value]


def test_functions_and_layer_run_on_one_runtime_and_processor() -> None:
    template = written()
    functions = template["Globals"]["Function"]
    layer = template["Resources"]["MrtrLayer"]
    runtime, processor = {"Ref": "PythonRuntime"}, {"Ref": "Architecture"}
    assert (functions["Runtime"], functions["Architectures"]) == (runtime, [processor])
    assert (layer["Metadata"]["BuildMethod"], layer["Metadata"]["BuildArchitecture"]) == ("makefile", processor)
    assert layer["Properties"]["CompatibleRuntimes"] == [runtime]
    assert layer["Properties"]["CompatibleArchitectures"] == [processor]


def test_the_runtimes_offered_are_those_that_the_layers_lock_was_made_for() -> None:
    offered = written()["Parameters"]["PythonRuntime"]["AllowedValues"]
    assert sorted(offered) == sorted(f"python{version}" for version in VERSIONS)
