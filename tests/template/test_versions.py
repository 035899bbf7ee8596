"""Versions and the snapshots that SnapStart makes of them."""

from __future__ import annotations

import json
import re

import pytest

from tests.template.processed import deployed, processed, resources, written

FUNCTIONS = resources(deployed(), "AWS::Lambda::Function")


@pytest.mark.parametrize(("given", "applies"), [({}, "None"), ({"SnapStart": "on"}, "PublishedVersions")])
def test_snapshots_are_made_only_where_they_are_asked_for(given: dict[str, str], applies: str) -> None:
    functions = resources(deployed(**given), "AWS::Lambda::Function").values()
    assert {function["SnapStart"]["ApplyOn"] for function in functions} == {applies}


def test_the_front_door_calls_the_version_that_has_a_snapshot_where_there_is_one() -> None:
    def alias(**given: str) -> object:
        function = resources(deployed(**given), "AWS::Lambda::Function")["FrontDoorFunction"]
        return function["Environment"]["Variables"].get("MRTR_TOOL_FUNCTION_ALIAS")

    assert alias() is None
    assert alias(SnapStart="on") == "live"


def test_every_function_is_called_by_an_alias_of_its_latest_version() -> None:
    template = deployed()
    aliases = resources(template, "AWS::Lambda::Alias")
    assert {alias["FunctionName"]["Ref"] for alias in aliases.values()} == set(FUNCTIONS)
    assert {alias["Name"] for alias in aliases.values()} == {"live"}


def test_a_parameter_that_changes_a_functions_settings_publishes_another_version() -> None:
    """Its description changes with it; without that, what is called would keep the settings of the deploy before."""
    parameters = set(written()["Parameters"])
    conditions = written()["Conditions"]
    for logical_id, function in resources(processed(), "AWS::Lambda::Function").items():
        used = names(json.dumps(function), conditions) & parameters
        (description,) = {
            version["Description"]["Fn::Sub"]
            for version in resources(processed(), "AWS::Lambda::Version").values()
            if version["FunctionName"]["Ref"] == logical_id
        }
        assert used - {"LogRetentionDays"} <= set(re.findall(r"\$\{(\w+)\}", description)), logical_id


def names(text: str, conditions: dict[str, object]) -> set[str]:
    """The parameters that a value depends on, through its conditions too."""
    found = set(re.findall(r'"Ref": "(\w+)"', text)) | set(re.findall(r"\$\{(\w+)\}", text))
    mentioned = set(re.findall(r'"Fn::If": \["(\w+)"', text)) | set(re.findall(r'"Condition": "(\w+)"', text))
    for condition in mentioned & set(conditions):
        found |= names(json.dumps(conditions[condition]), conditions)
    return found


def test_a_versions_description_fits_whatever_the_parameters_are() -> None:
    longest = 0
    for name in re.findall(r"\$\{(\w+)\}", _description()):
        parameter = written()["Parameters"][name]
        allowed = [str(one) for one in parameter.get("AllowedValues", [])]
        most = (
            max((len(one) for one in allowed), default=0)
            or parameter.get("MaxLength")
            or len(str(parameter["MaxValue"]))
        )
        longest += most + 1
    assert longest <= 256


def _description() -> str:
    (description,) = {
        version["Description"]["Fn::Sub"] for version in resources(processed(), "AWS::Lambda::Version").values()
    }
    return str(description)


def test_old_versions_do_not_pile_up() -> None:
    versions = [one for one in processed()["Resources"].values() if one["Type"] == "AWS::Lambda::Version"]
    assert {version["DeletionPolicy"] for version in versions} == {"Delete"}
