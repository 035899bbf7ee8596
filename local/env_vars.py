"""What `sam local invoke --env-vars` needs to run this machine's copy of a function against a deployed stack.

`python -m local.env_vars --stack askback > env.json` reads the environment of every function of the stack, with this
machine's own AWS settings.
"""

import argparse
import json
import sys
from typing import Any

import boto3


def env_vars(stack: str) -> dict[str, dict[str, str]]:
    """The variables of each of the stack's functions, by the function's logical id in the template."""
    cloudformation: Any = boto3.client("cloudformation")
    functions: Any = boto3.client("lambda")
    found = {}
    for resource in cloudformation.describe_stack_resources(StackName=stack)["StackResources"]:
        if resource["ResourceType"] == "AWS::Lambda::Function":
            settings = functions.get_function_configuration(FunctionName=resource["PhysicalResourceId"])
            found[resource["LogicalResourceId"]] = settings.get("Environment", {}).get("Variables", {})
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m local.env_vars", description="Print the variables of a stack's functions."
    )
    parser.add_argument("--stack", default="askback", help="the stack's name (default: askback)")
    print(json.dumps(env_vars(parser.parse_args(arguments).stack), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
