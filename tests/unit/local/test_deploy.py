"""The step of a local deploy that the emulated AWS lacks: what an HTTP API's OpenAPI body says."""

from __future__ import annotations

from typing import Any

from local import deploy


def operation(function: str) -> dict[str, Any]:
    prefix = "arn:${AWS::Partition}:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"
    uri = f"{prefix}${{{function}.Arn}}/invocations"
    return {"x-amazon-apigateway-integration": {"uri": {"Fn::Sub": uri}}, "responses": {}}


def test_every_operation_of_the_body_becomes_a_route_to_its_function() -> None:
    body = {
        "paths": {
            "/mcp": {"post": operation("FrontDoorFunction"), "get": operation("FrontDoorFunction")},
            "/mcp/{tool}": {"x-amazon-apigateway-any-method": operation("ToolFunction"), "parameters": []},
        }
    }
    assert list(deploy.operations(body)) == [
        ("POST /mcp", "FrontDoorFunction"),
        ("GET /mcp", "FrontDoorFunction"),
        ("ANY /mcp/{tool}", "ToolFunction"),
    ]


def test_settings_behind_a_condition_are_those_of_its_true_branch_with_lists_split() -> None:
    written = {
        "Fn::If": [
            "HasOrigins",
            {"allowOrigins": {"Fn::Split": [",", "http://one.example, http://two.example"]}, "maxAge": 60},
            {"Ref": "AWS::NoValue"},
        ]
    }
    assert deploy.resolved(written) == {"allowOrigins": ["http://one.example", "http://two.example"], "maxAge": 60}


def test_plain_settings_stay_as_they_are() -> None:
    assert deploy.resolved({"allowMethods": ["POST"]}) == {"allowMethods": ["POST"]}


def test_what_a_deploy_made_is_found_by_its_type() -> None:
    made = deploy.Deployed({"A": "a-1", "B": "b-1"}, {"A": "AWS::Lambda::Function", "B": "AWS::DynamoDB::Table"})
    assert made.of_type("AWS::Lambda::Function") == {"A": "a-1"}
