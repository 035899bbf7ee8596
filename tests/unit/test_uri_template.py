from __future__ import annotations

import pytest

from mrtr.errors import InvalidSignature
from mrtr.uri_template import UriTemplate


@pytest.mark.parametrize(
    ("template", "uri", "variables"),
    [
        ("note://all", "note://all", {}),
        ("note://{note_id}", "note://7", {"note_id": "7"}),
        ("note://{note_id}", "note://a%2Fb%20%C3%A4", {"note_id": "a/b ä"}),
        ("file:///{+path}", "file:///a/b/c?d", {"path": "a/b/c?d"}),
        ("x://{a}/y/{b}.txt", "x://1/y/2.txt", {"a": "1", "b": "2"}),
        ("x://h?q={q}&r={r}", "x://h?q=1&r=2", {"q": "1", "r": "2"}),
        ("a.b+c:(d)*{e}", "a.b+c:(d)*f", {"e": "f"}),
    ],
)
def test_a_uri_of_a_template_gives_its_variables(template: str, uri: str, variables: dict[str, str]) -> None:
    assert UriTemplate(template).match(uri) == variables


@pytest.mark.parametrize(
    ("template", "uri"),
    [
        ("note://all", "note://all2"),
        ("note://all", "NOTE://all"),
        ("note://{note_id}", "note://"),
        ("note://{note_id}", "note://7/8"),
        ("note://{note_id}", "note://7?x"),
        ("note://{note_id}", "note://7#x"),
        ("note://{note_id}", "xnote://7"),
        ("note://{note_id}", "note://%FF"),
        ("a.b:{c}", "aXb:c"),
    ],
)
def test_any_other_uri_gives_none(template: str, uri: str) -> None:
    assert UriTemplate(template).match(uri) is None


@pytest.mark.parametrize("template", ["", "all", "{scheme}://a", "1a://b", "/notes/{id}"])
def test_a_template_without_a_scheme_is_refused(template: str) -> None:
    with pytest.raises(InvalidSignature, match="scheme"):
        UriTemplate(template)


@pytest.mark.parametrize("template", ["a:{}", "a:{?q}", "a:{b*}", "a:{b,c}", "a:{1}", "a:{b}/{b}", "a:{b}/{+b}"])
def test_a_template_that_cannot_be_read_backwards_is_refused_with_what_can(template: str) -> None:
    with pytest.raises(InvalidSignature, match=r"write \{name\} or \{\+name\}, each name once"):
        UriTemplate(template)


def test_a_template_shows_its_text_and_knows_its_variables_in_order() -> None:
    template = UriTemplate("x://{b}/{+a}")
    assert template.variables == ["b", "a"]
    assert repr(template) == "UriTemplate('x://{b}/{+a}')"
