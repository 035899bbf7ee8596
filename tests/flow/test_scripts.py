"""Names, messages, arguments and answers in any script, through the headers, the seal and back."""

# ruff: noqa: PLC2401, RUF001 - such names and letters are what this is about

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from mrtr import AcceptedElicitation, Context, Elicit, Resolve, Server
from mrtr.http import Kind
from mrtr.testing import Client, accept, call_event, decline
from tests.flow.conftest import Deployment

TEXTS = {
    "Latin with accents": "Größe naïveté Łódź",
    "Greek": "Καλημέρα κόσμε",
    "Cyrillic": "Привет, мир",
    "Chinese": "删除这条笔记吗",
    "Japanese": "メモを削除しますか",
    "Korean": "메모를 삭제할까요",
    "Thai": "ลบบันทึกนี้ไหม",
    "Hindi": "क्या यह हटाना है",
    "Arabic": "هل تريد حذف الملاحظة؟",
    "Hebrew": "למחוק את הפתק?",
    "mixed directions": "note مذكرة 7 \u202eabc\u202c end",
    "emoji": "🗑️ 👩🏽‍💻 🏳️‍🌈 🇳🇿",
    "composed": "caf\u00e9",
    "decomposed": "cafe\u0301",
    "mathematical": "𝒟ℯ𝓁ℯ𝓉ℯ",
    "zero width": "a\u200bb\u200d\ufeffc",
    "spaces at the ends": "  spaces \u00a0",
    "comma and quotes": "a, \"b\", 'c'; \\d/",
    "looks encoded": "=?base64?w6k=?=",
    "looks half encoded": "=?base64?w6k=",
    "looks like nothing encoded": "=?base64??=",
    "line breaks": "one\r\ntwo\nthree\u2028four\u0085",
    "control": "bell\u0007 escape\u001b[31m",
    "markup": "<script>alert('&amp;')</script>",
    "long": "é" * 500,
}


class Line(BaseModel):
    text: str


def ferry(name: str) -> Server:
    """A server whose one tool carries texts across: in its name, its questions, its answers and its result."""
    server = Server("ferry")

    def ask(text: str) -> Elicit[Line]:
        return Elicit(f"{name} | {text}", Line)

    @server.tool(name=name)
    def carry(text: str, line: Annotated[Line, Resolve(ask)], ctx: Context) -> dict[str, str]:
        second = ctx.elicit(f"{line.text} | {name}", Line, key=name)
        assert isinstance(second, AcceptedElicitation)
        return {"text": text, "line": line.text, "second": second.data.text, name: name}

    return server


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("kind", [Kind.HTTP_API, Kind.ALB])
def test_a_text_survives_as_tool_name_argument_question_key_answer_and_result(
    memory: Deployment, kind: Kind, text: str
) -> None:
    client = memory.client(ferry(text), kind=kind)
    assert [tool["name"] for tool in client.list_tools().result["tools"]] == [text]

    first = client.call(text, {"text": text})
    assert first.questions["ask"]["params"]["message"] == f"{text} | {text}"
    second = client.answer(first, {"ask": accept(text=text)})
    assert second.questions[text]["params"]["message"] == f"{text} | {text}"
    done = client.answer(second, {text: accept(text=text)})

    assert done.result["structuredContent"] == {"text": text, "line": text, "second": text, text: text}
    assert client.again(done).result == done.result


