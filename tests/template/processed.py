"""The template as written, and as CloudFormation gets it once SAM has transformed it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
import yaml
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from local.environment import REGION, ROOT

Json = dict[str, Any]


class Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms, such as !Ref."""


def intrinsic(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Json:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = value.split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


Loader.add_multi_constructor("!", intrinsic)


@cache
def _written() -> str:
    return json.dumps(yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), Loader))  # noqa: S506  a SafeLoader


def written() -> Json:
    """A copy of one's own of template.yaml."""
    template: Json = json.loads(_written())
    return template


@cache
def _processed(given: tuple[tuple[str, str], ...]) -> str:
    template = written()
    # `sam build` and `sam deploy` put code into a bucket; what is there does not matter here.
    for resource in template["Resources"].values():
        for where in ("CodeUri", "ContentUri"):
            if where in resource.get("Properties", {}):
                resource["Properties"][where] = "s3://bucket/key"
    parameters = {name: str(one["Default"]) for name, one in template["Parameters"].items()} | dict(given)
    translator = Translator({}, Parser(), boto_session=boto3.Session(region_name=REGION))
    return json.dumps(translator.translate(template, parameters))


def processed() -> Json:
    """A copy of one's own of what CloudFormation gets."""
    template: Json = json.loads(_processed(()))
    return template


def deployed(**parameters: str) -> Json:
    """What CloudFormation makes of it: conditions decided by the parameters, and what they exclude left out."""
    template: Json = json.loads(_processed(tuple(parameters.items())))
    values = {name: str(one["Default"]) for name, one in template["Parameters"].items()} | parameters
    conditions = template.pop("Conditions")

    def holds(condition: Any) -> bool:
        match condition:
            case str(name):
                return holds(conditions[name])
            case {"Condition": name}:
                return holds(conditions[name])
            case {"Fn::Not": [one]}:
                return not holds(one)
            case {"Fn::Or": several}:
                return any(holds(one) for one in several)
            case {"Fn::And": several}:
                return all(holds(one) for one in several)
            case {"Fn::Equals": [left, right]}:
                return str(values.get(left["Ref"]) if isinstance(left, dict) else left) == str(right)
        raise AssertionError(f"a condition of another kind: {condition}")

    def settled(value: Any) -> Any:
        match value:
            case {"Fn::If": [condition, then, otherwise]}:
                return settled(then if holds(condition) else otherwise)
            case {"Condition": str(name), **_rest} if name in conditions and not holds(name):
                return {"Ref": "AWS::NoValue"}
            case dict():
                settled_members = {name: settled(one) for name, one in value.items()}
                return {name: one for name, one in settled_members.items() if one != {"Ref": "AWS::NoValue"}}
            case list():
                return [one for one in map(settled, value) if one != {"Ref": "AWS::NoValue"}]
        return value

    made: Json = settled(template)
    return made


def resources(template: Mapping[str, Any], kind: str) -> dict[str, Json]:
    """Properties by logical id."""
    return {
        logical_id: copy.deepcopy(resource["Properties"])
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == kind
    }


@dataclass(frozen=True)
class Grant:
    """One action on one resource."""

    action: str
    resource: str


def one_or_more(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def grants(document: Mapping[str, Any]) -> Iterator[Grant]:
    """What a policy document allows. Every statement must be a plain one."""
    for statement in document["Statement"]:
        assert set(statement) == {"Effect", "Action", "Resource"}, "a statement with more than the rule it is"
        assert statement["Effect"] == "Allow"
        for action in one_or_more(statement["Action"]):
            for resource in one_or_more(statement["Resource"]):
                yield Grant(action, json.dumps(resource, sort_keys=True))


def attribute(logical_id: str, name: str) -> str:
    """How a grant writes an attribute of a resource."""
    return json.dumps({"Fn::GetAtt": [logical_id, name]})
