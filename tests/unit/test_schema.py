from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from mrtr.schema import inline_refs


class Street(BaseModel):
    name: str


class Address(BaseModel):
    """Where somebody lives."""

    street: Street
    other: list[Street]


class Person(BaseModel):
    home: Address = Field(description="Where to send it.")
    work: Address | None = None


class Tree(BaseModel):
    label: Street
    children: list[Tree] = []


class Ping(BaseModel):
    pong: Pong | None = None


class Pong(BaseModel):
    ping: Ping | None = None


class Forest(BaseModel):
    first: Tree
    ball: Ping


def refs(schema: Any) -> list[str]:
    """Every `$ref` in a schema, wherever it stands."""
    if isinstance(schema, dict):
        own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return own + [ref for value in schema.values() for ref in refs(value)]
    return [ref for item in schema for ref in refs(item)] if isinstance(schema, list) else []


def test_models_within_models_stand_where_they_are_used() -> None:
    schema = inline_refs(Person.model_json_schema())
    assert refs(schema) == []
    assert "$defs" not in schema
    home = schema["properties"]["home"]
    assert home["properties"]["street"] == {
        "title": "Street",
        "type": "object",
        "properties": {"name": {"title": "Name", "type": "string"}},
        "required": ["name"],
    }
    assert home["properties"]["other"]["items"] == home["properties"]["street"]
    assert schema["properties"]["work"]["anyOf"][0]["title"] == "Address"


def test_what_stands_beside_a_ref_wins_over_what_it_names() -> None:
    home = inline_refs(Person.model_json_schema())["properties"]["home"]
    assert home["description"] == "Where to send it."
    assert home["title"] == "Address"


def test_a_recursive_model_keeps_its_ref_and_nothing_else_does() -> None:
    schema = inline_refs(Tree.model_json_schema())
    assert set(schema["$defs"]) == {"Tree"}
    assert set(refs(schema)) == {"#/$defs/Tree"}
    assert schema["$defs"]["Tree"]["properties"]["label"]["title"] == "Street"


def test_models_that_name_each_other_are_recursive_too() -> None:
    schema = inline_refs(Forest.model_json_schema())
    assert set(schema["$defs"]) == {"Tree", "Ping", "Pong"}
    assert schema["properties"]["first"] == {"$ref": "#/$defs/Tree"}


def test_a_schema_with_recursive_models_still_accepts_what_the_model_accepts() -> None:
    validator = Draft202012Validator(inline_refs(Forest.model_json_schema()))
    tree = {"label": {"name": "a"}, "children": [{"label": {"name": "b"}, "children": []}]}
    assert validator.is_valid({"first": tree, "ball": {"pong": {"ping": {"pong": None}}}})
    assert not validator.is_valid({"first": {"label": {"name": 1}}, "ball": {}})
    assert not validator.is_valid({"first": tree, "ball": {"pong": {"ping": 3}}})


def test_the_schema_that_was_given_is_left_as_it_was() -> None:
    schema = Forest.model_json_schema()
    before = json.dumps(schema)
    inline_refs(schema)
    assert json.dumps(schema) == before


def test_refs_to_elsewhere_stay() -> None:
    schema = {"properties": {"a": {"$ref": "https://schemas.example.com/a.json"}, "b": {"$ref": "#/$defs/Gone"}}}
    assert inline_refs(schema) == schema


def test_a_property_may_be_called_ref() -> None:
    schema = {"type": "object", "properties": {"$ref": {"type": "string"}}}
    assert inline_refs(schema) == schema


names = st.sampled_from("ABCDE")
graphs = st.dictionaries(names, st.lists(names, max_size=3), min_size=5, max_size=5)


def _cyclic(name: str, graph: dict[str, list[str]]) -> bool:
    reached, waiting = set[str](), list(graph[name])
    while waiting:
        step = waiting.pop()
        if step not in reached:
            reached.add(step)
            waiting += graph[step]
    return name in reached


@given(graphs)
@settings(derandomize=True, deadline=None)
def test_in_any_graph_of_models_exactly_the_ones_on_a_cycle_keep_their_refs(graph: dict[str, list[str]]) -> None:
    defs = {
        name: {"properties": {f"p{number}": {"$ref": f"#/$defs/{used}"} for number, used in enumerate(uses)}}
        for name, uses in graph.items()
    }
    schema = inline_refs({"items": [{"$ref": f"#/$defs/{name}"} for name in graph], "$defs": defs})
    cyclic = {name for name in graph if _cyclic(name, graph)}
    assert set(schema.get("$defs", {})) == cyclic
    assert set(refs(schema)) == {f"#/$defs/{name}" for name in cyclic}