@pytest.mark.parametrize("text", [TEXTS["emoji"], TEXTS["Arabic"], TEXTS["looks encoded"]])
def test_the_record_of_a_text_is_given_again_byte_for_byte(dynamodb: Deployment, text: str) -> None:
    client = dynamodb.client(ferry(text))
    second = client.answer(client.call(text, {"text": text}), {"ask": accept(text=text)})
    done = client.answer(second, {text: accept(text=text)})

    again = client.again(done)

    assert again.response["body"].encode().replace(b'"id":4', b'"id":3') == done.response["body"].encode()


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("löschen", "löschen"),
        ("löschen", "l\u00f6schen".encode().decode("latin-1")),
        ("löschen", "=?base64?bMO2c2NoZW4?="),
        ("löschen", "=?base64?bMO2c2NoZW4=?= x"),
        ("löschen", "=?BASE64?bMO2c2NoZW4=?="),
        ("löschen", "=?base64?b MO2c2NoZW4=?="),
        ("löschen", "loschen"),
        ("löschen", ""),
        ("caf\u00e9", "=?base64?Y2FmZcyB?="),
        ("=?base64?w6k=?=", "=?base64?w6k=?="),
        ("delete", "=?base64?ZGVsZXRlZA==?="),
        ("delete", "Delete"),
        ("delete", "delete, undelete"),
    ],
)
def test_a_header_that_does_not_say_the_name_is_a_mismatch(memory: Deployment, name: str, header: str) -> None:
    client = memory.client(ferry(name))

    reply = client.send(call_event(name, {"text": "x"}, headers={"mcp-name": header}))

    assert (reply.status, reply.error["code"]) == (400, -32020)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("löschen", "=?base64?bMO2c2NoZW4=?="),
        ("löschen", "=?base64?bMO2c2NoZW4=?=, =?base64?bMO2c2NoZW4=?="),
        ("löschen", "\t=?base64?bMO2c2NoZW4=?= "),
        ("delete", "=?base64?ZGVsZXRl?="),
        ("delete", "delete,delete"),
        ("delete", " delete "),
        ("a, b", "a, b"),
        ("=?base64?w6k=", "=?base64?w6k="),
        ("=?base64?w6k=?=", "=?base64?PT9iYXNlNjQ/dzZrPT89?="),
    ],
)
def test_a_header_that_says_the_name_in_any_allowed_way_passes(memory: Deployment, name: str, header: str) -> None:
    client = memory.client(ferry(name))

    assert client.send(call_event(name, {"text": "x"}, headers={"mcp-name": header})).asks


def test_a_null_character_is_a_character(memory: Deployment) -> None:
    client = memory.client(ferry("carry"))
    second = client.answer(client.call("carry", {"text": "a\0b"}), {"ask": accept(text="\0")})

    done = client.answer(second, {"carry": accept(text="c\0")})

    assert done.result["structuredContent"] == {"text": "a\0b", "line": "\0", "second": "c\0", "carry": "carry"}


def test_names_that_only_look_alike_are_two_tools(memory: Deployment) -> None:
    server = Server("twins")

    @server.tool(name="caf\u00e9")
    def composed() -> str:
        return "composed"

    @server.tool(name="cafe\u0301")
    def decomposed() -> str:
        return "decomposed"

    client = memory.client(server)

    assert client.call("caf\u00e9").text == "composed"
    assert client.call("cafe\u0301").text == "decomposed"


def test_functions_in_other_scripts_name_tools_questions_and_fields(memory: Deployment) -> None:
    class Größe(BaseModel):
        länge: int = Field(description="Länge in Zentimetern")

    def frage_größe(gerät: str) -> Elicit[Größe]:
        return Elicit(f"Wie lang ist {gerät}?", Größe)

    server = Server("werkstatt")

    @server.tool()
    def säge_ab(gerät: str, größe: Annotated[Größe, Resolve(frage_größe)]) -> str:
        return f"{gerät}: {größe.länge} cm"

    client = memory.client(server)
    first = client.call("säge_ab", {"gerät": "das Brett"})
    schema = first.questions["frage_größe"]["params"]["requestedSchema"]

    assert list(schema["properties"]) == ["länge"]
    assert client.answer(first, {"frage_größe": accept(länge=120)}).text == "das Brett: 120 cm"


def test_a_person_may_say_no_in_any_script(memory: Deployment) -> None:
    client = memory.client(ferry(TEXTS["Hebrew"]))

    done = client.answer(client.call(TEXTS["Hebrew"], {"text": TEXTS["Arabic"]}), {"ask": decline()})

    assert done.text == f"The person declined to answer, so {TEXTS['Hebrew']} did nothing."


def test_a_principal_in_any_script_is_bound_like_any_other(memory: Deployment) -> None:
    server = ferry("carry")
    one = memory.client(server, claims={"iss": "https://例え.example", "sub": "søren", "client_id": "📱"})
    other = Client(
        server.lambda_handler, claims={"iss": "https://例え.example", "sub": "so\u0338ren", "client_id": "📱"}
    )
    first = one.call("carry", {"text": "x"})

    assert other.answer(first, {"ask": accept(text="x")}).error["code"] == -32602
    assert one.answer(first, {"ask": accept(text="x")}).asks


LONE: list[Any] = ["\ud800", "a\udfffb", {"text": "\ud83d"}]


@pytest.mark.parametrize("lone", LONE)
def test_half_a_character_is_refused_in_words_and_breaks_nothing(memory: Deployment, lone: Any) -> None:
    client = memory.client(ferry("carry"))
    text = lone if isinstance(lone, str) else lone["text"]

    refused = client.call("carry", {"text": text})
    assert (refused.status, refused.is_error) == (200, True)

    first = client.call("carry", {"text": "whole"})
    again = client.answer(first, {"ask": accept(text=text)})
    assert "Please answer again" in again.questions["ask"]["params"]["message"]
