# Annotations are evaluated as they stand: tools within tests name models within tests.
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from mrtr import header_codec
from mrtr.errors import Fault, InvalidSignature, ProtocolError
from mrtr.http import Headers
from mrtr.param_headers import McpHeader, ParamHeader, check, find
from mrtr.tool import Tool


class Place(BaseModel):
    region: Annotated[str, McpHeader("Region")]


def found(*annotations: Any) -> tuple[ParamHeader, ...]:
    """The mirrored arguments p0, p1, … of a tool with these annotations."""
    source = ", ".join(f"p{number}: a{number}" for number in range(len(annotations)))
    namespace: dict[str, Any] = {f"a{number}": annotation for number, annotation in enumerate(annotations)}
    exec(f"def tool({source}) -> None: ...", namespace)  # noqa: S102 - a signature made from a list
    return find("tool", Tool(namespace["tool"]).definition()["inputSchema"])


def mismatch(mirrored: tuple[ParamHeader, ...], headers: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    with pytest.raises(ProtocolError) as refusal:
        check(mirrored, Headers(headers), arguments)
    assert refusal.value.fault is Fault.HEADER_MISMATCH
    return refusal.value.message


def test_mirrored_arguments_are_found_with_the_way_to_their_values() -> None:
    assert found(int, Annotated[str, McpHeader("Zone")], Place) == (
        ParamHeader("Mcp-Param-Zone", ("p1",)),
        ParamHeader("Mcp-Param-Region", ("p2", "region")),
    )


@pytest.mark.parametrize("annotation", [str, int, bool, Literal["a"], str | None])
def test_text_integers_and_yes_or_no_can_be_mirrored(annotation: Any) -> None:
    assert found(Annotated[annotation, McpHeader("X")]) == (ParamHeader("Mcp-Param-X", ("p0",)),)


@pytest.mark.parametrize("annotation", [float, list[str], Place, str | int, dict[str, str], Any])
def test_nothing_else_can(annotation: Any) -> None:
    with pytest.raises(InvalidSignature, match=r"tool: argument 'p0': only text, integers and yes/no"):
        found(Annotated[annotation, McpHeader("X")])


@pytest.mark.parametrize("name", ["", "a b", "a:b", "ä", "a\nb", "a(b)"])
def test_a_name_that_no_header_can_have_is_refused(name: str) -> None:
    with pytest.raises(InvalidSignature, match="no header name"):
        found(Annotated[str, McpHeader(name)])


def test_two_arguments_cannot_share_a_header_in_any_case() -> None:
    with pytest.raises(InvalidSignature, match="'p1': another argument"):
        found(Annotated[str, McpHeader("Region")], Annotated[str, McpHeader("REGION")])


@pytest.mark.parametrize("annotation", [list[Place], Place | int, dict[str, Place]], ids=str)
def test_a_field_that_has_no_one_place_cannot_be_mirrored(annotation: Any) -> None:
    with pytest.raises(InvalidSignature, match="not inside lists or choices"):
        found(annotation)


ONE = (ParamHeader("Mcp-Param-X", ("x",)),)
DEEP = (ParamHeader("Mcp-Param-X", ("a", "x")),)


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("eu", "eu"),
        (header_codec.encode("süd"), "süd"),
        (header_codec.encode(""), ""),
        ("42", 42),
        ("42.0", 42),
        ("4.2e1", 42),
        ("-7", -7),
        ("9007199254740991", 2**53 - 1),
        ("42", 42.0),
        ("true", True),
        ("false", False),
    ],
)
def test_a_header_that_says_what_the_body_says_passes(header: str, value: Any) -> None:
    check(ONE, Headers({"mcp-param-x": header}), {"x": value})
    check(DEEP, Headers({"MCP-PARAM-X": header}), {"a": {"x": value}})
    check(ONE, Headers(None, {"mcp-param-x": [header, header]}), {"x": value})


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("us", "eu"),
        ("EU", "eu"),
        ("süd", "süd"),
        ("=?base64?c3VkZA?=", "sudd"),
        ("43", 42),
        ("042", 42),
        ("9007199254740992", 2**53),
        ("42.5", 42.5),
        ("1", True),
        ("True", True),
        ("true", "True"),
        ("null", False),
    ],
)
def test_a_header_that_says_anything_else_is_a_mismatch_that_repeats_no_value(header: str, value: Any) -> None:
    assert header not in mismatch(ONE, {"mcp-param-x": header}, {"x": value}).replace("Mcp-Param-X", "")


def test_a_header_is_needed_where_there_is_a_value_and_forbidden_where_there_is_none() -> None:
    assert "missing" in mismatch(ONE, {}, {"x": "eu"})
    for arguments in ({}, {"x": None}, {"x": ["eu"]}):
        check(ONE, Headers({}), arguments)
        assert "no value in the body" in mismatch(ONE, {"mcp-param-x": "eu"}, arguments)
    check(DEEP, Headers({}), {"a": "no object"})


def test_of_repeated_headers_each_must_agree() -> None:
    with pytest.raises(ProtocolError):
        check(ONE, Headers(None, {"mcp-param-x": ["eu", "us"]}), {"x": "eu"})


def test_headers_that_no_argument_is_mirrored_into_do_not_matter() -> None:
    check(ONE, Headers({"mcp-param-x": "eu", "mcp-param-y": "anything"}), {"x": "eu"})
