# Annotations are evaluated as they stand.
from typing import Any

import pytest

from mrtr.arguments import InvalidArguments
from mrtr.content import Annotations, BlobResourceContents, Icon, TextResourceContents
from mrtr.errors import Fault, InvalidSignature, ProtocolError, not_found
from mrtr.http import read_event
from mrtr.protocol import Limits, Request, read_request
from mrtr.resource import Resource, owner
from mrtr.testing import request_event


def everything() -> str:
    """All notes."""
    return ""


def one(note_id: int) -> str:
    """One note."""
    return str(note_id)


def request_for(uri: str, **more: Any) -> Request:
    request = read_request(
        read_event(request_event("resources/read", {"uri": uri, **more})), ("resources/read",), Limits()
    )
    assert isinstance(request, Request)
    return request


# Definitions


def test_a_resource_is_listed_by_uri_and_a_template_by_uri_template() -> None:
    assert Resource(everything, "note://all").definition() == {
        "uri": "note://all",
        "name": "everything",
        "description": "All notes.",
    }
    template = Resource(one, "note://{note_id}", name="note")
    assert template.definition() == {"uriTemplate": "note://{note_id}", "name": "note", "description": "One note."}
    assert repr(template) == "Resource('note://{note_id}')"


def test_a_resource_may_say_more_of_itself() -> None:
    definition = Resource(
        everything,
        "note://all",
        title="All",
        description="Everything.",
        mime_type="text/plain",
        size=0,
        icons=[Icon(src="data:,x")],
        annotations=Annotations(priority=1.0),
    ).definition()
    assert {
        name: definition[name] for name in ("title", "description", "mimeType", "size", "annotations", "icons")
    } == {
        "title": "All",
        "description": "Everything.",
        "mimeType": "text/plain",
        "size": 0,
        "annotations": {"priority": 1.0},
        "icons": [{"src": "data:,x"}],
    }


@pytest.mark.parametrize(
    ("fn", "uri"), [(one, "note://all"), (everything, "note://{note_id}"), (one, "note://{note_id}/{part}")]
)
def test_a_function_whose_arguments_are_not_the_templates_variables_is_refused(fn: Any, uri: str) -> None:
    with pytest.raises(InvalidSignature, match="must be the template's variables"):
        Resource(fn, uri)


def test_a_time_below_zero_is_refused() -> None:
    with pytest.raises(InvalidSignature, match="ttl_ms"):
        Resource(everything, "note://all", ttl_ms=-1)


# Reading


def test_variables_are_read_from_the_uri_with_their_types() -> None:
    resource = Resource(one, "note://{note_id}")
    assert resource.read(request_for("note://7"), "") == {"note_id": 7}
    with pytest.raises(InvalidArguments, match="note_id"):
        resource.read(request_for("note://seven"), "")


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        ("a", {"uri": "note://all", "mimeType": "text/x", "text": "a"}),
        (b"\xfb\xff", {"uri": "note://all", "mimeType": "text/x", "blob": "+/8="}),
        ({"a": 1}, {"uri": "note://all", "mimeType": "text/x", "text": '{"a":1}'}),
        ([], {"uri": "note://all", "mimeType": "text/x", "text": "[]"}),
        (BlobResourceContents(uri="note://other", blob="Yw=="), {"uri": "note://other", "blob": "Yw=="}),
    ],
)
def test_a_resource_may_return_text_bytes_contents_or_anything_json_holds(value: Any, contents: dict[str, Any]) -> None:
    resource = Resource(everything, "note://all", mime_type="text/x", ttl_ms=5, cache_scope="public")
    assert resource.result(request_for("note://all"), value) == {
        "contents": [contents],
        "ttlMs": 5,
        "cacheScope": "public",
    }


def test_several_contents_travel_together() -> None:
    parts = [TextResourceContents(uri=f"note://{number}", text="a") for number in range(2)]
    result = Resource(everything, "note://all").result(request_for("note://all"), parts)
    assert [contents["uri"] for contents in result["contents"]] == ["note://0", "note://1"]


def test_json_says_what_it_is_unless_the_resource_says_otherwise() -> None:
    result = Resource(everything, "note://all").result(request_for("note://all"), {"a": 1})
    assert result["contents"] == [{"uri": "note://all", "mimeType": "application/json", "text": '{"a":1}'}]
    assert "mimeType" not in Resource(everything, "note://all").result(request_for("note://all"), "a")["contents"][0]


@pytest.mark.parametrize("more", [{"requestState": "v1.x"}, {"inputResponses": {}}])
def test_what_was_read_with_an_answer_is_not_to_be_kept(more: dict[str, Any]) -> None:
    resource = Resource(everything, "note://all", ttl_ms=5, cache_scope="public")
    result = resource.result(request_for("note://all", **more), "a")
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


def test_a_notice_is_text_that_nobody_keeps_and_failures_are_protocol_errors() -> None:
    resource = Resource(everything, "note://all", ttl_ms=5)
    notice = resource.notice(request_for("note://all"), "Kept.")
    assert notice["contents"] == [{"uri": "note://all", "mimeType": "text/plain", "text": "Kept."}]
    assert (notice["ttlMs"], notice["cacheScope"]) == (0, "private")
    for fail, fault in ((resource.failure, Fault.INVALID_PARAMS), (resource.crash, Fault.INTERNAL)):
        with pytest.raises(ProtocolError, match="why") as refusal:
            fail("why")
        assert refusal.value.fault is fault


# Who owns a URI


def test_an_exact_resource_comes_before_a_template_and_templates_in_order() -> None:
    def text(name: str) -> str:
        return name

    resources = {
        resource.template.text: resource
        for resource in (
            Resource(text, "note://{name}"),
            Resource(everything, "note://all"),
            Resource(text, "note://{+name}"),
        )
    }
    assert owner(resources, "note://all") is resources["note://all"]
    assert owner(resources, "note://7") is resources["note://{name}"]
    assert owner(resources, "note://7/8") is resources["note://{+name}"]
    assert owner(resources, "note://{name}") is None, "a template's own text is no URI"
    assert owner(resources, "other://7") is None


def test_nothing_at_a_uri_is_invalid_and_names_it() -> None:
    error = not_found("note://8")
    assert (error.fault, error.data) == (Fault.INVALID_PARAMS, {"uri": "note://8"})


def test_a_resource_that_only_reads_needs_no_single_use() -> None:
    assert Resource(everything, "note://all").single_use
    assert not Resource(everything, "note://all", read_only=True).single_use
