"""provision_database: one round for most names, two for those that look like production."""

from __future__ import annotations

from typing import Any

import pytest

from mrtr.testing import accept, cancel, decline
from tests.flow.tools.legs import Instance


@pytest.fixture
def tool(databases: Any) -> Instance:  # noqa: ARG001  the table must exist before the tool is called
    return Instance("provision_database")


def test_the_region_is_asked_from_a_list_with_titles(tool: Instance) -> None:
    first = tool.ask(name="orders")

    assert first.questions["region"]["params"]["message"] == "Which region should the database orders live in?"
    field = first.questions["region"]["params"]["requestedSchema"]["properties"]["region"]
    assert field["type"] == "string"
    assert field["oneOf"] == [
        {"const": "eu-west-1", "title": "Europe (Ireland)"},
        {"const": "us-east-1", "title": "US East (Virginia)"},
        {"const": "ap-southeast-1", "title": "Asia Pacific (Singapore)"},
    ]
    assert "enum" not in field
    assert "$ref" not in field


def test_an_everyday_name_is_requested_after_one_question(tool: Instance, databases: Any) -> None:
    done = tool.answer(tool.ask(name="orders"), {"region": accept(region="eu-west-1")})

    assert done.text == "Requested database orders in eu-west-1."
    assert databases.get_item(Key={"name": "orders"})["Item"]["region"] == "eu-west-1"


@pytest.mark.parametrize("name", ["orders-prod", "prod", "live-orders", "orders-production-2"])
def test_a_name_that_looks_like_production_is_asked_about_in_a_second_round(
    tool: Instance, databases: Any, name: str
) -> None:
    second = tool.answer(tool.ask(name=name), {"region": accept(region="us-east-1")})

    assert list(second.questions) == ["production"]
    assert "US East (Virginia)" in second.questions["production"]["params"]["message"]
    assert databases.scan()["Items"] == []

    done = tool.answer(second, {"production": accept(name=name)})

    assert done.text == f"Requested database {name} in us-east-1."
    assert databases.get_item(Key={"name": name})["Item"]["region"] == "us-east-1"


@pytest.mark.parametrize("name", ["reproduction", "orders-prodigy", "alive"])
def test_a_name_that_only_contains_the_letters_is_not_production(tool: Instance, name: str) -> None:
    done = tool.answer(tool.ask(name=name), {"region": accept(region="eu-west-1")})

    assert done.text == f"Requested database {name} in eu-west-1."


@pytest.mark.parametrize("answer", [decline(), cancel()], ids=["decline", "cancel"])
def test_without_a_region_nothing_is_requested(tool: Instance, databases: Any, answer: dict[str, Any]) -> None:
    done = tool.answer(tool.ask(name="orders"), {"region": answer})

    assert done.text == "Requested nothing: no region was chosen for orders."
    assert done.result["isError"] is False
    assert databases.scan()["Items"] == []


@pytest.mark.parametrize(
    "answer", [decline(), cancel(), accept(name="orders")], ids=["decline", "cancel", "another name typed"]
)
def test_without_the_second_confirmation_nothing_is_requested(
    tool: Instance, databases: Any, answer: dict[str, Any]
) -> None:
    second = tool.answer(tool.ask(name="orders-prod"), {"region": accept(region="eu-west-1")})

    done = tool.answer(second, {"production": answer})

    assert done.text == "Requested nothing: orders-prod was not confirmed as a production database."
    assert databases.scan()["Items"] == []


def test_a_region_that_is_not_on_the_list_is_asked_again(tool: Instance, databases: Any) -> None:
    again = tool.answer(tool.ask(name="orders"), {"region": accept(region="mars-north-1")})

    assert list(again.questions) == ["region"]
    assert again.questions["region"]["params"]["message"] != "Which region should the database orders live in?"
    assert databases.scan()["Items"] == []
    done = tool.answer(again, {"region": accept(region="eu-west-1")})
    assert done.text == "Requested database orders in eu-west-1."


def test_a_database_that_was_requested_before_is_not_requested_again(tool: Instance, databases: Any) -> None:
    tool.answer(tool.ask(name="orders"), {"region": accept(region="eu-west-1")})

    done = tool.answer(tool.ask(name="orders"), {"region": accept(region="us-east-1")})

    assert done.text == "Requested nothing: there is a request for orders already."
    assert databases.get_item(Key={"name": "orders"})["Item"]["region"] == "eu-west-1"


def test_the_rounds_may_each_be_answered_by_another_instance(tool: Instance) -> None:
    first = tool.ask(name="orders-prod")
    second = Instance("provision_database").answer(first, {"region": accept(region="eu-west-1")})
    done = Instance("provision_database").answer(second, {"production": accept(name="orders-prod")})

    assert done.text == "Requested database orders-prod in eu-west-1."


def test_a_name_that_no_database_can_have_is_refused_before_anyone_is_asked(tool: Instance) -> None:
    refused = tool.ask(name="Orders Prod")

    assert refused.result["isError"] is True
