"""`sam deploy` into the emulated AWS, and the one step that the emulator lacks: importing an HTTP API's OpenAPI body."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from local.aws import Aws
from local.environment import REGION, ROOT, SAM, parameter_overrides, sam_environment, say

BUCKET = "askback-artifacts"
HTTP_METHODS = {"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE", "patch": "PATCH", "head": "HEAD",
                "x-amazon-apigateway-any-method": "ANY"}  # fmt: skip


class DeployError(Exception):
    """`sam deploy` failed; the message holds what it printed."""


@dataclass(frozen=True)
class Deployed:
    """What a deploy made, by logical id: physical names or ids."""

    resources: Mapping[str, str]
    types: Mapping[str, str]

    def of_type(self, resource_type: str) -> dict[str, str]:
        return {logical: self.resources[logical] for logical, kind in self.types.items() if kind == resource_type}


def client(service: Any, endpoint_url: str) -> Any:
    """A boto3 client of the emulated AWS, whatever this process's own environment says."""
    return boto3.client(
        service,
        endpoint_url=endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106  the emulator's made-up root key
        config=Config(retries={"max_attempts": 2, "mode": "standard"}),
    )


def sam_deploy(aws: Aws, template: Path, stack: str, parameters: Mapping[str, str]) -> None:
    client("s3", aws.endpoint_url).create_bucket(Bucket=BUCKET)
    overrides = [*parameter_overrides(), *(f"{name}={value}" for name, value in parameters.items())]
    command: list[str | Path] = [SAM, "deploy", "--template-file", template, "--stack-name", stack, "--s3-bucket", BUCKET,
               "--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset", "--no-progressbar", "--config-env", "local",
               "--parameter-overrides", *overrides]  # fmt: skip
    done = subprocess.run(
        command, check=False, cwd=ROOT, env=sam_environment(aws.endpoint_url), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode:
        raise DeployError(f"sam deploy failed:\n{done.stdout}\n{(aws.folder / 'emulator.log').read_text()}")


def operations(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(route key, logical id of the function or its alias) of every operation in an HTTP API's OpenAPI body, as SAM writes it."""
    for path, methods in body["paths"].items():
        for method, operation in methods.items():
            if method in HTTP_METHODS:
                uri = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
                target = uri.rpartition("/functions/${")[2].partition("}")[0]
                yield f"{HTTP_METHODS[method]} {path}", target.removesuffix(".Arn")


def resolved(value: Any) -> Any:
    """A CORS setting without the intrinsics that the template uses for it; its parameters are values already."""
    match value:
        case {"Fn::If": [_, when_true, _]}:
            return resolved(when_true)
        case {"Fn::Split": [separator, text]}:
            return [part.strip() for part in text.split(separator)]
        case dict():
            return {name: resolved(one) for name, one in value.items()}
    return value


def import_api(aws: Aws, made: Deployed, template: Mapping[str, Any]) -> None:
    """Make the routes, integrations and CORS settings of the HTTP API's body, and put the API at its own host."""
    gateway = client("apigatewayv2", aws.endpoint_url)
    functions = client("lambda", aws.endpoint_url)
    for logical_id, api_id in made.of_type("AWS::ApiGatewayV2::Api").items():
        body = template["Resources"][logical_id]["Properties"]["Body"]
        targets: dict[str, str] = {}
        for route_key, target in operations(body):
            # The version behind an alias has a snapshot on AWS; here it is the function itself.
            function = template["Resources"][target]["Properties"]["FunctionName"].get("Ref", target)
            if function not in targets:
                name = made.resources[function]
                arn = functions.get_function_configuration(FunctionName=name)["FunctionArn"]
                integration = gateway.create_integration(
                    ApiId=api_id, IntegrationType="AWS_PROXY", IntegrationUri=arn, PayloadFormatVersion="2.0"
                )
                targets[function] = f"integrations/{integration['IntegrationId']}"
            gateway.create_route(ApiId=api_id, RouteKey=route_key, Target=targets[function])
        if "x-amazon-apigateway-cors" in body:
            cors = resolved(body["x-amazon-apigateway-cors"])
            settings = {name[0].upper() + name[1:]: value for name, value in cors.items()}
            gateway.update_api(ApiId=api_id, CorsConfiguration=settings)
        (aws.folder / "api").write_text(api_id)


def deploy(aws: Aws, template: Path, stack: str, parameters: Mapping[str, str] | None = None) -> Deployed:
    """Deploy the built template as `stack` and tell what it made. The API of the last deploy is the one at `aws.api_url`."""
    say("deploying (sam deploy) ...")
    started = time.monotonic()
    sam_deploy(aws, template, stack, parameters or {})
    cloudformation = client("cloudformation", aws.endpoint_url)
    resources = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    made = Deployed(
        {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in resources},
        {one["LogicalResourceId"]: one["ResourceType"] for one in resources},
    )
    processed = cloudformation.get_template(StackName=stack, TemplateStage="Processed")["TemplateBody"]
    import_api(aws, made, processed if isinstance(processed, Mapping) else json.loads(processed))
    say(f"deployed in {time.monotonic() - started:.0f} s")
    return made
