from __future__ import annotations

import hmac
from typing import Any

import pytest

from mrtr import tags

FLOW = bytes(range(16))
OTHER_FLOW = bytes(range(1, 17))
QUESTION = {"method": "elicitation/create", "params": {"mode": "form", "message": "Sure?"}}


def test_a_tag_is_an_hmac_keyed_with_the_flow_id_over_parts_with_their_lengths() -> None:
    message = b"request" + b"".join(len(part).to_bytes(8) + part for part in (b"tools/call", "löschen".encode(), b"{}"))
    assert tags.request_tag(FLOW, "tools/call", "löschen", "{}") == hmac.digest(FLOW, message, "sha256")[: tags.TAG]


@pytest.mark.parametrize(
    ("other", "size"),
    [
        (lambda flow: tags.request_tag(flow, "tools/call", "t", "{}"), tags.TAG),
        (lambda flow: tags.principal_tag(flow, ("iss", "sub", "app")), tags.TAG),
        (lambda flow: tags.key_tag(flow, "ask"), tags.KEY_TAG),
        (lambda flow: tags.question_digest(flow, "ask", QUESTION), tags.QUESTION),
        (lambda flow: tags.answers_tag(flow, [(b"q" * tags.QUESTION, "{}")]), tags.TAG),
        (tags.item_id, 16),
    ],
    ids=["request", "principal", "key", "question", "answers", "item"],
)
def test_every_tag_is_stable_has_its_size_and_differs_between_flows(other: Any, size: int) -> None:
    assert other(FLOW) == other(FLOW)
    assert len(other(FLOW)) == size
    assert other(FLOW) != other(OTHER_FLOW)


@pytest.mark.parametrize(
    "other",
    [
        ("prompts/get", "t", "{}"),
        ("tools/call", "u", "{}"),
        ("tools/call", "t", '{"a":1}'),
        ("tools/cal", "lt", "{}"),
        ("tools/call", "", "t{}"),
        ("tools/callt", "", "{}"),
    ],
)
def test_requests_that_differ_in_any_part_or_in_where_a_part_ends_have_different_tags(
    other: tuple[str, str, str],
) -> None:
    assert tags.request_tag(FLOW, *other) != tags.request_tag(FLOW, "tools/call", "t", "{}")


@pytest.mark.parametrize(
    "other",
    [("iss2", "sub", "app"), ("iss", "sub2", "app"), ("iss", "sub", ""), ("is", "ssub", "app"), ("iss", "subapp", "")],
)
def test_principals_that_differ_in_any_part_have_different_tags(other: tuple[str, str, str]) -> None:
    assert tags.principal_tag(FLOW, other) != tags.principal_tag(FLOW, ("iss", "sub", "app"))


def test_a_lone_surrogate_has_a_tag_of_its_own() -> None:
    assert tags.request_tag(FLOW, "tools/call", "\ud800", "{}") != tags.request_tag(FLOW, "tools/call", "\ud801", "{}")


def test_a_question_digest_sees_the_key_and_every_word_but_not_the_order_of_members() -> None:
    digest = tags.question_digest(FLOW, "ask", QUESTION)
    reordered = {"params": {"message": "Sure?", "mode": "form"}, "method": "elicitation/create"}
    assert tags.question_digest(FLOW, "ask", reordered) == digest
    assert tags.question_digest(FLOW, "ask_2", QUESTION) != digest
    assert tags.question_digest(FLOW, "ask", {**QUESTION, "params": {"mode": "form", "message": "Sure!"}}) != digest


def test_an_answers_tag_sees_every_answer_but_not_their_order() -> None:
    first, second = (b"a" * tags.QUESTION, '{"x":1}'), (b"b" * tags.QUESTION, "decline")
    tag = tags.answers_tag(FLOW, [first, second])
    assert tags.answers_tag(FLOW, [second, first]) == tag
    others = [[], [first], [second], [first, (second[0], "cancel")], [(second[0], first[1]), (first[0], second[1])]]
    assert tag not in [tags.answers_tag(FLOW, other) for other in others]


def test_the_item_id_does_not_show_the_flow_id() -> None:
    assert FLOW[:4] not in tags.item_id(FLOW)
    assert tags.item_id(FLOW) != FLOW
